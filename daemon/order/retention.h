// Other daemons' messages are kept until they are stable, without the slabs that they came in.
#pragma once

#include <vector>

#include "daemon/base/member_set.h"
#include "daemon/base/slab.h"
#include "daemon/order/incoming_stream.h"

namespace spindled {

/// What has come is kept where it was read, in slabs that all connections share. A stream of which little comes is kept
/// for long (Stability), while the rest of each slab was content, or streams that have been released since: single
/// bodies would keep whole slabs in memory. So when bodies begin to come in another slab, those streams that have only
/// little in the former one get copies of it, each its own side by side. The streams of few daemons that send much stay
/// where they are, and of others each byte is copied once at most.
///
/// What a stream keeps takes `kPart` times its bytes at most, beside the slab of the latest body of any, one that is
/// released in part, and a small one.
class Retention {
 public:
  /// A stream that has at least one part in this many of a slab may keep it.
  static constexpr std::size_t kPart = 16;

  /// The pool outlives it.
  explicit Retention(SlabPool& pool) : pool_(pool) {}

  /// A new view: its streams, `count` of them, keep nothing.
  void restart(std::size_t count);
  /// `number` of the stream of `origin` is kept. `streams` are all, by origin.
  void retain(std::vector<IncomingStream>& streams, MemberIndex origin, std::uint64_t number, const Slice& body);

 private:
  SlabPool& pool_;
  /// Of the latest body. It may be gone, and be in use anew: it is compared, and never looked into.
  const Slab* slab_ = nullptr;
  std::size_t little_ = 0;            // bytes of it that are not worth keeping it for
  MemberSet origins_;                 // whose streams have something in it
  std::vector<std::uint64_t> first_;  // by origin: the first number of these
};

}  // namespace spindled
