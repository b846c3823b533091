// A content on its way into a file, which can be gone on with after a crash.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "libclient/src/bulk_store.h"
#include "libclient/src/file_io.h"
#include "libclient/src/received_place.h"

namespace spindle {

namespace {

/// "NAME.spindle-part" is locked as long as it is received.
class ReceivedFile final : public BulkStore {
 public:
  explicit ReceivedFile(ReceivedPlace place) : place_(std::move(place)) {}

  std::optional<bulk::ResumeState> open(const bulk::ContentLayout& layout, const std::optional<bulk::BlockHash>& root,
                                        StoreFailure& failure) override {
    failure = place_.open(false);
    if (!failure.error) failure = place_.open_locked(place_.part_name(), file_);
    if (failure.error) return std::nullopt;
    std::optional<bulk::ResumeState> state = place_.load_state();
    if (state && !is_of(*state, layout, root)) state.reset();
    if (!state) failure = begin_anew();
    if (!failure.error && layout.has_size() && layout.size > 0) failure = reserve(layout.size);
    // Who finds no room leaves nothing behind that takes some.
    if (failure.error && !state) discard();
    return failure.error ? std::nullopt : std::move(state);
  }

  bool read(std::uint64_t start, std::span<std::uint8_t> to) const override { return read_at(file_, start, to); }

  StoreFailure write(std::uint64_t start, ByteView bytes) override {
    const int error = write_at(file_, start, bytes);
    return error == 0 ? StoreFailure{} : may_pass(place_.failure_of(error, place_.part_name()));
  }

  StoreFailure save(const bulk::ResumeState& state) override {
    if (::fdatasync(file_.get()) != 0) return place_.failure_of(errno, place_.part_name());
    return place_.save_state(state);
  }

  StoreFailure finish(std::uint64_t size) override {
    if (::ftruncate(file_.get(), static_cast<off_t>(size)) != 0 || ::fsync(file_.get()) != 0) {
      return place_.failure_of(errno, place_.part_name());
    }
    if (StoreFailure failure = place_.move_here(place_.part_name()); failure.error) return failure;
    is_finished_ = true;
    place_.remove(place_.state_name());
    place_.sync();
    return {};
  }

  void discard() override {
    if (is_finished_ || !file_) return;
    place_.remove(place_.state_name());
    place_.remove(place_.part_name());
  }

  std::string path() const override { return place_.path(); }

 protected:
  void settle_state(bool stays) override { place_.settle_state(stays); }

 private:
  /// Whether the state may be that of what is offered, and its blocks are in the file.
  bool is_of(const bulk::ResumeState& state, const bulk::ContentLayout& layout,
             const std::optional<bulk::BlockHash>& root) const {
    if (!ReceivedPlace::may_be_of(state, layout, root)) return false;
    if (state.written.empty()) return true;
    const std::uint32_t last = state.written.runs().back().end - 1;
    struct stat found {};
    // The last block of a stream may be a shorter one.
    const std::uint64_t end = layout.start_of(last) + (state.layout.has_size() ? state.layout : layout).bytes_of(last);
    return ::fstat(file_.get(), &found) == 0 && static_cast<std::uint64_t>(found.st_size) >= end;
  }

  StoreFailure begin_anew() {
    place_.remove(place_.state_name());
    return ::ftruncate(file_.get(), 0) == 0 ? StoreFailure{} : place_.failure_of(errno, place_.part_name());
  }

  StoreFailure reserve(std::uint64_t size) {
    const int error = allocate(file_, size);
    return error == 0 ? StoreFailure{} : place_.failure_of(error, place_.part_name());
  }

  ReceivedPlace place_;
  Descriptor file_;
  bool is_finished_ = false;
};

}  // namespace

std::shared_ptr<BulkStore> make_received_file(std::string directory, std::string name, bool replace) {
  return std::make_shared<ReceivedFile>(ReceivedPlace(std::move(directory), std::move(name), replace));
}

}  // namespace spindle
