// Connecting: the address, the socket, TLS, and the handshake.
#include <poll.h>

#include <cerrno>

#include "libclient/io/plain_stream.h"
#include "libclient/src/connection_impl.h"
#include "libclient/src/protection.h"

namespace spindle {

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
    if (const auto* last = event->get_if<Disconnected>()) {
      error = last->error;
      text = last->text;
    }
  }
  return false;
}

}  // namespace spindle
