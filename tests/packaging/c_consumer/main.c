/* Says hello to itself. */
#include <spindle/spindle.h>
#include <stdio.h>

int main(void) {
  char reason[200];
  spindle_connection* connection;
  spindle_event* event = NULL;
  size_t count;
  spindle_bytes me, payload;
  if (spindle_connect(NULL, &connection, reason, sizeof reason) != 0) {
    fprintf(stderr, "consumer: %s\n", reason);
    return 1;
  }
  me = spindle_private_name(connection);
  if (spindle_multicast(connection, SPINDLE_AGREED, &me, 1, spindle_text("hello"), NULL, SPINDLE_NO_TIMEOUT) != 0 ||
      spindle_next(connection, &event, 1, &count, SPINDLE_NO_TIMEOUT) != 0) {
    return 2;
  }
  payload = spindle_message_payload(event);
  printf("%.*s\n", (int)payload.size, (const char*)payload.data);
  spindle_event_free(event);
  spindle_close(connection);
  return 0;
}
