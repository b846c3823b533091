#include "common.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void refuse(const char* help) {
  fputs(help, stderr);
  exit(2);
}

static option* find_option(option* options, size_t count, const char* name) {
  size_t i;
  for (i = 0; i < count; ++i) {
    if (strcmp(options[i].name, name) == 0) return &options[i];
  }
  return NULL;
}

char** read_command_line(int argc, char** argv, const char* help, option* options, size_t count, size_t* word_count) {
  int i;
  *word_count = 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (i = 1; i < argc; ++i) {
    option* found;
    if (strcmp(argv[i], "--help") == 0) {
      fputs(help, stdout);
      exit(0);
    }
    if (strncmp(argv[i], "--", 2) != 0) {
      argv[++*word_count] = argv[i];
      continue;
    }
    found = find_option(options, count, argv[i] + 2);
    if (found == NULL || ++i == argc) refuse(help);
    found->value = argv[i];
  }
  if (*word_count == 0) refuse(help);
  return argv + 1;
}

void fail(const char* program, const char* reason) {
  fprintf(stderr, "%s: %s\n", program, reason);
  exit(1);
}

void check(const char* program, spindle_code code) {
  if (code != 0) fail(program, spindle_error_text(code));
}

spindle_connection* connect_or_fail(const char* program, spindle_options* options, const char* address,
                                    const char* name) {
  spindle_options* used = options == NULL ? spindle_options_new() : options;
  spindle_connection* connection;
  char reason[300];
  check(program, spindle_options_set_address(used, address));
  check(program, spindle_options_set_name(used, name));
  if (spindle_connect(used, &connection, reason, sizeof reason) != 0) fail(program, reason);
  if (options == NULL) spindle_options_free(used);
  return connection;
}

spindle_event* next_event(spindle_connection* connection, int64_t timeout_ns) {
  spindle_event* event = NULL;
  size_t count;
  return spindle_next(connection, &event, 1, &count, timeout_ns) == 0 ? event : NULL;
}

void* allocate(size_t size) {
  void* memory = calloc(1, size);
  if (memory == NULL) abort();
  return memory;
}

char* copy_of(spindle_bytes bytes) {
  char* text = allocate(bytes.size + 1);
  if (bytes.size > 0) memcpy(text, bytes.data, bytes.size);
  return text;
}

int equal(spindle_bytes one, spindle_bytes other) {
  return one.size == other.size && (one.size == 0 || memcmp(one.data, other.data, one.size) == 0);
}

char* take_word(char** text) {
  char* word = *text + strspn(*text, " \n");
  if (*word == '\0') return NULL;
  *text = word + strcspn(word, " \n");
  if (**text != '\0') *(*text)++ = '\0';
  *text += strspn(*text, " ");
  return word;
}

void read_input(line_reader* reader) {
  ssize_t count;
  if (reader->room - reader->size < 4096) {
    char* text = allocate(reader->size + 65536);
    if (reader->size > 0) memcpy(text, reader->text, reader->size);
    free(reader->text);
    reader->text = text;
    reader->room = reader->size + 65536;
  }
  count = read(STDIN_FILENO, reader->text + reader->size, reader->room - reader->size);
  if (count > 0) reader->size += (size_t)count;
  if (count <= 0) reader->has_ended = 1;
}

char* take_line(line_reader* reader) {
  spindle_bytes line;
  const char* end = reader->size == 0 ? NULL : memchr(reader->text, '\n', reader->size);
  char* copy;
  if (end == NULL && (!reader->has_ended || reader->size == 0)) return NULL;
  line.data = reader->text;
  line.size = end == NULL ? reader->size : (size_t)(end - reader->text);
  copy = copy_of(line);
  reader->size -= line.size + (end != NULL);
  memmove(reader->text, reader->text + line.size + (end != NULL), reader->size);
  return copy;
}

int wait_for_input(line_reader* reader, spindle_connection* connection) {
  struct pollfd sources[2];
  nfds_t count = 1;
  sources[0].fd = spindle_descriptor(connection);
  sources[0].events = POLLIN;
  if (reader != NULL && !reader->has_ended) {
    sources[1].fd = STDIN_FILENO;
    sources[1].events = POLLIN;
    count = 2;
  }
  return poll(sources, count, -1) > 0 && count == 2 && sources[1].revents != 0;
}
