/* A map of which several programs have the same copy, as long as a majority of them is together.

   Updates are agreed messages, so all replicas apply the same ones in the same order. After a transitional signal they
   are tentative, until the view that follows says whether a majority has them. Where members meet that were not
   together, one of each side sends its state, and all go on with the newest. Replicas keep nothing on a disk: one that
   is started again begins with an empty map and gets the others'. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

static const char kHelp[] =
    "replicated_map [--connect ADDRESS] [--name NAME] [--replicas N] GROUP\n"
    "\n"
    "One of N replicas (3) of a map. Commands are the lines of standard input:\n"
    "\n"
    "  set KEY VALUE   changes the map at all replicas; KEY is one word\n"
    "  remove KEY\n"
    "  list            shows this replica's map\n"
    "\n"
    "Changes wait until a majority of the replicas is together.\n";

enum {
  kUpdate = 0, /* "set KEY VALUE" or "remove KEY" */
  kState = 1   /* see send_state() */
};

typedef struct entry {
  struct entry* next;
  char* key;
  char* value;
} entry;

typedef struct state {
  uint64_t version; /* how many updates were applied */
  entry* entries;   /* by key */
} state;

static spindle_connection* connection;
static spindle_bytes group;
static spindle_bytes me;
static size_t replicas;

static state current;
static state before_signal; /* what holds if the view that follows has no majority */
static int has_signal;
static size_t members;
static size_t awaited;    /* members whose state has not come yet */
static char exchange[48]; /* the view that states are exchanged for */
static state newest;      /* of those that have come */
static char* update;      /* that is not done yet */
static int is_under_way;
static int has_ended;

static void remove_key(state* of, const char* key) {
  entry** at = &of->entries;
  while (*at != NULL && strcmp((*at)->key, key) != 0) at = &(*at)->next;
  if (*at != NULL) {
    entry* removed = *at;
    *at = removed->next;
    free(removed->key);
    free(removed->value);
    free(removed);
  }
}

static void set_key(state* of, const char* key, const char* value) {
  entry** at = &of->entries;
  entry* added = allocate(sizeof *added);
  remove_key(of, key);
  while (*at != NULL && strcmp((*at)->key, key) < 0) at = &(*at)->next;
  added->next = *at;
  added->key = copy_of(spindle_text(key));
  added->value = copy_of(spindle_text(value));
  *at = added;
}

static void clear(state* of) {
  while (of->entries != NULL) remove_key(of, of->entries->key);
  of->version = 0;
}

static void assign(state* to, const state* from) {
  const entry* each;
  clear(to);
  to->version = from->version;
  for (each = from->entries; each != NULL; each = each->next) set_key(to, each->key, each->value);
}

static void apply(state* to, const char* text) {
  char* words = copy_of(spindle_text(text));
  char* rest = words;
  const char* verb = take_word(&rest);
  const char* key = take_word(&rest);
  if (verb != NULL && key != NULL && strcmp(verb, "set") == 0) set_key(to, key, rest);
  if (verb != NULL && key != NULL && strcmp(verb, "remove") == 0) remove_key(to, key);
  ++to->version;
  free(words);
}

static int has_majority(void) { return members > replicas / 2; }

/* The same at all who get a message at its place in the order, so that all apply it or all pass over it. */
static int is_serving(void) { return has_majority() && awaited == 0; }

/* Fails only where the connection ends, which an event tells. */
static void multicast(uint16_t type, const char* text) {
  spindle_send_options* how = spindle_send_options_new();
  (void)spindle_send_options_set_type(how, type);
  (void)spindle_multicast(connection, SPINDLE_AGREED, &group, 1, spindle_text(text), how, SPINDLE_NO_TIMEOUT);
  spindle_send_options_free(how);
}

static void send_update(void) {
  if (update == NULL || is_under_way || !is_serving()) return;
  multicast(kUpdate, update);
  is_under_way = 1;
}

static void handle_update(const spindle_event* message) {
  const int is_mine = equal(spindle_message_sender(message), me);
  char* text;
  if (is_mine) is_under_way = 0; /* and it is sent again where it was passed over */
  if (!is_serving()) return;
  text = copy_of(spindle_message_payload(message));
  apply(&current, text);
  printf("%s%s\n", text, has_signal ? " (tentative)" : "");
  free(text);
  if (!is_mine) return;
  free(update);
  update = NULL;
}

/* "EXCHANGE MEMBERS VERSION", where MEMBERS is how many have this state; then a line "KEY VALUE" for each key. */
static void send_state(size_t side) {
  char* text = NULL;
  size_t size = 0;
  const entry* each;
  FILE* lines = open_memstream(&text, &size);
  if (lines == NULL) abort();
  fprintf(lines, "%s %lu %" PRIu64 "\n", exchange, (unsigned long)side, current.version);
  for (each = current.entries; each != NULL; each = each->next) fprintf(lines, "%s %s\n", each->key, each->value);
  fclose(lines);
  multicast(kState, text);
  free(text);
}

static int is_on(const spindle_event* view, unsigned list, spindle_bytes name) {
  size_t i;
  for (i = 0; i < spindle_view_name_count(view, list); ++i) {
    if (equal(spindle_view_name_at(view, list, i), name)) return 1;
  }
  return 0;
}

/* How many have the same state as this replica, and whether it is the first of these. */
static size_t side_of(const spindle_event* view, int* is_first) {
  size_t count = 0;
  size_t i;
  if (spindle_view_cause(view) == SPINDLE_CAUSE_NETWORK) {
    *is_first = equal(spindle_view_name_at(view, SPINDLE_VIEW_VS_SET, 0), me);
    return spindle_view_name_count(view, SPINDLE_VIEW_VS_SET);
  }
  *is_first = 1;
  if (is_on(view, SPINDLE_VIEW_JOINED, me)) return 1;
  for (i = 0; i < spindle_view_name_count(view, SPINDLE_VIEW_MEMBERS); ++i) {
    const spindle_bytes name = spindle_view_name_at(view, SPINDLE_VIEW_MEMBERS, i);
    if (is_on(view, SPINDLE_VIEW_JOINED, name)) continue;
    if (count++ == 0) *is_first = equal(name, me);
  }
  return count;
}

