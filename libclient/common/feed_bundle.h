// Several short messages of a feed in one packet.
//
// Of each a varint, its length in the fewest bytes, and its bytes: 2 messages at least, none of them empty.
#pragma once

#include "libclient/common/bytes.h"

namespace spindle {

/// Calls `visit(message)` for each. Says whether the bundle is well-formed; where it is not, some have been visited.
template <typename Visit>
bool for_each_in_bundle(ByteView bundle, Visit&& visit) {
  Reader reader(bundle);
  std::size_t count = 0;
  while (reader.ok() && reader.remaining() > 0) {
    const std::size_t before = reader.remaining();
    const std::uint64_t size = reader.varint_up_to(before);
    if (size == 0 || before - reader.remaining() != varint_size(size)) return false;
    const ByteView message = reader.bytes(size);
    if (!reader.ok()) return false;
    visit(message);
    ++count;
  }
  return reader.ok() && count >= 2;
}

inline bool is_bundle(ByteView bundle) {
  return for_each_in_bundle(bundle, [](ByteView) {});
}

}  // namespace spindle
