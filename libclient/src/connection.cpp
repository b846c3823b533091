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

Result<Connection> Connection::connect(const ConnectOptions& options) {
  auto impl = std::make_shared<Impl>(options);
  Failure failure{{}, {}};
  if (!impl->open(failure.error, failure.text)) return failure;
  try {
    impl->start_thread();
  } catch (const std::system_error& error) {
    return Failure{Errc::connect_failed, "no thread can be created: " + error.code().message()};
  }
  return Connection(std::move(impl));
}

std::string_view Connection::private_name() const noexcept {
  return impl_ ? std::string_view(impl_->private_name()) : std::string_view();
}

bool Connection::is_open() const noexcept {
  const Impl* impl = usable();
  return impl != nullptr && impl->is_open();
}

std::chrono::nanoseconds Connection::send_timeout() const noexcept {
  const Impl* impl = usable();
  return impl == nullptr ? std::chrono::nanoseconds::max() : impl->send_timeout();
}

std::error_code Connection::join(std::string_view group, JoinOptions options) { return join(group, options, {}); }

std::error_code Connection::join(std::string_view group, JoinOptions options, const std::stop_token& stop) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->join(group, options, stop);
}

std::error_code Connection::flush_ok(const FlushRequest& request) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->flush_ok(request);
}

Result<GroupView> Connection::join(std::string_view group, std::chrono::nanoseconds timeout, JoinOptions options,
                                   const std::stop_token& stop) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->join(group, deadline_after(timeout), options, stop);
}

void Connection::join_then(std::string_view group, std::chrono::nanoseconds timeout,
                           std::function<void(Result<GroupView>)> done, JoinOptions options, std::stop_token stop) {
  Impl* impl = usable();
  impl == nullptr ? done(Errc::not_connected)
                  : impl->join_then(group, deadline_after(timeout), std::move(done), options, stop);
}

std::error_code Connection::leave(std::string_view group) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->leave(group);
}

std::error_code Connection::request_view(std::string_view group) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->request_view(group);
}

std::error_code Connection::request_flow(const Groups& groups) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->request_flow(groups);
}

std::error_code Connection::multicast(Service service, const Groups& groups, const Payload& payload,
                                      SendOptions options) {
  Impl* impl = usable();
  if (impl == nullptr) return Errc::not_connected;
  return impl->multicast(service, groups, payload, options, Patience(options.timeout.value_or(impl->send_timeout())));
}

std::error_code Connection::multicast(Service service, const Groups& groups, const Payload& payload,
                                      SendOptions options, const std::stop_token& stop) {
  Impl* impl = usable();
  if (impl == nullptr) return Errc::not_connected;
  if (stop.stop_requested()) return Errc::cancelled;
  const std::chrono::nanoseconds timeout = options.timeout.value_or(impl->send_timeout());
  return impl->multicast(service, groups, payload, options, Patience(timeout, stop));
}

std::error_code Connection::try_multicast(Service service, const Groups& groups, const Payload& payload,
                                          SendOptions options) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->multicast(service, groups, payload, options, Patience::none());
}

Answers Connection::request(const Groups& groups, const Payload& payload, std::chrono::nanoseconds timeout,
                            RequestOptions options, const std::stop_token& stop) {
  Impl* impl = usable();
  if (impl == nullptr) return {Errc::not_connected, {}, {}};
  return impl->ask(groups, payload, deadline_after(timeout), options, stop);
}

void Connection::request_then(const Groups& groups, const Payload& payload, std::chrono::nanoseconds timeout,
                              std::function<void(Answers)> done, RequestOptions options, const std::stop_token& stop) {
  Impl* impl = usable();
  if (impl == nullptr) return done({Errc::not_connected, {}, {}});
  impl->ask_then(groups, payload, deadline_after(timeout), std::move(done), options, stop);
}

std::error_code Connection::reply(const Message& request, const Payload& payload, SendOptions options,
                                  const std::stop_token& stop) {
  Impl* impl = usable();
  if (impl == nullptr) return Errc::not_connected;
  if (stop.stop_requested()) return Errc::cancelled;
  return impl->answer(request, payload, options, Patience(options.timeout.value_or(impl->send_timeout()), stop));
}

std::error_code Connection::try_reply(const Message& request, const Payload& payload, SendOptions options) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->answer(request, payload, options, Patience::none());
}

void Connection::when_writable(const Groups& groups, std::chrono::nanoseconds timeout,
                               std::function<void(std::error_code)> done, std::stop_token stop) {
  Impl* impl = usable();
  impl == nullptr ? done(Errc::not_connected)
                  : impl->when_writable(groups, deadline_after(timeout), std::move(done), stop);
}

NotTaken Connection::confirm(std::chrono::nanoseconds timeout, const std::stop_token& stop) {
  Impl* impl = usable();
  return impl == nullptr ? NotTaken{0, true} : impl->confirm(deadline_after(timeout), stop);
}

void Connection::confirm_then(std::chrono::nanoseconds timeout, std::function<void(NotTaken)> done,
                              std::stop_token stop) {
  Impl* impl = usable();
  impl == nullptr ? done({0, true}) : impl->confirm_then(deadline_after(timeout), std::move(done), stop);
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
  if (impl != nullptr && timeout <= std::chrono::nanoseconds::zero()) {
    event = impl->events().take();
  } else if (impl != nullptr) {
    const Deadline deadline = deadline_after(timeout);
    event = impl->events().wait(deadline == Deadline::max() ? std::nullopt : std::optional(deadline));
  }
  if (event) impl->note_taken(*event);
  if (!event) error = impl != nullptr && !impl->events().finished() ? Errc::timed_out : Errc::not_connected;
  return event;
}

std::optional<Event> Connection::receive(std::chrono::nanoseconds timeout) {
  std::error_code error;
  return receive(timeout, error);
}

std::optional<Event> Connection::receive(const std::stop_token& stop) {
  std::error_code error;
  return receive(std::chrono::nanoseconds::max(), error, stop);
}

std::optional<Event> Connection::receive(std::chrono::nanoseconds timeout, std::error_code& error,
                                         const std::stop_token& stop) {
  error.clear();
  std::optional<Event> event;
  Impl* impl = usable();
  if (impl != nullptr) event = impl->receive(timeout, stop);
  if (event) {
    impl->note_taken(*event);
  } else if (impl == nullptr || impl->events().finished()) {
    error = Errc::not_connected;
  } else {
    error = stop.stop_requested() ? Errc::cancelled : Errc::timed_out;
  }
  return event;
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

NotTaken Connection::drain(std::chrono::nanoseconds timeout, const std::stop_token& stop) {
  Impl* impl = usable();
  return impl == nullptr ? NotTaken{0, true} : impl->drain(deadline_after(timeout), stop);
}

}  // namespace spindle
