#include "libclient/src/connection_impl.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "libclient/io/plain_stream.h"
#include "libclient/src/protection.h"

namespace spindle {

namespace {

using namespace std::chrono_literals;

// A caller that comes back sooner than this, in the mean, does nothing but send: its messages are left to gather for
// the connection's thread. Any other message is written by its caller at once.
constexpr auto kBurstGap = 2us;
// In a burst the clock, which costs as much as a small message, is read for each so many messages.
constexpr unsigned kSendsPerLookMax = 8;

// Memory for output beyond this is not kept once it has been written.
constexpr std::size_t kOutputBytesKept = 4u << 20;

// What still is of interest to a client that has left.
bool tells_of_what_was_sent(const Event& event) {
  const auto* failed = std::get_if<RequestFailed>(&event);
  return std::holds_alternative<Disconnected>(event) ||
         (failed != nullptr && failed->request == RequestFailed::Request::send);
}

}  // namespace

Connection::Impl::Impl(const ConnectOptions& options)
    : options_(options), events_(options.receive_buffer_bytes, [this] { raise_event(wake_); }) {}

bool Connection::Impl::open(std::error_code& error, std::string& text) {
  const Deadline deadline = Clock::now() + options_.connect_timeout;
  Address address;
  error.clear();
  if (!options_.name.empty() && !spindle::is_client_name(options_.name)) {
    error = Errc::bad_client_name;
  } else if (!parse_address(options_.address, address)) {
    error = Errc::bad_address;
  }
  if (error) {
    text = error.message();
    return false;
  }
  const std::string token = find_token(options_, address, error, text);
  if (error) return false;
  wake_ = make_event_descriptor();
  if (!wake_) {
    error = Errc::connect_failed;
    text = "no file descriptor is left";
    return false;
  }
  socket_ = connect_socket(address, deadline, error, text);
  if (!socket_) return false;
  guard_.emplace(socket_);
  if (address.is_protected) {
    stream_ = make_protected_stream(socket_.get(), options_, text);
    if (stream_ == nullptr) {
      error = Errc::tls_failed;
      return false;
    }
  } else {
    stream_ = std::make_unique<PlainStream>(socket_.get());
  }
  return establish(deadline, error, text) && finish_handshake(token, deadline, error, text);
}

bool Connection::Impl::wait_for_stream(Deadline deadline, std::string_view late, std::error_code& error,
                                       std::string& text) {
  const bool has_unsent = stream_->unsent() != 0;
  pollfd waiting{socket_.get(), static_cast<short>(has_unsent ? POLLIN | POLLOUT : POLLIN), 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, poll_timeout(deadline));
  } while (ready < 0 && errno == EINTR);
  if (ready > 0) {
    stream_->flush();  // a failure is found by who reads next
    return true;
  }
  error = Errc::timed_out;
  text = late;
  return false;
}

bool Connection::Impl::establish(Deadline deadline, std::error_code& error, std::string& text) {
  while (!stream_->is_established()) {
    const IoResult result = stream_->read({});
    if (result.is_failure()) {
      error = result.error == IoResult::kProtectionFailed ? Errc::tls_failed : Errc::connection_lost;
      text = result.error == IoResult::kProtectionFailed ? stream_->protection_failure() : error.message();
      return false;
    }
    if (stream_->is_established()) break;
    if (!wait_for_stream(deadline, "the handshake of TLS was not completed in time", error, text)) return false;
  }
  return true;
}

bool Connection::Impl::finish_handshake(std::string_view token, Deadline deadline, std::error_code& error,
                                        std::string& text) {
  protocol::Hello hello;
  hello.name = options_.name;
  hello.token = token;
  if (options_.independent_flows) hello.flags |= protocol::kIndependentFlowsBit;
  hello.flags |=
      static_cast<std::uint8_t>(options_.slow_policy) << protocol::kSlowPolicyShift & protocol::kSlowPolicyMask;
  hello.flags |= protocol::kTellTakenBit;
  engine_.start(hello);
  Lock lock(mutex_);
  write_some(lock);
  lock.unlock();
  // The hello is far smaller than a socket's buffer: it has been written, or the socket has failed, which reading
  // shows.
  while (!engine_.is_open()) {
    read_socket();
    if (engine_.ended()) return take_refusal(error, text);
    if (engine_.is_open() || may_have_more_) continue;
    if (!wait_for_stream(deadline, "the daemon did not welcome the client in time", error, text)) return false;
  }
  private_name_ = engine_.private_name();
  return true;
}

