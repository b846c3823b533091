#include "bindings/c/tests/c99.h"

#include <string.h>

static spindle_code receive_message(spindle_connection* connection, char* received, size_t room) {
  for (;;) {
    spindle_event* events[4];
    size_t count = 0;
    spindle_code code = spindle_next(connection, events, 4, &count, SPINDLE_NO_TIMEOUT);
    size_t i;
    int found = 0;
    if (code != 0) return code;
    for (i = 0; i < count; ++i) {
      if (!found && spindle_event_kind(events[i]) == SPINDLE_EVENT_MESSAGE) {
        spindle_bytes payload = spindle_message_payload(events[i]);
        size_t size = payload.size < room - 1 ? payload.size : room - 1;
        memcpy(received, payload.data, size);
        received[size] = '\0';
        found = 1;
      }
      spindle_event_free(events[i]);
    }
    if (found) return 0;
  }
}

spindle_code exchange(const char* address, const char* text, char* received, size_t room) {
  spindle_options* options = spindle_options_new();
  spindle_connection* connection = NULL;
  spindle_bytes group = spindle_text("news");
  spindle_code code = spindle_options_set_address(options, address);
  if (code == 0) code = spindle_connect(options, &connection, NULL, 0);
  spindle_options_free(options);
  if (code == 0) code = spindle_join(connection, group, 0, 0);
  if (code == 0) {
    code = spindle_multicast(connection, SPINDLE_AGREED, &group, 1, spindle_text(text), NULL, SPINDLE_NO_TIMEOUT);
  }
  if (code == 0) code = receive_message(connection, received, room);
  spindle_close(connection);
  return code;
}

/* Counts what is not as it should be. */
static int wrong = 0;

static void refused(spindle_code code) { wrong += code != SPINDLE_ERROR_BAD_ARGUMENT; }
static void nothing(spindle_bytes bytes) { wrong += bytes.data != NULL || bytes.size != 0; }
static void is_zero(uint64_t number) { wrong += number != 0; }

static void misuse_options(void) {
  spindle_options_free(NULL);
  spindle_send_options_free(NULL);
  refused(spindle_options_set_address(NULL, "x"));
  refused(spindle_options_add_address(NULL, "x"));
  refused(spindle_options_set_reconnect_timeout(NULL, 1));
  refused(spindle_options_set_resume(NULL, 1));
  refused(spindle_options_set_keepalive(NULL, 1));
  refused(spindle_options_set_name(NULL, "x"));
  refused(spindle_options_set_tls_bundle(NULL, "x"));
  refused(spindle_options_set_tls_revocation_lists(NULL, "x"));
  refused(spindle_options_set_token(NULL, "x"));
  refused(spindle_options_set_connect_timeout(NULL, 1));
  refused(spindle_options_set_send_timeout(NULL, 1));
  refused(spindle_options_set_disconnect_timeout(NULL, 1));
  refused(spindle_options_set_send_buffer(NULL, 1));
  refused(spindle_options_set_receive_buffer(NULL, 1));
  refused(spindle_options_set_independent_flows(NULL, 1));
  refused(spindle_options_set_slow_policy(NULL, SPINDLE_SLOW_DROP));
  refused(spindle_options_set_bulk(NULL, 1));
  refused(spindle_send_options_set_type(NULL, 1));
  refused(spindle_send_options_set_self_discard(NULL, 1));
  refused(spindle_send_options_set_ticket(NULL, 1));
  refused(spindle_send_options_add_header(NULL, spindle_text("k"), spindle_text("v")));
  refused(spindle_send_options_clear_headers(NULL));
  refused(spindle_send_options_set_cancel_token(NULL, NULL));
  spindle_cancel_token_free(NULL);
  refused(spindle_cancel(NULL));
  is_zero((uint64_t)spindle_is_cancelled(NULL));
}

