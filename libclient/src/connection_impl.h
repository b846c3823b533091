// What stands behind a Connection: the socket, its thread, and the engine between them and the caller.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "libclient/io/byte_stream.h"
#include "libclient/protocol/client_engine.h"
#include "libclient/src/event_queue.h"
#include "libclient/src/fork_guard.h"
#include "libclient/src/socket.h"
#include "spindle/connection.h"

namespace spindle {

/// Order of calls: `open`; if it succeeds, `start_thread`, then anything; `shut_down` at last. The thread keeps the
/// object alive: a handler may drop the connection that called it.
class Connection::Impl : public std::enable_shared_from_this<Impl> {
 public:
  explicit Impl(const ConnectOptions& options);

  bool open(std::error_code& error, std::string& text);
  void start_thread();
  void shut_down();

  /// Whether this is the copy in a child of fork(): nothing else may be called then.
  bool is_inherited() const { return guard_ && guard_->is_inherited(); }
  const std::string& private_name() const { return private_name_; }
  bool is_open() const;
  std::error_code multicast(Service service, const Groups& groups, const Payload& payload, SendOptions options,
                            bool may_wait);
  std::error_code request(protocol::ClientFrame type, std::string_view group, std::uint8_t flags = 0);
  std::error_code join(std::string_view group, JoinOptions options);
  std::error_code flush_ok(std::string_view group);
  /// The program has been given the event, or is about to be.
  void note_taken(const Event& event);
  std::error_code request_flow(const Groups& groups);
  void set_handler(Handler handler);
  NotTaken disconnect();
  EventQueue& events() { return events_; }

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Clock = std::chrono::steady_clock;

  // Sending, on any thread; the caller holds the lock.
  bool can_send() const { return !closing_ && !ended_ && !write_failed_; }
  bool is_full() const { return in_flight_ + engine_.writer().output_size() >= options_.send_buffer_bytes; }
  bool has_output() const { return engine_.writer().output_size() > 0; }
  std::error_code wait_for_room(Lock& lock, bool may_wait);
  void wait_for_flow(Lock& lock, const Groups& groups);
  void wait_for_view(Lock& lock, const Groups& groups);
  void tell_ready_flows();
  void flush(Lock& lock);
  bool is_burst();
  void write_some(Lock& lock);
  void wake_thread();
  bool on_thread() const { return std::this_thread::get_id() == thread_id_; }

  // The connection's own thread.
  void run();
  bool turn(Lock& lock);
  void end_output(Lock& lock);
  int poll_events(Lock& lock);
  bool takes_events() const { return closing_ || !events_.is_full(); }
  void read_socket();
  void end(Errc reason, std::string_view text = {});
  void deliver();
  void run_handler(Lock& lock);

  /// Waits for the stream to go on in either direction. False, with `error` and `late` for its text, at the deadline.
  bool wait_for_stream(Deadline deadline, std::string_view late, std::error_code& error, std::string& text);
  /// Waits until it is settled who is at the other end.
  bool establish(Deadline deadline, std::error_code& error, std::string& text);
  bool finish_handshake(std::string_view token, Deadline deadline, std::error_code& error, std::string& text);
  bool take_refusal(std::error_code& error, std::string& text);

  const ConnectOptions options_;
  Descriptor socket_;
  std::optional<ForkGuard> guard_;      // once there is a socket,
  std::unique_ptr<ByteStream> stream_;  // and on it
  Descriptor wake_;
  EventQueue events_;
  std::string private_name_;
  std::thread thread_;
  std::thread::id thread_id_;
  // The thread's own.
  std::vector<Event> arrived_;  // kept for its memory
  bool may_have_more_ = true;   // the stream, although its socket has none

  mutable std::mutex mutex_;  // guards what follows, and the engine but for its reader, which belongs to the thread
  std::condition_variable changed_;
  protocol::ClientEngine engine_;
  std::vector<std::uint8_t> writing_;  // belongs to who set `writer_busy_`, otherwise guarded
  std::size_t written_ = 0;            // of `writing_`
  std::size_t in_flight_ = 0;          // bytes of `writing_` still to be written; if not busy, the socket would block
  bool writer_busy_ = false;
  bool write_failed_ = false;
  bool thread_sleeps_ = false;
  bool in_handler_ = false;
  std::size_t send_waiters_ = 0;
  std::set<std::string, std::less<>> auto_flush_;  // groups in which note_taken() answers requests to flush
  bool flows_want_buffer_ = false;                 // a FlowReady is due once the send buffer has room
  Clock::time_point looked_at_;                    // when the clock was last read for a send
  unsigned sends_since_look_ = 0;
  unsigned sends_per_look_ = 1;  // more in a burst
  bool closing_ = false;
  bool output_ended_ = false;
  Deadline closing_deadline_;
  bool ended_ = false;
  bool stop_ = false;
  std::shared_ptr<Handler> handler_;
  std::atomic<bool> handler_news_ = false;  // another handler, or none any more; looked at without the lock, too
};

}  // namespace spindle
