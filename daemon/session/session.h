// One client's connection.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/admission/membership_rate.h"
#include "daemon/base/context.h"
#include "daemon/base/driver.h"
#include "daemon/base/input_buffer.h"
#include "daemon/group/groups.h"
#include "daemon/session/destination_table.h"
#include "daemon/session/memory_budget.h"
#include "daemon/session/outgoing_flows.h"
#include "daemon/session/queue_watch.h"
#include "daemon/session/session_queue.h"
#include "libclient/protocol/client_frames.h"

namespace spindled {

class Session;
struct FlowSnapshot;

/// What a client has sent and got, since it connected.
struct SessionTraffic {
  std::uint64_t messages_in = 0, messages_out = 0;
  std::uint64_t bytes_in = 0, bytes_out = 0;  // of all frames
};

/// What the table of sessions notes of each.
struct SessionMarks {
  bool dirty = false;    // has something to write in this turn
  bool blocked = false;  // the last write was short
  bool listed = false;   // among those that are tried again
  bool lost = false;     // the connection is gone; the session goes at the end of the turn
  bool reading = true;
  bool served = false;          // had messages enter when those that wait were tried last
  bool refused = false;         // it was never taken in
  bool untold = false;          // among those that are to be told what has entered
  bool view_too_large = false;  // no client takes the view that it should have got
  SessionMemory counted;        // in what all sessions hold
  // At how many ticks in a row it was found to have the same thing unfinished, since that time.
  Time unfinished_since = kNever;
  int unfinished_ticks = 0;
};

/// What a session asks of the table of sessions that it is in.
class SessionHost {
 public:
  virtual ~SessionHost() = default;
  /// Registers the name that the client wishes, or one that is free where it wishes none.
  virtual Result<std::string> take_name(Session& session, std::string_view wish) = 0;
  /// As Admission::may_enter.
  virtual bool may_enter(Time now, Flow& flow, DestinationSet& to, std::size_t bytes) = 0;
  /// As Admission::is_congested and admit_part.
  virtual bool is_congested(Flow& flow, DestinationSet& to) = 0;
  virtual std::size_t admit_part(Time now, Flow& flow, DestinationSet& to, std::size_t part) = 0;
  /// As Admission::membership_waits_until, and what is to be paid.
  virtual std::optional<Time> membership_waits_until(Time now, MembershipBudget& budget) = 0;
  virtual void pay_for_join(MembershipBudget& budget, const std::string& group) = 0;
  virtual void pay_for_leave(MembershipBudget& budget, const std::string& group) = 0;
  virtual FlowSnapshot flow_state(Time now, const Flow& flow, DestinationSet& to) = 0;
  virtual Groups& groups() = 0;

  /// Whether the memory for clients is nearly used up, so that no large message may begin.
  bool is_memory_short() const { return memory_short_; }

 protected:
  bool memory_short_ = false;
};

/// A client's message of which some frames are there, or several that are complete.
struct IncomingMessage {
  std::uint32_t handle = 0;  // of its destinations
  ClientSend message;
  std::size_t received = 0;  // bytes of payload
};

/// Parses what a client sends, in order, and stops at a message or request that may not enter yet; holds what the
/// client has yet to read. Everything that can be wrong with a frame closes the session with a reason.
///
/// A message waits until the joins and leaves that the client asked for before it are done.
///
/// Of a client that asked for independent flows, messages that may not enter yet are held (OutgoingFlows), and parsing
/// goes on: it stops for them only where too much is held, where the client says goodbye, and where it gives
/// destinations for which something is held another meaning.
class Session final : private FlowGate {
 public:
  enum class State : std::uint8_t { handshake, open, closing };

  Session(Context& context, SessionHost& host, SessionId id, ConnectionId connection, std::string peer, Time now);

  SessionId id() const { return sender_.session; }
  ConnectionId connection() const { return connection_; }
  const std::string& name() const { return sender_.client; }
  const std::string& peer() const { return peer_; }
  State state() const { return state_; }
  Time opened_at() const { return opened_at_; }
  /// What it holds of the client is given up.
  void start_closing(Time now);
  Time closing_since() const { return closing_since_; }

  std::span<std::uint8_t> read_space() { return input_.prepare(context_.read_arena, wanted_); }
  void commit_read(std::size_t bytes);
  /// Goes through what was read as far as possible. The reason to close the session, if there is one.
  std::optional<Error> process(Time now);
  /// Lets held messages enter that may by now: of all flows, or of those whose time to try again has come. Before
  /// `process`, whenever that is called anew for a session that waits or `holds_messages`.
  void release_held(Time now, bool all);
  SessionMemory memory() const;
  /// Since when nothing more has come of a frame or message that is not complete; kNever: there is none, or it does not
  /// wait for the client.
  Time unfinished_since() const;
  bool holds_messages() const { return flows_ && flows_->bytes() != 0; }
  std::size_t held_bytes() const { return flows_ ? flows_->bytes() : 0; }
  /// Whether `process` stopped at something that may not enter yet.
  bool is_waiting() const { return waiting_; }
  /// Joins or leaves are done. Whether it is worth trying again.
  bool note_requests_done();
  /// Whether they were since this was asked last.
  bool take_requests_done() { return std::exchange(requests_done_, false); }
  /// When it is worth trying again, if admission has no news before.
  Time retry_at() const { return flows_ ? std::min(retry_at_, flows_->retry_at()) : retry_at_; }
  /// Calls `visit(const DestinationSet&, const Flow&)` for each set of destinations that the client has defined, once
  /// however it is named.
  template <typename Visit>
  void for_each_flow(Visit&& visit) const {
    destinations_.for_each_flow(visit);
  }
  /// Whether it stopped at a request whose answer has no room in the queue, and there is room now.
  bool may_answer_again() const { return waits_for_room_ && has_room(); }

