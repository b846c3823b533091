// Where a client's message goes at this daemon.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "daemon/group/operations.h"
#include "daemon/overlay/view.h"

namespace spindled {

/// What an envelope comes to: who gets the message here, and under which names. Messages of one sender to one set of
/// destinations follow each other with the same envelope, so the last one is kept: it holds for the next message where
/// the bytes are the same, until the group table changes.
///
/// Order of calls: `fits`; where it does not, `start`, then whoever resolves the envelope fills in the rest.
class LocalRoute {
 public:
  /// Whether the content of a message of `origin` starts with the envelope that this was resolved for.
  bool fits(MemberIndex origin, ByteView content) const {
    return is_resolved_ && origin == origin_ && content.size() >= bytes_.size() &&
           std::equal(bytes_.data(), bytes_.data() + bytes_.size(), content.begin());
  }
  /// Reads the envelope at the start of `content`; false where it is malformed.
  bool start(MemberIndex origin, const Slice& content) {
    is_resolved_ = false;
    names.clear();
    receivers.clear();
    origin_ = origin;
    bytes_ = content.part(0, read_envelope(content.view(), envelope_));
    return !bytes_.empty();
  }
  /// It is complete, and holds for messages to come.
  void keep() { is_resolved_ = true; }
  void forget() {
    is_resolved_ = false;
    bytes_ = Slice();
  }

  const Envelope& envelope() const { return envelope_; }
  std::size_t envelope_size() const { return bytes_.size(); }

  std::vector<std::string_view> names;  // of the groups, as the sender gave them
  std::vector<SessionId> receivers;
  std::vector<std::uint8_t> packed;  // the sender and `names`: protocol::pack_names

 private:
  bool is_resolved_ = false;
  MemberIndex origin_ = 0;
  Slice bytes_;  // what `envelope_` refers to
  Envelope envelope_;
};

}  // namespace spindled
