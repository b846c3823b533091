// What a daemon keeps of a channel that it relays.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "daemon/base/check.h"
#include "daemon/base/driver.h"
#include "daemon/base/slab.h"

namespace spindled {

/// A symbol on its way through a daemon.
struct RelayedSymbol {
  std::uint8_t generation = 0;  // of the plan by which it travels
  std::uint32_t block = 0;
  std::uint32_t esi = 0;
  std::uint32_t crc = 0;  // CRC-32C of the bytes, as their maker gave it
  Slice bytes;
  std::optional<ConnectionId> peer{};     // who gave it, where it did not come along the tree
  std::optional<std::uint64_t> former{};  // the place in the ring at which the same symbol has come before
};

/// The latest symbols, each at a place that counts from 0 (ROMA, section IV-C: the circular queue of an intermediate
/// host). What is pushed beyond the capacity overwrites the oldest, whoever has not taken it.
class SymbolRing {
 public:
  /// In symbols, at least one.
  explicit SymbolRing(std::size_t capacity) { set_capacity(capacity); }

  void set_capacity(std::size_t capacity) {
    SPINDLE_CHECK(capacity > 0);
    capacity_ = capacity;
    while (symbols_.size() > capacity_) drop_oldest();
  }
  std::size_t capacity() const { return capacity_; }

  void push(RelayedSymbol symbol) {
    if (symbols_.size() == capacity_) drop_oldest();
    bytes_ += symbol.bytes.size();
    symbols_.push_back(std::move(symbol));
  }
  /// Forgets those before `place`, which nobody takes any more.
  void forget_before(std::uint64_t place) {
    while (begin_ < place && !symbols_.empty()) drop_oldest();
  }

  /// The place of the oldest that is there, and the one behind the latest.
  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return begin_ + symbols_.size(); }
  /// Of a place from `begin` to below `end`.
  const RelayedSymbol& at(std::uint64_t place) const {
    SPINDLE_CHECK(place >= begin_ && place < end());
    return symbols_[place - begin_];
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void drop_oldest() {
    bytes_ -= symbols_.front().bytes.size();
    symbols_.pop_front();
    ++begin_;
  }

  std::size_t capacity_ = 1;
  std::uint64_t begin_ = 0;
  std::size_t bytes_ = 0;
  std::deque<RelayedSymbol> symbols_;
};

}  // namespace spindled
