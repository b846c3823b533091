#include "libclient/bulk/bulk_holder.h"

#include <algorithm>
#include <utility>

#include "libclient/bulk/crc32c.h"

namespace spindle::bulk {

namespace {

constexpr std::uint64_t kCreditMax = std::uint64_t{1} << 40;
/// Runs and begun blocks of all needs that are kept.
constexpr std::size_t kNeedEntriesMax = 256u << 10;
/// The number of a job that loads a block for its hash alone: no block that is to be sent waits for it.
constexpr std::uint64_t kHashJob = UINT64_MAX;

}  // namespace

BulkHolder::BulkHolder(Kind kind, const ContentLayout& layout, const RepairIds& repair_ids, const HolderLimits& limits,
                       std::shared_ptr<BlockMemory> memory)
    : kind_(kind),
      layout_(layout),
      repair_ids_(repair_ids),
      cache_(limits.blocks_in_memory, std::move(memory)),
      repair_symbol_(layout.symbol_bytes) {}

void BulkHolder::handle_available(const BlockSet& blocks) { available_ = blocks; }

void BulkHolder::handle_known(BlockIndex known) { index_ = std::move(known); }

bool BulkHolder::handle_seal(std::uint64_t size) {
  const std::optional<ContentLayout> sealed = layout_.sealed(size);
  if (!sealed) return false;
  layout_ = *sealed;
  return true;
}

void BulkHolder::handle_attached() {
  unwanted_.clear();
  live_.credit = 0;
  live_.is_told_over = false;
  children_.clear();
  told_.clear();
}

void BulkHolder::handle_grant(std::uint8_t stream, std::uint64_t symbols) {
  if (stream != kLiveStream) {
    if (const auto child = children_.find(stream); child != children_.end()) child->second.handle_grant(symbols);
    return;
  }
  live_.credit = std::min(live_.credit + std::min(symbols, kCreditMax), kCreditMax);
}

void BulkHolder::handle_need(std::uint8_t stream, const Need& need) {
  if (stream == kLiveStream) {
    unwanted_ = need.complete;
    return pass_over();
  }
  std::size_t entries = need.complete.runs().size() + need.begun.size();
  for (const auto& [number, child] : children_) entries += number == stream ? 0 : child.need_entries();
  if (entries > kNeedEntriesMax) {
    ++counters_.refused;
    return;
  }
  children_.insert_or_assign(stream, ChildStream(need));
}

void BulkHolder::handle_release(std::uint8_t stream) { children_.erase(stream); }

std::optional<LoadJob> BulkHolder::take_job() {
  std::optional<LoadJob> job = cache_.take_job();
  if (!job) return job;
  job->wants_hash = kind_ == Kind::source && index_.find(job->place.block) == nullptr;
  const BlockIndex& known = right_ != nullptr ? *right_ : index_;
  const BlockHash* right = job->content ? nullptr : known.find(job->place.block);
  if (right != nullptr) job->right = *right;
  return job;
}

std::optional<LoadJob> BulkHolder::take_hash_job(bool is_idle) {
  if (kind_ != Kind::source || hashing_.size() == kHashJobsMax) return std::nullopt;
  const BlockSet& known = index_.known();
  // What was sent was hashed before it was: all else below was passed over.
  const std::uint32_t end = is_idle ? layout_.blocks() : live_.block;
  for (std::uint32_t block = known.first_missing(); block < end; block = known.first_missing(block + 1)) {
    if (!available_.contains(block)) return std::nullopt;
    if (!hashing_.insert(block).second) continue;
    return LoadJob{kHashJob, BlockPlace::of(layout_, block), nullptr, true, false, cache_.memory(), {}};
  }
  return std::nullopt;
}

void BulkHolder::handle_loaded(LoadedBlock block) {
  const std::uint32_t number = block.job.place.block;
  if (block.job.number == kHashJob) hashing_.erase(number);
  if (block.good && block.job.wants_hash) index_.set(number, block.hash);
  const bool is_good = block.good;
  cache_.handle_loaded(block);
  if (is_good) return;
  ++counters_.bad;
  available_.remove(number);
  bad_.add(number);
}

std::optional<std::uint32_t> BulkHolder::take_bad() {
  if (bad_.empty()) return std::nullopt;
  const std::uint32_t block = bad_.runs().front().first;
  bad_.remove(block);
  return block;
}

std::optional<IndexPart> BulkHolder::take_index() {
  // Daemons take them in order.
  const std::uint32_t first = told_.first_missing();
  const std::uint32_t count = std::min<std::uint32_t>(index_.known().first_missing(first) - first, kHashesPerIndexMax);
  if (count == 0) return std::nullopt;
  told_.add_run(first, first + count);
  return IndexPart{0, first, index_.hashes_from(first, count)};
}

std::optional<ChildStream::Wish> BulkHolder::wish_of(std::uint8_t stream) {
  if (stream != kLiveStream) {
    const ChildStream& child = children_.at(stream);
    return child.credit() == 0 ? std::nullopt : child.next(layout_, available_, end_of_streams());
  }
  const bool has_next = live_.block < layout_.blocks() && available_.contains(live_.block);
  if (kind_ != Kind::source || live_.credit == 0 || !has_next) return std::nullopt;
  return Wish{live_.block, live_.esi};
}

bool BulkHolder::is_wanted(std::uint32_t block) {
  const auto wants = [&](std::uint8_t stream) {
    const std::optional<Wish> wish = wish_of(stream);
    return wish && wish->block == block;
  };
  return wants(kLiveStream) ||
         std::any_of(children_.begin(), children_.end(), [&](const auto& child) { return wants(child.first); });
}

bool BulkHolder::is_lacking(std::uint32_t block) const {
  return std::any_of(children_.begin(), children_.end(),
                     [block](const auto& child) { return child.second.lacks(block); });
}

std::optional<Symbol> BulkHolder::next_symbol() {
  // The live stream and those of children in turn, from the one behind the last on.
  for (auto child = children_.upper_bound(last_); child != children_.end(); ++child) {
    if (auto symbol = try_stream(child->first)) return symbol;
  }
  if (auto symbol = try_stream(kLiveStream)) return symbol;
  for (auto child = children_.begin(); child != children_.end() && child->first <= last_; ++child) {
    if (auto symbol = try_stream(child->first)) return symbol;
  }
  return std::nullopt;
}

std::optional<Symbol> BulkHolder::try_stream(std::uint8_t stream) {
  const std::optional<Wish> wish = wish_of(stream);
  if (!wish) return std::nullopt;
  const auto wanted = [this](std::uint32_t block) { return is_wanted(block); };
  const BlockCache::Entry* entry = cache_.get(BlockPlace::of(layout_, wish->block), !wish->source, wanted);
  if (entry == nullptr) return std::nullopt;
  Symbol symbol;
  symbol.stream = stream;
  symbol.block = wish->block;
  if (wish->source) {
    symbol.esi = *wish->source;
    content_ = entry->content;
    symbol.bytes = {content_.get() + std::size_t{symbol.esi} * layout_.symbol_bytes, layout_.symbol_bytes};
    symbol.crc = entry->crcs[symbol.esi];
    ++counters_.source;
  } else {
    symbol.esi = repair_ids_.next(wish->block, layout_.symbols_of(wish->block));
    entry->encoder->encode(symbol.esi, repair_symbol_.data());
    symbol.bytes = repair_symbol_;
    symbol.crc = crc32c(symbol.bytes);
    ++counters_.repair;
  }
  cache_.note_used(wish->block);
  note_sent(stream, *wish);
  return symbol;
}

void BulkHolder::note_sent(std::uint8_t stream, const Wish& wish) {
  last_ = stream;
  // In the middle of a block, or with the first of few symbols, the next one is loaded, so that nobody waits for it.
  const bool is_middle = wish.source && *wish.source == layout_.symbols_of(wish.block) / 2;
  if (stream != kLiveStream) {
    ChildStream& child = children_.at(stream);
    const bool is_first = child.note_sent(wish);
    if (is_middle || (is_first && !wish.source))
      prefetch(child.next_after(wish, layout_, available_, end_of_streams()));
    return;
  }
  note_sent_live(wish);
  const std::uint32_t next = unwanted_.first_missing(wish.block + 1);
  if (is_middle && next < layout_.blocks() && available_.contains(next)) prefetch(Wish{next, 0});
}

void BulkHolder::note_sent_live(const Wish& wish) {
  --live_.credit;
  if (++live_.esi < layout_.symbols_of(wish.block)) return;
  ++live_.block;
  live_.esi = 0;
  pass_over();
}

void BulkHolder::pass_over() {
  if (kind_ != Kind::source || live_.esi != 0) return;  // what has begun is sent to its end
  const std::uint32_t next = std::min(unwanted_.first_missing(live_.block), std::max(live_.block, layout_.blocks()));
  live_.passed_over += next - live_.block;
  live_.block = next;
}

std::optional<std::uint8_t> BulkHolder::take_finished() {
  if (kind_ == Kind::source && is_live_over() && !std::exchange(live_.is_told_over, true)) return kLiveStream;
  for (const auto& [stream, child] : children_) {
    if (child.next(layout_, available_, end_of_streams())) continue;
    const std::uint8_t finished = stream;
    children_.erase(finished);
    return finished;
  }
  return std::nullopt;
}

void BulkHolder::prefetch(const std::optional<Wish>& wish) {
  if (!wish) return;
  cache_.prefetch(BlockPlace::of(layout_, wish->block), !wish->source,
                  [this](std::uint32_t block) { return is_wanted(block); });
}

}  // namespace spindle::bulk
