/* Jobs that a group of workers shares out without anybody in charge, and that are taken over when a worker leaves.

   A job is an agreed message to the group, so all workers know the same jobs in the same order, and by one rule find
   the same worker for each. An answer goes to who has asked, by its private name, and with the same message to the
   group, which forgets the job then. Where the network splits each side does all jobs that it knows of: who asks takes
   the first answer. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common.h"

static const char kHelp[] =
    "work_queue [--connect ADDRESS] [--name NAME] [--seconds S] work GROUP\n"
    "work_queue [--connect ADDRESS] [--name NAME] ask GROUP NUMBER...\n"
    "\n"
    "The first is a worker of GROUP, which splits numbers into their prime factors, each in S seconds (0) more than "
    "that\n"
    "takes, until it is ended. The second asks the workers for those of each NUMBER, and ends when all have come.\n";

enum {
  kJob = 0,   /* "ID NUMBER", to the group; the ID is the asker's */
  kAnswer = 1 /* "ASKER ID NUMBER = FACTOR * FACTOR ...", to the asker and to the group */
};

/* A list of names that keeps its order. */
typedef struct names {
  char** at;
  size_t count;
} names;

typedef struct job {
  struct job* next;
  char* asker;
  char* id;
  uint64_t number;
  names candidates;   /* the members that know it, in an order that is the same at all of them */
  const char* worker; /* who of these does it; null: nobody */
  int is_done;        /* by this worker, whose answer is on its way */
} job;

static spindle_connection* connection;
static spindle_bytes group;
static char* me;
static names members;
static job* jobs; /* that nobody has answered, as far as has been told, in their order */
static spindle_send_options* as_answer;

static int has(const names* list, const char* name) {
  size_t i;
  for (i = 0; i < list->count; ++i) {
    if (strcmp(list->at[i], name) == 0) return 1;
  }
  return 0;
}

static void clear(names* list) {
  size_t i;
  for (i = 0; i < list->count; ++i) free(list->at[i]);
  free(list->at);
  list->at = NULL;
  list->count = 0;
}

static names copy_names(const names* list) {
  names copy = {allocate((list->count + 1) * sizeof *copy.at), list->count};
  size_t i;
  for (i = 0; i < list->count; ++i) copy.at[i] = copy_of(spindle_text(list->at[i]));
  return copy;
}

/* Takes those out who are not members any more. */
static void keep_members(names* list) {
  size_t kept = 0;
  size_t i;
  for (i = 0; i < list->count; ++i) {
    if (has(&members, list->at[i])) {
      list->at[kept++] = list->at[i];
    } else {
      free(list->at[i]);
    }
  }
  list->count = kept;
}

/* By the number alone: who knows the job and its candidates finds the same worker, whatever else it has seen. */
static void assign(job* one) {
  const names* candidates = &one->candidates;
  one->worker = candidates->count == 0 ? NULL : candidates->at[one->number % candidates->count];
}

static void take_job(const spindle_event* message) {
  job* one = allocate(sizeof *one);
  job** last = &jobs;
  char* text = copy_of(spindle_message_payload(message));
  char* rest = text;
  const char* id = take_word(&rest);
  const char* number = take_word(&rest);
  one->asker = copy_of(spindle_message_sender(message));
  one->id = copy_of(spindle_text(id));
  one->number = number == NULL ? 0 : strtoull(number, NULL, 10);
  one->candidates = copy_names(&members);
  assign(one);
  while (*last != NULL) last = &(*last)->next;
  *last = one;
  free(text);
}

static void free_job(job* one) {
  clear(&one->candidates);
  free(one->asker);
  free(one->id);
  free(one);
}