bool Connection::Impl::take_refusal(std::error_code& error, std::string& text) {
  while (std::optional<Event> event = events_.take()) {
    if (const auto* last = std::get_if<Disconnected>(&*event)) {
      error = last->error;
      text = last->text;
    }
  }
  return false;
}

void Connection::Impl::start_thread() {
  const Lock lock(mutex_);  // the thread waits here until it knows its own number
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

std::error_code Connection::Impl::wait_for_room(Lock& lock, bool may_wait) {
  if (can_send() && is_full()) {
    if (!may_wait || on_thread()) return Errc::would_block;
    ++send_waiters_;
    changed_.wait(lock, [this] { return !can_send() || !is_full(); });
    --send_waiters_;
  }
  if (!can_send()) return Errc::not_connected;
  return {};
}

std::error_code Connection::Impl::multicast(Service service, const Groups& groups, const Payload& payload,
                                            SendOptions options, bool may_wait) {
  Lock lock(mutex_);
  if (on_thread()) may_wait = false;
  if (is_full()) {
    // A message that will never be taken is refused at once.
    if (const std::error_code error = protocol::RequestWriter::check(service, groups, payload)) return error;
  }
  for (;;) {
    std::error_code error = wait_for_room(lock, may_wait);
    if (error == Errc::would_block) flows_want_buffer_ = true;
    if (!error) error = engine_.writer().multicast(service, groups, payload, options);
    if (error == Errc::flushing && may_wait) {
      wait_for_view(lock, groups);
      continue;
    }
    if (error != Errc::would_block) {
      if (!error) flush(lock);
      return error;
    }
    if (!may_wait) {
      engine_.writer().want_ready(groups);
      return error;
    }
    wait_for_flow(lock, groups);
  }
}

// Waits for room in the window of a flow; what it sends next may find the send buffer full, or the connection closed.
void Connection::Impl::wait_for_flow(Lock& lock, const Groups& groups) {
  ++send_waiters_;
  changed_.wait(lock, [&] { return !can_send() || engine_.writer().has_room(groups); });
  --send_waiters_;
}

void Connection::Impl::wait_for_view(Lock& lock, const Groups& groups) {
  ++send_waiters_;
  changed_.wait(lock, [&] { return !can_send() || !engine_.writer().is_flushed(groups); });
  --send_waiters_;
}

// FlowReady to those who found the send buffer full, now that half of it is free. The caller holds the lock.
void Connection::Impl::tell_ready_flows() {
  flows_want_buffer_ = false;
  std::vector<Event> events;
  for (FlowReady& flow : engine_.writer().take_ready()) events.emplace_back(std::move(flow));
  if (events.empty() || closing_ || ended_) return;
  const std::size_t bytes = events.size() * sizeof(Event);
  events_.push(events, bytes);
  if (handler_ != nullptr) raise_event(wake_);
}

std::error_code Connection::Impl::join(std::string_view group, JoinOptions options) {
  {
    const Lock lock(mutex_);
    if (options.synchronous && options.auto_flush) {
      auto_flush_.emplace(group);
    } else {
      auto_flush_.erase(std::string(group));
    }
  }
  return request(protocol::ClientFrame::join, group, options.synchronous ? protocol::kSynchronousBit : std::uint8_t{0});
}

// Waits for nothing: who is asked to flush may be the one who makes room.
std::error_code Connection::Impl::flush_ok(std::string_view group) {
  Lock lock(mutex_);
  if (!can_send()) return Errc::not_connected;
  if (const std::error_code error = engine_.flush_ok(group)) return error;
  flush(lock);
  return {};
}

void Connection::Impl::note_taken(const Event& event) {
  const auto* request = std::get_if<FlushRequest>(&event);
  if (request == nullptr) return;
  {
    const Lock lock(mutex_);
    if (!auto_flush_.contains(request->group)) return;
  }
  flush_ok(request->group);
}

std::error_code Connection::Impl::request(protocol::ClientFrame type, std::string_view group, std::uint8_t flags) {
  if (!spindle::is_group_name(group)) return Errc::bad_group_name;
  Lock lock(mutex_);
  if (const std::error_code error = wait_for_room(lock, true)) return error;
  if (const std::error_code error = engine_.writer().request(type, group, flags)) return error;
  flush(lock);
  return {};
}

std::error_code Connection::Impl::request_flow(const Groups& groups) {
  Lock lock(mutex_);
  if (const std::error_code error = wait_for_room(lock, true)) return error;
  if (const std::error_code error = engine_.request_flow(groups)) return error;
  flush(lock);
  return {};
}

// Has the output written: by whoever writes at the moment, by the connection's thread, or by the caller.
void Connection::Impl::flush(Lock& lock) {
  if (writer_busy_) return;  // that thread looks for more when it is done
  const bool burst = is_burst();
  if (in_flight_ > 0) return;  // the socket is full, and the thread waits for it
  if (burst && (!in_handler_ || on_thread())) {
    if (!on_thread()) wake_thread();
    return;
  }
  write_some(lock);
  looked_at_ = Clock::now();
  if (in_flight_ > 0 || has_output()) wake_thread();
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
  sends_per_look_ = 1;  // who sends next may come after a while
  if (in_flight_ == 0) {
    writing_.clear();
    written_ = 0;
    if (writing_.capacity() > kOutputBytesKept) writing_ = std::vector<std::uint8_t>();
    engine_.writer().take_output(writing_);
    in_flight_ = writing_.size();
  }
  lock.unlock();
  std::size_t sent = 0;
  bool failed = false;
  while (written_ + sent < writing_.size()) {
    const std::span<const std::uint8_t> rest = std::span(writing_).subspan(written_ + sent);
    const IoResult result = stream_->write(std::span(&rest, 1), rest.size());
    sent += result.bytes;
    if (result.error == EINTR) continue;
    failed = result.is_failure();
    if (result.error != 0) break;
  }
  lock.lock();
  writer_busy_ = false;
  written_ += sent;
  in_flight_ -= sent;
  if (failed) {
    // The reason may still be waiting to be read: the thread goes on reading up to the end of what came.
    write_failed_ = true;
    in_flight_ = 0;
    engine_.writer().consume(engine_.writer().output_size());
    stream_->shut_down();
  }
  if (send_waiters_ > 0 && (failed || !is_full())) changed_.notify_all();
  if (flows_want_buffer_ && in_flight_ + engine_.writer().output_size() <= options_.send_buffer_bytes / 2) {
    tell_ready_flows();
  }
}

void Connection::Impl::set_handler(Handler handler) {
  const Lock lock(mutex_);
  handler_ = handler ? std::make_shared<Handler>(std::move(handler)) : nullptr;
  handler_news_ = true;
  raise_event(wake_);
}

NotTaken Connection::Impl::disconnect() {
  Lock lock(mutex_);
  if (!closing_ && !ended_) {
    closing_ = true;
    closing_deadline_ = Clock::now() + options_.disconnect_timeout;
    engine_.bye();
    changed_.notify_all();
    raise_event(wake_);
  }
  if (!on_thread()) changed_.wait(lock, [this] { return ended_; });
  return engine_.not_taken();
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
  if (stop_ && ended_) return false;
  if (!ended_ && !writer_busy_ && in_flight_ == 0 && has_output()) write_some(lock);
  end_output(lock);
  const int ready = poll_events(lock);
  if (ended_) return true;
  if (closing_ && Clock::now() >= closing_deadline_) {
    lock.unlock();
    end(Errc::closed_by_client, "the client closed the connection before the daemon had answered");
    lock.lock();
    return true;
  }
  if ((ready & POLLOUT) != 0 && !writer_busy_) {
    if (in_flight_ > 0) {
      write_some(lock);
    } else {
      stream_->flush();  // a failure is found by who reads or writes next
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
  if (!closing_ || ended_ || output_ended_ || writer_busy_ || in_flight_ > 0 || has_output()) return;
  output_ended_ = true;
  stream_->finish_writing();
}

// Waits for the socket, a wake-up or the end of patience. Gives what the socket is ready for.
int Connection::Impl::poll_events(Lock& lock) {
  pollfd waiting[2] = {{wake_.get(), POLLIN, 0}, {-1, 0, 0}};
  if (!ended_) {
    if (takes_events()) waiting[1].events |= POLLIN;
    if ((in_flight_ > 0 || stream_->unsent() > 0) && !writer_busy_) waiting[1].events |= POLLOUT;
    // A descriptor that nothing is asked of would still report that the other side hung up, again and again.
    if (waiting[1].events != 0) waiting[1].fd = socket_.get();
  }
  const bool more_to_write = !writer_busy_ && in_flight_ == 0 && has_output();
  const bool more_to_read = may_have_more_ && takes_events();
  const bool more_to_do = !ended_ && (more_to_write || more_to_read);
  thread_sleeps_ = !more_to_do;
  int timeout_ms = more_to_do ? 0 : -1;
  if (closing_ && !ended_ && !more_to_do) timeout_ms = poll_timeout(closing_deadline_);
  lock.unlock();
  const int count = ::poll(waiting, 2, timeout_ms);
  if (count > 0 && waiting[0].revents != 0) clear_event(wake_);
  lock.lock();
  thread_sleeps_ = false;
  return count > 0 ? waiting[1].revents : 0;
}

void Connection::Impl::read_socket() {
  const std::span<std::uint8_t> room = engine_.reader().prepare();
  const IoResult result = stream_->read(room);
  may_have_more_ = result.bytes == room.size();
  if (result.bytes > 0) {
    engine_.reader().commit(result.bytes);
    deliver();
  }
  if (!result.is_failure() || engine_.ended()) return;
  if (result.error == IoResult::kProtectionFailed) return end(Errc::tls_failed, stream_->protection_failure());
  Lock lock(mutex_);
  const Errc reason = engine_.end_reason();
  lock.unlock();
  end(reason);
}

void Connection::Impl::end(Errc reason, std::string_view text) {
  engine_.reader().end(reason, text);
  deliver();
}

// Brings what the reader has found to whom it concerns.
void Connection::Impl::deliver() {
  protocol::EventReader& reader = engine_.reader();
  if (reader.has_news()) {
    const Lock lock(mutex_);
    engine_.settle();
    if (send_waiters_ > 0) changed_.notify_all();  // flows may have room
  }
  const std::size_t bytes = reader.event_bytes();
  reader.take_events(arrived_);
  const bool ended = reader.ended();
  if (ended) stream_->shut_down();
  if (arrived_.empty()) return;
  const Lock lock(mutex_);
  if (closing_) {
    std::erase_if(arrived_, [](const Event& event) { return !tells_of_what_was_sent(event); });
  }
  // Who receives Disconnected finds the connection closed, and who finds it closed finds Disconnected.
  if (!arrived_.empty()) events_.push(arrived_, bytes);
  if (ended) {
    ended_ = true;
    changed_.notify_all();
  }
}

// Hands the handler all that waits, without the lock, as long as it is the handler.
void Connection::Impl::run_handler(Lock& lock) {
  bool more = true;
  while (more && handler_ != nullptr && !stop_) {
    const std::shared_ptr<Handler> handler = handler_;
    handler_news_ = false;
    in_handler_ = true;
    lock.unlock();
    for (Event event; !handler_news_.load(std::memory_order_relaxed) && (more = events_.take(event));) {
      note_taken(event);
      (*handler)(std::move(event));
      if (is_inherited()) return;
    }
    lock.lock();
    in_handler_ = false;
  }
}

}  // namespace spindle
