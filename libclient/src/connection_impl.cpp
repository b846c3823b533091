#include "libclient/src/connection_impl.h"

#include <poll.h>

#include <algorithm>
#include <vector>

#include "libclient/src/blocked_signals.h"

namespace spindle {

namespace {

// What still is of interest to a client that has left.
bool tells_of_what_was_sent(const Event& event) {
  const auto* failed = event.get_if<RequestFailed>();
  return event.is<Disconnected>() || (failed != nullptr && failed->request == RequestFailed::Request::send);
}

/// Longer than anybody waits, and short enough to be counted in nanoseconds from any time on.
constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24) * 3'653;

/// Programs say times that are to have no end as the longest that there is.
ConnectOptions with_bounded_times(ConnectOptions options) {
  for (std::chrono::milliseconds* time :
       {&options.connect_timeout, &options.reconnect_timeout, &options.keepalive, &options.disconnect_timeout}) {
    *time = std::clamp(*time, std::chrono::milliseconds::zero(), kLongest);
  }
  return options;
}

}  // namespace

Connection::Impl::Impl(const ConnectOptions& options)
    : options_(with_bounded_times(options)),
      events_(options_.receive_buffer_bytes, [this] { raise_event(wake_); }),
      session_(session_options(options_)) {
  session_.engine().observe(this);
  names_.emplace_back();
  private_name_ = &names_.back();
}

void Connection::Impl::start_thread() {
  const Lock lock(mutex_);  // the thread waits here until it knows its own number
  const BlockedSignals blocked;
  thread_ = std::thread([self = shared_from_this()] { self->run(); });
  thread_id_ = thread_.get_id();
}

