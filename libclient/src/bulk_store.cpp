#include "libclient/src/bulk_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "libclient/src/file_io.h"

namespace spindle {

namespace {

class SourceFile final : public BulkStore {
 public:
  SourceFile(Descriptor file, const struct stat& then) : file_(std::move(file)), then_(then.st_mtim) {}
  /// Not what has been written to since it was offered: what was told of it, and sent, would not be right any more.
  bool read(std::uint64_t start, std::span<std::uint8_t> to) const override {
    struct stat now {};
    return read_at(file_, start, to) && ::fstat(file_.get(), &now) == 0 && is_same_time(now.st_mtim, then_);
  }
  std::optional<SourceStamp> stamp() const override {
    struct stat now {};
    if (::fstat(file_.get(), &now) != 0) return std::nullopt;
    StampMaker maker;
    maker.add(now);
    return maker.make();
  }

 private:
  const Descriptor file_;
  const timespec then_;
};

class SourceBytes final : public BulkStore {
 public:
  explicit SourceBytes(std::shared_ptr<const std::vector<std::uint8_t>> bytes) : bytes_(std::move(bytes)) {}
  bool read(std::uint64_t start, std::span<std::uint8_t> to) const override { return read_at(*bytes_, start, to); }

 private:
  const std::shared_ptr<const std::vector<std::uint8_t>> bytes_;
};

/// They go to the program when they are whole; nobody else is served from here then.
class ReceivedBytes final : public BulkStore {
 public:
  std::optional<bulk::ResumeState> open(const bulk::ContentLayout& layout, const std::optional<bulk::BlockHash>&,
                                        StoreFailure&) override {
    bytes_.resize(layout.size);
    return std::nullopt;
  }
  bool read(std::uint64_t start, std::span<std::uint8_t> to) const override { return read_at(bytes_, start, to); }
  StoreFailure write(std::uint64_t start, ByteView bytes) override {
    if (start > bytes_.size() || bytes.size() > bytes_.size() - start) return {Errc::internal_error, {}};
    std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(start));
    return {};
  }
  std::vector<std::uint8_t> take_bytes() override { return std::move(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

std::shared_ptr<BulkStore> open_source_file(const std::string& path, std::uint64_t& size, StoreFailure& failure) {
  // What is no file, such as a pipe that nobody writes to, must not hold up the program.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0) {
    failure = {Errc::file_failed, path + ": " + std::strerror(errno)};
    return nullptr;
  }
  if (!S_ISREG(found.st_mode)) {
    failure = {Errc::file_failed, path + " is not a regular file"};
    return nullptr;
  }
  size = static_cast<std::uint64_t>(found.st_size);
  return std::make_shared<SourceFile>(std::move(file), found);
}

std::shared_ptr<BulkStore> open_source_bytes(std::shared_ptr<const std::vector<std::uint8_t>> bytes) {
  return std::make_shared<SourceBytes>(std::move(bytes));
}

std::shared_ptr<BulkStore> make_received_bytes() { return std::make_shared<ReceivedBytes>(); }

}  // namespace spindle
