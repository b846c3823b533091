// In which order the channels of a connection send.
#pragma once

#include <cstdint>
#include <deque>
#include <set>

#include "libclient/bulk/channel_id.h"

namespace spindled {

/// Deficit round robin over channels that have something to send (Shreedhar and Varghese, 1996), by their weights.
class ChannelSchedule {
 public:
  using BulkChannelId = spindle::bulk::BulkChannelId;
  /// What a channel of weight 1 may send in a round, in bytes.
  static constexpr std::int64_t kQuantum = 4 << 10;

  bool empty() const { return channels_.empty(); }
  /// It has something to send, or may have.
  void add(const BulkChannelId& id, std::uint32_t weight) {
    if (waiting_.insert(id).second) channels_.push_back({id, weight, 0});
  }
  /// Whose turn it is; there is one.
  const BulkChannelId& front() {
    while (channels_.front().deficit <= 0) {
      channels_.front().deficit += kQuantum * channels_.front().weight;
      if (channels_.front().deficit <= 0) rotate();
    }
    return channels_.front().id;
  }
  /// That one has sent so much.
  void charge(std::size_t bytes) {
    channels_.front().deficit -= static_cast<std::int64_t>(bytes);
    if (channels_.front().deficit <= 0) rotate();
  }
  /// That one has nothing to send at present.
  void drop_front() {
    waiting_.erase(channels_.front().id);
    channels_.pop_front();
  }
  void remove(const BulkChannelId& id) {
    if (waiting_.erase(id) == 0) return;
    std::erase_if(channels_, [&](const Waiting& each) { return each.id == id; });
  }

 private:
  struct Waiting {
    BulkChannelId id;
    std::uint32_t weight = 1;
    std::int64_t deficit = 0;
  };
  void rotate() {
    channels_.push_back(std::move(channels_.front()));
    channels_.pop_front();
  }

  std::deque<Waiting> channels_;
  std::set<BulkChannelId> waiting_;  // those in it
};

}  // namespace spindled
