/* Lines between a driver and the runner: words, and key=value with values in percent-encoding. ../../README.md has the
   protocol. */
#ifndef SPINDLE_CONFORMANCE_C_LINES_H
#define SPINDLE_CONFORMANCE_C_LINES_H

#include <spindle/spindle.h>

/* A line from the runner: the number of the call, its verb, and its values. */
typedef struct call call;

/* Null for what is no line of the protocol. */
call* call_parse(const char* line);
void call_free(call* parsed);
const char* call_number(const call* parsed);
const char* call_verb(const call* parsed);
int call_has(const call* parsed, const char* key);
/* The first value of a key; null without one. */
const char* call_text(const call* parsed, const char* key);
uint64_t call_integer(const call* parsed, const char* key);
/* In nanoseconds, as the library has times. */
int64_t call_milliseconds(const call* parsed, const char* key);
/* All values of a key, which the caller frees with free(); no bytes of them. */
spindle_bytes* call_all(const call* parsed, const char* key, size_t* count);

/* The place of a name among `count` names; none is behind the last. */
unsigned place_of_name(const char* const* names, unsigned count, const char* name);

/* A line to the runner that grows. */
typedef struct answer {
  char* line;
  size_t size;
  size_t room;
} answer;

void answer_begin(answer* to, const char* word);
void answer_add(answer* to, const char* key, spindle_bytes value);
void answer_add_text(answer* to, const char* key, const char* value);
void answer_add_number(answer* to, const char* key, uint64_t value);

/* The payload with this seed and size, which the caller frees with free(). */
unsigned char* make_payload(uint64_t seed, size_t size);
/* CRC-32, as zlib has it. */
uint32_t digest_of(spindle_bytes bytes);

#endif
