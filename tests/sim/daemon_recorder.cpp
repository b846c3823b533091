#include "tests/sim/daemon_recorder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "daemon/base/check.h"
#include "libclient/common/names.h"

namespace spindled::sim {

using namespace checkers;

namespace {

/// A digest of bytes that does not depend on how they are cut into pieces, as those of a message are at its origin in
/// another way than at its destinations.
class ContentDigest {
 public:
  void add(ByteView bytes) {
    size_ += bytes.size();
    while (!bytes.empty()) {
      if (filled_ == 0) {
        for (; bytes.size() >= sizeof word_; bytes = bytes.subspan(sizeof word_)) {
          std::memcpy(&word_, bytes.data(), sizeof word_);
          mix();
        }
        word_ = 0;
      }
      const std::size_t count = std::min(bytes.size(), sizeof word_ - filled_);
      std::memcpy(reinterpret_cast<std::uint8_t*>(&word_) + filled_, bytes.data(), count);
      bytes = bytes.subspan(count);
      filled_ += count;
      if (filled_ < sizeof word_) continue;
      mix();
      filled_ = 0;
      word_ = 0;
    }
  }
  std::uint64_t value() {
    if (filled_ > 0) mix();
    word_ = size_;
    mix();
    return value_;
  }

 private:
  void mix() { value_ = std::rotl((value_ ^ word_) * 0x9e3779b97f4a7c15, 29); }

  std::uint64_t value_ = 0xcbf29ce484222325;
  std::uint64_t word_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t size_ = 0;
};

std::uint64_t digest_of(const Delivery& message) {
  ContentDigest digest;
  digest.add(message.first.view());
  for (const Slice& slice : message.rest) digest.add(slice.view());
  return digest.value();
}

}  // namespace

MemberList MemberLists::share(const View& view) {
  std::vector<MemberList>& known = lists_[view.id];
  const auto same =
      std::find_if(known.begin(), known.end(), [&](const MemberList& list) { return *list == view.members; });
  if (same != known.end()) return *same;
  return known.emplace_back(std::make_shared<const std::vector<DaemonId>>(view.members));
}

void DaemonRecorder::begin(DaemonId id) {
  lives_.push_back({std::move(id), {}, DaemonHistory::End::running});
  clients_.clear();
}

void DaemonRecorder::end(DaemonHistory::End end) {
  if (lives_.back().is_running()) lives_.back().end = end;
}

void DaemonRecorder::originated(const Delivery& message, const MemberSet& destinations) {
  std::uint64_t sender = 0;
  if (message.message_class == MessageClass::client) {
    SPINDLE_CHECK(read_envelope(message.first.view(), envelope_) != 0);
    sender = envelope_.session;
  }
  if (message.message_class == MessageClass::group) note_operation(message.first.view());
  note(Originated{message.number, message.service, message.message_class, sender, destinations, digest_of(message)});
}

void DaemonRecorder::note_operation(ByteView content) {
  const std::optional<GroupOperation> operation = read_operation(content);
  if (!operation) return;
  if (const auto* join = std::get_if<JoinGroup>(&*operation)) {
    clients_[join->session] = spindle::make_private_name(join->client, lives_.back().id.name);
  } else if (const auto* leave = std::get_if<LeaveGroup>(&*operation)) {
    if (const auto client = clients_.find(leave->session); client != clients_.end()) {
      note(LeftGroup{client->second, leave->group});
    }
  }
}

void DaemonRecorder::delivered(const Delivery& message) {
  note(HandedUp{message.origin, message.number, message.service, message.message_class, message.position,
                digest_of(message)});
}

void DaemonRecorder::transitional(const MemberSet& transitional) { note(Signal{transitional}); }

void DaemonRecorder::view_installed(const View& view, const MemberSet& came_along) {
  note(ViewInstalled{view.id, lists_.share(view), came_along});
}

}  // namespace spindled::sim
