// Memory for whole blocks, which is large, and wanted again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace spindle::bulk {

/// Where it comes from, and goes back to. Several threads may call it at once.
class BlockMemory {
 public:
  virtual ~BlockMemory() = default;
  /// Of any content; throws std::bad_alloc.
  virtual std::uint8_t* take(std::size_t bytes) = 0;
  virtual void give_back(std::uint8_t* memory, std::size_t bytes) noexcept = 0;
};

/// That of the language.
class HeapMemory final : public BlockMemory {
 public:
  std::uint8_t* take(std::size_t bytes) override { return new std::uint8_t[bytes]; }
  void give_back(std::uint8_t* memory, std::size_t) noexcept override { delete[] memory; }
};

/// Gives it back.
class BlockReturn {
 public:
  BlockReturn() = default;
  BlockReturn(std::shared_ptr<BlockMemory> to, std::size_t bytes) : to_(std::move(to)), bytes_(bytes) {}
  void operator()(std::uint8_t* memory) const noexcept { to_->give_back(memory, bytes_); }

 private:
  std::shared_ptr<BlockMemory> to_;
  std::size_t bytes_ = 0;
};

/// The bytes of a block; their number is known to their owner.
using BlockBytes = std::unique_ptr<std::uint8_t[], BlockReturn>;

inline BlockBytes take_block(const std::shared_ptr<BlockMemory>& memory, std::size_t bytes) {
  return {memory->take(bytes), BlockReturn(memory, bytes)};
}

}  // namespace spindle::bulk
