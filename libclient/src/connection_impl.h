// What stands behind a Connection: the socket, its thread, and the engine between them and the caller.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "libclient/io/byte_stream.h"
#include "libclient/protocol/client_feeds.h"
#include "libclient/protocol/client_session.h"
#include "libclient/src/answer.h"
#include "libclient/src/bulk_host.h"
#include "libclient/src/deadline.h"
#include "libclient/src/event_queue.h"
#include "libclient/src/fork_guard.h"
#include "libclient/src/joined_groups.h"
#include "libclient/src/pending_calls.h"
#include "libclient/src/server.h"
#include "libclient/src/socket.h"
#include "spindle/connection.h"

namespace spindle {

/// Order of calls: `open`; if it succeeds, `start_thread`, then anything; `shut_down` at last. The thread keeps the
/// object alive: a handler may drop the connection that called it.
class Connection::Impl : public std::enable_shared_from_this<Impl>, public BulkHost, private protocol::RequestObserver {
 public:
  explicit Impl(const ConnectOptions& options);

  bool open(std::error_code& error, std::string& text);
  void start_thread();
  void shut_down();

  /// Whether this is the copy in a child of fork(): nothing else may be called then.
  bool is_inherited() const { return guard_ && guard_->is_inherited(); }
  const std::string& private_name() const { return *private_name_.load(std::memory_order_acquire); }
  bool is_open() const override;
  std::error_code multicast(Service service, const Groups& groups, const Payload& payload, SendOptions options,
                            Patience patience);
  std::error_code leave(std::string_view group);
  std::error_code request_view(std::string_view group);
  std::error_code join(std::string_view group, JoinOptions options, const std::stop_token& stop);
  std::error_code flush_ok(const FlushRequest& request);
  /// The program has been given the event, or is about to be.
  void note_taken(const Event& event);
  std::error_code request_flow(const Groups& groups);
  Result<GroupView> join(std::string_view group, Deadline deadline, JoinOptions options, const std::stop_token& stop);
  void join_then(std::string_view group, Deadline deadline, PendingCalls::Joined done, JoinOptions options,
                 const std::stop_token& stop);
  Answers ask(const Groups& groups, const Payload& payload, Deadline deadline, const RequestOptions& options,
              const std::stop_token& stop);
  void ask_then(const Groups& groups, const Payload& payload, Deadline deadline, PendingCalls::Answered done,
                const RequestOptions& options, const std::stop_token& stop);
  std::error_code answer(const Message& request, const Payload& payload, const SendOptions& options, Patience patience);
  NotTaken confirm(Deadline deadline, const std::stop_token& stop);
  void confirm_then(Deadline deadline, PendingCalls::Confirmed done, const std::stop_token& stop);
  void when_writable(const Groups& groups, Deadline deadline, PendingCalls::Writable done, const std::stop_token& stop);
  std::optional<Event> receive(std::chrono::nanoseconds timeout, const std::stop_token& stop);
  void set_handler(Handler handler);
  NotTaken drain(Deadline deadline, const std::stop_token& stop);
  NotTaken disconnect() { return disconnect(deadline_after(options_.disconnect_timeout)); }
  EventQueue& events() { return events_; }

  // Feeds.
  Result<FeedId> open_feed(std::string_view group, const FeedOptions& options);
  std::error_code listen(std::string_view group, const ListenOptions& options);
  std::error_code stop_listening(std::string_view group);
  std::error_code send_feed(FeedId feed, const Payload& message);
  void close_feed(FeedId feed);
  bool is_feed_open(FeedId feed) const;
  std::optional<FeedFlow> feed_flow(FeedId feed) const;
  std::uint64_t feed_dropped(FeedId feed) const;

  // BulkHost.
  bool set_channel_listener(ChannelListener* listener) override;
  std::error_code ask_channel(protocol::BulkRequest request, Asked asked) override;
  void add_event(Event event) override;
  void add_events(MakeEvents make) override;
  void ask_and_add(protocol::BulkRequest request, Event event) override;
  bool has_room_for_events() const override { return !events_.is_full(); }
  bool is_told() const override;
  bool is_own_thread() const override { return on_thread(); }
  std::unique_ptr<SecondDialler> make_dialler() override;

  std::chrono::nanoseconds send_timeout() const { return options_.send_timeout; }

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Clock = std::chrono::steady_clock;

