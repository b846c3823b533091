// Streams and their order: gives every message of this daemon its place, and hands up the messages of all daemons at
// theirs.
//
// A newcomer reads this class first. On its way out a message goes through `originate`: it is numbered and retained
// (OwnStream), multicast, and, where its service is ordered, noted for the sequencer. On its way in it passes
// `data_received`: what needs no order is delivered at once (IncomingStream), what does waits until the order reaches
// it (OrderLog). At the end of a turn `flush` goes through the order as far as possible. What is delivered goes
// straight to whoever handles its class, and waits in HeldUp only while the layer above is busy.
//
// The rest is done by a class for each subject, and these share OrderState. Sequencing is what this daemon and the
// sequencer say to each other. Stability is who has received what, and how long messages are kept. When a view ends,
// Recovery brings what some members have and others lack, and ViewClosing delivers what is left.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "daemon/base/output_queue.h"
#include "daemon/order/order_state.h"
#include "daemon/order/recovery.h"
#include "daemon/order/sequencing.h"
#include "daemon/order/stability.h"
#include "daemon/view/view_participants.h"

namespace spindled {

class Order final : public ViewedStreams {
 public:
  Order(Context& context, StreamTransport& transport, OrderedMessages& above, OrderObserver* observer = nullptr);

  // For the layers above.

  /// Before anything is delivered: whom messages of that class go to.
  void handle(MessageClass message_class, MessageHandler& handler) { state_.handler_of(message_class) = &handler; }
  /// Whether what reaches its place now has to wait for another turn.
  bool is_held_up() const { return state_.held_up.must_wait(); }
  /// Whether, in the last turn, an ordered message that had reached its place had to.
  bool is_lagging() const { return is_lagging_; }
  /// Whether the view is open: false from the freeze to the next view, when nothing may be originated.
  bool is_open() const { return state_.is_open(); }
  /// Bytes of this daemon's own messages that some destination may lack.
  std::size_t unstable_bytes() const { return state_.own.retained_bytes(); }
  /// Bytes kept of all streams until they are stable.
  std::size_t retained_bytes() const;
  /// The same of one other daemon's stream, the one of which the most is kept.
  std::size_t foreign_bytes_max() const;
  /// Contents of ordered messages that wait for their place, and of what may not come before them.
  std::size_t unordered_bytes() const;
  /// Of this daemon's own messages. Those that are for no other daemon are stable at once, and wait all the same.
  std::size_t own_unordered_bytes() const;
  /// Contents of messages that have reached their place and wait for the layer above.
  std::size_t held_up_bytes() const { return state_.held_up.bytes(); }
  /// What recovery has brought, until it counts as received.
  std::size_t pushed_bytes() const;

  /// Sends a message in the view, which is open. It is delivered here too where `destinations` says so. Messages of
  /// several fragments are stamped as one: all of them are of this view, or none.
  void originate(Time now, const OutgoingMessage& message);
  /// Tells the sequencer, at the end of the turn, how far this daemon has been through the order.
  void report_progress() { sequencing_.want_progress(); }

  /// The end of a turn: goes on with what was held up, goes through the order as far as possible, and tells the others
  /// what they need to know.
  void flush(Time now);
  void handle_time(Time now);
  Time next_deadline() const { return stability_.next_deadline(); }

  // ViewedStreams
  FrozenState freeze(Time now) override;
  std::vector<PushOut> plan_pushes(const Commit& commit, MemberIndex self) override;
  bool accept_push(Slice body) override;
  void recovered(Time now) override;
  void install(Time now, const View& view, const Transition& transition) override;

  // Frames of other members.
  void data_received(Time now, Slice body);
  void acknowledgement_received(Time now, const Acknowledgement& acknowledgement);
  void stable_received(Time now, const Stable& stable);
  void ready_received(Time now, const Ready& ready);

  const View& view() const { return state_.view; }
  /// Counts the views installed here.
  std::uint64_t epoch() const { return state_.epoch; }
  const OrderLog& log() const { return state_.order; }

 private:
  void handle_frames();
  /// A short frame that a member sends of itself: parsed by `Read`, and taken by `take` where the view is open.
  template <auto Read, typename Take>
  void handle_short(LinkFrame type, Take take);

  // On the way out.
  std::uint64_t rank_behind(const OutgoingMessage& message) const;
  void send_fragment(Time now, const BodyHead& head, const MemberSet& destinations, ByteView envelope,
                     const Slice& chunk);

  // On the way in.
  void take_content(Time now, const BodyHead& head, Slice first, Slice rest);

  // Through the order.
  void go_through_order(Time now);
  /// What the sequencer, or, from the sequencer, everybody has to know; false where there is nothing.
  bool send_order_messages(Time now);

  // At the end of a view.
  /// What recovery has brought of these streams is received.
  void take_retransmitted(Time now, Recovery::Streams streams);

  using Phase = OrderState::Phase;

  OrderState state_;
  Stability stability_;
  Sequencing sequencing_;
  std::optional<Recovery> recovery_;  // from the latest commit to the end of the view
  bool is_lagging_ = false;
};

}  // namespace spindled
