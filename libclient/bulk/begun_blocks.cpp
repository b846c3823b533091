#include "libclient/bulk/begun_blocks.h"

#include <algorithm>
#include <utility>

namespace spindle::bulk {

namespace {

/// Symbols that there is room for beside those of a block: as many as a block has do not always suffice to decode it,
/// and RaptorQ fails with four more once in 10^10 times. Without that room such a block would be sent symbols for ever.
constexpr std::size_t kSymbolsBeside = 4;

std::size_t bytes_of(const StoreJob& job) {
  std::size_t symbols = job.symbols.size();
  for (const BlockSet::Run& run : job.placed) symbols += run.end - run.first;
  return symbols * job.place.shape.symbol_bytes;
}

}  // namespace

BegunBlocks::BegunBlocks(const SymbolLimits& limits, const ContentLayout& layout, std::shared_ptr<BlockMemory> memory)
    : has_store_(limits.has_store),
      symbol_bytes_(layout.symbol_bytes),
      block_bytes_(layout.block_bytes),
      memory_of_blocks_(std::move(memory)) {
  const std::size_t least = layout.block_bytes + kSymbolsBeside * layout.symbol_bytes;
  repair_.limit_bytes = std::max<std::size_t>(limits.repair_bytes, least);
  source_.limit_bytes =
      std::max<std::size_t>(limits.source_bytes, has_store_ ? layout.symbol_bytes : layout.block_bytes);
  const std::size_t blocks = source_.limit_bytes / layout.block_bytes;
  rooms_max_ = blocks == 0 ? 0 : blocks + 1;
}

const ReceivingBlock* BegunBlocks::find(std::uint32_t block) const {
  const auto found = blocks_.find(block);
  return found == blocks_.end() ? nullptr : &found->second;
}

void BegunBlocks::count(const ReceivingBlock& block) {
  source_.symbols += block.source_in_memory();
  repair_.symbols += block.repair_in_memory();
  rooms_ += block.has_room() ? 1 : 0;
  if (block.source_in_memory() != 0) source_.blocks.emplace(block.order(), block.place().block);
  if (block.repair_in_memory() != 0) repair_.blocks.emplace(block.order(), block.place().block);
}

void BegunBlocks::uncount(const ReceivingBlock& block) {
  source_.symbols -= block.source_in_memory();
  repair_.symbols -= block.repair_in_memory();
  rooms_ -= block.has_room() ? 1 : 0;
  if (block.source_in_memory() != 0) source_.blocks.erase(block.order());
  if (block.repair_in_memory() != 0) repair_.blocks.erase(block.order());
}

BegunBlocks::Taken BegunBlocks::add(const BlockPlace& place, const Symbol& symbol, std::uint32_t from) {
  const ReceivingBlock* begun = find(place.block);
  if (begun != nullptr && begun->holds(symbol.esi)) return Taken::duplicate;
  Memory& memory = symbol.esi < place.shape.source_symbols ? source_ : repair_;
  if (!make_room(memory, begun != nullptr ? begun->order() : next_order_)) return Taken::no_room;
  if (begun == nullptr) blocks_.try_emplace(place.block, place, next_order_++);
  change(place.block, [&](ReceivingBlock& block) {
    if (block.held() == 0 && block.is_source(symbol.esi) && rooms_ < rooms_max_) {
      block.give_room(take_block(memory_of_blocks_, block_bytes_));
    }
    block.add(symbol.esi, symbol.bytes, from);
    return true;
  });
  return Taken::useful;
}

bool BegunBlocks::make_room(Memory& memory, std::uint64_t order) {
  while ((memory.symbols + 1) * symbol_bytes_ > memory.limit_bytes) {
    const bool made = &memory == &source_ && has_store_ ? store_oldest(order) : give_up_newest(memory, order);
    if (!made) return false;
  }
  return true;
}

bool BegunBlocks::store_oldest(std::uint64_t but) {
  // As much may be on its way as may be kept.
  if (source_.blocks.empty() || storing_bytes_ >= source_.limit_bytes) return false;
  auto oldest = source_.blocks.begin();
  if (oldest->first == but && source_.blocks.size() > 1) ++oldest;
  StoreJob job = change(oldest->second, [](ReceivingBlock& block) { return block.store(); });
  storing_bytes_ += bytes_of(job);
  ++storing_[job.place.block];
  to_store_.push_back(std::move(job));
  return true;
}

std::uint64_t BegunBlocks::room() const {
  if (!has_store_) return UINT64_MAX;
  const std::size_t used = source_.symbols * symbol_bytes_;
  const auto left = [this](std::size_t bytes) { return source_.limit_bytes - std::min(source_.limit_bytes, bytes); };
  return (left(used) + left(storing_bytes_)) / symbol_bytes_;
}

bool BegunBlocks::give_up_newest(Memory& memory, std::uint64_t order) {
  if (memory.blocks.empty() || memory.blocks.rbegin()->first <= order) return false;
  const std::uint32_t newest = memory.blocks.rbegin()->second;
  ++given_up_;
  change(newest, [](ReceivingBlock& block) {
    block.drop_one();
    return true;
  });
  return true;
}

void BegunBlocks::erase(std::uint32_t block) {
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return;
  uncount(found->second);
  blocks_.erase(found);
}

DecodeJob BegunBlocks::decode(std::uint32_t block, std::uint64_t number) {
  DecodeJob job = change(block, [&](ReceivingBlock& begun) { return begun.decode(number); });
  if (!job.content) job.content = take_block(memory_of_blocks_, block_bytes_);
  return job;
}

std::optional<StoreJob> BegunBlocks::take_store() {
  if (to_store_.empty()) return std::nullopt;
  StoreJob store = std::move(to_store_.front());
  to_store_.pop_front();
  return store;
}

void BegunBlocks::handle_stored(const StoreJob& job, bool good) {
  storing_bytes_ -= std::min(storing_bytes_, bytes_of(job));
  const auto storing = storing_.find(job.place.block);
  if (storing != storing_.end() && --storing->second == 0) storing_.erase(storing);
  if (good) return;
  // The block may have begun anew meanwhile.
  const ReceivingBlock* block = find(job.place.block);
  if (block == nullptr || block->order() != job.order) return;
  change(job.place.block, [&](ReceivingBlock& stored) {
    stored.handle_not_stored(job);
    return true;
  });
}

}  // namespace spindle::bulk
