// Messages of clients that come before the group table of their view is complete.
#pragma once

#include "daemon/base/context.h"
#include "daemon/base/ring.h"
#include "daemon/order/message.h"

namespace spindled {

/// Unordered messages of daemons whose table was complete before this one's. They are delivered as soon as it is known
/// here who is in which group.
///
/// What waits is bounded: from `kBytesMax` on unreliable messages are dropped, and the others run into the windows of
/// their senders, since nothing is reported as received then (`OrderedMessages::is_behind`).
class EarlyMessages {
 public:
  static constexpr std::size_t kBytesMax = 1u << 20;

  explicit EarlyMessages(Context& context) : context_(context) {}

  bool empty() const { return messages_.empty(); }
  /// Contents of all.
  std::size_t bytes() const { return bytes_; }
  bool is_full() const { return bytes_ >= kBytesMax; }

  void add(const Delivery& message) {
    if (message.service == Service::unreliable && is_full()) {
      context_.counters.add(Counter::data_dropped_unreliable);
      return;
    }
    bytes_ += message.content_size();
    messages_.push_back(message);
  }
  Delivery take_first() {
    Delivery first = messages_.pop_front();
    bytes_ -= first.content_size();
    return first;
  }
  void clear() {
    messages_.clear();
    bytes_ = 0;
  }

 private:
  Context& context_;
  Ring<Delivery, 64> messages_;
  std::size_t bytes_ = 0;
};

}  // namespace spindled
