// CRC-32C: the checksum of symbols.
#pragma once

#include <cstdint>

#include "libclient/common/bytes.h"

namespace spindle::bulk {

/// The CRC by Castagnoli's polynomial (RFC 3720, section 12.1), with the processor's instruction where it has one.
/// `before`: the CRC of what stands before these bytes.
std::uint32_t crc32c(ByteView bytes, std::uint32_t before = 0);

/// The same in the way that every processor knows, for tests.
std::uint32_t crc32c_by_tables(ByteView bytes, std::uint32_t before = 0);

}  // namespace spindle::bulk
