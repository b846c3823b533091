/* Files for all who are in a group: one gives them, and everybody else takes them into a directory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common.h"

static const char kHelp[] =
    "share [--connect ADDRESS] [--name NAME] give GROUP PATH\n"
    "share [--connect ADDRESS] [--name NAME] [--count COUNT] take GROUP DIRECTORY\n"
    "\n"
    "give   sends the file or directory PATH to all who are in GROUP, and ends when each of them has it, has failed "
    "or\n"
    "       has refused it\n"
    "take   receives into DIRECTORY what is given to GROUP. What is there already is not replaced\n"
    "\n"
    "  --count COUNT   ends after so many; otherwise it goes on\n";

static spindle_connection* connection;
static spindle_bulk* bulk;

static int is_of(const spindle_event* event, const spindle_channel* channel) {
  return spindle_channel_equal(spindle_bulk_channel(event), channel);
}

static void show_progress(const spindle_event* event) {
  if (spindle_bulk_size(event) > 0) {
    printf("%" PRIu64 " of %" PRId64 " bytes\n", spindle_bulk_progress_bytes(event), spindle_bulk_size(event));
  }
}

static spindle_bulk_source* source_of(const char* path) {
  struct stat status;
  const int is_directory = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
  return is_directory ? spindle_bulk_source_directory(path) : spindle_bulk_source_file(path);
}

static spindle_channel* offer(spindle_bytes group, const char* path) {
  char reason[300];
  spindle_channel* channel;
  spindle_bulk_source* source = source_of(path);
  if (spindle_bulk_offer(bulk, group, source, NULL, 30 * SECOND, &channel, reason, sizeof reason) != 0) {
    fail("share", reason);
  }
  spindle_bulk_source_free(source);
  return channel;
}

static void show_names(const spindle_event* complete, unsigned list, const char* what) {
  size_t i;
  for (i = 0; i < spindle_bulk_complete_name_count(complete, list); ++i) {
    const spindle_bytes name = spindle_bulk_complete_name_at(complete, list, i);
    printf("%.*s %s", (int)name.size, (const char*)name.data, what);
    if (list == SPINDLE_BULK_FAILED) {
      printf(": %s", spindle_error_text(spindle_bulk_complete_code_at(complete, i)));
    }
    printf("\n");
  }
}

static void show_complete(const spindle_event* event) {
  show_names(event, SPINDLE_BULK_DONE, "has it");
  show_names(event, SPINDLE_BULK_FAILED, "could not take it");
  show_names(event, SPINDLE_BULK_REFUSED, "did not want it");
}

/* The source has to stay until all have it. */
static void give(spindle_bytes group, const char* path) {
  spindle_channel* channel = offer(group, path);
  spindle_event* event;
  int is_over = 0;
  while (!is_over && (event = next_event(connection, SPINDLE_NO_TIMEOUT)) != NULL) {
    const unsigned kind = spindle_event_kind(event);
    if (kind == SPINDLE_EVENT_DISCONNECTED) fail("share", spindle_error_text(spindle_event_code(event)));
    if (is_of(event, channel)) {
      if (kind == SPINDLE_EVENT_BULK_PROGRESS) show_progress(event);
      if (kind == SPINDLE_EVENT_BULK_COMPLETE) show_complete(event);
      if (kind == SPINDLE_EVENT_BULK_ENDED) fail("share", spindle_error_text(spindle_event_code(event)));
      is_over = kind == SPINDLE_EVENT_BULK_COMPLETE;
    }
    spindle_event_free(event);
  }
  spindle_channel_free(channel);
}

/* Somebody waits for each answer: what cannot be accepted is refused. */
static void answer(const spindle_event* offered, const spindle_bulk_sink* sink) {
  const spindle_channel* channel = spindle_bulk_channel(offered);
  const spindle_bytes name = spindle_bulk_offered_name(offered);
  const spindle_bytes source = spindle_bulk_offered_source(offered);
  const spindle_code code = spindle_bulk_accept(bulk, channel, sink, 0);
  if (code == 0) {
    printf("%.*s gives %.*s\n", (int)source.size, (const char*)source.data, (int)name.size, (const char*)name.data);
  } else {
    printf("not taken: %s\n", spindle_error_text(code));
    spindle_bulk_refuse(bulk, channel);
  }
}

static void show_received(const spindle_event* event) {
  const spindle_bytes path = spindle_bulk_received_path(event);
  const spindle_bytes text = spindle_bulk_text(event);
  if (spindle_event_code(event) == 0) {
    printf("received %.*s\n", (int)path.size, (const char*)path.data);
  } else {
    printf("not received: %.*s\n", (int)text.size, (const char*)text.data);
  }
}

static void take(spindle_bytes group, const char* directory, unsigned long count) {
  spindle_bulk_sink* sink = spindle_bulk_sink_directory(directory);
  spindle_event* event;
  unsigned long received = 0;
  check("share", spindle_join(connection, group, 0, 5 * SECOND));
  printf("ready\n");
  while ((count == 0 || received < count) && (event = next_event(connection, SPINDLE_NO_TIMEOUT)) != NULL) {
    switch (spindle_event_kind(event)) {
      case SPINDLE_EVENT_BULK_OFFERED:
        answer(event, sink);
        break;
      case SPINDLE_EVENT_BULK_PROGRESS:
        show_progress(event);
        break;
      case SPINDLE_EVENT_BULK_RECEIVED:
        show_received(event);
        ++received;
        break;
      case SPINDLE_EVENT_DISCONNECTED:
        fail("share", spindle_error_text(spindle_event_code(event)));
        break;
      default:
        break; /* views, and later versions have more kinds */
    }
    spindle_event_free(event);
  }
  spindle_bulk_sink_free(sink);
}

int main(int argc, char** argv) {
  option options[] = {{"connect", ""}, {"name", ""}, {"count", "0"}};
  spindle_options* how = spindle_options_new();
  size_t word_count;
  char** words = read_command_line(argc, argv, kHelp, options, 3, &word_count);
  const int gives = strcmp(words[0], "give") == 0;
  if (word_count != 3 || (!gives && strcmp(words[0], "take") != 0)) {
    fputs(kHelp, stderr);
    return 2;
  }
  check("share", spindle_options_set_bulk(how, 1));
  connection = connect_or_fail("share", how, options[0].value, options[1].value);
  spindle_options_free(how);
  check("share", spindle_bulk_open(connection, NULL, &bulk));
  if (gives) {
    give(spindle_text(words[1]), words[2]);
  } else {
    take(spindle_text(words[1]), words[2], strtoul(options[2].value, NULL, 10));
  }
  spindle_bulk_close(bulk);
  spindle_close(connection);
  return 0;
}
