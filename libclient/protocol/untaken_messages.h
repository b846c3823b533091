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
  /// The next message of a client without independent flows.
  void sent(std::uint64_t ticket) {
    ++sent_;
    ++waiting_;
    if (runs_.empty() || !runs_.back().add(ticket)) runs_.push_back({ticket});
  }
  /// The next message of a flow.
  void sent(std::uint32_t handle, std::size_t bytes, std::uint64_t ticket) {
    lines_[handle].push_back({bytes, ticket, ++sent_});
  }
  /// All of the first ones have entered, so many.
  void entered(std::uint64_t first);
  /// So many more have entered, of a client without independent flows.
  void taken(std::uint64_t messages);
  /// Of a flow: so many bytes more have.
  void admitted(std::uint32_t handle, std::size_t bytes);

  /// The tickets of all but the last ones, of which `unsent` has the handle of each: those stay. In rising order, as
  /// those of tickets().
  std::vector<std::uint64_t> take_all_but(std::span<const std::uint32_t> unsent);
  std::vector<std::uint64_t> tickets() const;
  /// How many of the first ones, so many, are not known to have entered.
  std::uint64_t waiting_among(std::uint64_t first) const;

 private:
  /// Messages whose tickets are all the same, or rise by one. A client that sends as fast as it can has a million in
  /// the time until the daemon tells what it has taken: so they take no more memory than a few do.
  struct Run {
    std::uint64_t ticket = 0;  // of the first
    std::uint64_t step = 0;
    std::uint64_t count = 1;

    /// Whether the next message is one of them.
    bool add(std::uint64_t next);
    void remove(std::uint64_t messages);
  };
  struct Sent {
    std::size_t bytes = 0;
    std::uint64_t ticket = 0;
    std::uint64_t number = 0;  // among all, from 1
  };

  std::uint64_t sent_ = 0;
  std::deque<Run> runs_;
  std::uint64_t waiting_ = 0;                        // messages of `runs_`
  std::map<std::uint32_t, std::deque<Sent>> lines_;  // of flows
};

}  // namespace spindle::protocol
