// Sending, and what needs destinations.
#include <future>
#include <memory>

#include "bindings/c/src/events.h"
#include "libclient/common/limits.h"

namespace spindle::c {
namespace {

/// `call` with the destinations, unless these are none at all.
template <typename Call>
spindle_code with_destinations(spindle_connection* connection, const spindle_bytes* groups, size_t count,
                               Call&& call) noexcept {
  if (connection == nullptr || (groups == nullptr && count > 0)) return code_of(Errc::bad_argument);
  if (count > kGroupsPerMessageMax) return code_of(Errc::too_many_groups);
  return guarded([&] { return call(connection->value, Destinations(groups, count)); });
}

SendOptions send_options_of(const spindle_send_options* options) {
  return options == nullptr ? SendOptions() : options->value;
}

std::error_code send(Connection& connection, unsigned service, const Groups& to, const Payload& payload,
                     const spindle_send_options* options, int64_t timeout_ns) {
  SendOptions how = send_options_of(options);
  if (timeout_ns == 0) return connection.try_multicast(static_cast<Service>(service), to, payload, how);
  if (timeout_ns > 0) how.timeout = std::chrono::nanoseconds(timeout_ns);
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

/// Keeps them where there is a place for them.
std::error_code keep(Answers&& answers, spindle_answers** place) {
  if (place == nullptr) return answers.error;
  auto kept = std::make_unique<spindle_answers>();
  for (Message& message : answers.messages) kept->messages.emplace_back(spindle_event{Event(std::move(message)), {}});
  kept->missing = std::move(answers.missing);
  *place = kept.release();
  return answers.error;
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
  if (count == 0) return SPINDLE_ERROR_TOO_MANY_GROUPS;
  return with_destinations(connection, groups, count, [&](Connection& value, const Groups& to) {
    const auto done = std::make_shared<std::promise<std::error_code>>();
    value.when_writable(to, duration_of(timeout_ns), [done](std::error_code error) { done->set_value(error); });
    return done->get_future().get();
  });
}

spindle_code spindle_request(spindle_connection* connection, unsigned service, const spindle_bytes* groups,
                             size_t count, spindle_bytes payload, const spindle_send_options* options, size_t wanted,
                             int64_t timeout_ns, spindle_answers** answers) {
  if (answers != nullptr) *answers = nullptr;
  if (service > SPINDLE_SAFE || !are_bytes(payload)) return SPINDLE_ERROR_BAD_ARGUMENT;
  return with_destinations(connection, groups, count, [&](Connection& value, const Groups& to) {
    const spindle::SendOptions how = send_options_of(options);
    spindle::RequestOptions request;
    request.answers = wanted;
    request.service = static_cast<spindle::Service>(service);
    request.type = how.type;
    request.self_discard = how.self_discard;
    request.headers = how.headers;
    return keep(value.request(to, text_of(payload), duration_of(timeout_ns), request), answers);
  });
}

void spindle_answers_free(spindle_answers* answers) { delete answers; }

size_t spindle_answers_count(const spindle_answers* answers) {
  return answers == nullptr ? 0 : answers->messages.size();
}

const spindle_event* spindle_answers_at(const spindle_answers* answers, size_t index) {
  return index < spindle_answers_count(answers) ? &answers->messages[index] : nullptr;
}

size_t spindle_answers_missing_count(const spindle_answers* answers) {
  return answers == nullptr ? 0 : answers->missing.size();
}

spindle_bytes spindle_answers_missing_at(const spindle_answers* answers, size_t index) {
  return answers == nullptr ? spindle_bytes{nullptr, 0} : name_at(answers->missing, index);
}

spindle_code spindle_reply(spindle_connection* connection, const spindle_event* request, spindle_bytes payload,
                           const spindle_send_options* options, int64_t timeout_ns) {
  const auto* message = content<spindle::Message>(request);
  if (connection == nullptr || message == nullptr || !are_bytes(payload)) return SPINDLE_ERROR_BAD_ARGUMENT;
  return guarded([&] {
    spindle::SendOptions how = send_options_of(options);
    if (timeout_ns == 0) return connection->value.try_reply(*message, text_of(payload), how);
    if (timeout_ns > 0) how.timeout = std::chrono::nanoseconds(timeout_ns);
    return connection->value.reply(*message, text_of(payload), how);
  });
}

spindle_code spindle_request_flow(spindle_connection* connection, const spindle_bytes* groups, size_t count) {
  return with_destinations(connection, groups, count,
                           [](Connection& value, const Groups& to) { return value.request_flow(to); });
}
