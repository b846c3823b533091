#include "tests/conformance/drivers/c/lines.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct pair {
  const char* key;
  char* text;
  size_t size;
} pair;

struct call {
  char* memory; /* of all words */
  const char* number;
  const char* verb;
  pair* values;
  size_t count;
};

/* No driver goes on without memory. */
static void* must(void* memory) {
  if (memory == NULL) abort();
  return memory;
}

/* In place; the size of what it comes to, which a zero byte ends. */
static size_t decode(char* text) {
  size_t to = 0;
  const char* from = text;
  while (*from != '\0') {
    if (*from == '%' && isxdigit((unsigned char)from[1]) && isxdigit((unsigned char)from[2])) {
      const char digits[3] = {from[1], from[2], '\0'};
      text[to++] = (char)strtoul(digits, NULL, 16);
      from += 3;
    } else {
      text[to++] = *from++;
    }
  }
  text[to] = '\0';
  return to;
}

call* call_parse(const char* line) {
  call* parsed = must(calloc(1, sizeof *parsed));
  const size_t size = strlen(line);
  char* word;
  char* rest = NULL;
  parsed->memory = must(malloc(size + 1));
  memcpy(parsed->memory, line, size + 1);
  parsed->number = strtok_r(parsed->memory, " \n", &rest);
  parsed->verb = strtok_r(NULL, " \n", &rest);
  while ((word = strtok_r(NULL, " \n", &rest)) != NULL) {
    char* equals = strchr(word, '=');
    pair* added;
    if (equals == NULL) continue;
    *equals = '\0';
    parsed->values = must(realloc(parsed->values, (parsed->count + 1) * sizeof *parsed->values));
    added = &parsed->values[parsed->count++];
    added->key = word;
    added->text = equals + 1;
    added->size = decode(added->text);
  }
  if (parsed->verb != NULL) return parsed;
  call_free(parsed);
  return NULL;
}

void call_free(call* parsed) {
  if (parsed == NULL) return;
  free(parsed->values);
  free(parsed->memory);
  free(parsed);
}

const char* call_number(const call* parsed) { return parsed->number; }
const char* call_verb(const call* parsed) { return parsed->verb; }

const char* call_text(const call* parsed, const char* key) {
  size_t i;
  for (i = 0; i < parsed->count; ++i) {
    if (strcmp(parsed->values[i].key, key) == 0) return parsed->values[i].text;
  }
  return NULL;
}

int call_has(const call* parsed, const char* key) { return call_text(parsed, key) != NULL; }

uint64_t call_integer(const call* parsed, const char* key) {
  const char* text = call_text(parsed, key);
  return text == NULL ? 0 : strtoull(text, NULL, 10);
}

int64_t call_milliseconds(const call* parsed, const char* key) { return (int64_t)call_integer(parsed, key) * 1000000; }

spindle_bytes* call_all(const call* parsed, const char* key, size_t* count) {
  spindle_bytes* all = must(malloc((parsed->count + 1) * sizeof *all));
  size_t i;
  *count = 0;
  for (i = 0; i < parsed->count; ++i) {
    if (strcmp(parsed->values[i].key, key) != 0) continue;
    all[*count].data = parsed->values[i].text;
    all[(*count)++].size = parsed->values[i].size;
  }
  return all;
}

static void append(answer* to, const char* text, size_t size) {
  if (to->size + size + 1 > to->room) {
    to->room = 2 * (to->size + size + 1);
    to->line = must(realloc(to->line, to->room));
  }
  memcpy(to->line + to->size, text, size);
  to->size += size;
  to->line[to->size] = '\0';
}

unsigned place_of_name(const char* const* names, unsigned count, const char* name) {
  unsigned i = 0;
  while (i < count && strcmp(names[i], name) != 0) ++i;
  return i;
}

void answer_begin(answer* to, const char* word) {
  to->size = 0;
  append(to, word, strlen(word));
}

void answer_add(answer* to, const char* key, spindle_bytes value) {
  static const char kDigits[] = "0123456789ABCDEF";
  const unsigned char* bytes = value.data;
  size_t i;
  append(to, " ", 1);
  append(to, key, strlen(key));
  append(to, "=", 1);
  for (i = 0; i < value.size; ++i) {
    const char encoded[3] = {'%', kDigits[bytes[i] >> 4], kDigits[bytes[i] & 0xf]};
    const char plain = (char)bytes[i];
    if (bytes[i] < 0x80 && plain != '\0' && (isalnum(bytes[i]) || strchr("-._~/", plain) != NULL)) {
      append(to, &plain, 1);
    } else {
      append(to, encoded, sizeof encoded);
    }
  }
}

void answer_add_text(answer* to, const char* key, const char* value) { answer_add(to, key, spindle_text(value)); }

void answer_add_number(answer* to, const char* key, uint64_t value) {
  char digits[24];
  snprintf(digits, sizeof digits, "%" PRIu64, value);
  answer_add_text(to, key, digits);
}

unsigned char* make_payload(uint64_t seed, size_t size) {
  enum { kBlockBytes = 65521 };
  unsigned char* bytes = must(malloc(size + 1));
  size_t i;
  for (i = 0; i < size; ++i) {
    if (i >= kBlockBytes) {
      bytes[i] = bytes[i - kBlockBytes];
      continue;
    }
    if (i % 8 == 0) seed = seed * 6364136223846793005u + 1442695040888963407u;
    bytes[i] = (unsigned char)(seed >> (8 * (i % 8)));
  }
  return bytes;
}

uint32_t digest_of(spindle_bytes bytes) {
  const unsigned char* data = bytes.data;
  uint32_t value = 0xffffffff;
  uint32_t table[256];
  size_t i;
  for (i = 0; i < 256; ++i) {
    uint32_t entry = (uint32_t)i;
    int bit;
    for (bit = 0; bit < 8; ++bit) entry = (entry & 1) != 0 ? 0xedb88320 ^ (entry >> 1) : entry >> 1;
    table[i] = entry;
  }
  for (i = 0; i < bytes.size; ++i) value = table[(value ^ data[i]) & 0xff] ^ (value >> 8);
  return ~value;
}
