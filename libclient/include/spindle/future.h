// Calls whose outcome is a std::future, for programs that wait for several at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "spindle/connection.h"

namespace spindle {

namespace detail {

/// What is kept of a message that waits for room.
struct WaitingMessage {
  Connection* connection = nullptr;
  Service service{};
  std::vector<std::string> groups;
  std::string payload;
  SendOptions options;  // without headers
  KeptHeaders headers;
  std::chrono::steady_clock::time_point deadline;
  std::stop_token stop;
  std::promise<std::error_code> sent;
};

inline void send_when_writable(const std::shared_ptr<WaitingMessage>& message) {
  const std::vector<std::string_view> groups(message->groups.begin(), message->groups.end());
  const auto send = [message](std::error_code error) {
    const std::vector<std::string_view> names(message->groups.begin(), message->groups.end());
    const std::vector<Header> headers = message->headers.get();
    SendOptions options = message->options;
    options.headers = headers;
    if (!error) error = message->connection->try_multicast(message->service, names, message->payload, options);
    if (error == Errc::would_block || error == Errc::flushing) return send_when_writable(message);
    message->sent.set_value(error);
  };
  message->connection->when_writable(groups, time_left(message->deadline), send, message->stop);
}

}  // namespace detail

/// As Connection::join() with a timeout.
inline std::future<Result<GroupView>> join_future(Connection& connection, std::string_view group,
                                                  std::chrono::nanoseconds timeout, std::stop_token stop = {}) {
  const auto joined = std::make_shared<std::promise<Result<GroupView>>>();
  const auto done = [joined](Result<GroupView> view) { joined->set_value(std::move(view)); };
  connection.join_then(group, timeout, done, {}, std::move(stop));
  return joined->get_future();
}

/// As Connection::confirm().
inline std::future<NotTaken> confirm_future(Connection& connection, std::chrono::nanoseconds timeout,
                                            std::stop_token stop = {}) {
  const auto confirmed = std::make_shared<std::promise<NotTaken>>();
  const auto done = [confirmed](NotTaken not_taken) { confirmed->set_value(not_taken); };
  connection.confirm_then(timeout, done, std::move(stop));
  return confirmed->get_future();
}

/// As Connection::request(), but says would_block where there is no room to send.
inline std::future<Answers> request_future(Connection& connection, const Groups& groups, const Payload& payload,
                                           std::chrono::nanoseconds timeout, RequestOptions options = {},
                                           const std::stop_token& stop = {}) {
  const auto answered = std::make_shared<std::promise<Answers>>();
  connection.request_then(
      groups, payload, timeout, [answered](Answers answers) { answered->set_value(std::move(answers)); }, options,
      stop);
  return answered->get_future();
}

/// As Connection::multicast(). What cannot be sent at once is copied. Messages whose futures are not ready may be
/// overtaken by others. The connection stays where it is until the future is ready.
inline std::future<std::error_code> multicast_future(Connection& connection, Service service, const Groups& groups,
                                                     const Payload& payload, SendOptions options = {},
                                                     std::stop_token stop = {}) {
  const auto message = std::make_shared<detail::WaitingMessage>();
  std::future<std::error_code> sent = message->sent.get_future();
  std::error_code error = Errc::cancelled;
  if (!stop.stop_requested()) error = connection.try_multicast(service, groups, payload, options);
  if (error != Errc::would_block && error != Errc::flushing) {
    message->sent.set_value(error);
    return sent;
  }
  message->connection = &connection;
  message->service = service;
  for (std::size_t i = 0; i < groups.size(); ++i) message->groups.emplace_back(groups[i]);
  for (const Bytes& piece : payload.pieces()) {
    message->payload.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  message->options = options;
  message->options.headers = {};
  message->headers = detail::KeptHeaders(options.headers);
  message->deadline = detail::deadline_after(options.timeout.value_or(connection.send_timeout()));
  message->stop = std::move(stop);
  detail::send_when_writable(message);
  return sent;
}

}  // namespace spindle
