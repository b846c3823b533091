#include "tests/conformance/drivers/c/contents.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Bytes that a stream is to give, or has brought. */
typedef struct stream {
  unsigned char* bytes;
  size_t size;
  size_t at;
} stream;

typedef struct known {
  char name[300];
  spindle_channel* channel;
  stream* received; /* null: the content goes into no stream */
  struct known* next;
} known;

static known* all = NULL;

static void name_channel(const spindle_channel* channel, char* name, size_t room) {
  const spindle_bytes origin = spindle_channel_daemon(channel);
  snprintf(name, room, "%" PRIu64 "@%.*s", spindle_channel_number(channel), (int)origin.size, (const char*)origin.data);
}

static known* find(const char* name) {
  known* at = all;
  while (at != NULL && strcmp(at->name, name) != 0) at = at->next;
  return at;
}

void answer_add_channel(answer* to, const spindle_channel* channel) {
  char name[300];
  name_channel(channel, name, sizeof name);
  answer_add_text(to, "channel", name);
}

void note_channel(const spindle_channel* channel) {
  known* made;
  char name[300];
  if (channel == NULL) return;
  name_channel(channel, name, sizeof name);
  if (find(name) != NULL) return;
  made = calloc(1, sizeof *made);
  if (made == NULL) abort();
  memcpy(made->name, name, sizeof name);
  made->channel = spindle_channel_copy(channel);
  made->next = all;
  all = made;
}

const spindle_channel* channel_of(const call* asked) {
  const known* found = find(call_text(asked, "channel"));
  return found == NULL ? NULL : found->channel;
}

static stream* make_stream(void) {
  stream* made = calloc(1, sizeof *made);
  if (made == NULL) abort();
  return made;
}

static void free_stream(void* user) {
  stream* freed = user;
  free(freed->bytes);
  free(freed);
}

static int64_t read_stream(void* user, void* to, size_t room) {
  stream* from = user;
  const size_t size = room < from->size - from->at ? room : from->size - from->at;
  memcpy(to, from->bytes + from->at, size);
  from->at += size;
  return (int64_t)size;
}

static int write_stream(void* user, spindle_bytes block) {
  stream* to = user;
  unsigned char* bytes;
  if (block.size == 0) return 0;
  bytes = realloc(to->bytes, to->size + block.size);
  if (bytes == NULL) return 1;
  memcpy(bytes + to->size, block.data, block.size);
  to->bytes = bytes;
  to->size += block.size;
  return 0;
}

static spindle_bulk_source* stream_source_of(const call* asked) {
  stream* from = make_stream();
  spindle_bulk_source* source;
  from->size = (size_t)call_integer(asked, "size");
  from->bytes = make_payload(call_integer(asked, "seed"), from->size);
  source = spindle_bulk_source_stream(read_stream, from, free_stream);
  if (call_has(asked, "spool")) spindle_bulk_source_set_spool(source, call_text(asked, "spool"));
  return source;
}

static spindle_bulk_source* bytes_source_of(const call* asked) {
  const size_t size = (size_t)call_integer(asked, "size");
  unsigned char* payload = make_payload(call_integer(asked, "seed"), size);
  const spindle_bytes bytes = {payload, size};
  spindle_bulk_source* source = spindle_bulk_source_bytes(bytes);
  free(payload);
  return source;
}

static spindle_bulk_source* unnamed_source_of(const call* asked) {
  const char* kind = call_text(asked, "kind");
  if (strcmp(kind, "file") == 0) return spindle_bulk_source_file(call_text(asked, "path"));
  if (strcmp(kind, "directory") == 0) return spindle_bulk_source_directory(call_text(asked, "path"));
  return strcmp(kind, "bytes") == 0 ? bytes_source_of(asked) : stream_source_of(asked);
}

spindle_bulk_source* source_of(const call* asked) {
  spindle_bulk_source* source = unnamed_source_of(asked);
  if (call_has(asked, "name")) spindle_bulk_source_set_name(source, call_text(asked, "name"));
  return source;
}

spindle_bulk_sink* sink_of(const call* asked) {
  const char* kind = call_text(asked, "sink");
  known* found = find(call_text(asked, "channel"));
  if (strcmp(kind, "file") == 0) return spindle_bulk_sink_file(call_text(asked, "path"));
  if (strcmp(kind, "directory") == 0) return spindle_bulk_sink_directory(call_text(asked, "path"));
  if (strcmp(kind, "memory") == 0) return spindle_bulk_sink_memory((size_t)call_integer(asked, "bytes_max"));
  if (found == NULL) return NULL;
  if (found->received == NULL) found->received = make_stream();
  return spindle_bulk_sink_stream(write_stream, found->received, NULL);
}

int bytes_streamed(const spindle_channel* channel, spindle_bytes* bytes) {
  char name[300];
  const known* found;
  if (channel == NULL) return 0;
  name_channel(channel, name, sizeof name);
  found = find(name);
  if (found == NULL || found->received == NULL) return 0;
  bytes->data = found->received->bytes;
  bytes->size = found->received->size;
  return 1;
}
