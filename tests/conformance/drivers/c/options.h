/* How a client connects, as a call says. */
#ifndef SPINDLE_CONFORMANCE_C_OPTIONS_H
#define SPINDLE_CONFORMANCE_C_OPTIONS_H

#include "tests/conformance/drivers/c/lines.h"

/* The caller frees them. */
spindle_options* connect_options_of(const call* asked);

#endif
