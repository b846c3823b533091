// One client's connection.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/base/driver.h"
#include "daemon/base/input_buffer.h"
#include "daemon/base/peer.h"
#include "daemon/group/groups.h"
#include "daemon/session/bulk_requests.h"
#include "daemon/session/feed_queue.h"
#include "daemon/session/feed_requests.h"
#include "daemon/session/ingress.h"
#include "daemon/session/queue_watch.h"
#include "daemon/session/resumption.h"
#include "daemon/session/session_memory.h"
#include "daemon/session/session_queue.h"
#include "libclient/protocol/client_frames.h"

namespace spindled {

class Session;

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
  bool served = false;          // had something taken of it, or enter, when those that wait were tried last
  bool unasked = false;         // was not asked then, as it was not its turn
  bool refused = false;         // it was never taken in
  bool untold = false;          // among those that are to be told what has entered
  bool view_too_large = false;  // no client takes the view that it should have got
  bool put_off = false;         // it is to end, in the next turn or one behind that
  bool revoked = false;         // because its token counts no longer
  std::uint64_t order = 0;      // what it was told last of the order: ClientDelivery's number
  bool due = false;             // to be tried whatever it waits for: it was not its turn when there was news
  std::uint64_t fed_in = 0;     // the turn (TurnWork) in which it had its share of what is taken of clients
  SessionMemory counted;        // in what all sessions hold
  // At how many ticks in a row it was found to have the same thing unfinished, since that time.
  Time unfinished_since = kNever;
  int unfinished_ticks = 0;
};

/// What a session asks of the table of sessions that it is in.
class SessionHost {
 public:
  virtual ~SessionHost() = default;
  /// As Driver::identify.
  virtual Result<std::string> identify(const Session& session, std::string_view token) = 0;
  /// Registers the name that the client wishes, or one that is free where it wishes none.
  virtual Result<std::string> take_name(Time now, Session& session, std::string_view wish) = 0;
  /// Whether `session`, which has just begun, may take up that other one instead.
  virtual bool may_resume(const Session& session, const spindle::protocol::Resume& resume) const = 0;
  /// As Driver::draw_secret.
  virtual std::optional<Driver::Secret> draw_secret() = 0;
  /// Whether the client may send so many chunks of a message: not where memory is short, but for those of one client
  /// whose message was begun.
  virtual bool may_send_part(const Session& session) = 0;
};

/// Parses what a client sends, in order, and stops at a message or request that may not enter yet; holds what the
/// client has yet to read. What is sent is Ingress's. Everything that can be wrong with a frame closes the session with
/// a reason.
///
/// For messages that are held, of a client that asked for independent flows, parsing stops only where too much is held,
/// where the client says goodbye, and where it gives destinations for which something is held another meaning.
class Session final {
 public:
  enum class State : std::uint8_t { handshake, open, closing };

  Session(Context& context, SessionHost& host, Groups& groups, Channels& channels, Feeds& feeds, Admission& admission,
          Quotas& quotas, SessionId id, ConnectionId connection, Peer peer, Time now);

  SessionId id() const { return ingress_.session(); }
  /// The last one, where it is detached.
  ConnectionId connection() const { return connection_; }
  const std::string& name() const { return ingress_.client(); }
  /// For people to read.
  const std::string& peer() const { return peer_.address; }
  /// Who the client has proved to be (Peer); empty: nobody in particular.
  std::string_view identity() const { return peer_.identity(); }
  const std::vector<std::string>& identities() const { return peer_.identities; }
  State state() const { return state_; }
  Time opened_at() const { return opened_at_; }
  /// What it holds of the client is given up.
  void start_closing(Time now);
  Time closing_since() const { return closing_since_; }

  // Another connection.

  /// Whether the client may come back where its connection is lost.
  bool is_resumable() const { return state_ == State::open && queue_.is_keeping(); }
  bool may_be_resumed_by(const spindle::protocol::Resume& resume) const {
    return is_resumable() && resumption_->is_opened_by(resume.key) && queue_.may_go_on_behind(resume.received);
  }
  /// What the client wants to take up in place of this session, which has no part in anything then.
  const std::optional<spindle::protocol::Resume>& resume() const { return resume_; }
  /// The connection is gone, and with it what has come only in part.
  void detach(Time now);
  bool is_detached() const { return detached_since_ != kNever; }
  Time detached_since() const { return detached_since_; }
  /// Whether it had to leave a group, and its client is not known to have heard of it: one that goes on elsewhere takes
  /// a session that is in none of its groups any more for gone.
  bool was_put_out() const { return queue_.is_keeping() && put_out_at_ && !queue_.is_acknowledged(*put_out_at_); }
  /// Whether more waits for it than may until it comes back.
  bool holds_too_much() const;
  /// Goes on with the connection of `fresh`, whose client may take it up.
  void attach(Time now, Session& fresh);
  /// Whether what it was written and is not known to have got leaves room for more. What it has got it says behind what
  /// it sends: while that waits and nothing is read of it, nobody can expect it to say so, and to wait for it would be
  /// to wait for ever where its own messages wait for what it gets.
  bool may_write(Time now);
  /// Called every `period`: whether the client has been silent for three times as long as it promised to be at most.
  bool look_for_silence(Duration period);
  /// The same, by the looks that there have been.
  bool is_silent(Duration period) const;
  bool has_keepalive() const { return keepalive_ != Duration::zero(); }

