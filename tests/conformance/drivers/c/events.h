/* An event of the client library as a line for the runner. */
#ifndef SPINDLE_CONFORMANCE_C_EVENTS_H
#define SPINDLE_CONFORMANCE_C_EVENTS_H

#include "tests/conformance/drivers/c/lines.h"

/* `streamed` are the bytes that a stream has brought of the channel of the event; null where there is no stream. */
void describe(answer* to, const spindle_event* event, const spindle_bytes* streamed);

#endif
