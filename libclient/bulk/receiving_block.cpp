#include "libclient/bulk/receiving_block.h"

#include <algorithm>
#include <utility>

namespace spindle::bulk {

namespace {

constexpr std::size_t kSendersMax = 16;

}  // namespace

bool ReceivingBlock::is_decodable() const {
  return !is_decoding_ && held() >= place_.shape.source_symbols && held() > last_tried_;
}

void ReceivingBlock::count(std::uint32_t esi, bool comes) {
  std::size_t& in_memory = is_source(esi) ? source_in_memory_ : repair_in_memory_;
  comes ? ++in_memory : --in_memory;
}

void ReceivingBlock::note_sender(std::uint32_t from) {
  const auto place = std::lower_bound(senders_.begin(), senders_.end(), from);
  if (senders_.size() < kSendersMax && (place == senders_.end() || *place != from)) senders_.insert(place, from);
}

void ReceivingBlock::add(std::uint32_t esi, ByteView bytes, std::uint32_t from) {
  note_sender(from);
  count(esi, true);
  if (room_ && is_source(esi)) {
    std::copy(bytes.begin(), bytes.end(), room_.get() + esi * place_.shape.symbol_bytes);
    placed_.add(esi);
    return;
  }
  auto copy = std::make_unique_for_overwrite<std::uint8_t[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  symbols_.emplace(esi, std::move(copy));
}

void ReceivingBlock::drop_one() {
  // The last ones are repair symbols, if any is there. Those of jobs are no longer in memory.
  const auto last =
      std::find_if(symbols_.rbegin(), symbols_.rend(), [](const auto& each) { return each.second != nullptr; });
  if (room_ && !placed_.empty() && (last == symbols_.rend() || is_source(last->first))) {
    const std::uint32_t placed = placed_.runs().back().end - 1;
    count(placed, false);
    return placed_.remove(placed);
  }
  if (last == symbols_.rend()) return;
  count(last->first, false);
  symbols_.erase(std::next(last).base());
}

StoreJob ReceivingBlock::store() {
  StoreJob store{order_, place_, {}, nullptr, {}};
  store.symbols.reserve(source_in_memory_);
  for (auto at = symbols_.begin(); at != symbols_.end() && is_source(at->first);) {
    if (!at->second) {
      ++at;
      continue;
    }
    count(at->first, false);
    stored_.add(at->first);
    store.symbols.push_back({at->first, std::move(at->second)});
    at = symbols_.erase(at);
  }
  if (room_) {
    store.content = std::move(room_);
    store.placed.assign(placed_.runs().begin(), placed_.runs().end());
    source_in_memory_ -= placed_.count();
    stored_ = united(stored_, std::exchange(placed_, {}));
  }
  return store;
}

void ReceivingBlock::handle_not_stored(const StoreJob& job) {
  for (const HeldSymbol& symbol : job.symbols) stored_.remove(symbol.esi);
  for (const BlockSet::Run& run : job.placed) {
    for (std::uint32_t esi = run.first; esi < run.end; ++esi) stored_.remove(esi);
  }
}

DecodeJob ReceivingBlock::decode(std::uint64_t job) {
  DecodeJob decode{job,
                   place_,
                   {},
                   {stored_.runs().begin(), stored_.runs().end()},
                   std::move(room_),
                   {placed_.runs().begin(), placed_.runs().end()}};
  source_in_memory_ -= placed_.count();
  decode.held.reserve(symbols_.size());
  for (auto& [esi, bytes] : symbols_) {
    count(esi, false);
    decode.held.push_back({esi, std::move(bytes)});
  }
  last_tried_ = held();
  decode_job_ = job;
  is_decoding_ = true;
  return decode;
}

void ReceivingBlock::handle_not_decoded(DecodedBlock block) {
  is_decoding_ = false;
  for (HeldSymbol& symbol : block.job.held) {
    OwnedBytes& bytes = symbols_[symbol.esi];
    if (bytes || !symbol.bytes) continue;
    bytes = std::move(symbol.bytes);
    count(symbol.esi, true);
  }
  if (!placed_.empty()) room_ = std::move(block.job.content);
  source_in_memory_ += placed_.count();
  if (block.outcome == DecodedBlock::Outcome::unreadable) {
    stored_.clear();
    last_tried_ = 0;
  }
}

bool ReceivingBlock::shorten(const BlockPlace& place) {
  if (is_decoding_) return false;
  place_ = place;
  while (!placed_.empty() && placed_.runs().back().end > place.shape.source_symbols) {
    const std::uint32_t esi = placed_.runs().back().end - 1;
    const std::uint8_t* const at = room_.get() + esi * place.shape.symbol_bytes;
    auto copy = std::make_unique_for_overwrite<std::uint8_t[]>(place.shape.symbol_bytes);
    std::copy_n(at, place.shape.symbol_bytes, copy.get());
    symbols_.emplace(esi, std::move(copy));
    placed_.remove(esi);
  }
  source_in_memory_ = placed_.count();
  repair_in_memory_ = 0;
  for (const auto& [esi, bytes] : symbols_) count(esi, true);
  // What was stored beyond the end is no symbol of this block: nobody has sent it.
  while (!stored_.empty() && stored_.runs().back().end > place.shape.source_symbols) {
    stored_.remove(stored_.runs().back().end - 1);
  }
  return true;
}

}  // namespace spindle::bulk
