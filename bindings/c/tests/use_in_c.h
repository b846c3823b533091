#ifndef BINDINGS_C_TESTS_USE_IN_C_H
#define BINDINGS_C_TESTS_USE_IN_C_H

#ifdef __cplusplus
extern "C" {
#endif

/* NULL, or what did not work. */
const char* use_spindle_in_c(const char* address);

#ifdef __cplusplus
}
#endif

#endif
