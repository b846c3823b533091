// Room for the buffers of a gathered write.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "libclient/common/bytes.h"

namespace spindled {

/// Nothing is in it until it is assigned: clearing it would take longer than most writes need for the rest.
template <std::size_t kCount>
class GatherBuffers {
 public:
  std::span<spindle::ByteView> all() { return {reinterpret_cast<spindle::ByteView*>(memory_), kCount}; }

 private:
  static_assert(std::is_trivially_copyable_v<spindle::ByteView> && std::is_trivially_destructible_v<spindle::ByteView>);

  // An array of bytes begins the lifetime of such objects in it where they are assigned.
  alignas(spindle::ByteView) std::byte memory_[kCount * sizeof(spindle::ByteView)];
};

/// Leaves of the buffers the first `most` bytes, or all where they are fewer; how many are left.
inline std::size_t cut_buffers(std::span<spindle::ByteView>& buffers, std::size_t most) {
  std::size_t left = most;
  std::size_t at = 0;
  while (at < buffers.size() && buffers[at].size() < left) left -= buffers[at++].size();
  if (at == buffers.size()) return most - left;
  buffers[at] = buffers[at].first(left);
  buffers = buffers.first(at + 1);
  return most;
}

}  // namespace spindled
