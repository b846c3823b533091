/* An event of the client library as a line for the runner. */
#ifndef SPINDLE_CONFORMANCE_C_EVENTS_H
#define SPINDLE_CONFORMANCE_C_EVENTS_H

#include "tests/conformance/drivers/c/lines.h"

void describe(answer* to, const spindle_event* event);

#endif
