// The bytes that a connection has received and not yet consumed.
#pragma once

#include "daemon/base/slab.h"

namespace spindled {

/// Reads go straight into slabs that all connections of a node share, so that whole frames are referenced where they
/// were read and an idle connection holds no memory. A frame that a read cut in two is continued where it stands if
/// nothing else was read in between, and else moved when its rest is about to arrive. A frame too long for that gets a
/// slab of its own: it is moved once, however small the pieces that it arrives in.
///
/// Order of calls: `prepare`, read into it, `commit`; then `unread` and `take` or `skip` until the rest is no whole
/// frame. Nothing else may use the SlabWriter between `prepare` and `commit`.
class InputBuffer {
 public:
  /// Where to read to. `wanted` is how many bytes the frame at the front needs in all, as far as known (0: not known).
  std::span<std::uint8_t> prepare(SlabWriter& arena, std::size_t wanted);
  void commit(SlabWriter& arena, std::size_t bytes);

  ByteView unread() const { return held_.view(); }
  /// Consumes the first `bytes` and references them.
  Slice take(std::size_t bytes);
  void skip(std::size_t bytes);
  void clear() {
    held_ = Slice();
    own_.reset();
  }

 private:
  /// Frames from here on get a slab of their own.
  static constexpr std::size_t kLongFrameBytes = SlabPool::kLargeBytes / 2;

  enum class Space : unsigned char {
    behind,  // the space given out follows `held_` in the arena
    moved,   // `held_` was copied in front of it, in the arena
    own,     // it follows `held_` in `own_`
  };

  std::span<std::uint8_t> prepare_long(SlabWriter& arena, std::size_t wanted);

  Slice held_;
  SlabRef own_;  // for one long frame
  Space space_ = Space::moved;
};

}  // namespace spindled
