#include "tools/spmonitor/pki/times.h"

namespace spmonitor::pki {

namespace {

constexpr std::chrono::minutes kClocksDiffer{5};

}  // namespace

Validity validity_from(Time now, std::chrono::days days) { return {now - kClocksDiffer, now + days}; }

spindle::AsnTimeHandle to_asn_time(Time time) {
  return spindle::AsnTimeHandle(ASN1_TIME_set(nullptr, std::chrono::system_clock::to_time_t(time)));
}

}  // namespace spmonitor::pki
