// Which messages of a client are not known to have entered the network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

namespace spindle::protocol {

/// Messages enter in the order sent, or, with independent flows, those under one handle do. Each has a ticket, a number
/// of the caller's choice. Bytes are those of flow_bytes().
class UntakenMessages {
 public:
  /// The next message. `handle`: of its flow; 0 where flows are not independent.
  void sent(std::uint32_t handle, std::size_t bytes, std::uint64_t ticket) {
    lines_[handle].push_back({bytes, ticket, ++sent_});
  }
  /// All of the first ones have entered, so many.
  void entered(std::uint64_t first);
  /// So many more have entered, of one line.
  void taken(std::uint64_t messages);
  /// Of a flow: so many bytes more have.
  void admitted(std::uint32_t handle, std::size_t bytes);

  /// The tickets of all but the last ones, of which `unsent` has the handle of each: those stay.
  std::vector<std::uint64_t> take_all_but(std::span<const std::uint32_t> unsent);
  /// In rising order.
  std::vector<std::uint64_t> tickets() const;

 private:
  struct Sent {
    std::size_t bytes = 0;
    std::uint64_t ticket = 0;
    std::uint64_t number = 0;  // among all, from 1
  };
  std::uint64_t sent_ = 0;
  std::map<std::uint32_t, std::deque<Sent>> lines_;
};

}  // namespace spindle::protocol
