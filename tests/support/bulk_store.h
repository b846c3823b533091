// Runs the jobs of a receiver on the spot, with its content in memory.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "libclient/bulk/bulk_receiver.h"

namespace spindle::test {

/// Of blocks that were put together.
struct DecodingCounters {
  std::uint64_t blocks = 0;
  std::uint64_t symbols = 0;     // that they have
  std::uint64_t beyond = 0;      // and that they took beyond those:
  std::uint64_t beyond_max = 0;  // the most for any
};

class BulkStore {
 public:
  BulkStore(const codes::ErasureCode& code, const bulk::Hasher& hasher) : code_(code), hasher_(hasher) {}

  /// Until there is none. Gives how many there were.
  std::size_t run_all(bulk::Nanoseconds now, bulk::BulkReceiver& receiver) {
    std::size_t jobs = 0;
    for (; auto job = receiver.take_job(); ++jobs) run(now, receiver, std::move(*job));
    return jobs;
  }

  void run(bulk::Nanoseconds now, bulk::BulkReceiver& receiver, bulk::ReceiverJob job) {
    if (auto* store = std::get_if<bulk::StoreJob>(&job)) {
      bool good = true;
      ++stored_[store->place.block];
      for (const bulk::HeldSymbol& symbol : store->symbols) {
        const ByteView bytes(symbol.bytes.get(), store->place.bytes_of(symbol.esi, 1));
        good = write(store->place.start_of(symbol.esi), bytes) && good;
      }
      for (const bulk::BlockSet::Run& run : store->placed) {
        good = write(store->place.start_of(run.first), store->bytes_of(run)) && good;
        stored_symbols += run.end - run.first;
      }
      stored_symbols += store->symbols.size();
      receiver.handle_stored(now, std::move(*store), good);
    } else if (auto* decode = std::get_if<bulk::DecodeJob>(&job)) {
      std::size_t held = decode->held.size();
      for (const bulk::BlockSet::Run& run : decode->placed) held += run.end - run.first;
      bulk::DecodedBlock block = run_here(std::move(*decode));
      count(block, held);
      receiver.handle_decoded(now, std::move(block));
    } else if (auto* block = std::get_if<bulk::WriteJob>(&job)) {
      ++stored_[block->place.block];
      const bool good = write(block->place.start, {block->content.get(), block->place.bytes});
      receiver.handle_written(now, block->number, block->place.block, good);
    }
  }

  bulk::DecodedBlock run_here(bulk::DecodeJob job) {
    const auto read = [&](std::uint64_t start, std::span<std::uint8_t> to) {
      if (is_hollow) {
        std::fill(to.begin(), to.end(), std::uint8_t{0});
        return true;
      }
      if (reads_to_fail > 0 && reads_to_fail-- > 0) return false;
      if (is_broken || start + to.size() > content.size()) return false;
      std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(start), to.size(), to.begin());
      return true;
    };
    return bulk::run(std::move(job), read, code_, hasher_);
  }

  /// How often something of the block was written.
  std::uint64_t stored(std::uint32_t block) const {
    const auto found = stored_.find(block);
    return found == stored_.end() ? 0 : found->second;
  }

  std::vector<std::uint8_t> content;
  std::size_t stored_symbols = 0;
  DecodingCounters decoding;
  bool is_broken = false;            // nothing can be read, and what is written does not arrive
  bool is_hollow = false;            // nothing is kept, and all is zeros
  std::size_t capacity = SIZE_MAX;   // so many bytes fit
  std::uint32_t writes_to_fail = 0;  // of the next ones
  std::uint32_t reads_to_fail = 0;   // likewise, of what was stored
  std::uint64_t failed_writes = 0;

 private:
  void count(const bulk::DecodedBlock& block, std::size_t held) {
    const bulk::BlockPlace& place = block.job.place;
    if (block.outcome != bulk::DecodedBlock::Outcome::decoded) {
      failed_.insert(place.block);
      return;
    }
    std::uint64_t took = held;
    for (const bulk::BlockSet::Run& run : block.job.stored) took += run.end - run.first;
    // Where the first try succeeds, what came in the same moment as the last one that it took was not wanted by the
    // code.
    const std::uint64_t beyond = failed_.contains(place.block) ? took - place.shape.source_symbols : 0;
    ++decoding.blocks;
    decoding.symbols += place.shape.source_symbols;
    decoding.beyond += beyond;
    decoding.beyond_max = std::max(decoding.beyond_max, beyond);
  }
  bool write(std::uint64_t start, ByteView bytes) {
    const bool fails = is_broken || start + bytes.size() > capacity || writes_to_fail > 0;
    if (writes_to_fail > 0) --writes_to_fail;
    if (fails) {
      ++failed_writes;
      return false;
    }
    if (is_hollow) return true;
    if (content.size() < start + bytes.size()) content.resize(start + bytes.size());
    std::copy(bytes.begin(), bytes.end(), content.begin() + static_cast<std::ptrdiff_t>(start));
    return true;
  }

  const codes::ErasureCode& code_;
  const bulk::Hasher& hasher_;
  std::map<std::uint32_t, std::uint64_t> stored_;
  std::set<std::uint32_t> failed_;  // blocks that once took more symbols
};

}  // namespace spindle::test
