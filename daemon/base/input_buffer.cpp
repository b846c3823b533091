#include "daemon/base/input_buffer.h"

#include <algorithm>
#include <cstring>

namespace spindled {

namespace {
/// A read smaller than this is not worth its system call where more is waiting.
constexpr std::size_t kReadBytesMin = 16u << 10;
}  // namespace

std::span<std::uint8_t> InputBuffer::prepare(SlabWriter& arena, std::size_t wanted) {
  const std::size_t held = held_.size();
  const std::size_t missing = wanted > held ? wanted - held : 0;
  if (missing != 0 && wanted >= kLongFrameBytes) return prepare_long(arena, wanted);

  const std::size_t least = std::max(missing, kReadBytesMin);
  const std::span<std::uint8_t> behind = arena.reserve_rest(0);
  if (held != 0 && behind.data() == held_.data() + held && behind.size() >= least) {
    space_ = Space::behind;
    return behind;
  }
  space_ = Space::moved;
  const std::span<std::uint8_t> space = arena.reserve_rest(held + least);
  if (held != 0) std::memcpy(space.data(), held_.data(), held);
  return space.subspan(held);
}

std::span<std::uint8_t> InputBuffer::prepare_long(SlabWriter& arena, std::size_t wanted) {
  if (!own_ || held_.slab().get() != own_.get() || own_->capacity() < wanted) {
    SlabRef slab = arena.pool().take(wanted);
    if (!held_.empty()) std::memcpy(slab->bytes(), held_.data(), held_.size());
    held_ = Slice(slab, slab->bytes(), held_.size());
    own_ = std::move(slab);
  }
  space_ = Space::own;
  // Nothing beyond the frame: what follows it would have to be moved out again.
  return {own_->bytes() + held_.size(), wanted - held_.size()};
}

void InputBuffer::commit(SlabWriter& arena, std::size_t bytes) {
  if (bytes == 0) return;
  switch (space_) {
    case Space::behind:
      arena.commit(bytes);
      held_.extend(bytes);
      break;
    case Space::moved:
      held_ = arena.commit(held_.size() + bytes);
      break;
    case Space::own:
      held_ = Slice(own_, own_->bytes(), held_.size() + bytes);
      break;
  }
}

Slice InputBuffer::take(std::size_t bytes) {
  if (bytes == held_.size()) {
    own_.reset();
    return std::exchange(held_, Slice());
  }
  Slice front = held_.part(0, bytes);
  skip(bytes);
  return front;
}

void InputBuffer::skip(std::size_t bytes) {
  own_.reset();
  if (bytes == held_.size()) {
    held_ = Slice();
  } else {
    held_.remove_prefix(bytes);
  }
}

}  // namespace spindled