/* Where members meet that were not together, or while states are on their way already: then each sends its own. */
static void exchange_states(const spindle_event* view) {
  int is_first = 0;
  size_t side = side_of(view, &is_first);
  if (side == members && awaited == 0) return;
  if (awaited != 0) {
    side = 1;
    is_first = 1;
  }
  awaited = members;
  snprintf(exchange, sizeof exchange, "%" PRIu64 ".%" PRIu64, spindle_view_id_number(view),
           spindle_view_id_position(view));
  assign(&newest, &current);
  if (is_first) send_state(side);
}

static void go_on(void) {
  printf("%s with %lu of %lu, version %" PRIu64 "\n", has_majority() ? "serving" : "waiting", (unsigned long)members,
         (unsigned long)replicas, current.version);
  send_update();
}

static void handle_view(const spindle_event* view) {
  if (spindle_view_form(view) != SPINDLE_FORM_FULL) return;
  members = spindle_view_member_count(view);
  if (has_signal && spindle_view_cause(view) == SPINDLE_CAUSE_NETWORK) {
    if (!has_majority()) assign(&current, &before_signal);
    has_signal = 0;
  }
  exchange_states(view);
  if (awaited == 0) go_on();
}

static void handle_signal(void) {
  if (!has_signal) assign(&before_signal, &current); /* who is separated from here may not get what follows */
  has_signal = 1;
}

static void read_entries(state* to, char* lines) {
  char* line;
  while (lines != NULL && *lines != '\0') {
    const char* key;
    line = lines;
    lines = strchr(lines, '\n');
    if (lines != NULL) *lines++ = '\0';
    key = take_word(&line);
    if (key != NULL) set_key(to, key, line);
  }
}

static void handle_state(const spindle_event* message) {
  char* text = copy_of(spindle_message_payload(message));
  char* rest = text;
  const char* of = take_word(&rest);
  const char* count = take_word(&rest);
  const char* version = take_word(&rest);
  if (version != NULL && awaited != 0 && strcmp(of, exchange) == 0) {
    const uint64_t number = strtoull(version, NULL, 10);
    const size_t side = strtoul(count, NULL, 10);
    if (number > newest.version) {
      clear(&newest);
      newest.version = number;
      read_entries(&newest, rest);
    }
    awaited -= side < awaited ? side : awaited;
    if (awaited == 0) {
      assign(&current, &newest);
      go_on();
    }
  }
  free(text);
}

static void handle(const spindle_event* event) {
  const spindle_bytes reason = spindle_disconnected_text(event);
  switch (spindle_event_kind(event)) {
    case SPINDLE_EVENT_MESSAGE:
      spindle_message_type(event) == kState ? handle_state(event) : handle_update(event);
      break;
    case SPINDLE_EVENT_GROUP_VIEW:
      handle_view(event);
      break;
    case SPINDLE_EVENT_TRANSITIONAL:
      handle_signal();
      break;
    case SPINDLE_EVENT_DISCONNECTED:
      printf("the connection has ended: %.*s\n", (int)reason.size, (const char*)reason.data);
      has_ended = 1;
      break;
    default:
      break; /* later versions have more kinds */
  }
  send_update();
}

static void list(void) {
  const entry* each;
  for (each = current.entries; each != NULL; each = each->next) printf("%s = %s\n", each->key, each->value);
}

/* Takes commands up to one that is not done at once. */
static void obey(line_reader* input) {
  char* line;
  while (update == NULL && (line = take_line(input)) != NULL) {
    if (strncmp(line, "set ", 4) == 0 || strncmp(line, "remove ", 7) == 0) {
      update = line;
      send_update();
      return;
    }
    if (strcmp(line, "list") == 0) {
      list();
    } else {
      puts("commands are set KEY VALUE, remove KEY, list");
    }
    free(line);
  }
}

/* Until the input has ended, and all is done that was asked for, or the connection has. */
static void serve(void) {
  line_reader input = {NULL, 0, 0, 0};
  while (!has_ended && (update != NULL || !input.has_ended)) {
    spindle_event* event;
    if (wait_for_input(update == NULL ? &input : NULL, connection)) read_input(&input);
    while ((event = next_event(connection, 0)) != NULL) {
      handle(event);
      spindle_event_free(event);
    }
    obey(&input);
  }
  free(input.text);
}

int main(int argc, char** argv) {
  option options[] = {{"connect", ""}, {"name", ""}, {"replicas", "3"}};
  spindle_options* how;
  size_t word_count;
  char** words = read_command_line(argc, argv, kHelp, options, 3, &word_count);
  /* What it sent last may have been applied or not when the connection is lost. So it ends, and begins with the state
     of the others when it is started again. */
  how = spindle_options_new();
  check("replicated_map", spindle_options_set_reconnect_timeout(how, 0));
  connection = connect_or_fail("replicated_map", how, options[0].value, options[1].value);
  spindle_options_free(how);
  group = spindle_text(words[0]);
  me = spindle_private_name(connection);
  replicas = strtoul(options[2].value, NULL, 10);
  check("replicated_map", spindle_join(connection, group, 0, 5 * SECOND));
  serve();
  spindle_close(connection);
  clear(&current);
  clear(&before_signal);
  clear(&newest);
  free(update);
  return has_ended ? 1 : 0;
}