  // Sending, on any thread; the caller holds the lock.
  bool can_send() const { return !closing_ && !ended_ && (!write_failed_ || session_.returns()); }
  bool can_write() const { return stream_ != nullptr && !write_failed_ && !is_blocked_ && !writer_busy_; }
  bool is_full() const {
    return session_.writer().output_size() >= std::max<std::size_t>(options_.send_buffer_bytes, 1);
  }
  bool has_output() const { return session_.writer().writable_size() > 0; }
  template <typename Condition>
  bool wait_until(Lock& lock, Deadline deadline, Condition&& condition);
  template <typename Send>
  std::error_code send(Lock& lock, const Groups& groups, Patience patience, Send&& attempt);
  template <typename Condition>
  std::error_code wait_for(Lock& lock, Patience& patience, Condition&& condition);
  std::error_code wait_for_room(Lock& lock, Patience& patience);
  std::error_code wait_for_flow(Lock& lock, const Groups& groups, Patience& patience);
  bool has_room_for(const Groups& groups);
  void note_room();
  std::error_code wait_for_view(Lock& lock, const Groups& groups, Patience& patience);
  void tell_ready_flows();
  void flush(Lock& lock);
  bool is_burst();
  void write_some(Lock& lock);
  void fail_writing();
  void wake_thread();
  bool on_thread() const { return std::this_thread::get_id() == thread_id_; }
  template <typename Ask>
  std::error_code ask_of_group(std::string_view group, Ask&& ask);
  std::error_code ask_to_join(Lock& lock, std::string_view group, Patience patience, JoinOptions options);
  NotTaken disconnect(Deadline deadline, const std::stop_token& stop = {});
  template <typename T>
  T outcome_of(Lock& lock, PendingCalls::Id call, Answer<T>& answer, Deadline deadline, const std::stop_token& stop);

  // Stops. The caller does not hold the lock where it makes or drops what these return.
  class StoppableCall;
  using Stoppable = std::shared_ptr<StoppableCall>;
  template <typename Wake>
  auto on_stop(const std::stop_token& stop, Wake wake) const;
  Stoppable stoppable_call(const std::stop_token& stop);
  template <typename Done>
  static Done keeping(const Stoppable& call, Done done);
  static void set_id(const Stoppable& call, PendingCalls::Id id);
  void cancel(const StoppableCall& call);

  // RequestObserver; the caller holds the lock.
  bool refused(std::uint32_t request, const RequestFailed& failed) override;
  bool join_refused(const RequestFailed& failed) override;
  void confirmed(std::uint32_t request) override;
  void answered(protocol::Requests::Number number, Answers answers) override;
  void channel_answered(std::uint32_t request, std::error_code error) override;
  std::optional<Event> channel_news(protocol::BulkNews news, std::size_t before) override;
  std::vector<Event> channels_left(std::string_view group) override;
  std::error_code append_channel_request(protocol::BulkRequest request, std::uint32_t& number);
  void push_channel_event(Event event);
  void feed_refused(std::uint32_t request, std::error_code error) override;
  void feed_news(const protocol::FeedNews& news) override;
  void group_left(std::string_view group) override { feeds_.note_left(group); }
  void session_began_anew() override;
  /// Hands on what feeds have to tell.
  void tell_feeds();

  // The connection's own thread.
  void run();
  bool turn(Lock& lock);
  void end_output(Lock& lock);
  int poll_events(Lock& lock);
  bool takes_events() const { return closing_ || draining_ || !events_.is_full(); }
  void read_socket();
  /// The stream has ended.
  void end(Errc reason, std::string_view text = {});
  /// It is over, whatever the session thinks.
  void give_up(Errc reason, std::string_view text);
  void deliver();
  void handle_time(Lock& lock);
  void note_views();
  void run_done(Lock& lock);
  void run_handler(Lock& lock);
  void begin_program_code();

  // Connections.
  static protocol::SessionOptions session_options(const ConnectOptions& options);
  protocol::Instant now() const { return Clock::now().time_since_epoch(); }
  const std::string& address_of(std::size_t server) const;
  bool check_options(std::error_code& error, std::string& text);
  void await_welcome(Lock& lock);
  void go_on_connecting(Lock& lock);
  void greet(Lock& lock, DialledServer server);
  void hang_up(Lock& lock);
  void note_name();
  bool take_refusal(std::error_code& error, std::string& text);

  const ConnectOptions options_;
  Descriptor socket_;
  std::optional<ForkGuard> guard_;
  std::unique_ptr<ByteStream> stream_;  // on the socket, where there is one
  Descriptor wake_;
  EventQueue events_;
  std::deque<std::string> names_;  // that the client has had; the thread's own
  std::atomic<const std::string*> private_name_;
  std::thread thread_;
  std::thread::id thread_id_;
  // The thread's own.
  std::vector<Event> arrived_;  // kept for its memory
  bool may_have_more_ = true;   // the stream, although its socket has none
  Dialler dialler_;

