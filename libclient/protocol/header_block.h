// Headers of a message as they stand before its payload.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "libclient/common/bytes.h"
#include "libclient/include/spindle/headers.h"

namespace spindle::protocol {

/// A block is counted with the payload that it stands before:
///
///   u16  length  of what follows
///   then for each header
///   u8   length, key    at least one byte
///   u16  length, value
inline constexpr std::size_t kHeaderBytesMax = 4096;
/// What is left for headers of the library's own.
inline constexpr std::size_t kOwnHeaderBytesMax = 64;
inline constexpr std::size_t kHeaderBlockBytesMax = 2 + kHeaderBytesMax + kOwnHeaderBytesMax;

/// The number of a request.
inline constexpr std::string_view kRequestKey = "$id";
inline constexpr std::size_t kRequestNumberBytes = 8;
/// In an answer: the number of the request.
inline constexpr std::string_view kAnswerKey = "$re";

constexpr bool is_own_key(std::string_view key) { return key.starts_with('$'); }

/// Whether a program may send them.
bool are_valid(const Headers& headers);
/// Replaces `out` by a block of `own`, where it has a key, and then the others.
void write_header_block(std::vector<std::uint8_t>& out, const Header& own, const Headers& headers);
/// Bytes of the block that `content` begins with; 0 where that is none.
std::size_t header_block_size(ByteView content);
/// The first value of the key in a well-formed block.
std::optional<std::string_view> find_header(ByteView block, std::string_view key);

}  // namespace spindle::protocol
