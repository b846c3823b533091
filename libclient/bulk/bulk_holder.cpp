#include "libclient/bulk/bulk_holder.h"

#include <algorithm>
#include <utility>

#include "libclient/bulk/crc32c.h"

namespace spindle::bulk {

namespace {

constexpr std::uint64_t kCreditMax = std::uint64_t{1} << 40;
/// Runs and begun blocks of all needs that are kept.
constexpr std::size_t kNeedEntriesMax = 256u << 10;

}  // namespace

BulkHolder::BulkHolder(Kind kind, const ContentLayout& layout, const RepairIds& repair_ids, const HolderLimits& limits)
    : kind_(kind),
      layout_(layout),
      repair_ids_(repair_ids),
      cache_(limits.blocks_in_memory),
      repair_symbol_(layout.symbol_bytes) {}

void BulkHolder::handle_available(const BlockSet& blocks) { available_ = blocks; }

bool BulkHolder::handle_seal(std::uint64_t size) {
  const std::optional<ContentLayout> sealed = layout_.sealed(size);
  if (!sealed) return false;
  layout_ = *sealed;
  return true;
}

void BulkHolder::handle_attached() {
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
  if (stream == kLiveStream) return;
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
  if (job) job->wants_hash = kind_ == Kind::source && index_.find(job->place.block) == nullptr;
  return job;
}

void BulkHolder::handle_loaded(LoadedBlock block) {
  const std::uint32_t number = block.job.place.block;
  if (block.good && block.job.wants_hash) index_.set(number, block.hash);
  if (!cache_.handle_loaded(block) || block.good) return;
  ++counters_.unreadable;
  available_.remove(number);
}

std::optional<IndexPart> BulkHolder::take_index() {
  // Blocks are loaded in order, most of them: the first one that was not told is near the end of a run.
  const std::uint32_t first = index_.known().first_present(told_.first_missing(0));
  for (std::uint32_t block = first; block < kBlocksMax; block = index_.known().first_present(block)) {
    const std::uint32_t missing = told_.first_missing(block);
    if (missing != block) {
      block = missing;
      continue;
    }
    const std::uint32_t end = std::min(index_.known().first_missing(block), told_.first_present(block));
    const std::uint32_t count = std::min<std::uint32_t>(end - block, kHashesPerIndexMax);
    told_.add_run(block, block + count);
    return IndexPart{0, block, index_.hashes_from(block, count)};
  }
  return std::nullopt;
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
    ++counters_.source;
  } else {
    symbol.esi = repair_ids_.next(wish->block, layout_.symbols_of(wish->block));
    entry->encoder->encode(symbol.esi, repair_symbol_.data());
    symbol.bytes = repair_symbol_;
    ++counters_.repair;
  }
  symbol.crc = crc32c(symbol.bytes);
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
  if (is_middle && wish.block + 1 < layout_.blocks() && available_.contains(wish.block + 1)) {
    prefetch(Wish{wish.block + 1, 0});
  }
}

void BulkHolder::note_sent_live(const Wish& wish) {
  --live_.credit;
  if (++live_.esi < layout_.symbols_of(wish.block)) return;
  ++live_.block;
  live_.esi = 0;
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
