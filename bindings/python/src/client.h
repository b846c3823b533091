// A client without sockets, threads and Python: what a connection is made of, for whoever moves its bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

#include "bindings/python/src/channel_desk.h"
#include "bindings/python/src/gathering.h"
#include "libclient/protocol/client_feeds.h"
#include "libclient/protocol/client_session.h"
#include "libclient/src/feed_events.h"
#include "libclient/src/joined_groups.h"
#include "libclient/src/pending_calls.h"

namespace spindle::python {

/// What a call that waits has come to.
struct Outcome {
  std::uint64_t call = 0;
  std::error_code error;  // none: it has succeeded
  std::variant<std::monostate, GroupView, NotTaken, Answers> value;
};

/// The session, the feeds, the calls that wait and the events that nobody has taken yet, as spindle::Connection has
/// them. The owner connects, reads and writes:
///
///   client.start();                               then again and again, after each input:
///   if (auto server = client.take_dial()) ...     connect to it: `connected`, or `failed`
///   if (client.take_hang_up()) ...                the connection is of no use: close it, and tell nothing more of it
///   write client.output(); client.consume(n)      `ends_output()`: and end this direction of the stream
///   read into client.prepare(), then commit(n); the stream's end: end_stream
///   handle_time() at deadline()
///   take events, and outcomes of calls
///
/// An owner that has looked at everything once need look again only as far as news() says behind a commit.
///
/// Calls that wait have a number, by which their outcome is told; those that fail at once give an error and no outcome.
/// Times are those of the steady clock. For one thread.
class Client final : private protocol::RequestObserver {
 public:
  Client(protocol::SessionOptions session, std::size_t send_buffer_bytes, std::size_t receive_buffer_bytes);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() override;

  // Connections.
  void start();
  std::optional<std::size_t> take_dial() { return session_.take_dial(); }
  /// By when that server has to have welcomed the client.
  Deadline dial_until() const { return Deadline(session_.dial_until()); }
  bool take_hang_up() { return session_.take_hang_up(); }
  void connected(std::string_view token);
  void failed(Errc reason, std::string_view text);
  std::span<std::uint8_t> prepare() { return session_.reader().prepare(); }
  void commit(std::size_t bytes);
  /// What is there for an owner who had nothing more to do before.
  enum class News {
    nothing,
    events,      // to be taken, and no more than that
    everything,  // the owner looks at everything
  };
  News news();
  /// The stream of bytes has ended, for this reason unless the daemon gave another.
  void end_stream(std::optional<Errc> reason, std::string_view text);
  void give_up(Errc reason, std::string_view text);
  void handle_time();
  /// The next time for it; Deadline::max(): none. An earlier one is news from then on.
  Deadline tell_deadline() { return told_deadline_ = deadline(); }
  ByteView output() { return session_.output(); }
  std::size_t output_size() const { return session_.writer().output_size(); }
  void consume(std::size_t bytes);
  bool ends_output() const;
  /// Whether bytes are to be read. What differs from it is news from then on.
  bool tell_takes_bytes() { return told_takes_bytes_ = takes_bytes(); }

  bool is_connected() const { return session_.is_connected(); }
  bool is_over() const { return ended_; }
  bool can_send() const { return !closing_ && !ended_; }
  const std::string& private_name() const { return session_.private_name(); }

  // What a program asks. Errors as those of spindle::Connection.

  /// `waits`: the caller waits for room, and needs no FlowReady.
  std::error_code multicast(Service service, const Groups& groups, const Payload& payload, const SendOptions& options,
                            bool waits);
  /// How messages gather that are sent by gathering calls, for the owner to write.
  Gathering& gathering() { return gathering_; }
  std::error_code reply(const Message& request, const Payload& payload, const SendOptions& options);
  std::error_code join(std::string_view group, bool synchronous, bool auto_flush);
  std::error_code leave(std::string_view group);
  std::error_code request_view(std::string_view group);
  std::error_code request_flow(const Groups& groups);
  std::error_code flush_ok(const FlushRequest& request);
  std::error_code listen(std::string_view group, const protocol::ListenTerms& terms) {
    return may_ask() ? feeds_.listen(group, terms) : Errc::not_connected;
  }
  std::error_code stop_listening(std::string_view group) {
    return may_ask() ? feeds_.stop_listening(group) : Errc::not_connected;
  }
  std::error_code send_feed(FeedId feed, const Payload& message) {
    return may_ask() ? feeds_.send(feed, message) : Errc::not_connected;
  }
  void close_feed(FeedId feed);
  const protocol::ClientFeeds& feeds() const { return feeds_; }

  // Bulk channels.

  /// Where a Bulk of this client stands; null where the session was made without `wants_channels`.
  const std::shared_ptr<ChannelDesk>& desk() const { return desk_; }
  /// Does what is wanted there. The owner calls it when the descriptor is readable, and attends to the client then.
  void serve_channels();

  // Calls that wait. `call` is set to the number.

