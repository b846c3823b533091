// Receiving events, and what all of them have.
#include <algorithm>
#include <iterator>
#include <optional>

#include "bindings/c/src/event_block.h"
#include "bindings/c/src/events.h"

namespace spindle::c {
namespace {

constexpr spindle_bytes kNothing{nullptr, 0};

/// The events that there are, `room` at most. Memory for an event is there before the event is taken, so that none is
/// lost without memory. Waits for the first one; null: nobody can stop that.
std::error_code take(Connection& connection, std::chrono::nanoseconds timeout, const std::stop_token* stop,
                     spindle_event** events, std::size_t room, std::size_t& count) {
  std::error_code error;
  while (count < room && !error) {
    const std::size_t piece = std::min(room - count, EventBlock::kEventsMax);
    const BlockPointer block(EventBlock::make(piece));
    if (!block) return Errc::out_of_memory;
    while (block->count < piece) {
      std::optional<Event> event =
          stop == nullptr ? connection.receive(timeout, error) : connection.receive(timeout, error, *stop);
      if (!event) break;
      events[count++] = block->add(*std::move(event));
      timeout = std::chrono::nanoseconds::zero();
    }
  }
  return error;
}

spindle_code next(spindle_connection* connection, spindle_event** events, size_t room, size_t* count,
                  int64_t timeout_ns, const std::stop_token* stop) {
  if (count != nullptr) *count = 0;
  if (connection == nullptr || events == nullptr || room == 0 || count == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  const spindle_code code =
      guarded([&] { return take(connection->value, duration_of(timeout_ns), stop, events, room, *count); });
  return *count > 0 ? 0 : code;
}

/// Null where the event is no message, or has no place in the order.
const GroupViewId* change_of(const spindle_event* event) {
  const auto* message = content<Message>(event);
  return message == nullptr ? nullptr : message->change();
}

/// The groups of an event that has a list of them.
const std::vector<std::string>* group_list(const spindle_event* event) {
  if (const auto* ready = content<FlowReady>(event)) return &ready->groups;
  if (const auto* state = content<FlowState>(event)) return &state->groups;
  return nullptr;
}

/// The group of an event that has one.
const std::string* single_group(const spindle_event* event) {
  if (const auto* view = content<GroupView>(event)) return &view->group;
  if (const auto* signal = content<Transitional>(event)) return &signal->group;
  if (const auto* failed = content<RequestFailed>(event)) return &failed->group;
  if (const auto* request = content<FlushRequest>(event)) return &request->group;
  if (const auto* offered = content<BulkOffered>(event)) return &offered->group;
  if (const auto* opened = content<FeedOpened>(event)) return &opened->group;
  return nullptr;
}

/// A header of a message; of empty parts where there is none.
Header header_at(const spindle_event* event, std::size_t index) {
  const auto* message = content<Message>(event);
  if (message == nullptr) return {};
  for (const Header& header : message->headers()) {
    if (index-- == 0) return header;
  }
  return {};
}

}  // namespace
}  // namespace spindle::c

using namespace spindle::c;
using spindle::EventKind;

spindle_code spindle_next(spindle_connection* connection, spindle_event** events, size_t room, size_t* count,
                          int64_t timeout_ns) {
  return next(connection, events, room, count, timeout_ns, nullptr);
}

spindle_code spindle_next_cancellable(spindle_connection* connection, spindle_event** events, size_t room,
                                      size_t* count, int64_t timeout_ns, const spindle_cancel_token* token) {
  if (token == nullptr) return next(connection, events, room, count, timeout_ns, nullptr);
  const std::stop_token stop = stop_of(token);
  return next(connection, events, room, count, timeout_ns, &stop);
}

int spindle_descriptor(spindle_connection* connection) {
  if (connection == nullptr) return -1;
  int descriptor = -1;
  (void)guarded([&] { descriptor = connection->value.descriptor(); });
  return descriptor;
}

void spindle_event_free(spindle_event* event) {
  if (event == nullptr) return;
  EventBlock* block = event->block;
  event->~spindle_event();
  block->release();
}

spindle_event* spindle_event_copy(const spindle_event* event) {
  if (event == nullptr) return nullptr;
  const BlockPointer block(EventBlock::make(1));
  spindle_event* copy = nullptr;
  (void)guarded([&] {
    if (block) copy = block->add(spindle::Event(event->value));
  });
  return copy;
}

unsigned spindle_event_kind(const spindle_event* event) {
  if (event == nullptr) return 0;
  switch (event->value.kind()) {
    case EventKind::message:
      return SPINDLE_EVENT_MESSAGE;
    case EventKind::group_view:
      return SPINDLE_EVENT_GROUP_VIEW;
    case EventKind::transitional:
      return SPINDLE_EVENT_TRANSITIONAL;
    case EventKind::request_failed:
      return SPINDLE_EVENT_REQUEST_FAILED;
    case EventKind::flow_ready:
      return SPINDLE_EVENT_FLOW_READY;
    case EventKind::flow_state:
      return SPINDLE_EVENT_FLOW_STATE;
    case EventKind::gap:
      return SPINDLE_EVENT_GAP;
    case EventKind::queue_warning:
      return SPINDLE_EVENT_QUEUE_WARNING;
    case EventKind::disconnected:
      return SPINDLE_EVENT_DISCONNECTED;
    case EventKind::reconnected:
      return SPINDLE_EVENT_RECONNECTED;
    case EventKind::flush_request:
      return SPINDLE_EVENT_FLUSH_REQUEST;
    case EventKind::bulk_offered:
      return SPINDLE_EVENT_BULK_OFFERED;
    case EventKind::bulk_progress:
      return SPINDLE_EVENT_BULK_PROGRESS;
    case EventKind::bulk_received:
      return SPINDLE_EVENT_BULK_RECEIVED;
    case EventKind::bulk_complete:
      return SPINDLE_EVENT_BULK_COMPLETE;
    case EventKind::bulk_ended:
      return SPINDLE_EVENT_BULK_ENDED;
    case EventKind::bulk_stalled:
      return SPINDLE_EVENT_BULK_STALLED;
    case EventKind::feed_opened:
      return SPINDLE_EVENT_FEED_OPENED;
    case EventKind::feed_packet:
      return SPINDLE_EVENT_FEED_PACKET;
    case EventKind::feed_gap:
      return SPINDLE_EVENT_FEED_GAP;
    case EventKind::feed_closed:
      return SPINDLE_EVENT_FEED_CLOSED;
    case EventKind::feed_flow:
      return SPINDLE_EVENT_FEED_FLOW;
    case EventKind::feed_writable:
      return SPINDLE_EVENT_FEED_WRITABLE;
    case EventKind::bulk_returned:
      return SPINDLE_EVENT_BULK_RETURNED;
    default:
      return 0;
  }
}

size_t spindle_event_group_count(const spindle_event* event) {
  if (const auto* message = content<spindle::Message>(event)) return message->groups().size();
  if (const auto* list = group_list(event)) return list->size();
  return single_group(event) == nullptr ? 0 : 1;
}

spindle_bytes spindle_event_group_at(const spindle_event* event, size_t index) {
  if (const auto* message = content<spindle::Message>(event)) {
    const spindle::GroupNames names = message->groups();
    return index < names.size() ? bytes_of(*std::next(names.begin(), static_cast<std::ptrdiff_t>(index))) : kNothing;
  }
  if (const auto* list = group_list(event)) return name_at(*list, index);
  const std::string* group = single_group(event);
  return group != nullptr && index == 0 ? bytes_of(*group) : kNothing;
}

spindle_bytes spindle_event_group(const spindle_event* event) { return spindle_event_group_at(event, 0); }

spindle_code spindle_event_code(const spindle_event* event) {
  if (const auto* failed = content<spindle::RequestFailed>(event)) return code_of(failed->error);
  if (const auto* end = content<spindle::Disconnected>(event)) return code_of(end->error);
  if (const auto* received = content<spindle::BulkReceived>(event)) return code_of(received->error);
  if (const auto* ended = content<spindle::BulkEnded>(event)) return code_of(ended->error);
  if (const auto* closed = content<spindle::FeedClosed>(event)) return code_of(closed->error);
  return 0;
}

spindle_bytes spindle_message_sender(const spindle_event* event) {
  const auto* message = content<spindle::Message>(event);
  return message == nullptr ? kNothing : bytes_of(message->sender());
}

unsigned spindle_message_service(const spindle_event* event) {
  const auto* message = content<spindle::Message>(event);
  return message == nullptr ? 0 : static_cast<unsigned>(message->service());
}

uint16_t spindle_message_type(const spindle_event* event) {
  const auto* message = content<spindle::Message>(event);
  return message == nullptr ? std::uint16_t{0} : message->type();
}

spindle_bytes spindle_message_payload(const spindle_event* event) {
  const auto* message = content<spindle::Message>(event);
  return message == nullptr ? kNothing : bytes_of(message->text());
}

size_t spindle_message_header_count(const spindle_event* event) {
  const auto* message = content<spindle::Message>(event);
  if (message == nullptr) return 0;
  const spindle::HeaderList headers = message->headers();
  return static_cast<size_t>(std::distance(headers.begin(), headers.end()));
}

spindle_bytes spindle_message_header_key_at(const spindle_event* event, size_t index) {
  return bytes_of(header_at(event, index).key);
}

spindle_bytes spindle_message_header_value_at(const spindle_event* event, size_t index) {
  return bytes_of(header_at(event, index).value);
}

spindle_bytes spindle_message_header(const spindle_event* event, spindle_bytes key) {
  const auto* message = content<spindle::Message>(event);
  const auto value = message == nullptr ? std::nullopt : message->header(text_of(key));
  return value ? bytes_of(*value) : kNothing;
}

int spindle_message_is_request(const spindle_event* event) {
  const auto* message = content<spindle::Message>(event);
  return message != nullptr && message->is_request() ? 1 : 0;
}

int spindle_message_has_position(const spindle_event* event) { return change_of(event) != nullptr ? 1 : 0; }

uint64_t spindle_message_view_number(const spindle_event* event) {
  const auto* change = change_of(event);
  return change == nullptr ? 0 : change->view_number;
}

spindle_bytes spindle_message_view_coordinator(const spindle_event* event) {
  const auto* change = change_of(event);
  return change == nullptr ? kNothing : bytes_of(change->coordinator);
}

uint64_t spindle_message_view_incarnation(const spindle_event* event) {
  const auto* change = change_of(event);
  return change == nullptr ? 0 : change->incarnation;
}

uint64_t spindle_message_changes(const spindle_event* event) {
  const auto* change = change_of(event);
  return change == nullptr ? 0 : change->position;
}

uint64_t spindle_message_order(const spindle_event* event) {
  return change_of(event) == nullptr ? 0 : content<spindle::Message>(event)->place().order;
}

uint32_t spindle_message_index(const spindle_event* event) {
  return change_of(event) == nullptr ? 0 : content<spindle::Message>(event)->place().index;
}