  SessionQueue& queue() { return queue_; }
  const SessionQueue& queue() const { return queue_; }
  const QueueWatch& watch() const { return watch_; }
  /// The first `bytes` of the queue were written.
  void note_written(Time now, std::size_t bytes);
  /// Drops messages and warns the client where its queue and its policy demand it. The reason to cut it off, if there
  /// is one.
  std::optional<Error> hold_to_limits(Time now);

  /// Tells the client how many of its messages have entered the network.
  void tell_taken(Time now);
  /// When that is due, for a client that wants to know it and does not.
  Time tell_taken_at() const;

  const SessionTraffic& traffic() const { return traffic_; }
  /// Messages, or parts of them, joins and leaves that have entered.
  std::uint64_t entered() const { return traffic_.messages_in + changes_ + parts_; }
  /// Messages were put into the queue.
  void count_delivered(std::size_t messages) { traffic_.messages_out += messages; }

  SessionMarks marks;  // the table's own

 private:
  std::optional<Error> take_frames(Time now);
  std::optional<Error> handle_frame(Time now, spindle::protocol::ClientFrame type, Slice body);
  std::optional<Error> handle_hello(ByteView body);
  std::optional<Error> handle_define(ByteView body);
  std::optional<Error> handle_send(Slice body);
  std::optional<Error> handle_send_more(Slice body);
  std::optional<Error> handle_group_request(Time now, spindle::protocol::ClientFrame type, ByteView body);
  std::optional<Error> handle_flow_request(Time now, ByteView body);
  std::optional<Error> handle_ping(ByteView body);
  /// Whether the frame at the front of the input, which is whole, has to wait.
  bool must_wait(Time now, spindle::protocol::ClientFrame type, ByteView body);
  /// Whether a join or a leave has to.
  bool must_change_wait(Time now);
  /// Whether what concerns `groups` has to wait for joins and leaves that the client asked for before: with independent
  /// flows for those of the same groups, otherwise for all.
  template <typename Names>
  bool waits_for_requests(const Names& groups) const {
    if (sender_.open_requests == 0) return false;
    const auto is_open = [this](std::string_view group) {
      return host_.groups().requests().has_open_request(id(), group);
    };
    return !flows_ || std::any_of(groups.begin(), groups.end(), is_open);
  }
  /// Has `message` be what the client sends with `send`, but for the payload.
  void fill(ClientSend& message, const spindle::protocol::Send& send) const;
  /// Takes messages that have come right behind the complete one along with it, as far as one packet holds them: those
  /// under the same handle that are sent in the same way.
  void bundle_followers();
  bool is_message_complete() const { return incoming_ && incoming_->received == incoming_->message.total; }
  void forget_incoming() {
    incoming_.reset();
    chunks_.clear();
    bundle_.clear();
  }
  /// Of a large message: sends parts ahead as they are paid for. Whether the rest may enter.
  bool may_rest_enter(Time now, DefinedSet& set, const ClientSend& message);
  /// Sends the complete message unless it may not enter yet.
  bool send_message(Time now);
  /// Sends or holds the complete message.
  std::optional<Error> send_or_hold(Time now);

  void warn(unsigned percent);

  // FlowGate
  bool may_enter(Time now, std::uint32_t handle, const ClientSend& message) override;
  Time retry_at(std::uint32_t handle) const override { return destinations_[handle].flow->flow.retry_at(); }
  void enter(Time now, std::uint32_t handle, const ClientSend& message) override;
  void tell_admitted(std::uint32_t handle, std::size_t bytes) override;

  /// Whether what the client asks for may wait for it to be read. Keeps a client that asks and does not read from
  /// costing others much, as unread messages do.
  bool has_room() const { return queue_.bytes() <= context_.config.session.price_bytes / 2; }

  Context& context_;
  SessionHost& host_;
  ConnectionId connection_;
  std::string peer_;
  Time opened_at_;
  State state_ = State::handshake;
  Time closing_since_{};
  Sender sender_;
  MembershipBudget membership_budget_;
  std::uint64_t changes_ = 0;  // joins and leaves that were accepted
  std::uint64_t parts_ = 0;    // of large messages, that went ahead of them
  SessionTraffic traffic_;

  InputBuffer input_;
  bool unfinished_ = false;  // it has a part of a frame, or of a message
  Time frame_at_{};          // then: when a whole frame came last, or the part began to
  std::size_t wanted_ = 0;   // bytes of the frame at the front of the input, as far as known
  DestinationTable destinations_;
  std::optional<OutgoingFlows> flows_;  // where the client asked for them
  std::optional<IncomingMessage> incoming_;
  std::vector<Slice> chunks_;         // of `incoming_`: the payload as far as received; kept for its memory
  std::vector<std::uint8_t> bundle_;  // likewise, where it is several messages
  bool waiting_ = false;
  Time retry_at_ = kNever;
  bool waits_for_room_ = false;
  bool requests_done_ = false;
  bool wants_taken_ = false;  // to be told of its messages that have entered
  std::uint64_t taken_told_ = 0;
  Time taken_told_at_{};
  SessionQueue queue_;
  QueueWatch watch_;
};

}  // namespace spindled
