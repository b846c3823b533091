// A content that comes while it is sent, and whose size nobody knows before its end.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "libclient/src/bulk_store.h"

namespace spindle {

/// A thread asks the program for bytes. Blocks that are whole are kept in memory until they are released, and the
/// program is asked for no more while there are kBlocksMax of them; or in a file, all of them.
class StreamSource final : public BulkStore {
 public:
  using Read = std::function<std::optional<std::size_t>(std::span<std::uint8_t>)>;
  static constexpr std::uint32_t kBlocksMax = 12;

  explicit StreamSource(Read read) : read_(std::move(read)) {}
  ~StreamSource() override { stop(); }

  /// Keeps everything in that file, which must not be there yet, and goes at the end.
  StoreFailure spool_to(const std::string& path);
  bool spools() const { return static_cast<bool>(spool_); }
  /// Once. `news` is called by the thread whenever `progress` has changed.
  void start(std::uint32_t block_bytes, std::function<void()> news);
  /// Waits until the program's function has come back.
  void stop();

  struct Progress {
    std::uint32_t first = 0, end = 0;   // blocks that can be read
    std::optional<std::uint64_t> size;  // of all, once it is over
    StoreFailure failure;
  };
  Progress progress() const;
  /// Blocks below `first` are not wanted any more.
  void release(std::uint32_t first);

  bool read(std::uint64_t start, std::span<std::uint8_t> to) const override;

 private:
  using Block = std::shared_ptr<const std::vector<std::uint8_t>>;

  void run();
  /// Fills a block, as far as there is something. Says whether the stream goes on behind it.
  bool fill(std::vector<std::uint8_t>& block);
  /// False where it is stopped.
  bool wait_for_room();
  void keep(std::vector<std::uint8_t> block, bool is_last);
  void fail(StoreFailure failure);

  const Read read_;
  std::function<void()> news_;
  Descriptor spool_;
  std::uint32_t block_bytes_ = 0;
  std::thread thread_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable room_;
  bool stop_ = false;
  Progress progress_;
  std::map<std::uint32_t, Block> blocks_;
};

}  // namespace spindle