static void misuse_connection(void) {
  const spindle_bytes group = spindle_text("g");
  spindle_event* event = NULL;
  spindle_answers* answers = NULL;
  size_t count = 7;
  uint64_t not_taken = 0;
  int is_exact = 0;
  refused(spindle_connect(NULL, NULL, NULL, 0));
  spindle_close(NULL);
  nothing(spindle_private_name(NULL));
  is_zero((uint64_t)spindle_is_open(NULL));
  refused(spindle_join(NULL, group, 0, 0));
  refused(spindle_join(NULL, group, 0, 1));
  refused(spindle_join_cancellable(NULL, group, 0, 1, NULL));
  refused(spindle_join(NULL, group, SPINDLE_JOIN_SYNCHRONOUS | SPINDLE_JOIN_AUTO_FLUSH, 0));
  refused(spindle_flush_ok(NULL, NULL));
  refused(spindle_leave(NULL, group));
  refused(spindle_request_view(NULL, group));
  refused(spindle_request_flow(NULL, &group, 1));
  refused(spindle_confirm(NULL, 1, &not_taken, &is_exact));
  refused(spindle_drain(NULL, 1, &not_taken, &is_exact));
  refused(spindle_confirm_cancellable(NULL, 1, &not_taken, &is_exact, NULL));
  refused(spindle_drain_cancellable(NULL, 1, &not_taken, &is_exact, NULL));
  refused(spindle_disconnect(NULL, &not_taken, &is_exact));
  refused(spindle_multicast(NULL, SPINDLE_AGREED, &group, 1, group, NULL, 0));
  refused(spindle_multicast_pieces(NULL, SPINDLE_AGREED, &group, 1, &group, 1, NULL, 0));
  refused(spindle_request(NULL, SPINDLE_AGREED, &group, 1, group, NULL, 1, 0, &answers));
  wrong += answers != NULL;
  refused(spindle_reply(NULL, NULL, group, NULL, 0));
  spindle_answers_free(NULL);
  is_zero(spindle_answers_count(NULL));
  wrong += spindle_answers_at(NULL, 0) != NULL;
  is_zero(spindle_answers_missing_count(NULL));
  nothing(spindle_answers_missing_at(NULL, 0));
  refused(spindle_wait_writable(NULL, &group, 1, 0));
  refused(spindle_wait_writable_cancellable(NULL, &group, 1, 0, NULL));
  refused(spindle_next(NULL, &event, 1, &count, 0));
  is_zero(count);
  count = 7;
  refused(spindle_next_cancellable(NULL, &event, 1, &count, 0, NULL));
  is_zero(count);
  wrong += spindle_descriptor(NULL) != -1;
}

static void misuse_events(void) {
  spindle_event_free(NULL);
  wrong += spindle_event_copy(NULL) != NULL;
  is_zero(spindle_event_kind(NULL));
  is_zero(spindle_event_group_count(NULL));
  nothing(spindle_event_group_at(NULL, 0));
  nothing(spindle_event_group(NULL));
  is_zero((uint64_t)spindle_event_code(NULL));
  nothing(spindle_message_sender(NULL));
  is_zero(spindle_message_service(NULL));
  is_zero(spindle_message_type(NULL));
  nothing(spindle_message_payload(NULL));
  is_zero(spindle_message_header_count(NULL));
  nothing(spindle_message_header_key_at(NULL, 0));
  nothing(spindle_message_header_value_at(NULL, 0));
  nothing(spindle_message_header(NULL, spindle_text("k")));
  is_zero((uint64_t)spindle_message_is_request(NULL));
  is_zero((uint64_t)spindle_message_has_position(NULL));
  is_zero(spindle_message_view_number(NULL));
  nothing(spindle_message_view_coordinator(NULL));
  is_zero(spindle_message_view_incarnation(NULL));
  is_zero(spindle_message_changes(NULL));
  is_zero(spindle_message_order(NULL));
  is_zero(spindle_message_index(NULL));
  is_zero((uint64_t)spindle_view_is_synchronous(NULL));
  is_zero((uint64_t)spindle_reconnected_is_resumed(NULL));
  nothing(spindle_reconnected_former_name(NULL));
  nothing(spindle_reconnected_private_name(NULL));
  is_zero((uint64_t)spindle_reconnected_is_fenced(NULL));
  is_zero(spindle_reconnected_unknown_count(NULL));
  is_zero(spindle_reconnected_unknown_at(NULL, 0));
  is_zero(spindle_view_cause(NULL));
  is_zero(spindle_view_form(NULL));
  is_zero(spindle_view_member_count(NULL));
  is_zero(spindle_view_digest(NULL));
  is_zero(spindle_view_name_count(NULL, SPINDLE_VIEW_MEMBERS));
  nothing(spindle_view_name_at(NULL, SPINDLE_VIEW_MEMBERS, 0));
  wrong += spindle_view_my_index(NULL) != -1;
  is_zero(spindle_view_id_number(NULL));
  nothing(spindle_view_id_coordinator(NULL));
  is_zero(spindle_view_id_incarnation(NULL));
  is_zero(spindle_view_id_position(NULL));
  is_zero(spindle_request_failed_request(NULL));
  is_zero(spindle_request_failed_messages(NULL));
  wrong += spindle_flow_price(NULL) != 0 || spindle_flow_budget(NULL) != 0 || spindle_flow_rate(NULL) != 0;
  wrong += spindle_flow_salary_period_ns(NULL) != 0 || spindle_flow_blocked_share(NULL) != 0;
  nothing(spindle_flow_limited_by(NULL));
  is_zero(spindle_gap_messages(NULL));
  is_zero(spindle_gap_bytes(NULL));
  is_zero(spindle_gap_unlisted(NULL));
  is_zero(spindle_gap_name_count(NULL));
  nothing(spindle_gap_name_at(NULL, 0));
  is_zero(spindle_gap_messages_at(NULL, 0));
  is_zero(spindle_warning_percent(NULL));
  is_zero(spindle_warning_bytes(NULL));
  is_zero(spindle_warning_limit_bytes(NULL));
  nothing(spindle_disconnected_text(NULL));
  is_zero(spindle_disconnected_not_taken(NULL));
  is_zero((uint64_t)spindle_disconnected_is_exact(NULL));
}

