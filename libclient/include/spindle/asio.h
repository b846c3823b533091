// A connection for programs on Asio: operations with completion tokens, such as asio::use_awaitable. The only header
// that needs Asio, the standalone one.
#pragma once

#include <unistd.h>

#include <asio/any_io_executor.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/compose.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <chrono>
#include <memory>
#include <optional>
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
/// Functions are called by one thread at a time. One async_receive() is under way at a time; it can be cancelled, and
/// loses no event then. Destroying the object, which disconnects, ends what is under way. What is given is copied.
class AsioConnection {
 public:
  using executor_type = asio::any_io_executor;

  /// Throws std::system_error where the connection is closed or no descriptor is left.
  AsioConnection(const executor_type& executor, Connection connection)
      : state_(std::make_shared<State>(State{std::move(connection), asio::posix::stream_descriptor(executor)})) {
    const int descriptor = ::dup(state_->connection.descriptor());
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

  /// Completes with the next event. The error is not_connected once Disconnected, the last one, has been given, or
  /// asio::error::operation_aborted. Signature: void(std::error_code, Event).
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
          connection().join_then(name, time, [end = end_of(std::move(handler))](Result<GroupView> view) {
            end(view.error(), view ? *std::move(view) : GroupView());
          });
        },
        token, std::move(group), timeout);
  }

  /// Completes once the network has taken what was sent before, or with how much it has not; as
  /// Connection::confirm(). Signature: void(std::error_code, NotTaken); there is no error.
  template <typename Token>
  auto async_confirm(std::chrono::nanoseconds timeout, Token&& token) {
    return asio::async_initiate<Token, void(std::error_code, NotTaken)>(
        [this](auto handler, std::chrono::nanoseconds time) {
          connection().confirm_then(
              time, [end = end_of(std::move(handler))](NotTaken not_taken) { end(std::error_code(), not_taken); });
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
          connection().request_then(
              to, bytes, time,
              [end = end_of(std::move(handler))](Answers answers) {
                const std::error_code error = answers.error;
                end(error, std::move(answers));
              },
              how);
        },
        token, std::move(group), std::move(payload), timeout, options);
  }

  /// Completes when the message is on its way, as Connection::multicast() returns. Its timeout bounds each wait for
  /// room. Signature: void(std::error_code).
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
      // Nothing completes within the function that begins it.
      State& at = *state;
      if (!std::exchange(has_begun, true)) return asio::post(at.readable.get_executor(), std::move(operation));
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

    template <typename Operation>
    void operator()(Operation& operation, std::error_code error = {}) {
      const std::shared_ptr<State> at = state;
      if (!std::exchange(has_begun, true)) return asio::post(at->readable.get_executor(), std::move(operation));
      const std::vector<std::string> names = groups;  // the operation moves on
      const std::vector<std::string_view> views(names.begin(), names.end());
      const std::vector<Header> kept = headers.get();
      options.headers = kept;
      if (!error) error = at->connection.try_multicast(service, views, payload, options);
      options.headers = {};
      if (error != Errc::would_block) return operation.complete(error);
      const std::chrono::nanoseconds timeout = options.timeout.value_or(std::chrono::nanoseconds::max());
      at->connection.when_writable(views, timeout, end_of(at->readable.get_executor(), std::move(operation)));
    }
  };

  /// What is called by the connection's thread, and has `handler` called on its executor. Keeps that at work.
  template <typename Executor, typename Handler>
  static auto end_of(const Executor& otherwise, Handler handler) {
    const auto executor = asio::get_associated_executor(handler, otherwise);
    auto state = std::make_shared<std::pair<Handler, asio::executor_work_guard<std::decay_t<decltype(executor)>>>>(
        std::move(handler), asio::make_work_guard(executor));
    return [state](auto... results) {
      asio::post(state->second.get_executor(), [state, ... results = std::move(results)]() mutable {
        state->second.reset();
        state->first(std::move(results)...);
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
