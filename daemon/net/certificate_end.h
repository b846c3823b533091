// Warnings before certificates end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libclient/tls/certificate_bundle.h"
#include "libclient/tls/certificate_time.h"

namespace spindled {

struct CertificateEnd {
  std::string what;    // "the certificate of daemon:alpha", "the CA certificate O = trading, CN = CA A8F95896"
  std::string remedy;  // what to do before it ends
  spindle::WallTime time;
};

/// Of all certificates of a bundle: the holder's first.
std::vector<CertificateEnd> read_ends(const spindle::CertificateBundle& bundle);

/// A warning for each certificate that has come, between the times `before` and `now`, to have 30, 7 or 1 days left, or
/// none; one for all the thresholds that it has passed. Without `before`, which is for the first look at a file, for
/// each that has passed any.
std::vector<std::string> warn_of_ends(const std::vector<CertificateEnd>& ends, std::optional<spindle::WallTime> before,
                                      spindle::WallTime now);

}  // namespace spindled
