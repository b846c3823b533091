// The time of the calendar, which certificates are bound to.
#pragma once

#include <openssl/asn1.h>

#include <chrono>
#include <string>

namespace spindle {

/// Whole seconds of UTC. Nothing here but `wall_time` reads the clock: whoever calls says what time it is.
using WallTime = std::chrono::sys_seconds;

/// Now.
WallTime wall_time();

/// 1970 where `time` is none.
WallTime from_asn_time(const ASN1_TIME* time);

/// "2027-10-13T22:51:26Z".
std::string show_time(WallTime time);

}  // namespace spindle
