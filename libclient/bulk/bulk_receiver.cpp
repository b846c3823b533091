#include "libclient/bulk/bulk_receiver.h"

#include <algorithm>
#include <utility>

#include "libclient/bulk/crc32c.h"

namespace spindle::bulk {

namespace {

/// Where no more blocks than these were missing when a need was told, it is told at once that one is complete: it may
/// be the one that is being sent.
constexpr std::uint32_t kLastBlocks = 4;
constexpr std::size_t kWrongBlocksKept = 64;
/// How often it asks for an index, where it was told a wrong one.
constexpr Nanoseconds kIndexWish = std::chrono::seconds(1);

BlockHash hash_at(const IndexPart& index, std::uint32_t i) {
  BlockHash hash{};
  const ByteView bytes = index.hash(i);
  std::copy(bytes.begin(), bytes.end(), hash.begin());
  return hash;
}

}  // namespace

BulkReceiver::BulkReceiver(const ContentLayout& layout, const Hasher& hasher, const ReceiverLimits& limits,
                           const ResumeState* resumed, std::shared_ptr<BlockMemory> memory)
    : layout_(layout), hasher_(hasher), limits_(limits), begun_(limits.symbols, layout, std::move(memory)) {
  if (resumed != nullptr) resume(*resumed);
}

void BulkReceiver::resume(const ResumeState& state) {
  const bool is_same_size = state.layout.size == layout_.size || !state.layout.has_size() || !layout_.has_size();
  const bool is_same_cut =
      state.layout.block_bytes == layout_.block_bytes && state.layout.symbol_bytes == layout_.symbol_bytes;
  if (!is_same_size || !is_same_cut) return;
  const bool is_known = layout_.has_size();
  if (is_known) told_ = state.index;
  for (const BlockSet::Run& run : state.written.runs()) {
    for (std::uint32_t block = run.first; block < std::min(run.end, layout_.blocks()); ++block) {
      computed_.set(block, *state.index.find(block));
      unproved_.add(block);
    }
  }
  if (is_known) note_all_proved();
}

void BulkReceiver::note_proved(std::uint32_t block) {
  unproved_.remove(block);
  complete_.add(block);
  written_.add(block);
  bytes_verified_ += layout_.bytes_of(block);
}

void BulkReceiver::note_all_proved() {
  while (!unproved_.empty()) note_proved(unproved_.runs().front().first);
}

bool BulkReceiver::is_part_of_content(const Symbol& symbol) const {
  return symbol.block < layout_.blocks() && symbol.bytes.size() == layout_.symbol_bytes;
}

SymbolUse BulkReceiver::use(const Symbol& symbol, std::uint32_t from) {
  if (!is_part_of_content(symbol)) return SymbolUse::foreign;
  if (complete_.contains(symbol.block)) return SymbolUse::duplicate;
  const ReceivingBlock* begun = begun_.find(symbol.block);
  if (begun != nullptr && begun->holds(symbol.esi)) return SymbolUse::duplicate;
  // That has to be over, and what is there may be right.
  if (writing_.contains(symbol.block) || unproved_.contains(symbol.block)) return SymbolUse::no_room;
  if (crc32c(symbol.bytes) != symbol.crc) return SymbolUse::corrupt;
  switch (begun_.add(BlockPlace::of(layout_, symbol.block), symbol, from)) {
    case BegunBlocks::Taken::useful:
      return SymbolUse::useful;
    case BegunBlocks::Taken::duplicate:
      return SymbolUse::duplicate;
    case BegunBlocks::Taken::no_room:
      break;
  }
  return SymbolUse::no_room;
}

SymbolUse BulkReceiver::handle_symbol(Nanoseconds now, const Symbol& symbol, std::uint32_t from) {
  schedule_.note_heard(now);
  const std::uint64_t given_up = begun_.given_up();
  const SymbolUse use_of_it = use(symbol, from);
  if (begun_.given_up() != given_up) note_lost();
  switch (use_of_it) {
    case SymbolUse::useful:
      ++counters_.useful;
      rate_.add(now, symbol.bytes.size());
      schedule_.note_news();
      look_at(symbol.block);
      break;
    case SymbolUse::duplicate:
      ++counters_.duplicate;
      break;
    case SymbolUse::no_room:
      ++counters_.no_room;
      note_lost();
      break;
    case SymbolUse::corrupt:
      ++counters_.corrupt;
      note_lost();
      break;
    case SymbolUse::foreign:
      ++counters_.foreign;
      break;
  }
  return use_of_it;
}

bool BulkReceiver::is_ready(std::uint32_t block) const {
  const ReceivingBlock* begun = begun_.find(block);
  return begun != nullptr && begun->is_decodable() && !begun_.is_storing(block) && told_.find(block) != nullptr;
}

void BulkReceiver::look_at(std::uint32_t block) {
  if (is_ready(block)) decodable_.insert(block);
}

void BulkReceiver::handle_index(Nanoseconds now, const IndexPart& index) {
  schedule_.note_heard(now);
  if (is_index_right_) return;
  bool has_changed = false;
  const std::uint32_t blocks = layout_.blocks();
  for (std::uint32_t i = 0; i < index.count() && index.first + i < blocks; ++i) {
    const std::uint32_t block = index.first + i;
    const BlockHash hash = hash_at(index, i);
    if (unproved_.contains(block)) {
      *computed_.find(block) == hash ? note_proved(block) : begin_anew(block);
      schedule_.note_news();
    }
    const BlockHash* former = told_.find(block);
    if (former != nullptr && *former == hash) continue;
    if (former != nullptr) ++counters_.changed_hashes;
    told_.set(block, hash);
    has_changed = true;
    look_at(block);
  }
  if (has_changed) finish();
}

bool BulkReceiver::handle_seal(Nanoseconds now, std::uint64_t size, const BlockHash& root) {
  schedule_.note_heard(now);
  const std::optional<ContentLayout> sealed = layout_.sealed(size);
  if (!sealed || (root_ && *root_ != root)) return false;
  if (*sealed != layout_) cut_to(*sealed);
  layout_ = *sealed;
  root_ = root;
  schedule_.note_news();
  finish();
  return true;
}

/// A stream is over: blocks are fewer, and the last one is shorter than it was taken for.
void BulkReceiver::cut_to(const ContentLayout& sealed) {
  const std::uint32_t blocks = sealed.blocks();
  while (!begun_.blocks().empty() && begun_.blocks().rbegin()->first >= blocks) {
    begin_anew(begun_.blocks().rbegin()->first);
  }
  for (const BlockSet* each : {&complete_, &unproved_}) {
    while (!each->empty() && each->runs().back().end > blocks) begin_anew(each->runs().back().end - 1);
  }
  while (!told_.known().empty() && told_.known().runs().back().end > blocks) {
    told_.forget(told_.known().runs().back().end - 1);
  }
  if (blocks == 0 || sealed.bytes_of(blocks - 1) == layout_.block_bytes) return;
  const std::uint32_t last = blocks - 1;
  if (begun_.find(last) != nullptr) {
    const BlockPlace place = BlockPlace::of(sealed, last);
    const bool can_be = !begun_.is_storing(last);
    if (!can_be || !begun_.change(last, [&](ReceivingBlock& block) { return block.shorten(place); })) begin_anew(last);
    look_at(last);
  } else if (complete_.contains(last) || unproved_.contains(last)) {
    begin_anew(last);
  }
}

std::optional<ReceiverJob> BulkReceiver::take_job() {
  if (auto store = begun_.take_store()) return std::move(*store);
  if (!to_write_.empty()) {
    WriteJob job = std::move(to_write_.front());
    to_write_.pop_front();
    return job;
  }
  if (decoding_ + writes_ >= limits_.blocks_in_jobs) return std::nullopt;
  while (!decodable_.empty()) {
    const std::uint32_t block = *decodable_.begin();
    decodable_.erase(decodable_.begin());
    // Symbols may have been given up since.
    if (!is_ready(block)) continue;
    ++decoding_;
    return begun_.decode(block, next_job_++);
  }
  return std::nullopt;
}

void BulkReceiver::handle_stored(Nanoseconds, StoreJob job, bool good) {
  if (!good) {
    ++counters_.failed_stores;
    note_lost();
  }
  begun_.handle_stored(job, good);
  look_at(job.place.block);
}

void BulkReceiver::handle_decoded(Nanoseconds, DecodedBlock block) {
  --decoding_;
  const std::uint32_t number = block.job.place.block;
  const ReceivingBlock* begun = begun_.find(number);
  // It may have begun anew meanwhile.
  if (begun == nullptr || !begun->is_decoding() || begun->decode_job() != block.job.number) return;
  schedule_.note_news();
  if (block.outcome != DecodedBlock::Outcome::decoded) {
    if (block.outcome == DecodedBlock::Outcome::unreadable) {
      ++counters_.failed_stores;
      note_lost();
    } else {
      ++counters_.failed_decodes;
    }
    begun_.change(number, [&](ReceivingBlock& back) {
      back.handle_not_decoded(std::move(block));
      return true;
    });
    return look_at(number);
  }
  const BlockHash* hash = told_.find(number);
  if (hash != nullptr && *hash == block.hash) return handle_decoded_right(std::move(block));
  if (hash != nullptr) handle_wrong(*begun);
  begin_anew(number);
}

void BulkReceiver::handle_decoded_right(DecodedBlock block) {
  const std::uint32_t number = block.job.place.block;
  begun_.erase(number);
  complete_.add(number);
  computed_.set(number, block.hash);
  bytes_verified_ += block.job.place.bytes;
  if (missing_when_told_ <= kLastBlocks) schedule_.note_urgent();
  const std::uint64_t job = next_job_++;
  writing_[number] = job;
  ++writes_;
  to_write_.push_back({job, block.job.place, std::move(block.content)});
}

void BulkReceiver::handle_wrong(const ReceivingBlock& block) {
  ++counters_.wrong_blocks;
  if (wrong_blocks_.size() == kWrongBlocksKept) wrong_blocks_.erase(wrong_blocks_.begin());
  wrong_blocks_.push_back({block.place().block, block.senders()});
}

void BulkReceiver::handle_written(Nanoseconds, std::uint64_t job, std::uint32_t block, bool good) {
  --writes_;
  const auto writing = writing_.find(block);
  const bool is_current = writing != writing_.end() && writing->second == job;
  if (writing != writing_.end()) writing_.erase(writing);
  if (!is_current) return;
  if (good) {
    written_.add(block);
    return finish();
  }
  ++counters_.failed_stores;
  begin_anew(block);
}

void BulkReceiver::handle_bad(std::uint32_t block) {
  if (!written_.contains(block)) return;
  begin_anew(block);
  schedule_.note_urgent();
  if (std::exchange(is_done_, false)) schedule_.begin_again();
}

void BulkReceiver::handle_all_lost() {
  while (!begun_.blocks().empty()) begin_anew(begun_.blocks().begin()->first);
  for (const BlockSet* each : {&complete_, &unproved_}) {
    while (!each->empty()) begin_anew(each->runs().back().end - 1);
  }
  schedule_.note_urgent();
}

void BulkReceiver::note_lost() {
  has_lost_some_ = true;
  schedule_.note_news();
}

void BulkReceiver::begin_anew(std::uint32_t block) {
  note_lost();
  begun_.erase(block);
  if (const auto writing = writing_.find(block); writing != writing_.end()) writing->second = 0;
  const bool is_complete = complete_.contains(block);
  const bool is_unproved = unproved_.contains(block);
  if (!is_complete && !is_unproved) return;
  if (is_unproved || written_.contains(block)) ++counters_.taken_back;
  complete_.remove(block);
  unproved_.remove(block);
  written_.remove(block);
  computed_.forget(block);
  if (is_complete) bytes_verified_ -= layout_.bytes_of(block);
}

/// Once all hashes were told, the root says whether they are right, and they say which blocks are.
void BulkReceiver::compare_with_root() {
  const std::optional<BlockHash> root = told_.root(layout_.blocks(), hasher_);
  if (!root) return;
  if (*root != *root_) {
    ++counters_.wrong_indexes;
    lacks_index_ = true;
    return told_.clear();
  }
  is_index_right_ = true;
  lacks_index_ = false;
  schedule_.note_news();
  const BlockSet computed = computed_.known();
  for (const BlockSet::Run& run : computed.runs()) {
    for (std::uint32_t block = run.first; block < run.end; ++block) {
      if (*computed_.find(block) != *told_.find(block)) begin_anew(block);
    }
  }
  note_all_proved();
}

void BulkReceiver::finish() {
  if (!root_ || is_done_) return;
  if (!is_index_right_) compare_with_root();
  const std::uint32_t there = written_.count() + unproved_.count();
  if (there != layout_.blocks() || computed_.root(layout_.blocks(), hasher_) != root_) return;
  note_all_proved();
  is_done_ = true;
  schedule_.note_urgent();
  schedule_.end();
}

void BulkReceiver::handle_index_asked() {
  if (is_index_right_ && serves_) index_from_ = 0;
}

std::optional<IndexPart> BulkReceiver::take_index() {
  if (!index_from_) return std::nullopt;
  const std::uint32_t first = *index_from_;
  const ByteView hashes = told_.hashes_from(first, kHashesPerIndexMax);
  if (hashes.empty()) {
    index_from_.reset();
    return std::nullopt;
  }
  *index_from_ += static_cast<std::uint32_t>(hashes.size() / kBlockHashBytes);
  return IndexPart{0, first, hashes};
}

bool BulkReceiver::take_index_wish(Nanoseconds now) {
  if (!lacks_index_ || (index_wished_at_ && now - *index_wished_at_ < kIndexWish)) return false;
  index_wished_at_ = now;
  return true;
}

void BulkReceiver::handle_mark(std::uint64_t mark) {
  seen_ = mark;
  schedule_.note_urgent();
}

void BulkReceiver::handle_attached() {
  seen_ = 0;
  index_from_.reset();
  schedule_.note_urgent();
}

std::optional<Need> BulkReceiver::take_need(Nanoseconds now) {
  const std::optional<Nanoseconds> due = schedule_.due();
  if (!due || now < *due) return std::nullopt;
  Need need;
  need.complete = complete_;
  need.serves = serves_;
  need.knows_index = serves_ && is_index_right_;
  need.seen = seen_;
  need.lost = std::exchange(has_lost_some_, false);
  for (const auto& [number, block] : begun_.blocks()) {
    if (need.begun.size() == kBegunBlocksMax) break;
    const bool has_enough = block.is_decoding() || block.is_decodable();
    need.begun.push_back({number, has_enough ? kEnough : std::min(block.held(), kEnough - 1)});
  }
  missing_when_told_ = layout_.has_size() ? layout_.blocks() - complete_.count() : UINT32_MAX;
  schedule_.note_told(now);
  return need;
}

void BulkReceiver::set_serves(bool serves) {
  if (std::exchange(serves_, serves) != serves) schedule_.note_news();
}

bool BulkReceiver::lacks_something() const {
  if (layout_.has_size()) return !is_done_;
  return intersection(told_.known(), complete_) != told_.known();
}

ResumeState BulkReceiver::resume_state() const {
  ResumeState state{layout_, root_, written_, told_};
  for (const BlockSet::Run& run : unproved_.runs()) state.written.add_run(run.first, run.end);
  for (const BlockSet::Run& run : state.written.runs()) {
    for (std::uint32_t block = run.first; block < run.end; ++block) state.index.set(block, *computed_.find(block));
  }
  return state;
}

ReceiverProgress BulkReceiver::progress(Nanoseconds now) {
  return {written_.count(), bytes_verified_, layout_.size, rate_.rate(now)};
}

ReceiverCounters BulkReceiver::counters() const {
  ReceiverCounters counters = counters_;
  counters.given_up = begun_.given_up();
  return counters;
}

}  // namespace spindle::bulk
