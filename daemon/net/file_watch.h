// Whether files have become others than they were.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spindled {

/// The state of some files at one time: that of its construction.
class FileWatch {
 public:
  /// Whoever reads the files looks first: what is written while he reads shows as a change then.
  explicit FileWatch(std::vector<std::string> paths = {});

  /// Whether a file is another by now, was written, came or went. Links are followed.
  bool changed() const { return FileWatch(paths_) != *this; }
  bool is_of_same_files(const FileWatch& other) const { return paths_ == other.paths_; }
  /// Of the same files in the same state.
  bool operator==(const FileWatch&) const = default;

 private:
  /// The times are nanoseconds since 1970. That of the last change of the inode tells of a file whose owner or mode was
  /// set right, and of one that was written and given its old time.
  struct State {
    int error = 0;  // errno where there is nothing to see
    std::uint64_t device = 0, inode = 0;
    std::int64_t bytes = 0, written = 0, inode_changed = 0;

    bool operator==(const State&) const = default;
  };
  static State look_at(const std::string& path);

  std::vector<std::string> paths_;
  std::vector<State> states_;
};

}  // namespace spindled
