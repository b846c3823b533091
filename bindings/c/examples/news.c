/* Joins a group, sends a message to it, and prints what is sent there and who is in it, until a message says "end".
 *
 *   news GROUP TEXT
 */
#include <inttypes.h>
#include <spindle/spindle.h>
#include <stdio.h>

static void print_bytes(spindle_bytes bytes) { fwrite(bytes.data, 1, bytes.size, stdout); }

/* Whether it was the last one to be printed. */
static int print_event(const spindle_event* event) {
  switch (spindle_event_kind(event)) {
    case SPINDLE_EVENT_MESSAGE: {
      const spindle_bytes text = spindle_message_payload(event);
      print_bytes(spindle_message_sender(event));
      printf(": ");
      print_bytes(text);
      printf("\n");
      return text.size == 3 && ((const char*)text.data)[0] == 'e';
    }
    case SPINDLE_EVENT_VIEW:
      print_bytes(spindle_view_group(event));
      printf(" has %zu members\n", spindle_view_member_count(event));
      return 0;
    case SPINDLE_EVENT_DISCONNECTED:
      printf("disconnected: ");
      print_bytes(spindle_disconnected_text(event));
      printf("\n");
      return 1;
    default: /* kinds are added */
      return 0;
  }
}

static int fail(const char* what, const char* why) {
  fprintf(stderr, "news: %s: %s\n", what, why);
  return 1;
}

int main(int count, char** arguments) {
  if (count != 3) return fail("usage", "news GROUP TEXT");
  const int64_t patience = INT64_C(5000000000);
  spindle_connection* connection = NULL;
  char why[256];
  if (spindle_connect(NULL, patience, &connection, why, sizeof why) != SPINDLE_OK) return fail("cannot connect", why);

  const spindle_bytes group = spindle_text(arguments[1]);
  spindle_code code = spindle_join(connection, group, 0, patience);
  if (code == SPINDLE_OK) {
    code = spindle_multicast(connection, SPINDLE_AGREED, &group, 1, spindle_text(arguments[2]), NULL, patience);
  }
  for (int done = code != SPINDLE_OK; !done;) {
    spindle_event* events[16];
    const size_t got = spindle_next(connection, events, 16, SPINDLE_FOREVER);
    for (size_t i = 0; i < got; ++i) {
      done = print_event(events[i]) || done;
      spindle_event_free(events[i]);
    }
  }
  uint64_t not_taken = 0;
  if (spindle_drain(connection, patience, &not_taken, NULL) == SPINDLE_OK && not_taken != 0) {
    fprintf(stderr, "news: %" PRIu64 " messages were not taken\n", not_taken);
  }
  spindle_close(connection);
  return code == SPINDLE_OK ? 0 : fail("failed", spindle_error_text(code));
}