  /// Whether the client goes elsewhere where it is told that the daemon is going, and has not gone yet.
  bool may_move() const { return moves_ && state_ == State::open && !is_detached() && !marks.lost; }
  void tell_going();

  std::span<std::uint8_t> read_space();
  ByteView unread() const { return input_.unread(); }
  /// What was read and not taken, for another to go on with.
  InputBuffer take_input() { return std::exchange(input_, InputBuffer()); }
  void commit_read(std::size_t bytes);
  /// Goes through what was read as far as possible. The reason to close the session, if there is one.
  std::optional<Error> process(Time now);
  /// What it sends. Its held messages are released before `process`, whenever that is called anew for a session that
  /// waits or holds some.
  Ingress& ingress() { return ingress_; }
  const Ingress& ingress() const { return ingress_; }
  /// What it asks of bulk channels.
  BulkRequests& bulk() { return bulk_; }
  const BulkRequests& bulk() const { return bulk_; }
  SessionMemory memory() const;
  /// Since when nothing more has come of a frame or message that is not complete; kNever: there is none, or it does not
  /// wait for the client.
  Time unfinished_since() const;
  /// Whether `process` stopped at something that may not enter yet.
  bool is_waiting() const { return waiting_; }
  /// Joins or leaves are done. Whether it is worth trying again.
  bool note_requests_done();
  /// Whether they were since this was asked last.
  bool take_requests_done() { return std::exchange(requests_done_, false); }
  /// When it is worth trying again, if admission has no news before.
  Time retry_at() const { return std::min(retry_at_, ingress_.retry_at()); }
  /// Whether it stopped at a request whose answer has no room in the queue, and there is room now.
  bool may_answer_again() const { return waits_for_room_ && has_room(); }

  /// What the client may do, and use.
  ClientAccess& access() { return access_; }
  ClientQuota& quota() { return quota_; }
  /// Has it leave the group, which it may not be in any more, and tells it so. False where it has left.
  bool take_out(Time now, const std::string& group, Errc why);
  /// Tells it that a join which was on its way is not to be.
  void refuse_join(std::string_view group, Errc why);

  SessionQueue& queue() { return queue_; }
  const SessionQueue& queue() const { return queue_; }
  /// Whether there is anything to write; what waits of feeds has gone into the queue as far as it may.
  bool has_output();

  /// Of the client's own feeds, and those that it listens to.
  FeedRequests& feeds() { return feeds_; }
  /// Whether frames of feeds go into the queue at once.
  bool takes_feeds() const { return waiting_feeds_ == nullptr && !is_detached() && queue_.bytes() < kFeedBytesQueued; }
  bool has_waiting_feeds() const { return waiting_feeds_ != nullptr; }
  /// Those that do not. It stays as long as there is something in it.
  FeedQueue& waiting_feeds();
  /// Drops the oldest packets that wait beyond what may. How many.
  std::size_t hold_feeds_to_limit();
  /// Drops all that wait of feeds, but for gaps. How many packets.
  std::size_t drop_feeds();
  /// What the new rules mean for the client's own feeds. Whether anything.
  bool review_feeds(Time now);
  /// Of feeds so much stands in the queue at most, and so much waits.
  static constexpr std::size_t kFeedBytesQueued = 64u << 10;
  static constexpr std::size_t kFeedBytesWaiting = 256u << 10;
  const QueueWatch& watch() const { return watch_; }
  /// The first `bytes` of the queue were written.
  void note_written(Time now, std::size_t bytes);
  /// Drops messages and warns the client where its queue and its policy demand it. The reason to cut it off, if there
  /// is one.
  std::optional<Error> hold_to_limits(Time now);

  /// Drops the oldest messages that wait, of a client with the policy `drop`, but for so many bytes. Whether it has
  /// any.
  bool drop_messages(std::size_t keep);
  /// Lets go of what the client would have to get again if it came back on another connection, which it cannot from
  /// then on. Whether there was any.
  bool give_up_return();

  /// Tells the client how many of its messages have entered the network, and how many of its frames have come, where
  /// that is due.
  void tell(Time now);
  /// When it is, for a client that wants to know and does not.
  Time tell_at() const;

  SessionTraffic traffic() const { return {ingress_.messages(), messages_out_, bytes_in_, bytes_out_}; }
  /// Messages were put into the queue.
  void count_delivered(std::size_t messages) { messages_out_ += messages; }

  SessionMarks marks;  // the table's own

