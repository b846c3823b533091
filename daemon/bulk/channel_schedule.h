// In which order the channels of a connection send.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "daemon/bulk/relayed_channel.h"

namespace spindled {

/// Deficit round robin over channels that have something to send (Shreedhar and Varghese, 1996), by their weights.
class ChannelSchedule {
 public:
  /// What a channel of weight 1 may send in a round, in bytes.
  static constexpr std::int64_t kQuantum = 4 << 10;

  bool empty() const { return channels_.empty(); }
  /// It has something to send, or may have. It is removed before it is gone.
  void add(RelayedChannel& channel) {
    if (!contains(channel)) channels_.push_back({&channel, 0});
  }
  /// Whose turn it is; there is one.
  RelayedChannel& front() {
    while (channels_.front().deficit <= 0) {
      channels_.front().deficit += kQuantum * channels_.front().channel->weight;
      if (channels_.front().deficit <= 0) rotate();
    }
    return *channels_.front().channel;
  }
  /// That one has sent so much.
  void charge(std::size_t bytes) {
    channels_.front().deficit -= static_cast<std::int64_t>(bytes);
    if (channels_.front().deficit <= 0) rotate();
  }
  /// That one has nothing to send at present.
  void drop_front() { channels_.pop_front(); }
  void remove(const RelayedChannel& channel) {
    std::erase_if(channels_, [&](const Waiting& each) { return each.channel == &channel; });
  }

 private:
  struct Waiting {
    RelayedChannel* channel = nullptr;
    std::int64_t deficit = 0;
  };
  bool contains(const RelayedChannel& channel) const {
    return std::any_of(channels_.begin(), channels_.end(),
                       [&](const Waiting& each) { return each.channel == &channel; });
  }
  void rotate() {
    channels_.push_back(channels_.front());
    channels_.pop_front();
  }

  std::deque<Waiting> channels_;
};

}  // namespace spindled
