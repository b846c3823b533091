#include "libclient/tls/certificate_time.h"

#include <array>
#include <ctime>

namespace spindle {

WallTime wall_time() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }

WallTime from_asn_time(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return WallTime(std::chrono::seconds(::timegm(&parts)));
}

std::string show_time(WallTime time) {
  const std::time_t seconds = time.time_since_epoch().count();
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace spindle
