/* Readings of sensors, each to a group of its own. With independent flows each has a line of its own: where the
   receivers of one are slow, the others are not held up. A reading that may not enter is replaced by the next one of
   its sensor. Who watches has asked to lose messages rather than slow down who measures, and is told how many it has
   lost. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common.h"

static const char kHelp[] =
    "sensor_stream [OPTION VALUE]... publish SENSOR...\n"
    "sensor_stream [OPTION VALUE]... watch SENSOR...\n"
    "\n"
    "The first publishes readings of each SENSOR. The second shows those that come, and when their publisher has ended "
    "how\n"
    "many have come and how many were lost.\n"
    "\n"
    "  --connect ADDRESS  of the daemon\n"
    "  --name NAME        of this client\n"
    "  --count N          readings of each sensor (100)\n"
    "  --pause-ms M       between two readings (0); with watch, the time that it takes over each (0)\n"
    "  --bytes B          of a reading (64)\n"
    "  --show N           every Nth reading only (1)\n";

enum {
  kReading = 0, /* "NUMBER VALUE", filled up with spaces */
  kEnd = 1      /* "SENT", how many readings there were */
};

typedef struct sensor {
  spindle_bytes name;
  char* waiting; /* the newest reading, where it could not enter */
  int has_waiting;
  int has_ended;
  uint64_t sent;
  uint64_t replaced;
  uint64_t received;
  uint64_t lost;
} sensor;

static spindle_connection* connection;
static sensor* sensors;
static size_t sensor_count;