void Connection::Impl::shut_down() {
  disconnect();
  {
    const Lock lock(mutex_);
    stop_ = true;
    handler_news_ = true;
  }
  raise_event(wake_);
  if (on_thread()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

bool Connection::Impl::is_open() const {
  const Lock lock(mutex_);
  return can_send();
}

// Returns when the former handler is not running and will not run again, unless that is who calls.
void Connection::Impl::set_handler(Handler handler) {
  std::shared_ptr<Handler> former;  // let go of without the lock
  Lock lock(mutex_);
  former = std::exchange(handler_, handler ? std::make_shared<Handler>(std::move(handler)) : nullptr);
  handler_news_ = true;
  raise_event(wake_);
  if (former == nullptr || on_thread()) return;
  wait_until(lock, Deadline::max(), [&] { return running_ != former.get(); });
}

NotTaken Connection::Impl::disconnect(Deadline deadline, const std::stop_token& stop) {
  Lock lock(mutex_);
  const bool is_first = !closing_ && !ended_;
  if (is_first) {
    closing_ = true;
    closing_deadline_ = deadline;
    session_.bye();
    changed_.notify_all();
    raise_event(wake_);
  }
  if (on_thread()) return session_.not_taken();
  Patience patience(ended_ ? Deadline::max() : closing_deadline_, stop);
  if (wait_for(lock, patience, [this] { return ended_; }) == Errc::cancelled) {
    if (!is_first) return session_.not_taken();
    closing_deadline_ = Clock::now();
    raise_event(wake_);
  }
  // Its thread ends it now, unless that is in code of the program's, which may wait for who waits here.
  wait_until(lock, Deadline::max(), [this] { return ended_ || in_handler_; });
  return session_.not_taken();
}

// The connection's thread is about to call what the program has given. The caller holds the lock.
void Connection::Impl::begin_program_code() {
  in_handler_ = true;
  if (closing_ && waiters_ > 0) changed_.notify_all();
}

void Connection::Impl::run() {
  Lock lock(mutex_);
  while (turn(lock)) {
  }
}

// One round of the thread: write, wait, read, handle. False when there is nothing left to do for ever.
bool Connection::Impl::turn(Lock& lock) {
  run_handler(lock);
  if (is_inherited()) return false;  // the handler has forked, and this is the only thread of the child
  run_done(lock);
  if (is_inherited()) return false;
  if (stop_ && ended_) return false;
  const bool had_ended = ended_;
  if (!ended_ && session_.next_deadline() <= now()) handle_time(lock);
  if (!ended_ && feeds_.next_deadline() <= now()) {
    feeds_.handle_time(now());
    tell_feeds();
    return true;  // the handler goes first
  }
  go_on_connecting(lock);
  if (ended_ && !had_ended) return true;  // Disconnected is for the handler, and nothing else would wake the thread
  if (!ended_ && can_write() && has_output()) write_some(lock);
  end_output(lock);
  const int ready = poll_events(lock);
  if (!calls_.empty()) calls_.expire(Clock::now());
  if (ended_) return true;
  if (closing_ && Clock::now() >= closing_deadline_) {
    lock.unlock();
    give_up(Errc::closed_by_client, "the client closed the connection before the daemon had answered");
    lock.lock();
    return true;
  }
  if (stream_ == nullptr) return true;
  if ((ready & POLLOUT) != 0 && !writer_busy_) {
    if (is_blocked_) {
      write_some(lock);
    } else if (stream_->flush().is_failure()) {
      fail_writing();
    }
  }
  const bool may_have_bytes = (ready & (POLLIN | POLLHUP | POLLERR)) != 0 || may_have_more_;
  if (may_have_bytes && takes_events()) {
    lock.unlock();
    read_socket();
    lock.lock();
  }
  return true;
}

// Once all is written after a bye, tells the daemon so by ending this direction of the stream.
void Connection::Impl::end_output(Lock&) {
  if (!closing_ || ended_ || output_ended_ || writer_busy_ || stream_ == nullptr) return;
  // What is held goes out later, the bye with it.
  if (!session_.is_connected() || session_.writer().output_size() != 0) return;
  output_ended_ = true;
  stream_->finish_writing();
}

// Waits for the socket, a wake-up or the end of patience. Gives what the socket is ready for.
int Connection::Impl::poll_events(Lock& lock) {
  pollfd waiting[2] = {{wake_.get(), POLLIN, 0}, {-1, 0, 0}};
  if (!ended_ && stream_ != nullptr) {
    if (takes_events()) waiting[1].events |= POLLIN;
    const bool has_more = is_blocked_ || stream_->unsent() > 0;
    if (has_more && !write_failed_ && !writer_busy_) waiting[1].events |= POLLOUT;
    // A descriptor that nothing is asked of would still report that the other side hung up, again and again.
    if (waiting[1].events != 0) waiting[1].fd = socket_.get();
  }
  const bool more_to_write = can_write() && has_output();
  const bool more_to_read = stream_ != nullptr && may_have_more_ && takes_events();
  session_.set_reading(takes_events());
  const bool more_to_do = (!ended_ && (more_to_write || more_to_read)) || calls_.has_done();
  thread_sleeps_ = !more_to_do;
  int timeout_ms = more_to_do ? 0 : -1;
  Deadline next = std::min(calls_.next_deadline(), closing_ && !ended_ ? closing_deadline_ : Deadline::max());
  if (!ended_ && session_.next_deadline() != protocol::kNeverAgain) {
    next = std::min(next, Deadline(session_.next_deadline()));
  }
  if (!ended_ && feeds_.next_deadline() != protocol::kNeverAgain) {
    next = std::min(next, Deadline(feeds_.next_deadline()));
  }
  if (next != Deadline::max() && !more_to_do) timeout_ms = poll_timeout(next);
  lock.unlock();
  const int count = ::poll(waiting, 2, timeout_ms);
  if (count > 0 && waiting[0].revents != 0) clear_event(wake_);
  lock.lock();
  thread_sleeps_ = false;
  return count > 0 ? waiting[1].revents : 0;
}

void Connection::Impl::read_socket() {
  protocol::EventReader& reader = session_.reader();
  const std::span<std::uint8_t> room = reader.prepare();
  const IoResult result = stream_->read(room);
  may_have_more_ = result.bytes == room.size();
  if (result.bytes > 0) {
    reader.commit(result.bytes);
    deliver();
  }
  if (!result.is_failure() || reader.ended()) return;
  if (result.error == IoResult::kProtectionFailed) return end(Errc::tls_failed, stream_->protection_failure());
  Lock lock(mutex_);
  const Errc reason = session_.engine().end_reason();
  lock.unlock();
  end(reason);
}

void Connection::Impl::end(Errc reason, std::string_view text) {
  session_.reader().end(reason, text);
  deliver();
}

void Connection::Impl::give_up(Errc reason, std::string_view text) {
  {
    const Lock lock(mutex_);
    session_.give_up(reason, text);
  }
  deliver();
}

void Connection::Impl::handle_time(Lock& lock) {
  // It may be time to give the connection up: whoever writes is let finish, so that it is known what was written.
  wait_until(lock, Deadline::max(), [this] { return !writer_busy_; });
  session_.handle_time(now());
  lock.unlock();
  deliver();
  lock.lock();
}

// Brings what the reader has found to whom it concerns.
void Connection::Impl::deliver() {
  protocol::EventReader& reader = session_.reader();
  bool has_views = false;
  if (session_.is_settling_due()) {
    Lock lock(mutex_);
    const std::uint64_t reconnections = session_.reconnections();
    // Whoever writes is let finish, so that it is known what was written on a connection that is gone.
    if (reader.ended() && stream_ != nullptr) stream_->shut_down();
    if (reader.ended()) wait_until(lock, Deadline::max(), [this] { return !writer_busy_; });
    has_views = reader.has_views();
    session_.settle(now());
    has_views = has_views || session_.reconnections() != reconnections;
    if (session_.is_connected()) note_name();
    tell_feeds();
    if (waiters_ > 0) changed_.notify_all();  // flows may have room
    if (calls_.wants_room()) note_room();
  }
  const std::size_t bytes = reader.event_bytes();
  reader.take_events(arrived_);
  if (arrived_.empty()) return;
  const Lock lock(mutex_);
  const bool ended = session_.is_over();
  if (has_views) note_views();
  if (closing_) {
    std::erase_if(arrived_, [](const Event& event) { return !tells_of_what_was_sent(event); });
  }
  // Who receives Disconnected finds the connection closed, and who finds it closed finds Disconnected.
  const std::error_code end = ended ? arrived_.back().get<Disconnected>().error : std::error_code();
  if (ended) {
    feeds_.end(end);
    tell_feeds();
  }
  if (!arrived_.empty()) events_.push(arrived_, bytes);
  if (ended) {
    ended_ = true;
    calls_.end(end);
    if (channels_ != nullptr) channels_->session_ended(end);
  }
  if (waiters_ > 0) changed_.notify_all();
}

// Hands the handler all that waits, without the lock, as long as it is the handler.
void Connection::Impl::run_handler(Lock& lock) {
  Event event;
  while (handler_ != nullptr && !stop_ && events_.take(event)) {
    std::shared_ptr<Handler> handler = handler_;
    running_ = handler.get();
    handler_news_ = false;
    begin_program_code();
    lock.unlock();
    do {
      note_taken(event);
      (*handler)(std::move(event));
      if (is_inherited()) return;
    } while (!handler_news_.load(std::memory_order_relaxed) && events_.take(event));
    event = Event();  // what the handler has left of it takes no time of who waits for the lock
    handler.reset();
    lock.lock();
    in_handler_ = false;
    running_ = nullptr;
    if (waiters_ > 0) changed_.notify_all();
  }
}

}  // namespace spindle
