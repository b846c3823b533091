#include "tests/conformance/drivers/c/tokens.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct token {
  uint64_t number;
  spindle_cancel_token* value;
  struct token* next;
} token;

static token* tokens = NULL;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static token* make_token(uint64_t number) {
  token* made = malloc(sizeof *made);
  if (made == NULL) abort();
  made->number = number;
  made->value = spindle_cancel_token_new();
  made->next = tokens;
  tokens = made;
  return made;
}

spindle_cancel_token* token_numbered(uint64_t number) {
  token* at;
  pthread_mutex_lock(&guard);
  for (at = tokens; at != NULL && at->number != number; at = at->next) continue;
  if (at == NULL) at = make_token(number);
  pthread_mutex_unlock(&guard);
  return at->value;
}

spindle_cancel_token* token_of(const call* asked) {
  return call_has(asked, "aside") ? token_numbered(strtoull(call_number(asked), NULL, 10)) : NULL;
}
