#include "daemon/order/message.h"

namespace spindled {

ByteView Delivery::contiguous(std::vector<std::uint8_t>& storage) const {
  if (rest.empty()) return first.view();
  storage.reserve(content_size());
  storage.assign(first.data(), first.data() + first.size());
  for (const Slice& slice : rest) storage.insert(storage.end(), slice.data(), slice.data() + slice.size());
  return storage;
}

}  // namespace spindled