static sensor* find(spindle_bytes name) {
  size_t i;
  for (i = 0; i < sensor_count; ++i) {
    if (equal(sensors[i].name, name) && !sensors[i].has_ended) return &sensors[i];
  }
  return NULL;
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

static void end(const spindle_event* event) {
  char* reason = copy_of(spindle_disconnected_text(event));
  fail("sensor_stream", reason);
}

static void offer(sensor* of, size_t bytes) {
  const spindle_bytes reading = {of->waiting, bytes};
  const spindle_code code = spindle_multicast(connection, SPINDLE_FIFO, &of->name, 1, reading, NULL, 0);
  if (code == SPINDLE_ERROR_WOULD_BLOCK) return; /* and FLOW_READY comes */
  check("sensor_stream", code);
  of->has_waiting = 0;
  ++of->sent;
}

/* A reading of each sensor. */
static void measure(int number, size_t bytes) {
  size_t i;
  for (i = 0; i < sensor_count; ++i) {
    sensor* of = &sensors[i];
    if (of->has_waiting) ++of->replaced;
    memset(of->waiting, ' ', bytes);
    of->waiting[snprintf(of->waiting, bytes + 1, "%d %d", number, 20 + number % 7)] = ' ';
    of->has_waiting = 1;
    offer(of, bytes);
  }
}

/* One event, waiting for it no longer than that. */
static int handle_news(int64_t timeout_ns, size_t bytes) {
  spindle_event* event = next_event(connection, timeout_ns);
  if (event == NULL) return 0;
  if (spindle_event_kind(event) == SPINDLE_EVENT_FLOW_READY) {
    sensor* of = find(spindle_event_group(event));
    if (of != NULL && of->has_waiting) offer(of, bytes);
  } else if (spindle_event_kind(event) == SPINDLE_EVENT_DISCONNECTED) {
    end(event);
  }
  spindle_event_free(event);
  return 1;
}

static void tell_ends(size_t bytes) {
  spindle_send_options* as_end = spindle_send_options_new();
  size_t i;
  check("sensor_stream", spindle_send_options_set_type(as_end, kEnd));
  for (i = 0; i < sensor_count; ++i) {
    while (sensors[i].has_waiting) handle_news(SPINDLE_NO_TIMEOUT, bytes);
  }
  /* The oldest messages are lost where some are, so these are not. */
  for (i = 0; i < sensor_count; ++i) {
    const sensor* of = &sensors[i];
    char sent[24];
    snprintf(sent, sizeof sent, "%" PRIu64, of->sent);
    check("sensor_stream",
          spindle_multicast(connection, SPINDLE_FIFO, &of->name, 1, spindle_text(sent), as_end, SPINDLE_NO_TIMEOUT));
    printf("%.*s: %s sent, %" PRIu64 " replaced by newer ones\n", (int)of->name.size, (const char*)of->name.data, sent,
           of->replaced);
  }
  spindle_send_options_free(as_end);
}

static int publish(int count, int64_t pause_ns, size_t bytes) {
  int64_t next = now();
  int number;
  for (number = 1; number <= count; ++number) {
    int64_t left;
    measure(number, bytes);
    next += pause_ns;
    do {
      left = next - now();
    } while (handle_news(left > 0 ? left : 0, bytes));
  }
  tell_ends(bytes);
  return spindle_drain(connection, 10 * SECOND, NULL, NULL) == 0 ? 0 : 1;
}

static void show_reading(const spindle_event* message, int64_t pause_ns, uint64_t show) {
  const spindle_bytes text = spindle_message_payload(message);
  const char* data = text.data;
  size_t size = text.size;
  const struct timespec pause = {(time_t)(pause_ns / SECOND), (long)(pause_ns % SECOND)};
  sensor* of = find(spindle_event_group(message));
  if (of == NULL) return;
  while (size > 0 && data[size - 1] == ' ') --size;
  if (of->received++ % show == 0) {
    printf("%.*s: %.*s\n", (int)of->name.size, (const char*)of->name.data, (int)size, data);
  }
  nanosleep(&pause, NULL);
}

static size_t finish(const spindle_event* message) {
  const spindle_bytes sent = spindle_message_payload(message);
  sensor* of = find(spindle_event_group(message));
  if (of == NULL) return 0;
  of->has_ended = 1;
  printf("%.*s has ended: %.*s sent, %" PRIu64 " received, %" PRIu64 " lost\n", (int)of->name.size,
         (const char*)of->name.data, (int)sent.size, (const char*)sent.data, of->received, of->lost);
  return 1;
}

static void count_lost(const spindle_event* gap) {
  size_t i;
  for (i = 0; i < spindle_gap_name_count(gap); ++i) {
    sensor* of = find(spindle_gap_name_at(gap, i));
    if (of != NULL) of->lost += spindle_gap_messages_at(gap, i);
  }
  printf("%" PRIu64 " readings are lost\n", spindle_gap_messages(gap));
}

/* Until all sensors have ended. */
static void watch(int64_t pause_ns, uint64_t show) {
  size_t going = sensor_count;
  size_t i;
  for (i = 0; i < sensor_count; ++i) {
    check("sensor_stream", spindle_join(connection, sensors[i].name, 0, 5 * SECOND));
  }
  while (going > 0) {
    spindle_event* event = next_event(connection, SPINDLE_NO_TIMEOUT);
    const unsigned kind = spindle_event_kind(event);
    if (kind == SPINDLE_EVENT_MESSAGE && spindle_message_type(event) == kEnd) {
      going -= finish(event);
    } else if (kind == SPINDLE_EVENT_MESSAGE) {
      show_reading(event, pause_ns, show);
    } else if (kind == SPINDLE_EVENT_GAP) {
      count_lost(event);
    } else if (kind == SPINDLE_EVENT_RECONNECTED && !spindle_reconnected_is_resumed(event)) {
      printf("connected again: readings of meanwhile are lost\n");
    } else if (kind == SPINDLE_EVENT_DISCONNECTED) {
      end(event);
    }
    spindle_event_free(event);
  }
}

static void make_sensors(char** names, size_t count, size_t bytes) {
  size_t i;
  sensors = allocate((count + 1) * sizeof *sensors);
  sensor_count = count;
  for (i = 0; i < count; ++i) {
    sensors[i].name = spindle_text(names[i]);
    sensors[i].waiting = allocate(bytes + 1);
  }
}

static void free_sensors(void) {
  size_t i;
  for (i = 0; i < sensor_count; ++i) free(sensors[i].waiting);
  free(sensors);
}

int main(int argc, char** argv) {
  enum { kConnect, kName, kCount, kPause, kBytes, kShow };
  option options[] = {{"connect", ""},   {"name", ""},    {"count", "100"},
                      {"pause-ms", "0"}, {"bytes", "64"}, {"show", "1"}};
  size_t word_count;
  char** words = read_command_line(argc, argv, kHelp, options, 6, &word_count);
  const int watches = strcmp(words[0], "watch") == 0;
  const int64_t pause_ns = atoi(options[kPause].value) * (SECOND / 1000);
  const size_t asked_bytes = strtoul(options[kBytes].value, NULL, 10);
  const size_t bytes = asked_bytes < 24 ? 24 : asked_bytes; /* a number and a value fit */
  const uint64_t show = strtoull(options[kShow].value, NULL, 10);
  spindle_options* how = spindle_options_new();
  int status = 0;
  if (watches) {
    check("sensor_stream", spindle_options_set_slow_policy(how, SPINDLE_SLOW_DROP));
    /* What is shown is not much older than what is sent. */
    check("sensor_stream", spindle_options_set_receive_buffer(how, 64 << 10));
  }
  check("sensor_stream", spindle_options_set_independent_flows(how, !watches));
  connection = connect_or_fail("sensor_stream", how, options[kConnect].value, options[kName].value);
  spindle_options_free(how);
  make_sensors(words + 1, word_count - 1, bytes);
  if (watches) {
    watch(pause_ns, show == 0 ? 1 : show);
  } else {
    status = publish(atoi(options[kCount].value), pause_ns, bytes);
  }
  free_sensors();
  spindle_close(connection);
  return status;
}
