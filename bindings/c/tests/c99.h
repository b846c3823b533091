/* Parts of tests that are C. */
#ifndef SPINDLE_BINDINGS_C_TESTS_C99_H
#define SPINDLE_BINDINGS_C_TESTS_C99_H

#include "bindings/c/include/spindle/spindle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Connects to `address`, joins "news", sends `text` to it, and gives what has come by then: the payload of the first
   message, cut to `room` bytes with a zero byte at its end. The code of the first call that fails. */
spindle_code exchange(const char* address, const char* text, char* received, size_t room);

/* Calls every function with null handles. How many of them said something else than they should. */
int misuse_nulls(void);

#ifdef __cplusplus
}
#endif

#endif
