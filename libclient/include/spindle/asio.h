// A connection for programs on Asio: operations with completion tokens, such as asio::use_awaitable. The only header
// that needs Asio, the standalone one.
#pragma once

#include <fcntl.h>

#include <asio/any_io_executor.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/cancellation_state.hpp>
#include <asio/cancellation_type.hpp>
#include <asio/compose.hpp>
#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "spindle/connection.h"

namespace spindle {

/// A Connection and the executor on which its operations complete.
///
///   spindle::AsioConnection connection(co_await asio::this_coro::executor, spindle::Connection::connect().value());
///   co_await connection.async_join("news", 5s, asio::use_awaitable);
///   for (;;) handle(co_await connection.async_receive(asio::use_awaitable));
///
/// Functions are called by one thread at a time. One async_receive() is under way at a time. Destroying the object,
/// which disconnects, ends what is under way. What is given is copied.
///
/// Every operation can be cancelled by the slot of its handler, as with asio::bind_cancellation_slot or `||` between
/// awaitables. Unless it is over already it completes with asio::error::operation_aborted then: a message has not been
/// sent, and no event is lost. All types of cancellation do, but for async_join() and async_request(): what
/// they ask for may stand, so that asio::cancellation_type::total alone does not cancel them.
class AsioConnection {
 public:
  using executor_type = asio::any_io_executor;

  /// Throws std::system_error where the connection is closed or no descriptor is left.
  AsioConnection(const executor_type& executor, Connection connection)
      : state_(std::make_shared<State>(State{std::move(connection), asio::posix::stream_descriptor(executor)})) {
    const int descriptor = ::fcntl(state_->connection.descriptor(), F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0) throw std::system_error(make_error_code(Errc::not_connected));
    state_->readable.assign(descriptor);
  }
  AsioConnection(AsioConnection&&) noexcept = default;
  AsioConnection& operator=(AsioConnection&&) = delete;
  ~AsioConnection() {
    if (state_ == nullptr) return;
    state_->readable.close();
    state_->connection = Connection();
  }

  executor_type get_executor() { return state_->readable.get_executor(); }
  /// For all else that a connection does. receive() and set_handler() are not to be used.
  Connection& connection() { return state_->connection; }

  /// Completes with the next event. The error is not_connected once Disconnected, the last one, has been given.
  /// Signature: void(std::error_code, Event).
  template <typename Token>
  auto async_receive(Token&& token) {
    return asio::async_compose<Token, void(std::error_code, Event)>(Receive{state_}, token, state_->readable);
  }

  /// Completes with the first view of the group, which async_receive() gives, too, or the reason of the refusal; as
  /// Connection::join(). Signature: void(std::error_code, GroupView).
  template <typename Token>
  auto async_join(std::string group, std::chrono::nanoseconds timeout, Token&& token) {
    return asio::async_initiate<Token, void(std::error_code, GroupView)>(
        [this](auto handler, const std::string& name, std::chrono::nanoseconds time) {
          const std::stop_token stop = stop_of(handler, kHasEffects);
          const auto done = [end = end_of(std::move(handler))](Result<GroupView> view) {
            end(asio_error(view.error()), view ? *std::move(view) : GroupView());
          };
          connection().join_then(name, time, done, {}, stop);
        },
        token, std::move(group), timeout);
  }

  /// Completes once the network has taken what was sent before, or with how much it has not; as
  /// Connection::confirm(). Signature: void(std::error_code, NotTaken); there is no error but operation_aborted, with
  /// which the number is as good.
  template <typename Token>
  auto async_confirm(std::chrono::nanoseconds timeout, Token&& token) {
    return asio::async_initiate<Token, void(std::error_code, NotTaken)>(
        [this](auto handler, std::chrono::nanoseconds time) {
          const std::stop_token stop = stop_of(handler);
          const auto done = [end = end_of(std::move(handler)), stop](NotTaken not_taken) {
            const bool is_cancelled = stop.stop_requested() && not_taken.messages != 0;
            end(is_cancelled ? aborted() : std::error_code(), not_taken);
          };
          connection().confirm_then(time, done, stop);
        },
        token, timeout);
  }

  /// Completes with the answers to a request, as Connection::request(); would_block where there is no room to send.
  /// Signature: void(std::error_code, Answers), where the error is that of the answers.
  template <typename Token>
  auto async_request(std::string group, std::string payload, std::chrono::nanoseconds timeout, RequestOptions options,
                     Token&& token) {
    return asio::async_initiate<Token, void(std::error_code, Answers)>(
        [this, headers = detail::KeptHeaders(options.headers)](auto handler, const std::string& to,
                                                               const std::string& bytes, std::chrono::nanoseconds time,
                                                               RequestOptions how) {
          const std::vector<Header> kept = headers.get();
          how.headers = kept;
          const std::stop_token stop = stop_of(handler, kHasEffects);
          const auto done = [end = end_of(std::move(handler))](Answers answers) {
            const std::error_code error = asio_error(answers.error);
            end(error, std::move(answers));
          };
          connection().request_then(to, bytes, time, done, how, stop);
        },
        token, std::move(group), std::move(payload), timeout, options);
  }