  mutable std::mutex mutex_;  // guards what follows, and the session but for its reader, which belongs to the thread
  std::condition_variable changed_;
  protocol::ClientSession session_;
  bool is_blocked_ = false;  // the socket has taken less than it was offered
  PendingCalls calls_{session_.engine()};
  protocol::ClientFeeds feeds_{session_.writer()};
  std::map<FeedId, std::shared_ptr<Answer<std::error_code>>> opening_;
  std::vector<Event> feed_events_;  // kept for its memory
  ChannelListener* channels_ = nullptr;
  std::size_t dialled_server_ = 0;
  JoinedGroups joined_;
  bool writer_busy_ = false;
  bool write_failed_ = false;
  bool thread_sleeps_ = false;
  bool in_handler_ = false;
  std::size_t waiters_ = 0;                        // for `changed_`
  std::set<std::string, std::less<>> auto_flush_;  // groups in which note_taken() answers requests to flush
  bool flows_want_buffer_ = false;                 // a FlowReady is due once the send buffer has room
  Clock::time_point looked_at_;                    // when the clock was last read for a send
  unsigned sends_since_look_ = 0;
  unsigned sends_per_look_ = 1;  // more in a burst
  bool draining_ = false;
  bool closing_ = false;
  bool output_ended_ = false;
  Deadline closing_deadline_;
  bool ended_ = false;
  bool stop_ = false;
  std::shared_ptr<Handler> handler_;
  const Handler* running_ = nullptr;        // the handler that is being called, or may be
  std::atomic<bool> handler_news_ = false;  // another handler, or none any more; looked at without the lock, too
};

/// A call that waits without a thread of its own, as long as a stop can end it. Its function keeps it: it goes when
/// that has been called. Made and dropped without the lock, which a stop takes.
class Connection::Impl::StoppableCall {
 public:
  StoppableCall(std::weak_ptr<Impl> impl, const std::stop_token& stop)
      : impl_(std::move(impl)), callback_(stop, End{this}) {}

  PendingCalls::Id id = 0;  // guarded by the lock

 private:
  struct End {
    StoppableCall* call;
    void operator()() const {
      if (const std::shared_ptr<Impl> impl = call->impl_.lock()) impl->cancel(*call);
    }
  };

  const std::weak_ptr<Impl> impl_;
  std::stop_callback<End> callback_;  // goes first
};

/// A stop ends the call of that number from here on. The caller holds the lock.
inline void Connection::Impl::set_id(const Stoppable& call, PendingCalls::Id id) {
  if (call) call->id = id;
}

/// Has a stop call `wake` until what this returns is dropped, which waits for a call that is running. Not in a child of
/// fork(), whose locks are as they happened to be.
template <typename Wake>
auto Connection::Impl::on_stop(const std::stop_token& stop, Wake wake) const {
  auto call = [this, wake] {
    if (!is_inherited()) wake();
  };
  return std::stop_callback<decltype(call)>(stop, std::move(call));
}

/// `done`, which keeps `call` until it has been called.
template <typename Done>
Done Connection::Impl::keeping(const Stoppable& call, Done done) {
  if (call == nullptr) return done;
  return [call, done = std::move(done)](auto result) { done(std::move(result)); };
}

/// Whether the condition holds in time. It is looked at whenever something has changed.
template <typename Condition>
bool Connection::Impl::wait_until(Lock& lock, Deadline deadline, Condition&& condition) {
  ++waiters_;
  bool holds = true;
  if (deadline == Deadline::max()) {
    changed_.wait(lock, condition);
  } else {
    holds = changed_.wait_until(lock, deadline, condition);
  }
  --waiters_;
  return holds;
}

/// Calls `attempt` until it has sent a message to the groups, or fails, or patience ends.
template <typename Send>
std::error_code Connection::Impl::send(Lock& lock, const Groups& groups, Patience patience, Send&& attempt) {
  if (on_thread()) patience = Patience::none();
  for (;;) {
    std::error_code error = wait_for_room(lock, patience);
    if (error == Errc::would_block) flows_want_buffer_ = true;
    if (!error) error = attempt();
    if (error == Errc::flushing && patience.may_wait()) {
      if (const std::error_code late = wait_for_view(lock, groups, patience)) return late;
      continue;
    }
    if (error != Errc::would_block) {
      if (!error) flush(lock);
      return error;
    }
    if (!patience.may_wait()) {
      session_.writer().want_ready(groups);
      return error;
    }
    if (const std::error_code late = wait_for_flow(lock, groups, patience)) return late;
  }
}

/// Waits for the condition, no longer than the patience lasts: timed_out or cancelled then. Where a stop can end it the
/// condition may hold no longer. Not inline: who need not wait is spared what this needs.
template <typename Condition>
[[gnu::noinline]] std::error_code Connection::Impl::wait_for(Lock& lock, Patience& patience, Condition&& condition) {
  const std::stop_token* stop = patience.stop();
  if (stop == nullptr) return wait_until(lock, patience.deadline(), condition) ? std::error_code() : Errc::timed_out;
  std::error_code error;
  lock.unlock();
  {
    const auto wake = on_stop(*stop, [this] {
      const Lock guard(mutex_);
      changed_.notify_all();
    });
    lock.lock();
    wait_until(lock, patience.deadline(), [&] { return condition() || stop->stop_requested(); });
    if (!condition()) error = stop->stop_requested() ? Errc::cancelled : Errc::timed_out;
    lock.unlock();
  }
  lock.lock();
  return error;
}

}  // namespace spindle
