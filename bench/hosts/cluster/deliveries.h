// What a receiver makes of the messages that it gets: it counts them, and proves that none is missing or out of place.
#pragma once

#include <cstdint>
#include <cstring>
#include <future>
#include <span>
#include <vector>

namespace spindle::bench {

/// At the front of every payload, in the machine's own byte order.
struct Stamp {
  std::int64_t intended_ns = 0;  // when it was to be sent
  std::uint32_t sequence = 0;    // of its sender, from 0
  std::uint16_t sender = 0;      // index
  std::uint16_t last = 0;        // 1 for the sender's last message
};
static_assert(sizeof(Stamp) == 16);

inline Stamp read_stamp(std::span<const std::byte> payload) {
  Stamp stamp;
  std::memcpy(&stamp, payload.data(), sizeof stamp);
  return stamp;
}

/// Every sender's messages have to arrive, whole and in the order sent; anything else ends the process.
class Deliveries {
 public:
  Deliveries(std::size_t senders, std::size_t size) : size_(size), next_(senders, 0) {}

  Stamp take(std::span<const std::byte> payload);

  std::uint64_t count() const { return count_; }
  /// A hash over all messages in the order of their arrival.
  std::uint64_t digest() const { return digest_; }
  /// Returns when the last message of every sender has come.
  void wait_for_all() { complete_.get_future().wait(); }

 private:
  std::size_t size_;
  std::vector<std::uint32_t> next_;  // sequence number, by sender
  std::size_t finished_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t digest_ = 0;
  std::promise<void> complete_;
};

}  // namespace spindle::bench
