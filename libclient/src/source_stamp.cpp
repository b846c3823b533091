#include "libclient/src/source_stamp.h"

#include <utility>

#include "libclient/src/sha256.h"

namespace spindle {

namespace {

bool is_before(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

}  // namespace

void StampMaker::add(const struct stat& file) {
  const std::uint64_t numbers[] = {
      static_cast<std::uint64_t>(file.st_dev),          static_cast<std::uint64_t>(file.st_ino),
      static_cast<std::uint64_t>(file.st_size),         static_cast<std::uint64_t>(file.st_mtim.tv_sec),
      static_cast<std::uint64_t>(file.st_mtim.tv_nsec), static_cast<std::uint64_t>(file.st_ctim.tv_sec),
      static_cast<std::uint64_t>(file.st_ctim.tv_nsec)};
  std::uint8_t encoded[sizeof numbers];
  Writer writer(encoded);
  for (const std::uint64_t each : numbers) writer.u64(each);
  add(encoded);
  for (const timespec& each : {file.st_mtim, file.st_ctim}) {
    if (is_before(stamp_.newest, each)) stamp_.newest = each;
  }
}

void StampMaker::add(ByteView bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  if (bytes_.size() >= kPieceBytes) fold();
}

SourceStamp StampMaker::make() {
  fold();
  return stamp_;
}

void StampMaker::fold() {
  bytes_.insert(bytes_.begin(), stamp_.key.begin(), stamp_.key.end());
  stamp_.key = Sha256().hash(bytes_);
  bytes_.clear();
}

}  // namespace spindle
