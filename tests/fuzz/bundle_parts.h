// The parts that inputs for files of certificates are made of. Numbers are part of the corpus: new ones are appended.
#pragma once

#include <cstdint>

namespace spindle_fuzz {

/// An input begins with one byte: TlsPort, with 16 added for who dials, and 32 where the files are only read. Then it
/// has parts, each a byte that is one of these, u16 size, and so many bytes. Those of a block are what its PEM encodes,
/// so that an altered byte is one of the certificate and not of the text.
enum class BundlePart : std::uint8_t {
  text = 0,  // as it is
  certificate = 1,
  revocation_list = 2,
  key = 3,            // in PKCS #8
  key_of_curve = 4,   // in the format of RFC 5915
  encrypted_key = 5,  // in PKCS #8
  other = 6,          // a block of a kind that is passed over
};
/// Added to a part of the second file, the lists of revoked certificates.
inline constexpr std::uint8_t kBundlePartOfLists = 16;
inline constexpr std::uint8_t kBundleRoleDials = 16;
inline constexpr std::uint8_t kBundleIsRead = 32;

}  // namespace spindle_fuzz