static void misuse_membership(void) {
  unsigned outcome = 0;
  spindle_membership_free(NULL);
  spindle_membership_reset(NULL);
  refused(spindle_membership_apply(NULL, NULL, &outcome));
  is_zero((uint64_t)spindle_membership_is_current(NULL));
  is_zero(spindle_membership_count(NULL));
  nothing(spindle_membership_at(NULL, 0));
  wrong += spindle_membership_index_of(NULL, spindle_text("x")) != -1;
  is_zero(spindle_membership_vs_count(NULL));
  nothing(spindle_membership_vs_at(NULL, 0));
}

static void misuse_bulk_content(void) {
  const spindle_bytes no_bytes = {NULL, 1};
  spindle_bulk_options_free(NULL);
  refused(spindle_bulk_options_set_workers(NULL, 1));
  refused(spindle_bulk_options_set_keep_hashes(NULL, 1));
  refused(spindle_bulk_options_set_hash_directory(NULL, "/nowhere"));
  spindle_offer_options_free(NULL);
  refused(spindle_offer_options_set_rate(NULL, 1));
  refused(spindle_offer_options_set_weight(NULL, 1));
  refused(spindle_offer_options_set_linger(NULL, 1));
  wrong += spindle_bulk_source_file(NULL) != NULL;
  wrong += spindle_bulk_source_directory(NULL) != NULL;
  wrong += spindle_bulk_source_bytes(no_bytes) != NULL;
  wrong += spindle_bulk_source_stream(NULL, NULL, NULL) != NULL;
  spindle_bulk_source_free(NULL);
  refused(spindle_bulk_source_set_name(NULL, "x"));
  refused(spindle_bulk_source_set_spool(NULL, "x"));
  refused(spindle_bulk_source_set_leave_out(NULL, 1));
  is_zero(spindle_bulk_source_left_out_count(NULL));
  nothing(spindle_bulk_source_left_out_at(NULL, 0));
  wrong += spindle_bulk_sink_file(NULL) != NULL;
  wrong += spindle_bulk_sink_directory(NULL) != NULL;
  wrong += spindle_bulk_sink_stream(NULL, NULL, NULL) != NULL;
  spindle_bulk_sink_free(NULL);
  refused(spindle_bulk_sink_set_temporary_directory(NULL, "x"));
}

