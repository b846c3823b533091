#include "tools/spmonitor/pki/times.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace spmonitor::pki {

namespace {

constexpr std::chrono::minutes kClocksDiffer{5};

}  // namespace

Validity validity_from(Time now, std::chrono::days days) { return {now - kClocksDiffer, now + days}; }

spindle::AsnTimeHandle to_asn_time(Time time) {
  return spindle::AsnTimeHandle(ASN1_TIME_set(nullptr, std::chrono::system_clock::to_time_t(time)));
}

Time from_asn_time(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::from_time_t(::timegm(&parts)));
}

std::string show_time(Time time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

}  // namespace spmonitor::pki
