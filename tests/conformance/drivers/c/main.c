/* The driver of the C client library: makes the calls that the runner asks for and tells how they end. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/drivers/c/contents.h"
#include "tests/conformance/drivers/c/events.h"
#include "tests/conformance/drivers/c/feeds.h"
#include "tests/conformance/drivers/c/options.h"
#include "tests/conformance/drivers/c/tokens.h"

static const char* const kFeatures[] = {"flows",      "timeouts",  "confirm", "drain",        "headers", "writable",
                                        "resumption", "synchrony", "request", "cancellation", "bulk",    "feeds"};
static const char* const kServices[] = {"unreliable", "reliable", "fifo", "causal", "agreed", "safe"};

static spindle_connection* connection = NULL;
static spindle_bulk* bulk = NULL;
static spindle_event* request = NULL;       /* the last one that came */
static spindle_event* flush_request = NULL; /* likewise */
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

static void outcome(answer* to, spindle_code code) {
  answer_begin(to, code == 0 ? "ok" : "failed");
  if (code != 0) answer_add_text(to, "code", spindle_error_name(code));
}

static void do_connect(const call* asked, answer* to) {
  char text[300];
  spindle_options* options = connect_options_of(asked);
  spindle_connection* made = NULL;
  const spindle_code code = spindle_connect(options, &made, text, sizeof text);
  spindle_options_free(options);
  outcome(to, code);
  if (code != 0) {
    answer_add_text(to, "text", text);
    return;
  }
  spindle_bulk_close(bulk);
  close_feeds();
  spindle_close(connection);
  bulk = NULL;
  connection = made;
  if (call_has(asked, "bulk")) spindle_bulk_open(connection, NULL, &bulk);
  answer_add(to, "name", spindle_private_name(connection));
}

/* The first group of a call; no bytes without one. */
static spindle_bytes group_of(const call* asked) {
  spindle_bytes group = {NULL, 0};
  size_t count;
  spindle_bytes* all = call_all(asked, "group", &count);
  if (count > 0) group = all[0];
  free(all);
  return group;
}

/* With a timeout the form that waits. */
static void do_join(const call* asked, answer* to) {
  unsigned flags = call_has(asked, "synchronous") ? SPINDLE_JOIN_SYNCHRONOUS : 0;
  if (call_has(asked, "auto_flush")) flags |= SPINDLE_JOIN_AUTO_FLUSH;
  outcome(to, spindle_join_cancellable(connection, group_of(asked), flags, call_milliseconds(asked, "timeout_ms"),
                                       token_of(asked)));
}

static void do_flush_ok(const call* asked, answer* to) {
  (void)asked;
  outcome(to, spindle_flush_ok(connection, flush_request));
}

static void do_leave(const call* asked, answer* to) { outcome(to, spindle_leave(connection, group_of(asked))); }

static void do_ask(const call* asked, answer* to) { outcome(to, spindle_request_view(connection, group_of(asked))); }

static void do_flow(const call* asked, answer* to) {
  size_t count;
  spindle_bytes* groups = call_all(asked, "group", &count);
  outcome(to, spindle_request_flow(connection, groups, count));
  free(groups);
}

static void do_writable(const call* asked, answer* to) {
  size_t count;
  spindle_bytes* groups = call_all(asked, "group", &count);
  outcome(to, spindle_wait_writable_cancellable(connection, groups, count, call_milliseconds(asked, "timeout_ms"),
                                                token_of(asked)));
  free(groups);
}

/* What the runner asks is how many messages were not taken, and not whether that is a failure. */
static void tell_not_taken(answer* to, uint64_t not_taken, int is_exact) {
  answer_begin(to, "ok");
  answer_add_number(to, "not_taken", not_taken);
  answer_add_text(to, "exact", is_exact ? "yes" : "no");
}

