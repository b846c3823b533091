#include "tests/conformance/drivers/c/events.h"

#include <inttypes.h>
#include <stdio.h>

static const char* const kServices[] = {"unreliable", "reliable", "fifo", "causal", "agreed", "safe"};
static const char* const kCauses[] = {"none", "join", "leave", "disconnect", "network"};
static const char* const kForms[] = {"full", "change", "answer", "farewell"};
static const char* const kRequests[] = {"join", "leave", "view", "send", "membership"};

static void add_groups(answer* to, const spindle_event* event) {
  size_t i;
  for (i = 0; i < spindle_event_group_count(event); ++i) answer_add(to, "group", spindle_event_group_at(event, i));
}

static void add_code(answer* to, const spindle_event* event) {
  answer_add_text(to, "code", spindle_error_name(spindle_event_code(event)));
}

static void describe_message(answer* to, const spindle_event* event) {
  const spindle_bytes payload = spindle_message_payload(event);
  size_t i;
  answer_begin(to, "message");
  answer_add(to, "sender", spindle_message_sender(event));
  answer_add_text(to, "service", kServices[spindle_message_service(event)]);
  answer_add_number(to, "type", spindle_message_type(event));
  add_groups(to, event);
  answer_add_number(to, "size", payload.size);
  answer_add_number(to, "digest", digest_of(payload));
  for (i = 0; i < spindle_message_header_count(event); ++i) {
    answer_add(to, "header", spindle_message_header_key_at(event, i));
    answer_add(to, "header_value", spindle_message_header_value_at(event, i));
  }
}

static void add_list(answer* to, const char* key, const spindle_event* event, unsigned list) {
  size_t i;
  for (i = 0; i < spindle_view_name_count(event, list); ++i) {
    answer_add(to, key, spindle_view_name_at(event, list, i));
  }
}

static void describe_view(answer* to, const spindle_event* event) {
  const spindle_bytes coordinator = spindle_view_id_coordinator(event);
  char id[400];
  snprintf(id, sizeof id, "%" PRIu64 "/%.*s/%" PRIu64 "/%" PRIu64, spindle_view_id_number(event), (int)coordinator.size,
           (const char*)coordinator.data, spindle_view_id_incarnation(event), spindle_view_id_position(event));
  answer_begin(to, "view");
  add_groups(to, event);
  answer_add_text(to, "id", id);
  answer_add_text(to, "cause", kCauses[spindle_view_cause(event)]);
  answer_add_text(to, "form", kForms[spindle_view_form(event)]);
  answer_add_number(to, "count", spindle_view_member_count(event));
  answer_add_number(to, "digest", spindle_view_digest(event));
  add_list(to, "joined", event, SPINDLE_VIEW_JOINED);
  add_list(to, "left", event, SPINDLE_VIEW_LEFT);
  add_list(to, "apart", event, SPINDLE_VIEW_APART);
  add_list(to, "member", event, SPINDLE_VIEW_MEMBERS);
  add_list(to, "together", event, SPINDLE_VIEW_VS_SET);
  if (spindle_view_my_index(event) >= 0) answer_add_number(to, "index", (uint64_t)spindle_view_my_index(event));
}

static void describe_refusal(answer* to, const spindle_event* event) {
  answer_begin(to, "told");
  answer_add_text(to, "request", kRequests[spindle_request_failed_request(event)]);
  add_groups(to, event);
  add_code(to, event);
  answer_add_number(to, "messages", spindle_request_failed_messages(event));
}

static void describe_gap(answer* to, const spindle_event* event) {
  size_t i;
  answer_begin(to, "gap");
  answer_add_number(to, "messages", spindle_gap_messages(event));
  answer_add_number(to, "bytes", spindle_gap_bytes(event));
  answer_add_number(to, "unlisted", spindle_gap_unlisted(event));
  for (i = 0; i < spindle_gap_name_count(event); ++i) {
    answer_add(to, "name", spindle_gap_name_at(event, i));
    answer_add_number(to, "of_name", spindle_gap_messages_at(event, i));
  }
}

static void describe_warning(answer* to, const spindle_event* event) {
  answer_begin(to, "warned");
  answer_add_number(to, "percent", spindle_warning_percent(event));
  answer_add_number(to, "bytes", spindle_warning_bytes(event));
  answer_add_number(to, "limit", spindle_warning_limit_bytes(event));
}

static void describe_end(answer* to, const spindle_event* event) {
  answer_begin(to, "disconnected");
  add_code(to, event);
  answer_add(to, "text", spindle_disconnected_text(event));
}

static void describe_groups(answer* to, const char* word, const spindle_event* event) {
  answer_begin(to, word);
  add_groups(to, event);
}

static void describe_reconnected(answer* to, const spindle_event* event) {
  size_t i;
  answer_begin(to, "reconnected");
  answer_add_text(to, "how", spindle_reconnected_is_resumed(event) ? "resumed" : "anew");
  answer_add(to, "name", spindle_reconnected_private_name(event));
  for (i = 0; i < spindle_reconnected_unknown_count(event); ++i) {
    answer_add_number(to, "unknown", spindle_reconnected_unknown_at(event, i));
  }
}

void describe(answer* to, const spindle_event* event) {
  switch (spindle_event_kind(event)) {
    case SPINDLE_EVENT_MESSAGE:
      describe_message(to, event);
      break;
    case SPINDLE_EVENT_GROUP_VIEW:
      describe_view(to, event);
      break;
    case SPINDLE_EVENT_TRANSITIONAL:
      describe_groups(to, "signal", event);
      break;
    case SPINDLE_EVENT_REQUEST_FAILED:
      describe_refusal(to, event);
      break;
    case SPINDLE_EVENT_FLOW_READY:
      describe_groups(to, "ready", event);
      break;
    case SPINDLE_EVENT_FLOW_STATE:
      describe_groups(to, "flow", event);
      break;
    case SPINDLE_EVENT_GAP:
      describe_gap(to, event);
      break;
    case SPINDLE_EVENT_QUEUE_WARNING:
      describe_warning(to, event);
      break;
    case SPINDLE_EVENT_DISCONNECTED:
      describe_end(to, event);
      break;
    case SPINDLE_EVENT_RECONNECTED:
      describe_reconnected(to, event);
      break;
    case SPINDLE_EVENT_FLUSH_REQUEST:
      describe_groups(to, "flush_request", event);
      break;
    default:
      answer_begin(to, "later");
      break;
  }
}
