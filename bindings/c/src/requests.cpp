// Requests, answers to them, and answering.
#include <memory>

#include "bindings/c/src/destinations.h"
#include "bindings/c/src/events.h"

namespace spindle::c {
namespace {

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
using spindle::Groups;

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
    return keep(value.request(to, text_of(payload), duration_of(timeout_ns), request, stop_of(options)), answers);
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
    if (stop_of(options).stop_requested()) return make_error_code(spindle::Errc::cancelled);
    if (timeout_ns == 0) return connection->value.try_reply(*message, text_of(payload), how);
    if (timeout_ns > 0) how.timeout = std::chrono::nanoseconds(timeout_ns);
    return connection->value.reply(*message, text_of(payload), how, stop_of(options));
  });
}
