// From when until when certificates and lists are valid.
#pragma once

#include "libclient/tls/certificate_time.h"
#include "libclient/tls/openssl_handles.h"

namespace spmonitor::pki {

using Time = spindle::WallTime;
using spindle::from_asn_time;
using spindle::show_time;

struct Validity {
  Time from;
  Time until;
};
/// A little earlier than `now`, for clocks that are behind the one here, until `days` from now.
Validity validity_from(Time now, std::chrono::days days);

/// Null where there is no memory.
spindle::AsnTimeHandle to_asn_time(Time time);

}  // namespace spmonitor::pki
