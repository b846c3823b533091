#include "bindings/c/src/handles.h"

using namespace spindle::c;

static_assert(SPINDLE_EVENT_MESSAGE == static_cast<int>(spindle::EventKind::message));
static_assert(SPINDLE_EVENT_VIEW == static_cast<int>(spindle::EventKind::group_view));
static_assert(SPINDLE_EVENT_TRANSITIONAL == static_cast<int>(spindle::EventKind::transitional));
static_assert(SPINDLE_EVENT_REQUEST_FAILED == static_cast<int>(spindle::EventKind::request_failed));
static_assert(SPINDLE_EVENT_FLOW_READY == static_cast<int>(spindle::EventKind::flow_ready));
static_assert(SPINDLE_EVENT_FLOW_STATE == static_cast<int>(spindle::EventKind::flow_state));
static_assert(SPINDLE_EVENT_GAP == static_cast<int>(spindle::EventKind::gap));
static_assert(SPINDLE_EVENT_QUEUE_WARNING == static_cast<int>(spindle::EventKind::queue_warning));
static_assert(SPINDLE_EVENT_DISCONNECTED == static_cast<int>(spindle::EventKind::disconnected));

namespace {

/// Null where the event is none, or of another kind.
template <typename T>
const T* as(const spindle_event* event) {
  return event == nullptr ? nullptr : event->event.get_if<T>();
}

/// What `get` gives of the event; nothing where it is of another kind.
template <typename T, typename Get>
auto of(const spindle_event* event, Get&& get) -> decltype(get(std::declval<const T&>())) {
  const T* content = as<T>(event);
  return content == nullptr ? decltype(get(*content)){} : get(*content);
}

/// Likewise of the last change before a message that has a position.
template <typename Get>
auto of_change(const spindle_event* event, Get&& get) {
  const auto* message = as<spindle::Message>(event);
  const spindle::GroupViewId* change = message == nullptr ? nullptr : message->change();
  return change == nullptr ? decltype(get(*change)){} : get(*change);
}

using spindle::Disconnected;
using spindle::FlowReady;
using spindle::FlowState;
using spindle::Gap;
using spindle::GroupView;
using spindle::Message;
using spindle::QueueWarning;
using spindle::RequestFailed;

const std::vector<std::string>* names_of(const GroupView& view, unsigned which) {
  switch (which) {
    case SPINDLE_NAMES_MEMBERS:
      return &view.members;
    case SPINDLE_NAMES_JOINED:
      return &view.joined;
    case SPINDLE_NAMES_LEFT:
      return &view.left;
    case SPINDLE_NAMES_APART:
      return &view.apart;
    case SPINDLE_NAMES_VS_SET:
      return &view.vs_set;
    default:
      return nullptr;
  }
}

}  // namespace

unsigned spindle_event_kind(const spindle_event* event) {
  return event == nullptr ? 0 : static_cast<unsigned>(event->event.kind());
}

void spindle_event_free(spindle_event* event) { delete event; }

// --- Messages ---

unsigned spindle_message_service(const spindle_event* event) {
  return of<Message>(event, [](const Message& message) { return static_cast<unsigned>(message.service()); });
}

uint16_t spindle_message_type(const spindle_event* event) {
  return of<Message>(event, [](const Message& message) { return message.type(); });
}

spindle_bytes spindle_message_sender(const spindle_event* event) {
  return of<Message>(event, [](const Message& message) { return to_bytes(message.sender()); });
}

size_t spindle_message_groups(const spindle_event* event, spindle_bytes* names, size_t room) {
  return of<Message>(event, [&](const Message& message) { return give_names(message.groups(), names, room); });
}

spindle_bytes spindle_message_payload(const spindle_event* event) {
  return of<Message>(event, [](const Message& message) { return to_bytes(message.text()); });
}

int spindle_message_has_position(const spindle_event* event) {
  return of<Message>(event, [](const Message& message) { return message.change() == nullptr ? 0 : 1; });
}

uint64_t spindle_message_view_number(const spindle_event* event) {
  return of_change(event, [](const spindle::GroupViewId& change) { return change.view_number; });
}

spindle_bytes spindle_message_coordinator(const spindle_event* event) {
  return of_change(event, [](const spindle::GroupViewId& change) { return to_bytes(change.coordinator); });
}

uint64_t spindle_message_incarnation(const spindle_event* event) {
  return of_change(event, [](const spindle::GroupViewId& change) { return change.incarnation; });
}

uint64_t spindle_message_changes(const spindle_event* event) {
  return of_change(event, [](const spindle::GroupViewId& change) { return change.position; });
}

uint64_t spindle_message_order(const spindle_event* event) {
  return of<Message>(event, [](const Message& message) { return message.place().order; });
}

uint32_t spindle_message_index(const spindle_event* event) {
  return of<Message>(event, [](const Message& message) { return message.place().index; });
}

// --- Views ---

spindle_bytes spindle_view_group(const spindle_event* event) {
  return of<GroupView>(event, [](const GroupView& view) { return to_bytes(view.group); });
}

unsigned spindle_view_cause(const spindle_event* event) {
  return of<GroupView>(event, [](const GroupView& view) { return static_cast<unsigned>(view.cause); });
}

unsigned spindle_view_form(const spindle_event* event) {
  return of<GroupView>(event, [](const GroupView& view) { return static_cast<unsigned>(view.form); });
}

size_t spindle_view_member_count(const spindle_event* event) {
  return of<GroupView>(event, [](const GroupView& view) { return view.member_count; });
}

uint64_t spindle_view_digest(const spindle_event* event) {
  return of<GroupView>(event, [](const GroupView& view) { return view.digest; });
}

