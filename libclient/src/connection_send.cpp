// Sending: room in the buffer and in the flows, and who writes what has gathered.
#include <algorithm>
#include <cerrno>

#include "libclient/src/connection_impl.h"

namespace spindle {

namespace {

using namespace std::chrono_literals;

// A caller that comes back sooner than this, in the mean, does nothing but send: its messages are left to gather for
// the connection's thread. Any other message is written by its caller at once.
constexpr auto kBurstGap = 2us;
// In a burst the clock, which costs as much as a small message, is read for each so many messages.
constexpr unsigned kSendsPerLookMax = 8;

}  // namespace

std::error_code Connection::Impl::wait_for_room(Lock& lock, Patience& patience) {
  while (can_send() && is_full()) {
    if (!patience.may_wait() || on_thread()) return Errc::would_block;
    const auto may_go_on = [this] { return !can_send() || !is_full(); };
    if (const std::error_code error = wait_for(lock, patience, may_go_on)) return error;
  }
  if (!can_send()) return Errc::not_connected;
  return {};
}

// Waits for room in the window of a flow; what it sends next may find the send buffer full, or the connection closed.
std::error_code Connection::Impl::wait_for_flow(Lock& lock, const Groups& groups, Patience& patience) {
  return wait_for(lock, patience, [&] { return !can_send() || session_.writer().has_room(groups); });
}

std::error_code Connection::Impl::multicast(Service service, const Groups& groups, const Payload& payload,
                                            SendOptions options, Patience patience) {
  Lock lock(mutex_);
  if (is_full()) {
    // A message that will never be taken is refused at once.
    if (const std::error_code error = protocol::RequestWriter::check(service, groups, payload, options)) return error;
  }
  return send(lock, groups, patience, [&] { return session_.writer().multicast(service, groups, payload, options); });
}

std::error_code Connection::Impl::answer(const Message& request, const Payload& payload, const SendOptions& options,
                                         Patience patience) {
  Lock lock(mutex_);
  const Groups to(request.sender());
  return send(lock, to, patience, [&] { return session_.engine().answer(request, payload, options); });
}

// Waits for the view that the client has made way for.
std::error_code Connection::Impl::wait_for_view(Lock& lock, const Groups& groups, Patience& patience) {
  return wait_for(lock, patience, [&] { return !can_send() || !session_.writer().is_flushed(groups); });
}

// FlowReady to those who found the send buffer full, now that half of it is free. The caller holds the lock.
void Connection::Impl::tell_ready_flows() {
  flows_want_buffer_ = false;
  std::vector<Event> events;
  for (FlowReady& flow : session_.writer().take_ready()) events.emplace_back(std::move(flow));
  if (events.empty() || closing_ || ended_) return;
  const std::size_t bytes = events.size() * sizeof(Event);
  events_.push(events, bytes);
  if (handler_ != nullptr) raise_event(wake_);
}

// `ask` is called where there is room for a request.
template <typename Ask>
std::error_code Connection::Impl::ask_of_group(std::string_view group, Ask&& ask) {
  if (!spindle::is_group_name(group)) return Errc::bad_group_name;
  Patience patience(options_.send_timeout);
  Lock lock(mutex_);
  if (const std::error_code error = wait_for_room(lock, patience)) return error;
  if (const std::error_code error = ask()) return error;
  flush(lock);
  return {};
}

std::error_code Connection::Impl::leave(std::string_view group) {
  return ask_of_group(group, [&] { return session_.leave(group); });
}

std::error_code Connection::Impl::request_view(std::string_view group) {
  return ask_of_group(group, [&] { return session_.request_view(group); });
}

std::error_code Connection::Impl::request_flow(const Groups& groups) {
  Patience patience(options_.send_timeout);
  Lock lock(mutex_);
  if (const std::error_code error = wait_for_room(lock, patience)) return error;
  if (const std::error_code error = session_.request_flow(groups)) return error;
  flush(lock);
  return {};
}

// Has the output written: by whoever writes at the moment, by the connection's thread, or by the caller.
void Connection::Impl::flush(Lock& lock) {
  if (writer_busy_) return;  // that thread looks for more when it is done
  const bool burst = is_burst();
  if (!can_write()) return;  // the socket is full, or there is none, and the thread waits for it
  if (burst && (!in_handler_ || on_thread())) {
    if (!on_thread()) wake_thread();
    return;
  }
  write_some(lock);
  looked_at_ = Clock::now();
  // A protected stream may keep the end of what it has taken, and only the thread waits until the socket has room.
  if (has_output() || stream_->unsent() > 0) wake_thread();
}

// Whether whoever sends now does nothing else.
bool Connection::Impl::is_burst() {
  if (++sends_since_look_ < sends_per_look_) return true;
  const Clock::time_point now = Clock::now();
  const bool burst = now - looked_at_ < sends_per_look_ * kBurstGap;
  sends_per_look_ = burst ? std::min(2 * sends_per_look_, kSendsPerLookMax) : 1;
  sends_since_look_ = 0;
  looked_at_ = now;
  return burst;
}

void Connection::Impl::wake_thread() {
  if (!thread_sleeps_) return;  // it looks at the output before it sleeps
  thread_sleeps_ = false;
  raise_event(wake_);
}

// Writes what the socket takes, without the lock: all that has gathered goes in one piece.
void Connection::Impl::write_some(Lock& lock) {
  writer_busy_ = true;
  sends_per_look_ = 1;                       // who sends next may come after a while
  const ByteView piece = session_.output();  // stays where it is
  lock.unlock();
  std::size_t sent = 0;
  bool failed = false;
  while (sent < piece.size()) {
    const ByteView rest = piece.subspan(sent);
    const IoResult result = stream_->write(std::span(&rest, 1), rest.size());
    sent += result.bytes;
    if (result.error == EINTR) continue;
    failed = result.is_failure();
    if (result.error != 0) break;
  }
  lock.lock();
  writer_busy_ = false;
  is_blocked_ = sent < piece.size() && !failed;
  session_.consume(sent);
  if (failed) fail_writing();
  if (waiters_ > 0) changed_.notify_all();
  if (calls_.wants_room() && !is_full()) note_room();
  if (flows_want_buffer_ && session_.writer().output_size() <= options_.send_buffer_bytes / 2) {
    tell_ready_flows();
  }
}

// Nothing more goes out on this connection. The caller holds the lock.
void Connection::Impl::fail_writing() {
  // The reason may still be waiting to be read: the thread goes on reading up to the end of what came.
  write_failed_ = true;
  if (!session_.returns()) session_.writer().drop_output();
  stream_->shut_down();
  if (waiters_ > 0) changed_.notify_all();
  if (calls_.wants_room()) note_room();
}

}  // namespace spindle
