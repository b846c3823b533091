// Runs the jobs of a receiver on the spot, with its content in memory.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "libclient/bulk/bulk_receiver.h"

namespace spindle::test {

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
      for (const bulk::HeldSymbol& symbol : store->symbols) {
        write(store->place.start_of(symbol.esi), {symbol.bytes.get(), store->place.bytes_of(symbol.esi, 1)});
      }
      stored_symbols += store->symbols.size();
      receiver.handle_stored(now, std::move(*store), !is_broken);
    } else if (auto* decode = std::get_if<bulk::DecodeJob>(&job)) {
      receiver.handle_decoded(now, run_here(std::move(*decode)));
    } else if (auto* block = std::get_if<bulk::WriteJob>(&job)) {
      write(block->place.start, {block->content.get(), block->place.bytes});
      receiver.handle_written(now, block->number, block->place.block, !is_broken);
    }
  }

  bulk::DecodedBlock run_here(bulk::DecodeJob job) {
    const auto read = [&](std::uint64_t start, std::span<std::uint8_t> to) {
      if (is_broken || start + to.size() > content.size()) return false;
      std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(start), to.size(), to.begin());
      return true;
    };
    return bulk::run(std::move(job), read, code_, hasher_);
  }

  std::vector<std::uint8_t> content;
  std::size_t stored_symbols = 0;
  bool is_broken = false;  // nothing can be read, and what is written does not arrive

 private:
  void write(std::uint64_t start, ByteView bytes) {
    if (is_broken) return;
    if (content.size() < start + bytes.size()) content.resize(start + bytes.size());
    std::copy(bytes.begin(), bytes.end(), content.begin() + static_cast<std::ptrdiff_t>(start));
  }

  const codes::ErasureCode& code_;
  const bulk::Hasher& hasher_;
};

}  // namespace spindle::test
