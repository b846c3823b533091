#include "tests/conformance/drivers/c/events.h"

#include "tests/conformance/drivers/c/contents.h"

#include <inttypes.h>
#include <stdio.h>

static const char* const kServices[] = {"unreliable", "reliable", "fifo", "causal", "agreed", "safe"};
static const char* const kCauses[] = {"none", "join", "leave", "disconnect", "network"};
static const char* const kForms[] = {"full", "change", "answer", "farewell"};
static const char* const kRequests[] = {"join", "leave", "view", "send", "membership", "listen"};
static const char* const kContents[] = {"bytes", "file", "directory"};
static const char* const kGaps[] = {"lost", "slow"};
static const char* const kCloses[] = {"closed", "lost", "denied", "left"};
static const char* const kLimits[] = {"start", "link", "source", "maximum", "share"};
static const char* const kEnds[] = {"none", "cancelled", "over", "abandoned", "elsewhere", "disconnected", "left"};

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

static void add_channel(answer* to, const spindle_event* event) { answer_add_channel(to, spindle_bulk_channel(event)); }

static void add_size(answer* to, const spindle_event* event) {
  if (spindle_bulk_size(event) >= 0) answer_add_number(to, "size", (uint64_t)spindle_bulk_size(event));
}

/* Where there is one. */
static void add_failure(answer* to, const spindle_event* event) {
  if (spindle_event_code(event) == 0) return;
  add_code(to, event);
  answer_add(to, "text", spindle_bulk_text(event));
}

static void describe_offered(answer* to, const spindle_event* event) {
  answer_begin(to, "bulk_offered");
  add_channel(to, event);
  add_groups(to, event);
  answer_add(to, "source", spindle_bulk_offered_source(event));
  answer_add(to, "name", spindle_bulk_offered_name(event));
  answer_add_text(to, "kind", kContents[spindle_bulk_offered_content(event)]);
  answer_add_text(to, "late", spindle_bulk_offered_is_late(event) ? "yes" : "no");
  add_size(to, event);
}

static void describe_progress(answer* to, const spindle_event* event) {
  answer_begin(to, "bulk_progress");
  add_channel(to, event);
  answer_add_number(to, "bytes", spindle_bulk_progress_bytes(event));
  add_size(to, event);
}

static void describe_received(answer* to, const spindle_event* event, const spindle_bytes* streamed) {
  const spindle_bytes bytes = streamed == NULL ? spindle_bulk_received_bytes(event) : *streamed;
  answer_begin(to, "bulk_received");
  add_channel(to, event);
  answer_add(to, "path", spindle_bulk_received_path(event));
  answer_add_number(to, "size", bytes.size);
  answer_add_number(to, "digest", digest_of(bytes));
  add_failure(to, event);
}

static void add_names(answer* to, const char* key, const spindle_event* event, unsigned list) {
  size_t i;
  for (i = 0; i < spindle_bulk_complete_name_count(event, list); ++i) {
    answer_add(to, key, spindle_bulk_complete_name_at(event, list, i));
  }
}

static void add_gone(answer* to, const spindle_event* event) {
  answer_add_number(to, "gone_done", spindle_bulk_gone(event, SPINDLE_BULK_DONE));
  answer_add_number(to, "gone_failed", spindle_bulk_gone(event, SPINDLE_BULK_FAILED));
  answer_add_number(to, "gone_refused", spindle_bulk_gone(event, SPINDLE_BULK_REFUSED));
  answer_add_number(to, "gone_missing", spindle_bulk_gone(event, SPINDLE_BULK_MISSING));
}

static void describe_returned(answer* to, const spindle_event* event) {
  answer_begin(to, "bulk_returned");
  add_channel(to, event);
  answer_add_number(to, "present", spindle_bulk_returned_present(event));
  add_gone(to, event);
}

