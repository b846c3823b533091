/* What the examples have in common. */
#ifndef SPINDLE_EXAMPLES_COMMON_H
#define SPINDLE_EXAMPLES_COMMON_H

#include <spindle/spindle.h>

#define SECOND ((int64_t)1000000000)

/* An option of the command line, with a value. */
typedef struct option {
  const char* name;
  const char* value;
} option;

/* Puts the values of the `count` options in their places, and gives the words that are left, `*word_count` of them, one
   at least. Shows `help` and ends the program where that is asked for, or where the command line is wrong. */
char** read_command_line(int argc, char** argv, const char* help, option* options, size_t count, size_t* word_count);

/* Ends the program. */
void fail(const char* program, const char* reason);
/* The same unless the code is 0. */
void check(const char* program, spindle_code code);

/* Null stands for options at their defaults. What is "" is at its default, too. */
spindle_connection* connect_or_fail(const char* program, spindle_options* options, const char* address,
                                    const char* name);
/* The next event; null when the time has passed, or once the connection has ended. */
spindle_event* next_event(spindle_connection* connection, int64_t timeout_ns);

/* These have to be freed with free(); without memory the program ends. */
void* allocate(size_t size);
char* copy_of(spindle_bytes bytes);

int equal(spindle_bytes one, spindle_bytes other);
/* Cuts the first word off `*text`; null where there is none. What is left begins with a word, or is empty. */
char* take_word(char** text);

/* Lines of standard input, for programs that wait for something else as well. */
typedef struct line_reader {
  char* text;
  size_t size;
  size_t room;
  int has_ended;
} line_reader;

/* Takes in what there is on standard input, which has to be readable. */
void read_input(line_reader* reader);
/* The next line that is whole, to be freed; null where there is none. */
char* take_line(line_reader* reader);
/* Waits until standard input, unless `reader` is null or has ended, or the connection has something. 1 where it is the
   former. */
int wait_for_input(line_reader* reader, spindle_connection* connection);

#endif
