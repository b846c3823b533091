/* What calls aside are cancelled with, by their numbers. */
#ifndef SPINDLE_CONFORMANCE_C_TOKENS_H
#define SPINDLE_CONFORMANCE_C_TOKENS_H

#include "tests/conformance/drivers/c/lines.h"

/* Made by whoever asks first, and there up to the end of the driver. */
spindle_cancel_token* token_numbered(uint64_t number);
/* Null for a call that nobody cancels. */
spindle_cancel_token* token_of(const call* asked);

#endif
