/* What a driver offers and receives by bulk channels: channels by the names that the runner knows them by, and what
   streams have brought of them. For one thread, but the functions of streams. */
#ifndef SPINDLE_CONFORMANCE_C_CONTENTS_H
#define SPINDLE_CONFORMANCE_C_CONTENTS_H

#include "tests/conformance/drivers/c/lines.h"

void answer_add_channel(answer* to, const spindle_channel* channel);

/* Null is none. */
void note_channel(const spindle_channel* channel);
/* The one that the call names; null where nobody has noted it. */
const spindle_channel* channel_of(const call* asked);

/* What the call says is to be offered, for the caller to free. */
spindle_bulk_source* source_of(const call* asked);
/* Where the call says that the content goes, likewise. */
spindle_bulk_sink* sink_of(const call* asked);
/* 1 where the content of the channel went into a stream, which has come to its end. */
int bytes_streamed(const spindle_channel* channel, spindle_bytes* bytes);

#endif
