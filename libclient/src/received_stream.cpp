// A content that goes to the program block by block, in order.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>

#include "libclient/src/bulk_store.h"
#include "libclient/src/file_io.h"

namespace spindle {

namespace {

/// What comes before its turn is in a file without a name, whose blocks go when the program has had them.
class ReceivedStream final : public BulkStore {
 public:
  ReceivedStream(TakeBlock take, std::string directory) : take_(std::move(take)), directory_(std::move(directory)) {}

  std::optional<bulk::ResumeState> open(const bulk::ContentLayout& layout, const std::optional<bulk::BlockHash>&,
                                        StoreFailure& failure) override {
    layout_ = layout;
    if (directory_.empty()) {
      std::error_code error;
      directory_ = std::filesystem::temp_directory_path(error).string();
      if (error) {
        failure = {Errc::file_failed, "there is no directory for temporary files: " + error.message()};
        return std::nullopt;
      }
    }
    std::string name = directory_ + "/spindle-stream-XXXXXX";
    file_ = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (!file_) {
      failure = failure_of(errno);
    } else {
      ::unlink(name.c_str());
    }
    return std::nullopt;
  }

  bool read(std::uint64_t start, std::span<std::uint8_t> to) const override { return read_at(file_, start, to); }

  StoreFailure write(std::uint64_t start, ByteView bytes) override {
    const int error = write_at(file_, start, bytes);
    return error == 0 ? StoreFailure{} : failure_of(error);
  }

  /// One thread at a time gives blocks to the program; others leave theirs to it.
  StoreFailure write_block(std::uint64_t start, ByteView bytes) override {
    const auto block = static_cast<std::uint32_t>(start / layout_.block_bytes);
    std::unique_lock lock(mutex_);
    if (block < next_) return {Errc::file_failed, "what the program was given has turned out to be wrong"};
    if (block != next_ || is_giving_) {
      lock.unlock();
      if (StoreFailure failure = write(start, bytes); failure.error) return failure;
      lock.lock();
      waiting_[block] = bytes.size();
      if (is_giving_ || block != next_) return {};
      return give_waiting(lock);
    }
    is_giving_ = true;
    lock.unlock();
    StoreFailure failure = give(bytes);
    lock.lock();
    is_giving_ = false;
    if (failure.error) return failure;
    free_block(next_++);
    return give_waiting(lock);
  }

 private:
  StoreFailure give_waiting(std::unique_lock<std::mutex>& lock) {
    is_giving_ = true;
    StoreFailure failure;
    for (auto next = waiting_.find(next_); next != waiting_.end() && !failure.error; next = waiting_.find(next_)) {
      std::vector<std::uint8_t> bytes(next->second);
      waiting_.erase(next);
      lock.unlock();
      failure = read(layout_.start_of(next_), bytes) ? give(bytes) : failure_of(EIO);
      lock.lock();
      if (!failure.error) free_block(next_++);
    }
    is_giving_ = false;
    return failure;
  }

  StoreFailure give(ByteView bytes) const {
    try {
      if (take_(bytes)) return {};
      return {Errc::file_failed, "the program takes no more of it"};
    } catch (const std::exception& error) {
      return {Errc::file_failed, error.what()};
    } catch (...) {
      return {Errc::file_failed, "the program's function has failed"};
    }
  }

  void free_block(std::uint32_t block) const {
    ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(layout_.start_of(block)),
                static_cast<off_t>(layout_.block_bytes));
  }

  StoreFailure failure_of(int error) const {
    const bool is_room = error == ENOSPC || error == EDQUOT;
    return {is_room ? Errc::no_space : Errc::file_failed, directory_ + ": " + std::strerror(error), is_room};
  }

  const TakeBlock take_;
  std::string directory_;
  bulk::ContentLayout layout_;
  Descriptor file_;

  std::mutex mutex_;  // guards what follows
  std::uint32_t next_ = 0;
  bool is_giving_ = false;
  std::map<std::uint32_t, std::size_t> waiting_;  // blocks that are in the file, and their bytes
};

}  // namespace

std::shared_ptr<BulkStore> make_received_stream(TakeBlock take, std::string directory) {
  return std::make_shared<ReceivedStream>(std::move(take), std::move(directory));
}

}  // namespace spindle
