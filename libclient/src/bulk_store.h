// Where the content of a bulk channel is: a file, or memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "libclient/bulk/resume_state.h"
#include "libclient/src/socket.h"
#include "libclient/src/source_stamp.h"

namespace spindle {

/// An Errc, and what more there is to say; no error where all went well.
struct StoreFailure {
  std::error_code error;
  std::string text;
  /// There may be room later, and nothing is lost of what was written before.
  bool may_pass = false;
  /// All that was written is gone, and no state tells of it: the content is to be received from its beginning.
  bool begins_anew = false;
};

/// Of what was to be written: where there is no room there may be some later.
inline StoreFailure may_pass(StoreFailure failure) {
  failure.may_pass = failure.error == Errc::no_space;
  return failure;
}

/// Read by any threads at once. What reads and writes fails for good where the file does.
class BulkStore {
 public:
  virtual ~BulkStore() = default;

  virtual bool read(std::uint64_t start, std::span<std::uint8_t> to) const = 0;
  /// Of what is offered, as it is now; nothing: there are no files by which it is known again, or not all that there
  /// were.
  virtual std::optional<SourceStamp> stamp() const { return std::nullopt; }

  // Of what is received. Any threads may write at once, at different places; the rest is for one thread at a time.

  /// Before anything else. `root`: of what is offered, where it is known. Gives what is there from a former time.
  virtual std::optional<bulk::ResumeState> open(const bulk::ContentLayout& /*layout*/,
                                                const std::optional<bulk::BlockHash>& /*root*/,
                                                StoreFailure& /*failure*/) {
    return std::nullopt;
  }
  virtual StoreFailure write(std::uint64_t /*start*/, ByteView /*bytes*/) { return {}; }
  /// A whole block, which is right as far as is known. What was written to its place before need not be.
  virtual StoreFailure write_block(std::uint64_t start, ByteView bytes) { return write(start, bytes); }
  /// What was written before is on the disk when the state is.
  virtual StoreFailure save(const bulk::ResumeState& /*state*/) { return {}; }
  /// As `save`, where a block that the former state names is missing again. Behind it that state counts no more, not
  /// even after a loss of power: also where there was no room for the new one, and none is there then.
  StoreFailure take_back(const bulk::ResumeState& state) {
    StoreFailure failure = save(state);
    if (!failure.error || failure.may_pass) settle_state(!failure.error);
    return failure;
  }
  /// The content is whole, and has that size.
  virtual StoreFailure finish(std::uint64_t /*size*/) { return {}; }
  /// What is there of it goes, where it is not finished.
  virtual void discard() {}
  /// Of the file, once it is finished; empty: none.
  virtual std::string path() const { return {}; }
  /// Whether both go to one file.
  bool is_at_place_of(const BulkStore& other) const { return !path().empty() && path() == other.path(); }
  virtual std::vector<std::uint8_t> take_bytes() { return {}; }

 protected:
  /// What was saved last stays as it is, or goes; either is on the disk then.
  virtual void settle_state(bool /*stays*/) {}
};

/// What is offered. Null, with the reason, where it cannot be read.
std::shared_ptr<BulkStore> open_source_file(const std::string& path, std::uint64_t& size, StoreFailure& failure);
/// Symbolic links, and what is neither file nor directory, are added to `left_out`; where that is null they are a
/// failure.
std::shared_ptr<BulkStore> open_source_directory(const std::string& path, std::vector<std::string>* left_out,
                                                 std::uint64_t& size, StoreFailure& failure);
std::shared_ptr<BulkStore> open_source_bytes(std::shared_ptr<const std::vector<std::uint8_t>> bytes);

/// Whether a file may have the name that somebody else has given to a content.
bool is_file_name(std::string_view name);

/// What is received. Nothing is opened yet.
std::shared_ptr<BulkStore> make_received_file(std::string directory, std::string name, bool replace);
std::shared_ptr<BulkStore> make_received_directory(std::string directory, std::string name, bool replace);
std::shared_ptr<BulkStore> make_received_bytes();
/// False, or an exception: the program takes no more.
using TakeBlock = std::function<bool(ByteView)>;
/// `directory`: for what comes before its turn; empty: that of the system for what is temporary.
std::shared_ptr<BulkStore> make_received_stream(TakeBlock take, std::string directory);

}  // namespace spindle
