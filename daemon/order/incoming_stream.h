// One origin's stream as a destination sees it.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/base/ring.h"
#include "daemon/order/message.h"

namespace spindled {

/// A body kept until it is stable, in one or two parts.
struct RetainedBody {
  std::uint64_t number = 0;
  Slice head;
  Slice tail;

  std::size_t size() const { return head.size() + tail.size(); }
};

/// An ordered message that waits for its place, with the fifo messages of its sender that must not overtake it.
struct PendingMessage {
  Delivery delivery;
  std::uint64_t seen = 0;  // how far its origin had been through the order when it sent it
  std::unique_ptr<std::vector<Delivery>> followers;

  /// Contents of all of them.
  std::size_t content_size() const;
};

/// Holds what has arrived of one origin's stream: bodies until they are stable, ordered messages until their place in
/// the order has come, the fragments of a message until it is complete. This daemon's own stream has one too, for what
/// it sends to itself; there nothing is retained, since OwnStream does.
class IncomingStream {
 public:
  /// The first message has a number behind `start`.
  explicit IncomingStream(std::uint64_t start = 0) : high_(start), reported_(start) {}

  /// The highest number received. What was received is a prefix of what the stream addressed to this daemon.
  std::uint64_t high() const { return high_; }

  /// Takes in the next body's head and content. Whether it completes a message, which `delivery`, a new one, then is. A
  /// fragment that follows no first one is dropped.
  bool accept(const BodyHead& head, Slice first, Slice rest, Delivery& delivery);
  /// The same of an ordered message, which waits for its place from then on.
  void accept_ordered(const BodyHead& head, Slice first, Slice rest);
  void retain(std::uint64_t number, const Slice& body);
  /// Where what is kept from `first` on has less than `bytes_max`, it is copied, side by side with what was before, and
  /// lets go of the slabs in which it came.
  void copy_retained(std::uint64_t first, std::size_t bytes_max, SlabPool& pool);
  /// Nothing up to `number` is addressed to this daemon and has not arrived.
  void advance_to(std::uint64_t number) { high_ = std::max(high_, number); }

  /// Where an ordered message up to `number` still waits, `delivery` joins the last of them, to be delivered right
  /// after it; otherwise it is left alone and the result is false.
  bool follow(std::uint64_t number, Delivery& delivery);

  Ring<PendingMessage>& ordered() { return ordered_; }
  const Ring<PendingMessage>& ordered() const { return ordered_; }
  /// The first of them is delivered, at its place in the order.
  PendingMessage pass_ordered() {
    ++ordered_passed_;
    PendingMessage first = ordered_.pop_front();
    ordered_bytes_ -= first.content_size();
    return first;
  }
  /// Contents of those that wait.
  std::size_t ordered_bytes() const { return ordered_bytes_; }
  /// How many were.
  std::uint64_t ordered_passed() const { return ordered_passed_; }
  const Ring<RetainedBody>& retained() const { return retained_; }
  std::size_t retained_bytes() const { return retained_bytes_; }

  /// Every destination has the messages up to `line`: they are no longer kept.
  void release(std::uint64_t line);

  // What the origin has yet to be told.
  bool has_news() const { return high_ != reported_; }
  std::size_t bytes_since_acknowledgement() const { return bytes_since_report_; }
  /// Messages that the origin has sent to others only since what was reported.
  std::uint64_t passed_by() const { return high_ - reported_ - messages_since_report_; }
  void reported() {
    reported_ = high_;
    messages_since_report_ = 0;
    bytes_since_report_ = 0;
  }

 private:
  std::uint64_t high_ = 0;
  Ring<RetainedBody> retained_;
  std::size_t retained_bytes_ = 0;
  SlabRef copies_;          // the slab that copies are put into, while anything is kept
  std::size_t copied_ = 0;  // bytes of it in use
  Ring<PendingMessage> ordered_;
  std::uint64_t ordered_passed_ = 0;
  std::size_t ordered_bytes_ = 0;
  std::optional<Delivery> assembling_;
  std::uint64_t reported_ = 0;
  std::uint64_t messages_since_report_ = 0;
  std::size_t bytes_since_report_ = 0;
};

}  // namespace spindled
