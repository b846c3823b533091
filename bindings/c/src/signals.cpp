// The fields of events that are neither messages nor views.
#include "bindings/c/src/events.h"

using namespace spindle::c;
using spindle::Disconnected;
using spindle::FlowState;
using spindle::Gap;
using spindle::QueueWarning;
using spindle::Reconnected;
using spindle::RequestFailed;

unsigned spindle_request_failed_request(const spindle_event* event) {
  return enumerator_in(event, &RequestFailed::request);
}

uint64_t spindle_request_failed_messages(const spindle_event* event) {
  return number_in(event, &RequestFailed::messages);
}

double spindle_flow_price(const spindle_event* event) { return number_in(event, &FlowState::price); }

double spindle_flow_budget(const spindle_event* event) { return number_in(event, &FlowState::budget); }

double spindle_flow_rate(const spindle_event* event) { return number_in(event, &FlowState::rate); }

int64_t spindle_flow_salary_period_ns(const spindle_event* event) {
  return std::chrono::nanoseconds(number_in(event, &FlowState::salary_period)).count();
}

double spindle_flow_blocked_share(const spindle_event* event) { return number_in(event, &FlowState::blocked_share); }

spindle_bytes spindle_flow_limited_by(const spindle_event* event) { return text_in(event, &FlowState::limited_by); }

uint64_t spindle_gap_messages(const spindle_event* event) { return number_in(event, &Gap::messages); }

uint64_t spindle_gap_bytes(const spindle_event* event) { return number_in(event, &Gap::bytes); }

uint64_t spindle_gap_unlisted(const spindle_event* event) { return number_in(event, &Gap::unlisted); }

size_t spindle_gap_name_count(const spindle_event* event) {
  const auto* gap = content<Gap>(event);
  return gap == nullptr ? 0 : gap->names.size();
}

spindle_bytes spindle_gap_name_at(const spindle_event* event, size_t index) {
  const auto* gap = content<Gap>(event);
  return gap == nullptr || index >= gap->names.size() ? spindle_bytes{nullptr, 0} : bytes_of(gap->names[index].name);
}

uint64_t spindle_gap_messages_at(const spindle_event* event, size_t index) {
  const auto* gap = content<Gap>(event);
  return gap == nullptr || index >= gap->names.size() ? 0 : gap->names[index].messages;
}

unsigned spindle_warning_percent(const spindle_event* event) { return number_in(event, &QueueWarning::percent); }

uint64_t spindle_warning_bytes(const spindle_event* event) { return number_in(event, &QueueWarning::bytes); }

uint64_t spindle_warning_limit_bytes(const spindle_event* event) {
  return number_in(event, &QueueWarning::limit_bytes);
}

int spindle_reconnected_is_resumed(const spindle_event* event) {
  const auto* again = content<Reconnected>(event);
  return again != nullptr && again->resumed ? 1 : 0;
}

spindle_bytes spindle_reconnected_former_name(const spindle_event* event) {
  return text_in(event, &Reconnected::former_name);
}

spindle_bytes spindle_reconnected_private_name(const spindle_event* event) {
  return text_in(event, &Reconnected::private_name);
}

int spindle_reconnected_is_fenced(const spindle_event* event) {
  const auto* again = content<Reconnected>(event);
  return again != nullptr && again->fenced ? 1 : 0;
}

size_t spindle_reconnected_unknown_count(const spindle_event* event) {
  const auto* again = content<Reconnected>(event);
  return again == nullptr ? 0 : again->unknown.size();
}

uint64_t spindle_reconnected_unknown_at(const spindle_event* event, size_t index) {
  const auto* again = content<Reconnected>(event);
  return again == nullptr || index >= again->unknown.size() ? 0 : again->unknown[index];
}

spindle_bytes spindle_disconnected_text(const spindle_event* event) { return text_in(event, &Disconnected::text); }

uint64_t spindle_disconnected_not_taken(const spindle_event* event) {
  const auto* end = content<Disconnected>(event);
  return end == nullptr ? 0 : end->not_taken.messages;
}

int spindle_disconnected_is_exact(const spindle_event* event) {
  const auto* end = content<Disconnected>(event);
  return end != nullptr && end->not_taken.exact ? 1 : 0;
}
