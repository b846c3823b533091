/* loop_c ADDRESS BYTES MESSAGES: sends so many messages to itself and receives them, with as many under way as loop.cpp
   has, and prints the seconds that it took. */
#include <spindle/spindle.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kUnderWay = 256, kBatch = 64 };

static spindle_connection* connection;
static spindle_bytes to;

static void check(spindle_code code) {
  if (code == 0) return;
  fprintf(stderr, "loop_c: %s\n", spindle_error_text(code));
  exit(1);
}

static spindle_connection* connect_to(const char* address) {
  spindle_options* options = spindle_options_new();
  spindle_connection* made;
  check(spindle_options_set_address(options, address));
  check(spindle_options_set_reconnect_timeout(options, 0));
  check(spindle_connect(options, &made, NULL, 0));
  spindle_options_free(options);
  return made;
}

/* The bytes of the messages that have come. */
static size_t receive(size_t* messages) {
  spindle_event* events[kBatch];
  size_t bytes = 0;
  size_t count;
  size_t i;
  check(spindle_next(connection, events, kBatch, &count, SPINDLE_NO_TIMEOUT));
  for (i = 0; i < count; ++i) {
    if (spindle_event_kind(events[i]) == SPINDLE_EVENT_MESSAGE) {
      bytes += spindle_message_payload(events[i]).size;
      ++*messages;
    }
    spindle_event_free(events[i]);
  }
  return bytes;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  size_t bytes, messages, sent = 0, received = 0, received_bytes = 0;
  spindle_bytes payload;
  double begin;
  if (argc != 4) return 2;
  bytes = strtoul(argv[2], NULL, 10);
  messages = strtoul(argv[3], NULL, 10);
  payload.data = calloc(1, bytes);
  payload.size = bytes;
  connection = connect_to(argv[1]);
  to = spindle_private_name(connection);
  begin = now();
  while (received < messages) {
    for (; sent < messages && sent - received < kUnderWay; ++sent) {
      check(spindle_multicast(connection, SPINDLE_FIFO, &to, 1, payload, NULL, SPINDLE_NO_TIMEOUT));
    }
    received_bytes += receive(&received);
  }
  printf("%.6f\n", now() - begin);
  spindle_close(connection);
  return received_bytes == messages * bytes ? 0 : 1;
}