static void do_confirm(const call* asked, answer* to) {
  uint64_t not_taken = 0;
  int is_exact = 1;
  (void)spindle_confirm_cancellable(connection, call_milliseconds(asked, "timeout_ms"), &not_taken, &is_exact,
                                    token_of(asked));
  tell_not_taken(to, not_taken, is_exact);
}

static void do_drain(const call* asked, answer* to) {
  uint64_t not_taken = 0;
  int is_exact = 1;
  (void)spindle_drain_cancellable(connection, call_milliseconds(asked, "timeout_ms"), &not_taken, &is_exact,
                                  token_of(asked));
  tell_not_taken(to, not_taken, is_exact);
}

static void do_close(const call* asked, answer* to) {
  uint64_t not_taken = 0;
  int is_exact = 1;
  (void)asked;
  (void)spindle_disconnect(connection, &not_taken, &is_exact);
  tell_not_taken(to, not_taken, is_exact);
}

/* The call aside may not have begun: then it finds that it is cancelled. */
static void do_cancel(const call* asked, answer* to) {
  outcome(to, spindle_cancel(token_numbered(call_integer(asked, "call"))));
}

static spindle_code send_one(const call* asked, const spindle_bytes* groups, size_t count, uint64_t number,
                             const spindle_send_options* options) {
  const unsigned service = place_of_name(kServices, 6, call_text(asked, "service"));
  const size_t size = (size_t)call_integer(asked, "size");
  unsigned char* payload = make_payload(call_integer(asked, "seed") + number, size);
  const spindle_bytes bytes = {payload, size};
  int64_t timeout_ns = SPINDLE_NO_TIMEOUT;
  spindle_code code;
  if (call_has(asked, "timeout_ms")) timeout_ns = call_milliseconds(asked, "timeout_ms");
  if (call_has(asked, "try")) timeout_ns = 0;
  code = spindle_multicast(connection, service, groups, count, bytes, options, timeout_ns);
  free(payload);
  return code;
}

static spindle_send_options* send_options_of(const call* asked) {
  spindle_send_options* options = spindle_send_options_new();
  size_t i, count;
  spindle_bytes* keys = call_all(asked, "header", &count);
  spindle_bytes* values = call_all(asked, "header_value", &count);
  spindle_send_options_set_type(options, (uint16_t)call_integer(asked, "type"));
  spindle_send_options_set_self_discard(options, call_has(asked, "self_discard"));
  spindle_send_options_set_cancel_token(options, token_of(asked));
  for (i = 0; i < count; ++i) spindle_send_options_add_header(options, keys[i], values[i]);
  free(keys);
  free(values);
  return options;
}

static void do_send(const call* asked, answer* to) {
  size_t count;
  spindle_bytes* groups = call_all(asked, "group", &count);
  spindle_send_options* options = send_options_of(asked);
  uint64_t sent = 0;
  spindle_code code = 0;
  while (sent < call_integer(asked, "count")) {
    if (call_has(asked, "ticket")) spindle_send_options_set_ticket(options, call_integer(asked, "ticket") + sent);
    code = send_one(asked, groups, count, sent, options);
    if (code != 0) break;
    ++sent;
  }
  spindle_send_options_free(options);
  free(groups);
  outcome(to, code);
  answer_add_number(to, "sent", sent);
}

static void do_request(const call* asked, answer* to) {
  size_t i, count;
  spindle_bytes* groups = call_all(asked, "group", &count);
  spindle_send_options* options = send_options_of(asked);
  const size_t size = (size_t)call_integer(asked, "size");
  unsigned char* payload = make_payload(call_integer(asked, "seed"), size);
  const spindle_bytes bytes = {payload, size};
  spindle_answers* answers = NULL;
  outcome(to,
          spindle_request(connection, place_of_name(kServices, 6, call_text(asked, "service")), groups, count, bytes,
                          options, (size_t)call_integer(asked, "answers"),
                          call_has(asked, "timeout_ms") ? call_milliseconds(asked, "timeout_ms") : SPINDLE_NO_TIMEOUT,
                          &answers));
  for (i = 0; i < spindle_answers_count(answers); ++i) {
    const spindle_event* message = spindle_answers_at(answers, i);
    answer_add(to, "sender", spindle_message_sender(message));
    answer_add_number(to, "size", spindle_message_payload(message).size);
    answer_add_number(to, "digest", digest_of(spindle_message_payload(message)));
  }
  spindle_answers_free(answers);
  free(payload);
  spindle_send_options_free(options);
  free(groups);
}

