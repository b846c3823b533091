// Connecting, for the first time and again: sockets, and what the session makes of them.
#include <poll.h>

#include <cerrno>

#include "libclient/src/connection_impl.h"

namespace spindle {

protocol::SessionOptions Connection::Impl::session_options(const ConnectOptions& options) {
  protocol::SessionOptions session;
  session.name = options.name;
  session.flags = protocol::kTellTakenBit;
  if (options.independent_flows) session.flags |= protocol::kIndependentFlowsBit;
  session.flags |=
      static_cast<std::uint8_t>(options.slow_policy) << protocol::kSlowPolicyShift & protocol::kSlowPolicyMask;
  session.servers = 1 + options.more_addresses.size();
  session.connect_timeout = options.connect_timeout;
  session.reconnect_timeout = options.reconnect_timeout;
  session.may_resume = options.resume;
  session.keepalive = options.keepalive;
  session.wants_channels = options.bulk;
  session.seed = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  return session;
}

const std::string& Connection::Impl::address_of(std::size_t server) const {
  return server == 0 ? options_.address : options_.more_addresses[server - 1];
}

bool Connection::Impl::check_options(std::error_code& error, std::string& text) {
  Address address;
  error.clear();
  if (!options_.name.empty() && !spindle::is_client_name(options_.name)) error = Errc::bad_client_name;
  for (std::size_t i = 0; !error && i <= options_.more_addresses.size(); ++i) {
    if (!parse_address(address_of(i), address)) error = Errc::bad_address;
    if (error && i > 0) text = "\"" + address_of(i) + "\" is no address";
  }
  if (error && text.empty()) text = error.message();
  return !error;
}

bool Connection::Impl::open(std::error_code& error, std::string& text) {
  if (!check_options(error, text)) return false;
  wake_ = make_event_descriptor();
  if (!wake_) {
    error = Errc::connect_failed;
    text = "no file descriptor is left";
    return false;
  }
  guard_.emplace(socket_);
  Lock lock(mutex_);
  session_.start(now());
  while (!session_.is_connected() && !ended_) {
    if (session_.take_hang_up()) hang_up(lock);
    if (const std::optional<std::size_t> server = session_.take_dial()) {
      dialled_server_ = *server;
      greet(lock, dial_server(options_, address_of(*server), Deadline(session_.dial_until())));
    } else {
      await_welcome(lock);
    }
  }
  if (ended_) {
    lock.unlock();
    return take_refusal(error, text);
  }
  note_name();
  return true;
}

// The hello is far smaller than a socket's buffer: it has been written, or the socket has failed, which reading shows.
void Connection::Impl::await_welcome(Lock& lock) {
  lock.unlock();
  read_socket();
  lock.lock();
  if (session_.is_connected() || ended_ || stream_ == nullptr || may_have_more_ || session_.reader().ended()) return;
  pollfd waiting{socket_.get(), static_cast<short>(stream_->unsent() != 0 ? POLLIN | POLLOUT : POLLIN), 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, poll_timeout(Deadline(session_.next_deadline())));
  } while (ready < 0 && errno == EINTR);
  if (ready > 0) stream_->flush();  // a failure is found by who reads next
  if (session_.next_deadline() <= now()) handle_time(lock);
}

// What the session wants of sockets. The caller is the connection's thread, and holds the lock.
void Connection::Impl::go_on_connecting(Lock& lock) {
  if (session_.take_hang_up()) hang_up(lock);
  if (const std::optional<std::size_t> server = session_.take_dial()) {
    dialled_server_ = *server;
    dialler_.start(options_, address_of(*server), Deadline(session_.dial_until()), [self = weak_from_this()] {
      if (const auto impl = self.lock()) raise_event(impl->wake_);
    });
  }
  if (std::optional<DialledServer> server = dialler_.take()) greet(lock, *std::move(server));
}

void Connection::Impl::greet(Lock& lock, DialledServer server) {
  if (server.stream == nullptr) {
    session_.failed(now(), static_cast<Errc>(server.error.value()), server.text);
    lock.unlock();
    deliver();  // it may have been the last try
    lock.lock();
    return;
  }
  guard_->set_socket(std::move(server.socket));
  stream_ = std::move(server.stream);
  write_failed_ = is_blocked_ = output_ended_ = false;
  may_have_more_ = true;
  session_.connected(now(), server.token);
  write_some(lock);
}

// Whoever writes is let finish: what it has written is known then.
void Connection::Impl::hang_up(Lock& lock) {
  dialler_.abandon();
  if (stream_ == nullptr) return;
  stream_->shut_down();
  wait_until(lock, Deadline::max(), [this] { return !writer_busy_; });
  stream_.reset();
  guard_->set_socket(Descriptor());
  is_blocked_ = write_failed_ = may_have_more_ = false;
}

// Names are kept: whoever has asked for one may still look at it.
void Connection::Impl::note_name() {
  if (!names_.empty() && names_.back() == session_.private_name()) return;
  names_.push_back(session_.private_name());
  private_name_.store(&names_.back(), std::memory_order_release);
}

bool Connection::Impl::take_refusal(std::error_code& error, std::string& text) {
  while (std::optional<Event> event = events_.take()) {
    if (const auto* last = event->get_if<Disconnected>()) {
      error = last->error;
      text = last->text;
    }
  }
  return false;
}

}  // namespace spindle
