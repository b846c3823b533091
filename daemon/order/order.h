// Streams and their order: gives every message of this daemon its place, and hands up the messages of all daemons at
// theirs.
//
// A newcomer reads this class first. On its way out a message goes through `originate`: it is numbered and retained
// (OwnStream), multicast, and, where its service is ordered, reported to the sequencer at the end of the turn
// (RunReport). On its way in it passes `data_received`: what needs no order is delivered at once (IncomingStream), what
// does waits until the sequencer's records (OrderRecord, OrderLog) reach it. Closing a view is Recovery's business.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/base/output_queue.h"
#include "daemon/base/timers.h"
#include "daemon/order/incoming_stream.h"
#include "daemon/order/message.h"
#include "daemon/order/order_log.h"
#include "daemon/order/own_stream.h"
#include "daemon/order/ready_line.h"
#include "daemon/order/recovery.h"
#include "daemon/order/sequencer.h"
#include "daemon/overlay/stream_transport.h"
#include "daemon/view/view_participants.h"

namespace spindled {

class Order final : public ViewedStreams {
 public:
  Order(Context& context, StreamTransport& transport, OrderedMessages& above);

  // For the layers above.

  /// Whether the view is open: false from the freeze to the next view, when nothing may be originated.
  bool is_open() const { return state_ == State::open; }
  /// Bytes of this daemon's own messages that some destination may lack.
  std::size_t unstable_bytes() const { return own_.retained_bytes(); }
  /// Bytes kept of all streams until they are stable.
  std::size_t retained_bytes() const;
  /// The same of one other daemon's stream, the one of which the most is kept.
  std::size_t foreign_bytes_max() const;
  /// Contents of ordered messages that wait for their place.
  std::size_t unordered_bytes() const;
  /// What recovery has brought, until it counts as received.
  std::size_t pushed_bytes() const;

  /// Sends a message in the view, which is open. It is delivered here too where `destinations` says so. Messages of
  /// several fragments are stamped as one: all of them are of this view, or none.
  void originate(Time now, const OutgoingMessage& message);
  /// Tells the sequencer, at the end of the turn, how far this daemon has been through the order.
  void report_progress() { progress_wanted_ = true; }

  /// The end of a turn: goes through the order as far as possible and tells the others what they need to know.
  void flush(Time now);
  void handle_time(Time now);
  Time next_deadline() const { return timers_.next(); }

  // ViewedStreams
  FrozenState freeze(Time now) override;
  std::vector<PushOut> plan_pushes(const Commit& commit, MemberIndex self) override;
  bool accept_push(Slice body) override;
  void recovered(Time now) override;
  void install(Time now, const View& view, const Transition& transition) override;

  // Frames of other members.
  void data_received(Time now, Slice body);
  void report_received(Time now, const Report& report);
  void stable_received(Time now, const Stable& stable);
  void ready_received(Time now, const Ready& ready);

  const View& view() const { return view_; }
  /// Counts the views installed here.
  std::uint64_t epoch() const { return epoch_; }
  const OrderLog& log() const { return order_; }

 private:
  enum class State : std::uint8_t { closed, open, frozen };
  enum class Timer : std::uint8_t { report, stable, count_ };
  /// Which origins are told: those of which much has arrived since the last report, or anything.
  enum class Reports : std::uint8_t { much, news };

  void handle_frames();
  /// A frame that a member sends of itself: parsed by `Read`, and taken by `take` where the view is open.
  template <auto Read, typename Take>
  void handle(LinkFrame type, Take take);
  template <auto Write, typename Frame>
  void send(LinkFrame type, const MemberSet& to, const Frame& frame);

  // On the way out.
  std::uint64_t rank_behind(const OutgoingMessage& message) const;
  void send_fragment(Time now, const BodyHead& head, const MemberSet& destinations, ByteView envelope,
                     const Slice& chunk);

  // On the way in.
  void take_content(Time now, const BodyHead& head, Slice first, Slice rest);
  void take_order_message(const Delivery& delivery);

  // Through the order.
  void go_through_order(Time now);
  /// The first message of the order, which has arrived, and its place.
  PendingMessage take_front();
  void deliver_followers(Time now, const PendingMessage& pending);
  std::uint64_t ready_line();

  // At the end of a turn.
  bool send_runs(Time now);
  bool send_records(Time now);
  void send_order_message(Time now, const MemberSet& to, const std::vector<std::uint8_t>& content);
  void send_ready_line();
  void send_reports(Reports which);
  void announce_stable();
  /// Bytes of this daemon's stream, stable and not told to be, below which it can be told late.
  std::size_t little_news() const;

  // At the end of a view (order_views.cpp).
  void take_pushed(Time now, bool from_set);
  void close_view(Time now, const TransitionalSet& set, const Transition& transition);
  void close_run(Time now, const TransitionalSet& set, const Transition& transition, bool& hole);
  void close_unordered(Time now, const TransitionalSet& set, bool hole);
  void pass_run(Time now, std::uint64_t count, bool delivered);
  void deliver_pending(Time now, const PendingMessage& pending);
  void drop_pending(Time now, const PendingMessage& pending);
  void open_view(const View& view);

  Context& context_;
  Log log_;
  StreamTransport& transport_;
  OrderedMessages& above_;

  State state_ = State::closed;
  View view_;
  std::uint64_t epoch_ = 0;
  MemberSet everybody_;
  MemberSet sequencer_set_;

  OwnStream own_;
  std::vector<IncomingStream> incoming_;  // per member, this daemon included
  OrderLog order_;
  ReadyLine ready_line_;
  std::optional<Sequencer> sequencer_;  // where this daemon is the sequencer
  std::vector<Run> unreported_;         // own ordered messages that the sequencer has yet to hear of
  bool progress_wanted_ = false;
  bool reports_due_ = false;
  std::uint64_t horizon_ = 0;
  std::uint64_t handed_up_horizon_ = 0;
  std::uint64_t safe_line_ = 0;
  std::uint64_t told_ready_ = 0;

  PushedBodies pushed_;
  std::optional<TransitionalSet> recovering_;  // whom the latest commit brings along
  Timers<Timer> timers_;
};

}  // namespace spindled