static void misuse_bulk(void) {
  const spindle_bytes group = spindle_text("g");
  spindle_bulk* bulk = NULL;
  spindle_channel* channel = NULL;
  refused(spindle_bulk_open(NULL, NULL, &bulk));
  refused(spindle_bulk_open(NULL, NULL, NULL));
  wrong += bulk != NULL;
  spindle_bulk_close(NULL);
  wrong += spindle_channel_copy(NULL) != NULL;
  spindle_channel_free(NULL);
  is_zero((uint64_t)spindle_channel_equal(NULL, NULL));
  nothing(spindle_channel_daemon(NULL));
  is_zero(spindle_channel_incarnation(NULL));
  is_zero(spindle_channel_number(NULL));
  refused(spindle_bulk_offer(NULL, group, NULL, NULL, 1, &channel, NULL, 0));
  wrong += channel != NULL;
  refused(spindle_bulk_accept(NULL, NULL, NULL, 0));
  refused(spindle_bulk_refuse(NULL, NULL));
  refused(spindle_bulk_cancel(NULL, NULL));
  refused(spindle_bulk_set_rate(NULL, NULL, 1));
}

static void misuse_feeds(void) {
  spindle_feed* feed = NULL;
  const spindle_bytes no_bytes = {NULL, 0};
  spindle_feed_options_free(NULL);
  refused(spindle_feed_options_set_repair_for(NULL, 1));
  refused(spindle_feed_options_set_rate(NULL, 1));
  refused(spindle_feed_options_set_drop_oldest(NULL, 1));
  refused(spindle_feed_open(NULL, no_bytes, NULL, 1, &feed));
  refused(spindle_feed_open(NULL, no_bytes, NULL, 1, NULL));
  wrong += feed != NULL;
  spindle_feed_close(NULL);
  is_zero(spindle_feed_id(NULL));
  is_zero((uint64_t)spindle_feed_is_open(NULL));
  refused(spindle_feed_send(NULL, no_bytes));
  is_zero(spindle_feed_dropped(NULL));
  refused(spindle_listen(NULL, no_bytes, SPINDLE_FEED_ORDERED, 1));
  refused(spindle_stop_listening(NULL, no_bytes));
  is_zero(spindle_event_feed(NULL));
  nothing(spindle_feed_opened_source(NULL));
  is_zero((uint64_t)spindle_feed_opened_repair_for_ns(NULL));
  nothing(spindle_feed_packet_payload(NULL));
  is_zero(spindle_feed_sequence(NULL));
  is_zero(spindle_feed_packet_count(NULL));
  is_zero(spindle_feed_gap_cause(NULL));
  is_zero(spindle_feed_closed_why(NULL));
  is_zero(spindle_feed_flow_rate(NULL));
  is_zero((uint64_t)spindle_feed_flow_round_trip_ns(NULL));
  wrong += spindle_feed_flow_loss(NULL) != 0;
  is_zero(spindle_feed_flow_limited_by(NULL));
}

static void misuse_bulk_events(void) {
  wrong += spindle_bulk_channel(NULL) != NULL;
  wrong += spindle_bulk_size(NULL) != -1;
  nothing(spindle_bulk_text(NULL));
  nothing(spindle_bulk_offered_source(NULL));
  nothing(spindle_bulk_offered_name(NULL));
  is_zero(spindle_bulk_offered_content(NULL));
  is_zero((uint64_t)spindle_bulk_offered_is_late(NULL));
  is_zero(spindle_bulk_progress_bytes(NULL));
  is_zero(spindle_bulk_progress_rate(NULL));
  nothing(spindle_bulk_received_path(NULL));
  nothing(spindle_bulk_received_bytes(NULL));
  is_zero(spindle_bulk_complete_name_count(NULL, SPINDLE_BULK_DONE));
  nothing(spindle_bulk_complete_name_at(NULL, SPINDLE_BULK_DONE, 0));
  is_zero((uint64_t)spindle_bulk_complete_code_at(NULL, 0));
  is_zero(spindle_bulk_gone(NULL, SPINDLE_BULK_MISSING));
  is_zero(spindle_bulk_returned_present(NULL));
  is_zero(spindle_bulk_ended_cause(NULL));
}

int misuse_nulls(void) {
  wrong = 0;
  misuse_options();
  misuse_connection();
  misuse_events();
  misuse_membership();
  misuse_bulk_content();
  misuse_bulk();
  misuse_bulk_events();
  misuse_feeds();
  return wrong;
}
