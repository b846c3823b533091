#include "spindle/connection.h"

#include <limits>

#include "libclient/src/connection_impl.h"

namespace spindle {

Connection::Connection() noexcept = default;
Connection::Connection(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Connection::Connection(Connection&&) noexcept = default;

Connection& Connection::operator=(Connection&& other) noexcept {
  if (this != &other) {
    let_go();
    impl_ = std::move(other.impl_);
  }
  return *this;
}

Connection::~Connection() { let_go(); }

void Connection::let_go() {
  if (!impl_) return;
  if (impl_->is_inherited()) return ForkGuard::keep_inherited(std::move(impl_));
  impl_->shut_down();
}

Connection::Impl* Connection::usable() const noexcept {
  return impl_ && !impl_->is_inherited() ? impl_.get() : nullptr;
}

Connection Connection::connect(const ConnectOptions& options, std::error_code& error, std::string* text) {
  auto impl = std::make_shared<Impl>(options);
  std::string reason;
  if (!impl->open(error, reason)) {
    if (text != nullptr) *text = std::move(reason);
    return Connection();
  }
  impl->start_thread();
  return Connection(std::move(impl));
}

Connection Connection::connect(const ConnectOptions& options) {
  std::error_code error;
  std::string text;
  Connection connection = connect(options, error, &text);
  if (error) throw std::system_error(error, text);
  return connection;
}

std::string_view Connection::private_name() const noexcept {
  return impl_ ? std::string_view(impl_->private_name()) : std::string_view();
}

bool Connection::is_open() const noexcept {
  const Impl* impl = usable();
  return impl != nullptr && impl->is_open();
}

std::error_code Connection::join(std::string_view group, JoinOptions options) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->join(group, options);
}

std::error_code Connection::flush_ok(std::string_view group) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->flush_ok(group);
}

std::error_code Connection::leave(std::string_view group) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->request(protocol::ClientFrame::leave, group);
}

std::error_code Connection::request_view(std::string_view group) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->request(protocol::ClientFrame::view_request, group);
}

std::error_code Connection::request_flow(const Groups& groups) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->request_flow(groups);
}

std::error_code Connection::multicast(Service service, const Groups& groups, const Payload& payload,
                                      SendOptions options) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->multicast(service, groups, payload, options, true);
}

std::error_code Connection::try_multicast(Service service, const Groups& groups, const Payload& payload,
                                          SendOptions options) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->multicast(service, groups, payload, options, false);
}

std::optional<Event> Connection::receive() {
  Impl* impl = usable();
  if (impl == nullptr) return std::nullopt;
  std::optional<Event> event = impl->events().wait(std::nullopt);
  if (event) impl->note_taken(*event);
  return event;
}

std::optional<Event> Connection::receive(std::chrono::nanoseconds timeout, std::error_code& error) {
  error.clear();
  std::optional<Event> event;
  Impl* impl = usable();
  if (impl != nullptr) {
    const Deadline now = std::chrono::steady_clock::now();
    const bool for_ever = timeout > Deadline::max() - now;
    event = timeout <= std::chrono::nanoseconds::zero()
                ? impl->events().take()
                : impl->events().wait(for_ever ? std::nullopt : std::optional(now + timeout));
    if (event) impl->note_taken(*event);
  }
  if (!event) error = impl != nullptr && !impl->events().finished() ? Errc::timed_out : Errc::not_connected;
  return event;
}

std::optional<Event> Connection::receive(std::chrono::nanoseconds timeout) {
  std::error_code error;
  return receive(timeout, error);
}

int Connection::descriptor() {
  Impl* impl = usable();
  return impl == nullptr ? -1 : impl->events().descriptor();
}

void Connection::set_handler(Handler handler) {
  if (Impl* impl = usable()) impl->set_handler(std::move(handler));
}

NotTaken Connection::disconnect() {
  Impl* impl = usable();
  return impl == nullptr ? NotTaken{0, true} : impl->disconnect();
}

}  // namespace spindle