 private:
  std::optional<Error> take_frames(Time now);
  std::optional<Error> handle_frame(Time now, spindle::protocol::ClientFrame type, Slice body);
  std::optional<Error> handle_hello(Time now, ByteView body);
  /// Adds to who the client is what its token proves. Why it is not let in, if it is not.
  std::optional<Error> identify(std::string_view token);
  void welcome(const spindle::protocol::Hello& hello);
  std::optional<Error> handle_received(Time now, ByteView body);
  std::optional<Error> handle_define(ByteView body);
  std::optional<Error> handle_send(Slice&& body);
  std::optional<Error> handle_group_request(Time now, spindle::protocol::ClientFrame type, ByteView body);
  std::optional<Error> handle_flow_request(Time now, ByteView body);
  std::optional<Error> handle_ping(ByteView body);
  std::optional<Error> handle_confirm(ByteView body);
  /// Answers those whose messages have entered.
  void answer_confirms();
  std::optional<Error> handle_flush_ok(Time now, ByteView body);
  /// Whether the frame at the front of the input, which is whole, is handled now; a join or a leave is paid for then.
  bool try_admit(Time now, spindle::protocol::ClientFrame type, ByteView body);
  /// Nothing where the client may ask for that; otherwise why not.
  std::optional<Errc> wrong_request(spindle::protocol::ClientFrame type, const std::string& group);
  bool try_admit_change(Time now, Admission::Change change, ByteView body);
  bool try_admit_view_request(Time now, ByteView body);
  /// It comes behind what the client has sent to the group.
  bool try_admit_flush_ok(Time now, ByteView body);
  /// Whether nothing that it has sent to the group is held; where the turn has no room to look, it is tried again.
  bool has_sent_all_to(Time now, std::string_view group);
  bool is_expelled_from(std::string_view group) const;
  bool try_admit_define(Time now, ByteView body);
  bool try_admit_bulk(Time now, spindle::protocol::ClientFrame type, ByteView body);
  bool try_admit_feed(Time now, spindle::protocol::ClientFrame type, ByteView body);
  /// `has_room`: where the turn has none for what takes long, it is tried again in the next one.
  bool may_go_on(Time now, bool has_room);

  /// It cannot come back on another connection from now on. `why` is for the log.
  void stop_keeping(std::string_view why);
  Time tell_taken_at() const;
  void tell_taken(Time now);
  void note_frame(Time now, spindle::protocol::ClientFrame type);
  /// Of the client, behind the handshake.
  std::uint64_t frames_taken() const;

  void tell_refused_membership(spindle::protocol::Refused::What what, std::string_view group, Errc why);
  void warn(unsigned percent);
  void tell_refused() {
    if (ingress_.has_refused() && has_room()) ingress_.tell_refused();
  }

  /// Whether what the client asks for may wait for it to be read. Keeps a client that asks and does not read from
  /// costing others much, as unread messages do.
  bool has_room() const { return queue_.bytes_without_feeds() <= context_.config.session.queue_full_price_bytes / 2; }

  Context& context_;
  SessionHost& host_;
  ConnectionId connection_;
  Peer peer_;
  Time opened_at_;
  State state_ = State::handshake;
  Time closing_since_{};
  std::uint64_t messages_out_ = 0;
  std::uint64_t bytes_in_ = 0, bytes_out_ = 0;

  InputBuffer input_;
  bool unfinished_ = false;  // it has a part of a frame, or of a message
  Time frame_at_{};          // then: when a whole frame came last, or the part began to
  std::size_t wanted_ = 0;   // bytes of the frame at the front of the input, as far as known
  bool waiting_ = false;
  Time retry_at_ = kNever;
  bool waits_for_room_ = false;
  std::optional<Errc> refused_;  // why the join or leave at the front of the input is not to be
  bool requests_done_ = false;
  /// A `confirm` that waits for messages that are held.
  struct Confirm {
    std::uint32_t request = 0;
    std::uint64_t held = 0;  // so many were held before it
  };
  std::deque<Confirm> confirms_;
  bool wants_taken_ = false;  // to be told of its messages that have entered
  std::uint64_t taken_told_ = 0;
  Time taken_told_at_{};
  std::uint64_t frames_in_ = 0;  // but for those that the ingress has taken along
  Duration keepalive_{};
  bool moves_ = false;
  int silent_looks_ = 0;
  std::optional<Resumption> resumption_;
  ResumeWindow resume_window_;
  std::optional<spindle::protocol::Resume> resume_;
  Time detached_since_ = kNever;
  std::size_t waiting_when_detached_ = 0;      // bytes
  std::optional<std::uint64_t> put_out_at_{};  // the frame by which its client was told so last
  SessionQueue queue_;
  std::unique_ptr<FeedQueue> waiting_feeds_;  // where something waits
  QueueWatch watch_;
  Groups& groups_;
  ClientAccess access_;
  ClientQuota quota_;
  Ingress ingress_;
  BulkRequests bulk_;
  FeedRequests feeds_;
};

}  // namespace spindled