static void do_answer(const call* asked, answer* to) {
  const size_t size = (size_t)call_integer(asked, "size");
  unsigned char* payload = make_payload(call_integer(asked, "seed"), size);
  const spindle_bytes bytes = {payload, size};
  outcome(to, spindle_reply(connection, request, bytes, NULL, SPINDLE_NO_TIMEOUT));
  free(payload);
}

/* The code of the first option that cannot be. */
static spindle_code offer_options_of(const call* asked, spindle_offer_options* options) {
  spindle_code code = spindle_offer_options_set_rate(options, call_integer(asked, "rate"));
  if (code == 0 && call_has(asked, "weight")) {
    code = spindle_offer_options_set_weight(options, (unsigned)call_integer(asked, "weight"));
  }
  if (code == 0 && call_has(asked, "linger_ms")) {
    code = spindle_offer_options_set_linger(options, call_milliseconds(asked, "linger_ms"));
  }
  return code;
}

static void do_offer(const call* asked, answer* to) {
  char text[300] = "";
  spindle_channel* channel = NULL;
  spindle_bulk_source* source = source_of(asked);
  spindle_offer_options* options = spindle_offer_options_new();
  const int64_t timeout_ns =
      call_has(asked, "timeout_ms") ? call_milliseconds(asked, "timeout_ms") : INT64_C(30000000000);
  spindle_code code = offer_options_of(asked, options);
  if (code == 0) {
    code = spindle_bulk_offer(bulk, group_of(asked), source, options, timeout_ns, &channel, text, sizeof text);
  }
  spindle_offer_options_free(options);
  spindle_bulk_source_free(source);
  outcome(to, code);
  if (code != 0) answer_add_text(to, "text", text);
  if (code == 0) answer_add_channel(to, channel);
  note_channel(channel);
  spindle_channel_free(channel);
}

static void do_accept(const call* asked, answer* to) {
  spindle_bulk_sink* sink = sink_of(asked);
  unsigned flags = call_has(asked, "replace") ? SPINDLE_ACCEPT_REPLACE : 0;
  if (call_has(asked, "not_serving")) flags |= SPINDLE_ACCEPT_NOT_SERVING;
  outcome(to, spindle_bulk_accept(bulk, channel_of(asked), sink, flags));
  spindle_bulk_sink_free(sink);
}

static void do_refuse(const call* asked, answer* to) { outcome(to, spindle_bulk_refuse(bulk, channel_of(asked))); }

static void do_withdraw(const call* asked, answer* to) { outcome(to, spindle_bulk_cancel(bulk, channel_of(asked))); }

static void do_rate(const call* asked, answer* to) {
  outcome(to, spindle_bulk_set_rate(bulk, channel_of(asked), call_integer(asked, "rate")));
}

static void do_listen(const call* asked, answer* to) { outcome(to, listen_to(connection, group_of(asked), asked)); }

static void do_unlisten(const call* asked, answer* to) {
  outcome(to, spindle_stop_listening(connection, group_of(asked)));
}

static void do_feed(const call* asked, answer* to) {
  uint64_t id = 0;
  const spindle_code code = open_feed(connection, group_of(asked), asked, &id);
  outcome(to, code);
  if (code == 0) answer_add_number(to, "feed", id);
}

static void do_emit(const call* asked, answer* to) {
  uint64_t sent = 0;
  outcome(to, emit(asked, &sent));
  answer_add_number(to, "sent", sent);
}