static void forget(const spindle_event* message) {
  char* text = copy_of(spindle_message_payload(message));
  char* rest = text;
  const char* asker = take_word(&rest);
  const char* id = take_word(&rest);
  job** at = &jobs;
  while (*at != NULL && asker != NULL && id != NULL) {
    job* one = *at;
    if (strcmp(one->asker, asker) == 0 && strcmp(one->id, id) == 0) {
      *at = one->next;
      free_job(one);
    } else {
      at = &one->next;
    }
  }
  free(text);
}

static void forget_jobs(void) {
  while (jobs != NULL) {
    job* next = jobs->next;
    free_job(jobs);
    jobs = next;
  }
}

/* As another member, who knows of no jobs. The others have given its own to each other. */
static void begin_anew(const spindle_event* again) {
  forget_jobs();
  clear(&members);
  free(me);
  me = copy_of(spindle_reconnected_private_name(again));
}

static void take_members(const spindle_event* view) {
  size_t i;
  clear(&members);
  members.count = spindle_view_name_count(view, SPINDLE_VIEW_MEMBERS);
  members.at = allocate((members.count + 1) * sizeof *members.at);
  for (i = 0; i < members.count; ++i) {
    members.at[i] = copy_of(spindle_view_name_at(view, SPINDLE_VIEW_MEMBERS, i));
  }
}

/* Who comes has not seen the jobs that there are; those of who has gone are given to others that have. */
static void take_view(const spindle_event* view) {
  job* one;
  if (spindle_view_my_index(view) < 0) return;
  take_members(view);
  printf("%lu workers\n", (unsigned long)members.count);
  for (one = jobs; one != NULL; one = one->next) {
    if (one->worker != NULL && !has(&members, one->worker)) {
      printf("job %" PRIu64 " of %s is given to others\n", one->number, one->worker);
      one->worker = NULL;
    }
    keep_members(&one->candidates);
    if (one->worker == NULL) assign(one);
  }
}

/* 0 once the connection has ended. */
static int handle(const spindle_event* event) {
  switch (spindle_event_kind(event)) {
    case SPINDLE_EVENT_MESSAGE:
      spindle_message_type(event) == kJob ? take_job(event) : forget(event);
      return 1;
    case SPINDLE_EVENT_GROUP_VIEW:
      take_view(event);
      return 1;
    case SPINDLE_EVENT_RECONNECTED:
      if (!spindle_reconnected_is_resumed(event)) begin_anew(event);
      return 1;
    case SPINDLE_EVENT_DISCONNECTED:
      printf("the connection has ended: %s\n", spindle_error_text(spindle_event_code(event)));
      return 0;
    default:
      return 1;
  }
}

static job* my_job(void) {
  job* one = jobs;
  while (one != NULL && (one->is_done || one->worker == NULL || strcmp(one->worker, me) != 0)) one = one->next;
  return one;
}

/* "NUMBER = FACTOR * FACTOR ...": 20 digits, and 63 factors at most. */
static void factorize(uint64_t number, char* text, size_t room) {
  const char* between = " ";
  size_t size = (size_t)snprintf(text, room, "%" PRIu64 " =", number);
  uint64_t factor;
  for (factor = 2; number > 1; ++factor) {
    if (factor > number / factor) factor = number;
    for (; number % factor == 0; number /= factor, between = " * ") {
      size += (size_t)snprintf(text + size, room - size, "%s%" PRIu64, between, factor);
    }
  }
}

static void perform(job* one, int seconds) {
  const struct timespec pause = {seconds, 0};
  const spindle_bytes to[2] = {spindle_text(one->asker), group};
  spindle_bytes pieces[5];
  char result[400];
  printf("doing %" PRIu64 "\n", one->number);
  nanosleep(&pause, NULL);
  factorize(one->number, result, sizeof result);
  pieces[0] = spindle_text(one->asker);
  pieces[1] = spindle_text(" ");
  pieces[2] = spindle_text(one->id);
  pieces[3] = spindle_text(" ");
  pieces[4] = spindle_text(result);
  check("work_queue",
        spindle_multicast_pieces(connection, SPINDLE_AGREED, to, 2, pieces, 5, as_answer, SPINDLE_NO_TIMEOUT));
  one->is_done = 1; /* until the answer comes back */
}