  /// Completes when the message is on its way, as Connection::multicast() returns. Signature: void(std::error_code).
  template <typename Token>
  auto async_multicast(Service service, std::vector<std::string> groups, std::string payload, SendOptions options,
                       Token&& token) {
    Send send{state_, service, std::move(groups), std::move(payload), options, detail::KeptHeaders(options.headers)};
    return asio::async_compose<Token, void(std::error_code)>(std::move(send), token, state_->readable);
  }

  template <typename Token>
  auto async_multicast(Service service, std::string group, std::string payload, SendOptions options, Token&& token) {
    std::vector<std::string> groups(1, std::move(group));
    return async_multicast(service, std::move(groups), std::move(payload), options, std::forward<Token>(token));
  }

 private:
  /// What an operation needs that is under way when the object goes.
  struct State {
    Connection connection;
    asio::posix::stream_descriptor readable;
  };

  struct Receive {
    std::shared_ptr<State> state;
    bool has_begun = false;

    template <typename Operation>
    void operator()(Operation& operation, std::error_code error = {}) {
      State& at = *state;
      if (!std::exchange(has_begun, true)) return begin(at, operation);
      if (!error && is_cancelled(operation)) error = aborted();
      if (error) return operation.complete(error, Event());
      if (std::optional<Event> event = at.connection.receive(std::chrono::nanoseconds(0), error)) {
        return operation.complete({}, *std::move(event));
      }
      if (error != Errc::timed_out) return operation.complete(error, Event());
      at.readable.async_wait(asio::posix::stream_descriptor::wait_read, std::move(operation));
    }
  };

  struct Send {
    std::shared_ptr<State> state;
    Service service;
    std::vector<std::string> groups;
    std::string payload;
    SendOptions options;  // without headers
    detail::KeptHeaders headers;
    bool has_begun = false;
    std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;  // from the first wait for room on

    template <typename Operation>
    void operator()(Operation& operation, std::error_code error = {}) {
      const std::shared_ptr<State> at = state;
      if (!std::exchange(has_begun, true)) return begin(*at, operation);
      const std::vector<std::string> names = groups;  // the operation moves on
      const std::vector<std::string_view> views(names.begin(), names.end());
      const std::vector<Header> kept = headers.get();
      options.headers = kept;
      if (!error && is_cancelled(operation)) error = aborted();
      if (!error) error = at->connection.try_multicast(service, views, payload, options);
      options.headers = {};
      const bool waits = error == Errc::would_block || error == Errc::flushing;
      if (!waits) return operation.complete(asio_error(error));
      if (!deadline) deadline = detail::deadline_after(options.timeout.value_or(at->connection.send_timeout()));
      const std::chrono::nanoseconds left = detail::time_left(*deadline);
      const std::stop_token stop = stop_of(operation);
      at->connection.when_writable(views, left, end_of(at->readable.get_executor(), std::move(operation)), stop);
    }
  };

  static std::error_code aborted() { return asio::error::operation_aborted; }
  /// Of what the library says, as programs on Asio know it.
  static std::error_code asio_error(std::error_code error) { return error == Errc::cancelled ? aborted() : error; }

  /// Nothing completes within the function that begins it. What has no effects where it is cancelled can be so by all
  /// types of cancellation.
  template <typename Operation>
  static void begin(State& at, Operation& operation) {
    operation.reset_cancellation_state(asio::enable_total_cancellation());
    asio::post(at.readable.get_executor(), std::move(operation));
  }
  /// Between two steps, when nothing that could be cancelled was under way.
  template <typename Operation>
  static bool is_cancelled(Operation& operation) {
    return operation.get_cancellation_state().cancelled() != asio::cancellation_type::none;
  }

  static constexpr asio::cancellation_type kNoEffects = asio::cancellation_type::all;
  static constexpr asio::cancellation_type kHasEffects =
      asio::cancellation_type::terminal | asio::cancellation_type::partial;
  /// A stop that is requested by the handler's slot, with cancellations of these types. None without a slot.
  template <typename Handler>
  static std::stop_token stop_of(const Handler& handler, asio::cancellation_type types = kNoEffects) {
    auto slot = asio::get_associated_cancellation_slot(handler);
    if (!slot.is_connected()) return {};
    std::stop_source source;
    std::stop_token stop = source.get_token();
    slot.assign([source = std::move(source), types](asio::cancellation_type type) mutable {
      if ((type & types) != asio::cancellation_type::none) source.request_stop();
    });
    return stop;
  }

  /// What is called by the connection's thread, and has `handler` called on its executor. Keeps that at work.
  template <typename Executor, typename Handler>
  static auto end_of(const Executor& otherwise, Handler handler) {
    const auto executor = asio::get_associated_executor(handler, otherwise);
    auto state = std::make_shared<std::pair<Handler, asio::executor_work_guard<std::decay_t<decltype(executor)>>>>(
        std::move(handler), asio::make_work_guard(executor));
    return [state](auto... results) {
      asio::post(state->second.get_executor(), [state, ... results = std::move(results)]() mutable {
        state->second.reset();
        // Nothing of it is left to the connection's thread, which may be the last to drop the rest.
        Handler last = std::move(state->first);
        std::move(last)(std::move(results)...);
      });
    };
  }
  template <typename Handler>
  auto end_of(Handler handler) {
    return end_of(get_executor(), std::move(handler));
  }

  std::shared_ptr<State> state_;
};

}  // namespace spindle
