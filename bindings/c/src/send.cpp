// Sending, and what needs destinations.
#include <future>
#include <memory>

#include "bindings/c/src/destinations.h"

namespace spindle::c {
namespace {

std::error_code send(Connection& connection, unsigned service, const Groups& to, const Payload& payload,
                     const spindle_send_options* options, int64_t timeout_ns) {
  SendOptions how = send_options_of(options);
  const std::stop_token* stop = options == nullptr || !options->stop.stop_possible() ? nullptr : &options->stop;
  if (stop != nullptr && stop->stop_requested()) return Errc::cancelled;
  if (timeout_ns == 0) return connection.try_multicast(static_cast<Service>(service), to, payload, how);
  if (timeout_ns > 0) how.timeout = std::chrono::nanoseconds(timeout_ns);
  if (stop != nullptr) return connection.multicast(static_cast<Service>(service), to, payload, how, *stop);
  return connection.multicast(static_cast<Service>(service), to, payload, how);
}

// Most messages go to one group, which needs no array of destinations.
spindle_code multicast(spindle_connection* connection, unsigned service, const spindle_bytes* groups, size_t count,
                       const Payload& payload, const spindle_send_options* options, int64_t timeout_ns) noexcept {
  if (service > SPINDLE_SAFE) return code_of(Errc::bad_argument);
  if (connection != nullptr && groups != nullptr && count == 1) {
    return guarded([&] { return send(connection->value, service, text_of(*groups), payload, options, timeout_ns); });
  }
  return with_destinations(connection, groups, count, [&](Connection& value, const Groups& to) {
    return send(value, service, to, payload, options, timeout_ns);
  });
}

}  // namespace
}  // namespace spindle::c

using namespace spindle::c;
using spindle::Connection;
using spindle::Errc;
using spindle::Groups;

spindle_code spindle_multicast(spindle_connection* connection, unsigned service, const spindle_bytes* groups,
                               size_t count, spindle_bytes payload, const spindle_send_options* options,
                               int64_t timeout_ns) {
  if (!are_bytes(payload)) return SPINDLE_ERROR_BAD_ARGUMENT;
  return multicast(connection, service, groups, count, text_of(payload), options, timeout_ns);
}

spindle_code spindle_multicast_pieces(spindle_connection* connection, unsigned service, const spindle_bytes* groups,
                                      size_t count, const spindle_bytes* pieces, size_t piece_count,
                                      const spindle_send_options* options, int64_t timeout_ns) {
  if (pieces == nullptr && piece_count > 0) return SPINDLE_ERROR_BAD_ARGUMENT;
  return guarded([&] {
    std::vector<spindle::Bytes> all;
    all.reserve(piece_count);
    for (std::size_t i = 0; i < piece_count; ++i) {
      if (!are_bytes(pieces[i])) return make_error_code(Errc::bad_argument);
      all.emplace_back(text_of(pieces[i]));
    }
    const spindle_code code = multicast(connection, service, groups, count, all, options, timeout_ns);
    return std::error_code(code, spindle::error_category());
  });
}

spindle_code spindle_wait_writable(spindle_connection* connection, const spindle_bytes* groups, size_t count,
                                   int64_t timeout_ns) {
  return spindle_wait_writable_cancellable(connection, groups, count, timeout_ns, nullptr);
}

spindle_code spindle_wait_writable_cancellable(spindle_connection* connection, const spindle_bytes* groups,
                                               size_t count, int64_t timeout_ns, const spindle_cancel_token* token) {
  if (count == 0) return SPINDLE_ERROR_TOO_MANY_GROUPS;
  return with_destinations(connection, groups, count, [&](Connection& value, const Groups& to) {
    const auto result = std::make_shared<std::promise<std::error_code>>();
    const auto done = [result](std::error_code error) { result->set_value(error); };
    value.when_writable(to, duration_of(timeout_ns), done, stop_of(token));
    return result->get_future().get();
  });
}

spindle_code spindle_request_flow(spindle_connection* connection, const spindle_bytes* groups, size_t count) {
  return with_destinations(connection, groups, count,
                           [](Connection& value, const Groups& to) { return value.request_flow(to); });
}
