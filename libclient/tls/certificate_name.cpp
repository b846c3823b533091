#include "libclient/tls/certificate_name.h"

#include <array>

#include "libclient/common/names.h"

namespace spindle {

namespace {

constexpr std::string_view kScheme = "spindle://";
constexpr std::string_view kHexDigits = "0123456789ABCDEF";

struct KindNames {
  CertificateName::Kind kind;
  std::string_view in_uri;
  std::string_view in_identity;
};
constexpr std::array kKinds{KindNames{CertificateName::Kind::daemon, "daemon", "daemon:"},
                            KindNames{CertificateName::Kind::client, "client", "cert:"},
                            KindNames{CertificateName::Kind::administrator, "operator", "operator:"}};

const KindNames& names_of(CertificateName::Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

bool stands_for_itself(char c) {
  const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_letter || (c >= '0' && c <= '9') || std::string_view("-._~*").find(c) != std::string_view::npos;
}

std::string encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (stands_for_itself(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    }
  }
  return out;
}

/// Only what `encode` gives: each name has one form.
std::optional<std::string> decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const std::size_t high = kHexDigits.find(text[i + 1]), low = kHexDigits.find(text[i + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    out += static_cast<char>(high << 4 | low);
    i += 2;
  }
  if (encode(out) != text) return std::nullopt;
  return out;
}

}  // namespace

std::string to_uri(const CertificateName& name) {
  return std::string(kScheme) + encode(name.cluster) + "/" + std::string(names_of(name.kind).in_uri) + "/" +
         encode(name.name);
}

std::optional<CertificateName> parse_certificate_name(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  const std::size_t first = uri.find('/');
  const std::size_t second = first == std::string_view::npos ? first : uri.find('/', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::string_view kind = uri.substr(first + 1, second - first - 1);
  const std::optional<std::string> cluster = decode(uri.substr(0, first));
  const std::optional<std::string> name = decode(uri.substr(second + 1));
  // The rule for names is the same for all three.
  if (!cluster || !name || !is_daemon_name(*cluster) || !is_daemon_name(*name)) return std::nullopt;
  for (const KindNames& known : kKinds) {
    if (known.in_uri == kind) return CertificateName{*cluster, known.kind, *name};
  }
  return std::nullopt;
}

std::string to_identity(const CertificateName& name) {
  return std::string(names_of(name.kind).in_identity) + name.name;
}

}  // namespace spindle
