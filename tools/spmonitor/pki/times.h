// Times of certificates: whole seconds of UTC.
#pragma once

#include <openssl/asn1.h>

#include <chrono>
#include <string>

#include "libclient/tls/openssl_handles.h"

namespace spmonitor::pki {

using Time = std::chrono::sys_seconds;

/// From when until when something is valid.
struct Validity {
  Time from;
  Time until;
};
/// A little earlier than `now`, for clocks that are behind the one here, until `days` from now.
Validity validity_from(Time now, std::chrono::days days);

/// Null where there is no memory.
spindle::AsnTimeHandle to_asn_time(Time time);
/// 1970 where `time` is none.
Time from_asn_time(const ASN1_TIME* time);

/// "2027-10-13T22:51:26Z".
std::string show_time(Time time);

}  // namespace spmonitor::pki
