// Where in a directory a content is received: its name, and what is beside it until it is whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "libclient/src/bulk_store.h"
#include "libclient/src/socket.h"

namespace spindle {

/// Symbolic links are not followed, so that nobody who may write to the directory can have something else written to.
class ReceivedPlace {
 public:
  ReceivedPlace(std::string directory, std::string name, bool replace)
      : directory_path_(std::move(directory)), name_(std::move(name)), replace_(replace) {}

  /// Before anything else. `is_directory`: of what is received.
  StoreFailure open(bool is_directory);
  /// Makes the file beside it, or opens it, and locks it as long as it is open. Where whoever had it has thrown it away
  /// meanwhile it is made anew; where he has finished that is as if he had before.
  StoreFailure open_locked(const std::string& name, Descriptor& file) const;

  std::optional<bulk::ResumeState> load_state() const;
  /// Whether the state may be that of what is offered.
  static bool may_be_of(const bulk::ResumeState& state, const bulk::ContentLayout& layout,
                        const std::optional<bulk::BlockHash>& root);
  /// May fail for want of room, and the former state is there then.
  StoreFailure save_state(const bulk::ResumeState& state) const;
  /// The state stays as it is, or goes; either is on the disk then.
  void settle_state(bool stays) const;
  void remove(const std::string& name) const;
  /// What has come there in the meantime is replaced only where it may be.
  StoreFailure move_here(const std::string& part) const;
  /// What file systems do at once that can: the part, a directory, gets the name, and what had it the part's. For a
  /// moment there is none of that name.
  StoreFailure exchange_in_steps(const std::string& part) const;
  /// What has been moved is on the disk.
  void sync() const;

  const Descriptor& directory() const { return directory_; }
  const std::string& name() const { return name_; }
  bool replaces() const { return replace_; }
  std::string part_name() const;
  std::string list_name() const;
  std::string state_name() const;
  std::string former_name() const;
  /// Of what is beside it by that name.
  std::string path_of(const std::string& name) const;
  std::string path() const { return path_of(name_); }

  StoreFailure failure_of(int error, const std::string& name) const;
  StoreFailure exists() const { return {Errc::file_exists, path() + " is there already"}; }

 private:
  StoreFailure check_free() const;

  const std::string directory_path_;
  const std::string name_;
  const bool replace_;
  bool is_directory_ = false;
  Descriptor directory_;
};

}  // namespace spindle
