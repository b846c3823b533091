/* The feeds that a driver has opened. */
#ifndef SPINDLE_CONFORMANCE_C_FEEDS_H
#define SPINDLE_CONFORMANCE_C_FEEDS_H

#include "tests/conformance/drivers/c/lines.h"

spindle_code listen_to(spindle_connection* connection, spindle_bytes group, const call* asked);
/* `*id` is that of the feed, by which later calls name it. */
spindle_code open_feed(spindle_connection* connection, spindle_bytes group, const call* asked, uint64_t* id);
/* Sends messages until one is refused; `*sent`: those before it. */
spindle_code emit(const call* asked, uint64_t* sent);
spindle_code close_feed(uint64_t id);
void close_feeds(void);

#endif
