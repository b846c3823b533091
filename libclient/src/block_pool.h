// Memory of blocks, which is used again.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "libclient/bulk/block_memory.h"

namespace spindle {

/// The system takes a while to give memory that was not there: it clears it, page by page. So what was given back is
/// kept for the next block: much of it while others are in use, less when none is, until `clear`.
class BlockPool final : public bulk::BlockMemory {
 public:
  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool() override { clear(); }

  std::uint8_t* take(std::size_t bytes) override;
  void give_back(std::uint8_t* memory, std::size_t bytes) noexcept override;
  /// Nothing is kept any more, until memory is taken again.
  void clear() noexcept;
  /// That are kept.
  std::size_t free_bytes() {
    const std::lock_guard lock(mutex_);
    return free_bytes_;
  }

 private:
  /// Of all sizes.
  static constexpr std::size_t kFreeBytesMax = 32u << 20, kIdleBytesMax = 16u << 20;

  struct Free {
    std::uint8_t* memory;
    std::size_t bytes;
  };
  void keep(std::size_t bytes) noexcept;

  std::mutex mutex_;  // guards what follows
  std::vector<Free> free_;
  std::size_t free_bytes_ = 0;
  std::size_t in_use_ = 0;  // blocks
  bool keeps_ = false;
};

}  // namespace spindle