static void describe_complete(answer* to, const spindle_event* event) {
  size_t i;
  answer_begin(to, "bulk_complete");
  add_channel(to, event);
  add_names(to, "done", event, SPINDLE_BULK_DONE);
  add_names(to, "refused", event, SPINDLE_BULK_REFUSED);
  add_names(to, "failed", event, SPINDLE_BULK_FAILED);
  for (i = 0; i < spindle_bulk_complete_name_count(event, SPINDLE_BULK_FAILED); ++i) {
    answer_add_text(to, "failed_code", spindle_error_name(spindle_bulk_complete_code_at(event, i)));
  }
  add_gone(to, event);
}

static void describe_ended(answer* to, const spindle_event* event) {
  answer_begin(to, "bulk_ended");
  add_channel(to, event);
  answer_add_text(to, "cause", kEnds[spindle_bulk_ended_cause(event)]);
  add_failure(to, event);
}

static void describe_feed(answer* to, const char* kind, const spindle_event* event) {
  answer_begin(to, kind);
  answer_add_number(to, "feed", spindle_event_feed(event));
}

static void describe_feed_opened(answer* to, const spindle_event* event) {
  describe_feed(to, "feed_opened", event);
  add_groups(to, event);
  answer_add(to, "source", spindle_feed_opened_source(event));
  answer_add_number(to, "repair_ms", (uint64_t)(spindle_feed_opened_repair_for_ns(event) / 1000000));
}

static void add_packets(answer* to, const spindle_event* event) {
  answer_add_number(to, "sequence", spindle_feed_sequence(event));
  answer_add_number(to, "packets", spindle_feed_packet_count(event));
}

static void describe_feed_packet(answer* to, const spindle_event* event) {
  const spindle_bytes payload = spindle_feed_packet_payload(event);
  describe_feed(to, "feed_packet", event);
  add_packets(to, event);
  answer_add_number(to, "size", payload.size);
  answer_add_number(to, "digest", digest_of(payload));
}

static void describe_feed_gap(answer* to, const spindle_event* event) {
  describe_feed(to, "feed_gap", event);
  add_packets(to, event);
  answer_add_text(to, "cause", kGaps[spindle_feed_gap_cause(event)]);
}

static void describe_feed_closed(answer* to, const spindle_event* event) {
  describe_feed(to, "feed_closed", event);
  answer_add_text(to, "why", kCloses[spindle_feed_closed_why(event)]);
  if (spindle_event_code(event) != 0) add_code(to, event);
}

static void describe_feed_flow(answer* to, const spindle_event* event) {
  describe_feed(to, "feed_flow", event);
  answer_add_number(to, "rate", spindle_feed_flow_rate(event));
  answer_add_text(to, "limited_by", kLimits[spindle_feed_flow_limited_by(event)]);
}

void describe(answer* to, const spindle_event* event, const spindle_bytes* streamed) {
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
    case SPINDLE_EVENT_BULK_OFFERED:
      describe_offered(to, event);
      break;
    case SPINDLE_EVENT_BULK_PROGRESS:
      describe_progress(to, event);
      break;
    case SPINDLE_EVENT_BULK_STALLED:
      answer_begin(to, "bulk_stalled");
      add_channel(to, event);
      break;
    case SPINDLE_EVENT_BULK_RECEIVED:
      describe_received(to, event, streamed);
      break;
    case SPINDLE_EVENT_BULK_COMPLETE:
      describe_complete(to, event);
      break;
    case SPINDLE_EVENT_BULK_RETURNED:
      describe_returned(to, event);
      break;
    case SPINDLE_EVENT_BULK_ENDED:
      describe_ended(to, event);
      break;
    case SPINDLE_EVENT_FEED_OPENED:
      describe_feed_opened(to, event);
      break;
    case SPINDLE_EVENT_FEED_PACKET:
      describe_feed_packet(to, event);
      break;
    case SPINDLE_EVENT_FEED_GAP:
      describe_feed_gap(to, event);
      break;
    case SPINDLE_EVENT_FEED_CLOSED:
      describe_feed_closed(to, event);
      break;
    case SPINDLE_EVENT_FEED_FLOW:
      describe_feed_flow(to, event);
      break;
    case SPINDLE_EVENT_FEED_WRITABLE:
      describe_feed(to, "feed_writable", event);
      break;
    default:
      answer_begin(to, "later");
      break;
  }
}