static void do_shut(const call* asked, answer* to) { outcome(to, close_feed(call_integer(asked, "feed"))); }

static void keep(spindle_event** last, spindle_event* event) {
  spindle_event_free(*last);
  *last = event;
}

static void do_receive(const call* asked, answer* to) {
  spindle_event* event = NULL;
  size_t count = 0;
  const spindle_code code =
      spindle_next_cancellable(connection, &event, 1, &count, call_milliseconds(asked, "timeout_ms"), token_of(asked));
  if (code == 0) {
    const spindle_channel* channel = spindle_bulk_channel(event);
    const int is_received = spindle_event_kind(event) == SPINDLE_EVENT_BULK_RECEIVED;
    spindle_bytes streamed = {NULL, 0};
    note_channel(channel);
    describe(to, event, is_received && bytes_streamed(channel, &streamed) ? &streamed : NULL);
  } else {
    outcome(to, code);
  }
  if (spindle_message_is_request(event)) {
    keep(&request, event);
  } else if (spindle_event_kind(event) == SPINDLE_EVENT_FLUSH_REQUEST) {
    keep(&flush_request, event);
  } else {
    spindle_event_free(event);
  }
}

static const struct {
  const char* name;
  void (*perform)(const call* asked, answer* to);
} kVerbs[] = {{"connect", do_connect}, {"join", do_join},         {"leave", do_leave},       {"ask", do_ask},
              {"flow", do_flow},       {"writable", do_writable}, {"send", do_send},         {"receive", do_receive},
              {"confirm", do_confirm}, {"drain", do_drain},       {"close", do_close},       {"flush_ok", do_flush_ok},
              {"request", do_request}, {"answer", do_answer},     {"cancel", do_cancel},     {"offer", do_offer},
              {"accept", do_accept},   {"refuse", do_refuse},     {"withdraw", do_withdraw}, {"rate", do_rate},
              {"listen", do_listen},   {"unlisten", do_unlisten}, {"feed", do_feed},         {"emit", do_emit},
              {"shut", do_shut}};

static void tell(const char* number, const answer* told) {
  pthread_mutex_lock(&output);
  printf("%s %s\n", number, told->line);
  fflush(stdout);
  pthread_mutex_unlock(&output);
}

/* Performs the call, answers it, and frees it. */
static void* perform(void* argument) {
  call* asked = argument;
  answer told = {NULL, 0, 0};
  size_t i = 0;
  while (i < sizeof kVerbs / sizeof *kVerbs && strcmp(kVerbs[i].name, call_verb(asked)) != 0) ++i;
  if (i < sizeof kVerbs / sizeof *kVerbs) {
    kVerbs[i].perform(asked, &told);
  } else {
    answer_begin(&told, "unusable");
    answer_add_text(&told, "text", "unknown verb");
  }
  tell(call_number(asked), &told);
  free(told.line);
  call_free(asked);
  return NULL;
}

static void greet(void) {
  answer greeting = {NULL, 0, 0};
  size_t i;
  answer_begin(&greeting, "protocol=1");
  answer_add_text(&greeting, "language", "C");
  for (i = 0; i < sizeof kFeatures / sizeof *kFeatures; ++i) answer_add_text(&greeting, "feature", kFeatures[i]);
  tell("driver", &greeting);
  free(greeting.line);
}

int main(void) {
  char* line = NULL;
  size_t room = 0;
  greet();
  while (getline(&line, &room, stdin) > 0) {
    call* asked = call_parse(line);
    pthread_t aside;
    if (asked == NULL) continue;
    if (!call_has(asked, "aside")) {
      perform(asked);
    } else if (pthread_create(&aside, NULL, perform, asked) == 0) {
      pthread_detach(aside);
    }
  }
  free(line);
  spindle_event_free(request);
  spindle_event_free(flush_request);
  spindle_bulk_close(bulk);
  close_feeds();
  spindle_disconnect(connection, NULL, NULL);
  return 0;
}