size_t spindle_view_names(const spindle_event* event, unsigned which, spindle_bytes* names, size_t room) {
  return of<GroupView>(event, [&](const GroupView& view) {
    const std::vector<std::string>* list = names_of(view, which);
    return list == nullptr ? 0 : give_names(*list, names, room);
  });
}

size_t spindle_view_my_index(const spindle_event* event) {
  const auto* view = as<GroupView>(event);
  return view == nullptr ? SIZE_MAX : view->my_index.value_or(SIZE_MAX);
}

uint64_t spindle_view_number(const spindle_event* event) {
  return of<GroupView>(event, [](const GroupView& view) { return view.id.view_number; });
}

spindle_bytes spindle_view_coordinator(const spindle_event* event) {
  return of<GroupView>(event, [](const GroupView& view) { return to_bytes(view.id.coordinator); });
}

uint64_t spindle_view_incarnation(const spindle_event* event) {
  return of<GroupView>(event, [](const GroupView& view) { return view.id.incarnation; });
}

uint64_t spindle_view_position(const spindle_event* event) {
  return of<GroupView>(event, [](const GroupView& view) { return view.id.position; });
}

spindle_bytes spindle_transitional_group(const spindle_event* event) {
  return of<spindle::Transitional>(event, [](const spindle::Transitional& signal) { return to_bytes(signal.group); });
}

// --- Refusals ---

unsigned spindle_failed_request(const spindle_event* event) {
  return of<RequestFailed>(event, [](const RequestFailed& failed) { return static_cast<unsigned>(failed.request); });
}

spindle_bytes spindle_failed_group(const spindle_event* event) {
  return of<RequestFailed>(event, [](const RequestFailed& failed) { return to_bytes(failed.group); });
}

spindle_code spindle_failed_code(const spindle_event* event) {
  return of<RequestFailed>(event, [](const RequestFailed& failed) { return to_code(failed.error); });
}

uint64_t spindle_failed_messages(const spindle_event* event) {
  return of<RequestFailed>(event, [](const RequestFailed& failed) { return failed.messages; });
}

// --- Flows ---

size_t spindle_flow_groups(const spindle_event* event, spindle_bytes* names, size_t room) {
  if (const auto* ready = as<FlowReady>(event)) return give_names(ready->groups, names, room);
  return of<FlowState>(event, [&](const FlowState& flow) { return give_names(flow.groups, names, room); });
}

double spindle_flow_price(const spindle_event* event) {
  return of<FlowState>(event, [](const FlowState& flow) { return flow.price; });
}

double spindle_flow_budget(const spindle_event* event) {
  return of<FlowState>(event, [](const FlowState& flow) { return flow.budget; });
}

double spindle_flow_rate(const spindle_event* event) {
  return of<FlowState>(event, [](const FlowState& flow) { return flow.rate; });
}

int64_t spindle_flow_salary_period_us(const spindle_event* event) {
  return of<FlowState>(event, [](const FlowState& flow) { return int64_t{flow.salary_period.count()}; });
}

double spindle_flow_blocked_share(const spindle_event* event) {
  return of<FlowState>(event, [](const FlowState& flow) { return flow.blocked_share; });
}

spindle_bytes spindle_flow_limited_by(const spindle_event* event) {
  return of<FlowState>(event, [](const FlowState& flow) { return to_bytes(flow.limited_by); });
}

// --- Gaps and warnings ---

uint64_t spindle_gap_messages(const spindle_event* event) {
  return of<Gap>(event, [](const Gap& gap) { return gap.messages; });
}

uint64_t spindle_gap_bytes(const spindle_event* event) {
  return of<Gap>(event, [](const Gap& gap) { return gap.bytes; });
}

size_t spindle_gap_names(const spindle_event* event, spindle_bytes* names, uint64_t* messages, size_t room) {
  const auto* gap = as<Gap>(event);
  if (gap == nullptr) return 0;
  for (std::size_t i = 0; i < gap->names.size() && i < room; ++i) {
    if (names != nullptr) names[i] = to_bytes(gap->names[i].name);
    if (messages != nullptr) messages[i] = gap->names[i].messages;
  }
  return gap->names.size();
}

uint64_t spindle_gap_unlisted(const spindle_event* event) {
  return of<Gap>(event, [](const Gap& gap) { return gap.unlisted; });
}

unsigned spindle_warning_percent(const spindle_event* event) {
  return of<QueueWarning>(event, [](const QueueWarning& warning) { return warning.percent; });
}

uint64_t spindle_warning_bytes(const spindle_event* event) {
  return of<QueueWarning>(event, [](const QueueWarning& warning) { return warning.bytes; });
}

uint64_t spindle_warning_limit(const spindle_event* event) {
  return of<QueueWarning>(event, [](const QueueWarning& warning) { return warning.limit_bytes; });
}

// --- The end ---

spindle_code spindle_disconnected_code(const spindle_event* event) {
  return of<Disconnected>(event, [](const Disconnected& end) { return to_code(end.error); });
}

spindle_bytes spindle_disconnected_text(const spindle_event* event) {
  return of<Disconnected>(event, [](const Disconnected& end) { return to_bytes(end.text); });
}

uint64_t spindle_disconnected_not_taken(const spindle_event* event) {
  return of<Disconnected>(event, [](const Disconnected& end) { return end.not_taken.messages; });
}

int spindle_disconnected_is_exact(const spindle_event* event) {
  return of<Disconnected>(event, [](const Disconnected& end) { return end.not_taken.exact ? 1 : 0; });
}
