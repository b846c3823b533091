/* A room to talk in: everybody sees the same lines in the same order, and who comes and goes. */
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

static const char kHelp[] =
    "chat [--connect ADDRESS] [--name NAME] ROOM\n"
    "\n"
    "Sends the lines of standard input to all who are in ROOM, and shows what they say.\n"
    "\n"
    "  /to NAME TEXT   says TEXT to one of them alone; NAME is as others are shown, such as #ann#alpha\n"
    "  /who            shows who is in the room\n"
    "\n"
    "The end of the input leaves the room, when everything that was said is on its way.\n";

static spindle_connection* connection;
static spindle_bytes room;

static void show_names(const spindle_event* view, unsigned list, const char* what) {
  size_t i;
  for (i = 0; i < spindle_view_name_count(view, list); ++i) {
    const spindle_bytes name = spindle_view_name_at(view, list, i);
    printf("* %.*s%s\n", (int)name.size, (const char*)name.data, what);
  }
}

static void show_view(const spindle_event* view) {
  if (spindle_view_form(view) == SPINDLE_FORM_ANSWER) {
    show_names(view, SPINDLE_VIEW_MEMBERS, " is here");
    return;
  }
  show_names(view, SPINDLE_VIEW_JOINED, " has come");
  show_names(view, SPINDLE_VIEW_LEFT,
             spindle_view_cause(view) == SPINDLE_CAUSE_NETWORK ? " is out of reach" : " has gone");
}

static void show_message(const spindle_event* message) {
  const spindle_bytes sender = spindle_message_sender(message);
  const spindle_bytes text = spindle_message_payload(message);
  printf("%.*s%s%.*s\n", (int)sender.size, (const char*)sender.data,
         equal(spindle_event_group(message), room) ? ": " : " to you alone: ", (int)text.size, (const char*)text.data);
}

/* After a moment without the daemon nothing is missing. Otherwise what was said meanwhile is, and perhaps some of what
   this one has said at last. */
static void show_return(const spindle_event* again) {
  const spindle_bytes name = spindle_reconnected_private_name(again);
  const unsigned long unknown = (unsigned long)spindle_reconnected_unknown_count(again);
  if (spindle_reconnected_is_resumed(again)) return;
  printf("* connected again, as %.*s\n", (int)name.size, (const char*)name.data);
  if (unknown != 0) printf("* perhaps nobody has got your last %lu lines\n", unknown);
}

static void show(const spindle_event* event) {
  const spindle_bytes end = spindle_disconnected_text(event);
  switch (spindle_event_kind(event)) {
    case SPINDLE_EVENT_MESSAGE:
      show_message(event);
      break;
    case SPINDLE_EVENT_GROUP_VIEW:
      show_view(event);
      break;
    case SPINDLE_EVENT_REQUEST_FAILED:
      printf("* refused: %s\n", spindle_error_text(spindle_event_code(event)));
      break;
    case SPINDLE_EVENT_RECONNECTED:
      show_return(event);
      break;
    case SPINDLE_EVENT_DISCONNECTED:
      printf("* the connection has ended: %.*s\n", (int)end.size, (const char*)end.data);
      break;
    default:
      break; /* later versions have more kinds */
  }
}

/* All events that there are. */
static void show_events(void) {
  spindle_event* event;
  while ((event = next_event(connection, 0)) != NULL) {
    show(event);
    spindle_event_free(event);
  }
}

static spindle_code send(spindle_bytes to, const char* text) {
  return spindle_multicast(connection, SPINDLE_AGREED, &to, 1, spindle_text(text), NULL, SPINDLE_NO_TIMEOUT);
}

static spindle_code say(char* line) {
  char* rest = line + 4;
  char* space;
  if (strcmp(line, "/who") == 0) return spindle_request_view(connection, room);
  if (strncmp(line, "/to ", 4) != 0) return send(room, line);
  space = strchr(rest, ' ');
  if (space == NULL) return SPINDLE_ERROR_BAD_ARGUMENT;
  *space = '\0';
  return send(spindle_text(rest), space + 1);
}

static void say_lines(line_reader* input) {
  char* line;
  while ((line = take_line(input)) != NULL) {
    const spindle_code code = say(line);
    if (code != 0) printf("* not sent: %s\n", spindle_error_text(code));
    free(line);
  }
}

/* Until the input or the connection ends. */
static void talk(void) {
  line_reader input = {NULL, 0, 0, 0};
  while (!input.has_ended && spindle_is_open(connection)) {
    if (wait_for_input(&input, connection)) {
      read_input(&input);
      say_lines(&input);
    }
    show_events();
  }
  free(input.text);
}

int main(int argc, char** argv) {
  option options[] = {{"connect", ""}, {"name", ""}};
  size_t word_count;
  uint64_t lost = 0;
  char** words = read_command_line(argc, argv, kHelp, options, 2, &word_count);
  room = spindle_text(words[0]);
  connection = connect_or_fail("chat", NULL, options[0].value, options[1].value);
  check("chat", spindle_join(connection, room, 0, 5 * SECOND));
  talk();
  spindle_drain(connection, 10 * SECOND, &lost, NULL);
  show_events();
  spindle_close(connection);
  if (lost != 0) fprintf(stderr, "chat: the last %lu messages were not taken\n", (unsigned long)lost);
  return lost == 0 ? 0 : 1;
}
