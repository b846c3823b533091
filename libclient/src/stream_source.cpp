#include "libclient/src/stream_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <system_error>

#include "libclient/bulk/content_layout.h"
#include "libclient/src/blocked_signals.h"
#include "libclient/src/file_io.h"

namespace spindle {

StoreFailure StreamSource::spool_to(const std::string& path) {
  spool_ = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!spool_) return {Errc::file_failed, path + ": " + std::strerror(errno)};
  ::unlink(path.c_str());
  return {};
}

void StreamSource::start(std::uint32_t block_bytes, std::function<void()> news) {
  block_bytes_ = block_bytes;
  news_ = std::move(news);
  const BlockedSignals blocked;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    fail({Errc::file_failed, std::string("there is no thread to read the stream: ") + error.what()});
  }
}

void StreamSource::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    room_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

StreamSource::Progress StreamSource::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

void StreamSource::release(std::uint32_t first) {
  const std::lock_guard lock(mutex_);
  if (spool_ || first <= progress_.first) return;
  progress_.first = std::min(first, progress_.end);
  blocks_.erase(blocks_.begin(), blocks_.lower_bound(progress_.first));
  room_.notify_all();
}

bool StreamSource::read(std::uint64_t start, std::span<std::uint8_t> to) const {
  if (spool_) return read_at(spool_, start, to);
  Block block;
  {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(static_cast<std::uint32_t>(start / block_bytes_));
    if (found == blocks_.end()) return false;
    block = found->second;
  }
  return read_at(*block, start % block_bytes_, to);
}

void StreamSource::run() {
  try {
    for (bool is_more = true; is_more && wait_for_room();) {
      std::vector<std::uint8_t> block(block_bytes_);
      is_more = fill(block);
      keep(std::move(block), !is_more);
    }
  } catch (const std::exception& error) {
    fail({Errc::file_failed, error.what()});
  } catch (...) {
    fail({Errc::file_failed, "the program's function has failed"});
  }
}

bool StreamSource::wait_for_room() {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] { return stop_ || spool_ || progress_.end - progress_.first < kBlocksMax; });
  return !stop_ && !progress_.failure.error;
}

bool StreamSource::fill(std::vector<std::uint8_t>& block) {
  std::size_t filled = 0;
  while (filled < block.size()) {
    const std::optional<std::size_t> more = read_(std::span(block).subspan(filled));
    if (more == 0u) break;
    filled += std::min(more.value_or(0), block.size() - filled);
    std::unique_lock lock(mutex_);
    if (stop_) return false;
    constexpr std::chrono::milliseconds kPause{10};
    if (!more) room_.wait_for(lock, kPause, [this] { return stop_; });
  }
  const bool is_more = filled == block.size();
  block.resize(filled);
  return is_more;
}

void StreamSource::keep(std::vector<std::uint8_t> block, bool is_last) {
  std::unique_lock lock(mutex_);
  if (stop_) return;
  const std::uint64_t start = std::uint64_t{progress_.end} * block_bytes_;
  if (!block.empty() && progress_.end == bulk::kBlocksMax) {
    lock.unlock();
    return fail({Errc::limit_exceeded, "the stream is too long"});
  }
  if (spool_) {
    lock.unlock();
    if (const int error = write_at(spool_, start, block)) {
      return fail({error == ENOSPC ? Errc::no_space : Errc::file_failed,
                   std::string("the stream cannot be kept: ") + std::strerror(error)});
    }
    lock.lock();
  }
  if (is_last) progress_.size = start + block.size();
  if (!block.empty()) {
    if (!spool_) blocks_[progress_.end] = std::make_shared<const std::vector<std::uint8_t>>(std::move(block));
    ++progress_.end;
  }
  lock.unlock();
  news_();
}

void StreamSource::fail(StoreFailure failure) {
  {
    const std::lock_guard lock(mutex_);
    progress_.failure = std::move(failure);
  }
  news_();
}

}  // namespace spindle
