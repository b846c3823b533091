/* A conversation of a client with itself, at a real daemon, as a program in C99 has it. */
#include "bindings/c/tests/use_in_c.h"

#include <poll.h>
#include <spindle/spindle.h>
#include <string.h>

static const int64_t kPatience = INT64_C(30000000000);

static int is_text(spindle_bytes bytes, const char* text) {
  return bytes.size == strlen(text) && memcmp(bytes.data, text, bytes.size) == 0;
}

/* The next event of that kind, to be freed; NULL where the connection ends before. */
static spindle_event* next_of(spindle_connection* connection, unsigned kind) {
  spindle_event* event = NULL;
  while (spindle_next(connection, &event, 1, kPatience) == 1) {
    if (spindle_event_kind(event) == kind) return event;
    spindle_event_free(event);
  }
  return NULL;
}

static const char* talk(spindle_connection* connection) {
  const spindle_bytes news = spindle_text("news");
  const spindle_bytes both[] = {news, spindle_private_name(connection)};
  const spindle_bytes pieces[] = {spindle_text("he"), spindle_text(""), spindle_text("llo")};
  spindle_send_options* send_options = spindle_send_options_new();
  spindle_membership* membership = spindle_membership_new();
  spindle_bytes names[2];
  spindle_event* event;
  const char* wrong = NULL;

  if (!spindle_is_open(connection)) wrong = "is_open";
  if (spindle_join(connection, news, 0, kPatience) != SPINDLE_OK) wrong = "join";
  if (spindle_join(connection, news, 0, kPatience) != SPINDLE_ALREADY_A_MEMBER) wrong = "join twice";
  event = next_of(connection, SPINDLE_EVENT_VIEW);
  if (!is_text(spindle_view_group(event), "news") || spindle_view_member_count(event) != 1) wrong = "view";
  if (spindle_membership_apply(membership, event) != SPINDLE_MEMBERSHIP_CURRENT) wrong = "membership";
  if (spindle_membership_members(membership, names, 2) != 1) wrong = "members";
  if (spindle_membership_index_of(membership, names[0]) != 0) wrong = "index_of";
  spindle_event_free(event);

  spindle_send_options_set_type(send_options, 7);
  if (spindle_multicast(connection, SPINDLE_AGREED, both, 2, pieces[2], send_options, kPatience) != SPINDLE_OK) {
    wrong = "multicast";
  }
  if (spindle_multicast_pieces(connection, SPINDLE_AGREED, &news, 1, pieces, 3, NULL, 0) != SPINDLE_OK) {
    wrong = "multicast_pieces";
  }
  if (spindle_confirm(connection, kPatience, NULL, NULL) != SPINDLE_OK) wrong = "confirm";
  event = next_of(connection, SPINDLE_EVENT_MESSAGE);
  if (!is_text(spindle_message_payload(event), "llo") || spindle_message_type(event) != 7) wrong = "message";
  if (spindle_message_groups(event, names, 2) != 2 || !is_text(names[0], "news")) wrong = "groups of a message";
  spindle_event_free(event);
  event = next_of(connection, SPINDLE_EVENT_MESSAGE);
  if (!is_text(spindle_message_payload(event), "hello")) wrong = "message of pieces";
  spindle_event_free(event);

  if (spindle_request_view(connection, news) != SPINDLE_OK) wrong = "request_view";
  event = next_of(connection, SPINDLE_EVENT_VIEW);
  if (spindle_view_form(event) != SPINDLE_FORM_ANSWER) wrong = "answer";
  spindle_event_free(event);
  if (spindle_request_flow(connection, &news, 1) != SPINDLE_OK) wrong = "request_flow";
  event = next_of(connection, SPINDLE_EVENT_FLOW_STATE);
  if (spindle_flow_groups(event, names, 2) != 1 || spindle_flow_rate(event) <= 0) wrong = "flow state";
  spindle_event_free(event);

  if (spindle_leave(connection, spindle_text("other")) != SPINDLE_OK) wrong = "leave";
  event = next_of(connection, SPINDLE_EVENT_REQUEST_FAILED);
  if (spindle_failed_code(event) != SPINDLE_NOT_A_MEMBER || spindle_failed_request(event) != SPINDLE_REQUEST_LEAVE) {
    wrong = "refusal";
  }
  spindle_event_free(event);
  spindle_send_options_free(send_options);
  spindle_membership_free(membership);
  return wrong;
}

static const char* part(spindle_connection* connection) {
  const char* wrong = NULL;
  uint64_t not_taken = 1;
  int exact = 0;
  struct pollfd readable = {spindle_descriptor(connection), POLLIN, 0};
  spindle_event* event;

  if (spindle_drain(connection, kPatience, &not_taken, &exact) != SPINDLE_OK || not_taken != 0 || !exact) {
    wrong = "drain";
  }
  if (poll(&readable, 1, -1) != 1) wrong = "descriptor";
  event = next_of(connection, SPINDLE_EVENT_DISCONNECTED);
  if (spindle_disconnected_code(event) != SPINDLE_CLOSED_BY_CLIENT) wrong = "disconnected";
  spindle_event_free(event);
  if (spindle_next(connection, &event, 1, SPINDLE_FOREVER) != 0) wrong = "the end";
  return wrong;
}

const char* use_spindle_in_c(const char* address) {
  spindle_options* options = spindle_options_new();
  spindle_connection* connection = NULL;
  const char* wrong = NULL;
  char text[128];

  spindle_options_set_address(options, "/nowhere");
  if (spindle_connect(options, kPatience, &connection, text, sizeof text) != SPINDLE_CONNECT_FAILED) return "refusal";
  if (strstr(text, "/nowhere") == NULL) return "text of a refusal";
  spindle_options_set_address(options, address);
  spindle_options_set_name(options, "ann");
  if (spindle_connect(options, kPatience, &connection, text, sizeof text) != SPINDLE_OK) return "connect";
  spindle_options_free(options);
  wrong = talk(connection);
  if (wrong == NULL) wrong = part(connection);
  spindle_close(connection);
  return wrong;
}
