// By what a content that was offered before is known again: the files that it is read from, as their system tells of
// them.
#pragma once

#include <sys/stat.h>
#include <time.h>

#include <cstdint>
#include <vector>

#include "libclient/bulk/block_index.h"

namespace spindle {

struct SourceStamp {
  /// SHA-256 of what there is to tell files apart: of each its device, inode and size, and when it and what is known of
  /// it were changed last, in nanoseconds. The latter nobody sets back.
  bulk::BlockHash key{};
  timespec newest{};  // of all these times

  bool operator==(const SourceStamp& other) const { return key == other.key; }
};

/// Makes one, file by file.
class StampMaker {
 public:
  void add(const struct stat& file);
  void add(ByteView bytes);
  SourceStamp make();

 private:
  static constexpr std::size_t kPieceBytes = 64u << 10;

  /// Hashes what has gathered, behind the hash of all before it.
  void fold();

  std::vector<std::uint8_t> bytes_;
  SourceStamp stamp_;
};

}  // namespace spindle
