// The hashes of the blocks of what was offered, kept in the user's cache: a source that is started again need not read
// and hash everything again before the content is complete.
#pragma once

#include <time.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "libclient/bulk/block_index.h"
#include "libclient/bulk/content_layout.h"
#include "libclient/src/bulk_store.h"
#include "libclient/src/source_stamp.h"

namespace spindle {

/// Where they are kept unless the program says otherwise: in XDG_CACHE_HOME, or else in .cache of HOME. Empty: neither
/// is known.
std::string users_hash_directory();

/// Of one content. A file for each in that directory, by the content's stamp, which is written aside and then takes its
/// place; its CRC tells one that is not whole. Nothing of this is ever needed, so that no failure is told: where a file
/// is not there, is no good, is somebody else's, or cannot be written, everything is hashed.
///
/// The stamp changes with the content, but for what is written while a file system's clock stands still: a content that
/// was changed less than kSettled before it was hashed is not kept. What is read by kept hashes to be sent is held to
/// them by its holder; the receivers check it in any case.
class KeptHashes {
 public:
  /// Null where they cannot be kept. `began`: by the system's clock, before `store` was opened. `directory`: empty for
  /// none.
  static std::shared_ptr<KeptHashes> of(const BulkStore& store, const bulk::ContentLayout& layout,
                                        const std::string& directory, const timespec& began);

  /// What is there from a former time, if anything.
  std::optional<bulk::BlockIndex> load() const;
  /// Where the content is still what it was. False where nothing was kept.
  bool save(const BulkStore& store, const bulk::BlockIndex& index) const;
  /// They were wrong.
  void forget() const;

  static constexpr time_t kSettledSeconds = 2;
  /// What has fewer blocks is hashed as soon.
  static constexpr std::uint32_t kBlocksLeast = 4;
  /// Of all contents together; those that were used longest ago go first.
  static constexpr std::size_t kFilesMax = 256;
  static constexpr std::size_t kBytesMax = std::size_t{64} << 20;

 private:
  KeptHashes(SourceStamp stamp, const bulk::ContentLayout& layout, std::string directory);
  void trim() const;

  const SourceStamp stamp_;
  const bulk::ContentLayout layout_;
  const std::string directory_;
  const std::string path_;
};

}  // namespace spindle