  /// The request has just been made: waits for the view that shows it done.
  std::uint64_t await_join(std::string_view group, Deadline deadline);
  std::error_code confirm(Deadline deadline, std::uint64_t& call);
  /// Until a message to the groups may be sent.
  std::uint64_t await_room(const Groups& groups, Deadline deadline);
  std::error_code request(const Groups& groups, const Payload& payload, const RequestOptions& options,
                          Deadline deadline, std::uint64_t& call);
  std::error_code open_feed(std::string_view group, const protocol::ClientFeeds::SourceTerms& terms, FeedId& feed,
                            std::uint64_t& call);
  /// The call ends as cancelled, with what it knows. False where it has ended.
  bool cancel(std::uint64_t call);
  std::vector<Outcome> take_outcomes();
  bool has_outcomes() const { return calls_.has_done() || !outcomes_.empty(); }

  NotTaken not_taken() const { return session_.not_taken(); }
  /// Says goodbye; what the daemon has not answered at the deadline is over.
  void close(Deadline deadline);
  /// Has it close at once.
  void hurry() { closing_deadline_ = Deadline::min(); }
  /// Leaves all groups; false where there is no room now for asking, and it is to be called again. `has_left`: they are
  /// left. Meanwhile bytes are read whatever waits.
  bool leave_all();
  bool has_left_all() const { return joined_.empty() || !can_send(); }

  // Events.
  bool has_events() const { return next_ < taken_.size() || !arrived_.empty() || !feed_events_.empty(); }
  /// The next one, in place of `event`. False where none waits.
  bool take(Event& event);
  /// Whether the last event was taken.
  bool is_finished() const { return finished_; }
  /// Whether taking has given the owner something to do: to read again, where the last `takes_bytes` has said no, or to
  /// write the answer to a request to flush.
  bool wants_owner() const { return has_answered_ || (!takes_bytes_ && event_bytes_ <= resume_bytes_); }

 private:
  /// can_send(), with all asked that the program has asked of its channels before.
  bool may_ask();
  void serve_posted();

  // RequestObserver.
  bool refused(std::uint32_t request, const RequestFailed& failed) override;
  bool join_refused(const RequestFailed& failed) override;
  void confirmed(std::uint32_t request) override { calls_.note_confirmed(request); }
  void answered(protocol::Requests::Number number, Answers answers) override {
    calls_.note_answered(number, std::move(answers));
  }
  void channel_answered(std::uint32_t request, std::error_code error) override;
  std::optional<Event> channel_news(protocol::BulkNews news, std::size_t before) override;
  std::vector<Event> channels_left(std::string_view group) override;
  void feed_refused(std::uint32_t request, std::error_code error) override { feeds_.refused(request, error); }
  void feed_news(const protocol::FeedNews& news) override { feeds_.take(now(), news); }
  void group_left(std::string_view group) override { feeds_.note_left(group); }
  void session_began_anew() override;

  static protocol::Instant now() { return std::chrono::steady_clock::now().time_since_epoch(); }
  bool is_full() const { return session_.writer().output_size() >= std::max<std::size_t>(send_buffer_bytes_, 1); }
  bool has_room_for(const Groups& groups);
  Deadline deadline() const;
  bool takes_bytes();
  void deliver();
  void note_views(const std::vector<Event>& events);
  void note_room();
  void tell_ready_flows();
  void tell_feeds();
  void end(std::error_code error);
  bool next_batch();
  std::shared_ptr<PendingCalls::Id> numbered() { return std::make_shared<PendingCalls::Id>(0); }

  const std::size_t send_buffer_bytes_;
  const std::size_t receive_buffer_bytes_;
  const std::size_t resume_bytes_;
  const std::shared_ptr<ChannelDesk> desk_;  // null: it wants no channels
  protocol::ClientSession session_;
  PendingCalls calls_{session_.engine()};
  protocol::ClientFeeds feeds_{session_.writer()};
  Gathering gathering_;
  JoinedGroups joined_;
  std::set<std::string, std::less<>> auto_flush_;  // groups in which requests to flush are answered as they are taken
  std::map<FeedId, std::uint64_t> opening_;        // with the number of the call
  std::uint64_t last_opening_ = std::uint64_t{1} << 63;
  std::vector<Outcome> outcomes_;
  std::optional<std::vector<std::string>> to_leave_;  // while draining
  bool flows_want_buffer_ = false;
  bool closing_ = false;
  bool ended_ = false;
  bool finished_ = false;
  bool takes_bytes_ = true;
  bool told_takes_bytes_ = false;
  Deadline told_deadline_ = Deadline::max();
  bool has_answered_ = false;  // a request to flush, and nothing was consumed since
  Deadline closing_deadline_ = Deadline::max();

  struct Batch {
    std::vector<Event> events;
    std::size_t bytes = 0;
  };
  std::deque<Batch> arrived_;
  std::vector<Event> taken_;
  std::size_t next_ = 0;  // in `taken_`
  std::size_t taken_bytes_ = 0;
  std::size_t event_bytes_ = 0;  // of all that wait
  bool feeds_are_next_ = false;  // they take turns with batches
  FeedEvents feed_events_;
  std::vector<Event> spare_;
};

}  // namespace spindle::python
