// Who a certificate says that its holder is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spindle {

/// What the holder of a certificate may be in a cluster. A certificate has it as a URI among its alternative names
/// (RFC 5280, section 4.2.1.6): "spindle://trading/daemon/alpha", "spindle://trading/client/feed",
/// "spindle://trading/operator/anna".
struct CertificateName {
  enum class Kind { daemon, client, administrator };

  std::string cluster;
  Kind kind = Kind::client;
  std::string name;  // of a daemon, kAnyDaemon is any

  bool operator==(const CertificateName&) const = default;
};

/// The name of a daemon in a certificate that all daemons of a cluster may use. They could pose as each other then.
inline constexpr std::string_view kAnyDaemon = "*";

/// Bytes other than letters, digits and "-._~*" are percent-encoded (RFC 3986, section 2.1).
std::string to_uri(const CertificateName& name);
/// Nothing where `uri` is no such name: of another scheme or form, or with names that break the rules of names.h.
std::optional<CertificateName> parse_certificate_name(std::string_view uri);

/// The same for people, and for rules: "daemon:alpha", "cert:feed", "operator:anna".
std::string to_identity(const CertificateName& name);

}  // namespace spindle
