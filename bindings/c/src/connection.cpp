// Connecting, requests, and the end.
#include <memory>

#include "bindings/c/src/events.h"

namespace spindle::c {
namespace {

Failure connect(const spindle_options* options, spindle_connection& connection) {
  try {
    Result<Connection> result = Connection::connect(options == nullptr ? ConnectOptions() : options->value);
    if (!result) return {result.error(), result.text()};
    connection.value = *std::move(result);
    return {{}, {}};
  } catch (const std::system_error& error) {
    return {Errc::internal_error, error.what()};
  }
}

/// `call` is to be asked of an open connection, or of one that has ended, and has so much time.
template <typename Call>
spindle_code end_of(spindle_connection* connection, uint64_t* not_taken, int* is_exact, const std::stop_token& stop,
                    std::optional<std::chrono::nanoseconds> timeout, Call&& call) noexcept {
  if (connection == nullptr) return code_of(Errc::bad_argument);
  return guarded([&]() -> std::error_code {
    const bool was_open = connection->value.is_open();
    const auto begin = std::chrono::steady_clock::now();
    const NotTaken left = call(connection->value);
    if (not_taken != nullptr) *not_taken = left.messages;
    if (is_exact != nullptr) *is_exact = left.exact ? 1 : 0;
    if (left.messages == 0) return {};
    if (!was_open) return Errc::not_connected;
    if (stop.stop_requested()) return Errc::cancelled;
    const bool had_time = timeout && std::chrono::steady_clock::now() - begin < *timeout;
    return had_time ? Errc::connection_lost : Errc::timed_out;
  });
}

template <typename Call>
spindle_code request(spindle_connection* connection, Call&& call) noexcept {
  if (connection == nullptr) return code_of(Errc::bad_argument);
  return guarded([&] { return call(connection->value); });
}

}  // namespace
}  // namespace spindle::c

using namespace spindle::c;
using spindle::Connection;
using spindle::Errc;

spindle_code spindle_connect(const spindle_options* options, spindle_connection** connection, char* text, size_t room) {
  write_text({}, text, room);
  if (connection == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  *connection = nullptr;
  return guarded([&] {
    auto made = std::make_unique<spindle_connection>();
    const spindle::Failure failure = connect(options, *made);
    write_text(failure.text, text, room);
    if (!failure.error) *connection = made.release();
    return failure.error;
  });
}

void spindle_close(spindle_connection* connection) { delete connection; }

spindle_bytes spindle_private_name(const spindle_connection* connection) {
  return connection == nullptr ? spindle_bytes{nullptr, 0} : bytes_of(connection->value.private_name());
}

int spindle_is_open(const spindle_connection* connection) {
  return connection != nullptr && connection->value.is_open() ? 1 : 0;
}

spindle_code spindle_join(spindle_connection* connection, spindle_bytes group, unsigned flags, int64_t timeout_ns) {
  return spindle_join_cancellable(connection, group, flags, timeout_ns, nullptr);
}

spindle_code spindle_join_cancellable(spindle_connection* connection, spindle_bytes group, unsigned flags,
                                      int64_t timeout_ns, const spindle_cancel_token* token) {
  constexpr unsigned kKnown = SPINDLE_JOIN_SYNCHRONOUS | SPINDLE_JOIN_AUTO_FLUSH;
  if ((flags & ~kKnown) != 0) return SPINDLE_ERROR_BAD_ARGUMENT;
  const spindle::JoinOptions options{(flags & SPINDLE_JOIN_SYNCHRONOUS) != 0, (flags & SPINDLE_JOIN_AUTO_FLUSH) != 0};
  const std::stop_token stop = stop_of(token);
  return request(connection, [&](Connection& value) -> std::error_code {
    return timeout_ns == 0 ? value.join(text_of(group), options, stop)
                           : value.join(text_of(group), duration_of(timeout_ns), options, stop).error();
  });
}

spindle_code spindle_flush_ok(spindle_connection* connection, const spindle_event* event) {
  const auto* asked = content<spindle::FlushRequest>(event);
  if (asked == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  return request(connection, [&](Connection& value) { return value.flush_ok(*asked); });
}

spindle_code spindle_leave(spindle_connection* connection, spindle_bytes group) {
  return request(connection, [&](Connection& value) { return value.leave(text_of(group)); });
}

spindle_code spindle_request_view(spindle_connection* connection, spindle_bytes group) {
  return request(connection, [&](Connection& value) { return value.request_view(text_of(group)); });
}

spindle_code spindle_confirm(spindle_connection* connection, int64_t timeout_ns, uint64_t* not_taken, int* is_exact) {
  return spindle_confirm_cancellable(connection, timeout_ns, not_taken, is_exact, nullptr);
}

spindle_code spindle_confirm_cancellable(spindle_connection* connection, int64_t timeout_ns, uint64_t* not_taken,
                                         int* is_exact, const spindle_cancel_token* token) {
  const std::stop_token stop = stop_of(token);
  return end_of(connection, not_taken, is_exact, stop, duration_of(timeout_ns),
                [&](Connection& value) { return value.confirm(duration_of(timeout_ns), stop); });
}

spindle_code spindle_drain(spindle_connection* connection, int64_t timeout_ns, uint64_t* not_taken, int* is_exact) {
  return spindle_drain_cancellable(connection, timeout_ns, not_taken, is_exact, nullptr);
}

spindle_code spindle_drain_cancellable(spindle_connection* connection, int64_t timeout_ns, uint64_t* not_taken,
                                       int* is_exact, const spindle_cancel_token* token) {
  const std::stop_token stop = stop_of(token);
  return end_of(connection, not_taken, is_exact, stop, duration_of(timeout_ns),
                [&](Connection& value) { return value.drain(duration_of(timeout_ns), stop); });
}

spindle_code spindle_disconnect(spindle_connection* connection, uint64_t* not_taken, int* is_exact) {
  return end_of(connection, not_taken, is_exact, {}, {}, [](Connection& value) { return value.disconnect(); });
}
