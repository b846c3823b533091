// What two daemons without a link tell each other before one dials the other for bulk content.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/base/member_set.h"
#include "daemon/base/slab.h"
#include "libclient/bulk/bulk_frames.h"

namespace spindled {

/// Goes over the links of the view, which are as genuine as daemons are.
struct HopInvitation {
  MemberIndex from = 0;  // in the view
  /// By which whom it is for may dial who sends this, once. Nothing: who sends this wants to be given one.
  std::optional<spindle::bulk::BulkToken> token = std::nullopt;

  bool operator==(const HopInvitation&) const = default;
};

/// varint from; the bytes of the token, if there is one.
std::vector<std::uint8_t> write_hop_invitation(const HopInvitation& invitation);
/// Nothing where the bytes are not exactly one, in a view of so many members.
std::optional<HopInvitation> read_hop_invitation(ByteView content, std::size_t members);

}  // namespace spindled