/* Until the connection ends. */
static void work(int seconds) {
  int goes_on = 1;
  check("work_queue", spindle_join(connection, group, 0, 5 * SECOND));
  while (goes_on) {
    /* What has come is looked at before each job: somebody may have left. */
    job* mine = my_job();
    spindle_event* event = next_event(connection, mine == NULL ? SPINDLE_NO_TIMEOUT : 0);
    if (event != NULL) {
      goes_on = handle(event);
    } else if (mine != NULL) {
      perform(mine, seconds);
    }
    spindle_event_free(event);
  }
}

/* Whether the event is an answer to a question that is open, which it is no longer. */
static int show_answer(const spindle_event* event, char* is_open, size_t count) {
  char* text = copy_of(spindle_message_payload(event));
  char* rest = text;
  const char* asker = take_word(&rest);
  const char* id = take_word(&rest);
  const size_t number = id == NULL ? 0 : strtoul(id, NULL, 10);
  const int is_answer =
      spindle_message_type(event) == kAnswer && asker != NULL && number >= 1 && number <= count && is_open[number - 1];
  if (is_answer) {
    printf("%s\n", rest);
    is_open[number - 1] = 0;
  }
  free(text);
  return is_answer;
}

/* Those that are open. */
static void send_questions(char** numbers, const char* is_open, size_t count) {
  size_t i;
  for (i = 0; i < count; ++i) {
    char id[24];
    spindle_bytes pieces[2];
    if (!is_open[i]) continue;
    snprintf(id, sizeof id, "%lu ", (unsigned long)i + 1);
    pieces[0] = spindle_text(id);
    pieces[1] = spindle_text(numbers[i]);
    check("work_queue",
          spindle_multicast_pieces(connection, SPINDLE_AGREED, &group, 1, pieces, 2, NULL, SPINDLE_NO_TIMEOUT));
  }
}

/* Asks for all numbers at once, and shows answers in the order in which they come. */
static void ask(char** numbers, size_t count) {
  char* is_open = allocate(count + 1);
  size_t left = count;
  memset(is_open, 1, count);
  send_questions(numbers, is_open, count);
  while (left > 0) {
    spindle_event* event = next_event(connection, SPINDLE_NO_TIMEOUT);
    if (event == NULL) check("work_queue", SPINDLE_ERROR_NOT_CONNECTED);
    /* Answers go to the name that asked, which is nobody's now. */
    if (spindle_event_kind(event) == SPINDLE_EVENT_RECONNECTED && !spindle_reconnected_is_resumed(event)) {
      send_questions(numbers, is_open, count);
    }
    if (spindle_event_kind(event) == SPINDLE_EVENT_MESSAGE) left -= (size_t)show_answer(event, is_open, count);
    spindle_event_free(event);
  }
  free(is_open);
}

static void free_all(void) {
  forget_jobs();
  clear(&members);
  free(me);
  spindle_send_options_free(as_answer);
  spindle_close(connection);
}

int main(int argc, char** argv) {
  option options[] = {{"connect", ""}, {"name", ""}, {"seconds", "0"}};
  size_t count;
  char** words = read_command_line(argc, argv, kHelp, options, 3, &count);
  const int works = strcmp(words[0], "work") == 0;
  if (count < 2) fail("work_queue", "say --help");
  connection = connect_or_fail("work_queue", NULL, options[0].value, options[1].value);
  group = spindle_text(words[1]);
  me = copy_of(spindle_private_name(connection));
  as_answer = spindle_send_options_new();
  check("work_queue", spindle_send_options_set_type(as_answer, kAnswer));
  if (works) {
    work(atoi(options[2].value));
  } else {
    ask(words + 2, count - 2);
  }
  free_all();
  return works ? 1 : 0;
}
