// Control messages between daemons as plain structs. `control.proto` is their encoding; its generated types stay inside
// `control_encode.cpp` and `control_decode.cpp`. Decoding checks everything that can be checked without knowing the
// receiver's state: names, limits, sorted lists, indices in range.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/base/member_set.h"
#include "daemon/base/node_config.h"
#include "daemon/base/result.h"
#include "daemon/base/slab.h"
#include "daemon/wire/daemon_id.h"
#include "daemon/wire/link_frames.h"
#include "daemon/wire/partition_order.h"

namespace spindled {

/// By which the other end of a link sends datagrams here, beside the connection.
struct DatagramOffer {
  std::uint16_t port = 0;   // of the host that the connection comes from or goes to; 0: none are taken
  std::uint32_t bytes = 0;  // of the longest datagram, in this cluster; 0: this daemon knows nothing of datagrams
  std::uint64_t token = 0;  // that each of them begins with

  bool operator==(const DatagramOffer&) const = default;
};

/// The first message on a connection between daemons, from both sides.
struct LinkHello {
  std::uint16_t version_min = kLinkVersionMin;
  std::uint16_t version_max = kLinkVersionMax;
  std::string cluster;
  DaemonId daemon;
  std::uint64_t settings_digest = 0;                       // of the settings that must agree
  std::optional<PartitionOrder> partition = std::nullopt;  // the newest order known, if there was any
  DatagramOffer datagrams = {};
};

struct AdvertisedLink {
  std::string neighbour;
  std::uint64_t neighbour_incarnation = 0;
  std::uint32_t weight = 1;            // cost in shortest paths, at least 1
  std::uint32_t round_trip_us = 0;     // of the path, as when it was advertised
  std::uint64_t bytes_per_second = 0;  // measured capacity; 0: not known

  bool operator==(const AdvertisedLink&) const = default;
};

/// What links are sorted by.
inline std::pair<std::string_view, std::uint64_t> key_of(const AdvertisedLink& link) {
  return {link.neighbour, link.neighbour_incarnation};
}

inline constexpr std::size_t kBulkAddressBytesMax = 261;  // a name of 255 bytes, and a port

/// Whether somebody may be told that as `DaemonSettings::bulk_address`: no more bytes than that, all of them printable.
bool is_bulk_address(std::string_view address);

/// What a daemon goes by that others need to know.
struct DaemonSettings {
  std::uint64_t rules = 0;                           // AccessConfig::digest
  std::uint64_t memory_bytes = kMemoryBytesDefault;  // MemoryBudget::limit
  std::string bulk_address = {};                     // where others may dial it for bulk content; empty: nowhere

  bool operator==(const DaemonSettings&) const = default;
};

/// A daemon's links, flooded by it.
struct LinkState {
  DaemonId origin;
  std::uint64_t sequence = 0;
  std::vector<AdvertisedLink> links;  // sorted by neighbour, then by incarnation
  /// The daemon takes no part: it has yet to learn what its neighbours know, or another daemon goes by its name.
  bool stays_out = false;
  DaemonSettings settings = {};

  bool operator==(const LinkState&) const = default;
};

/// What a daemon's link-state database holds, exchanged on a new link: each side then sends what the other lacks, and
/// after it a summary without entries that says so.
struct LinkStateSummary {
  struct Entry {
    DaemonId origin;
    std::uint64_t sequence = 0;
  };
  std::vector<Entry> entries;  // sorted by origin
  bool is_answer = false;      // all that the receiver's summary lacked has been sent
};

/// A link of a topology snapshot: indices into the members it belongs to.
struct Edge {
  MemberIndex a = 0;  // a < b
  MemberIndex b = 0;
  std::uint32_t weight = 1;
  std::uint32_t round_trip_us = 0;

  bool operator==(const Edge&) const = default;
};

// The phases of a view change; protocol in docs/architecture.md, "Views".

/// Coordinator to all, flooded: shall these be the next view?
struct Propose {
  ViewId proposal;
  std::vector<DaemonId> members;  // sorted by name
};

/// Member to coordinator, back along the flood: frozen, and this is what I have of my old view.
struct MemberState {
  ViewId proposal;
  DaemonId member;
  ViewId old_view;
  std::vector<std::uint64_t> high;  // per member of the old view: highest stream number received
  std::uint64_t safe_line = 0;      // order position up to which everybody of the old view is known to have all
  std::uint64_t processed = 0;      // order position up to which the member has delivered, or passed over, all
  MemberIndex old_index = 0;        // the member's, in the old view
  std::uint64_t stable = 0;         // of the member's own stream: every destination has it up to here
};

/// Member to coordinator: I have answered a higher proposal.
struct Refuse {
  ViewId proposal;
  DaemonId member;
  std::uint64_t highest_number = 0;
};

/// Members of the new view that come from the same old view.
struct Transition {
  struct Member {
    MemberIndex index = 0;  // in the new view
    /// As the member has said, and at least the stable line of each origin that is in the set: what differs below it
    /// matters to nobody.
    std::vector<std::uint64_t> high;
  };
  ViewId old_view;
  std::vector<Member> members;  // sorted by index; the transitional set
  std::uint64_t safe_line = 0;  // the highest of the members'
  std::uint64_t processed = 0;  // the highest of the members'
};

/// Coordinator to all, flooded: the next view, and what each transitional set has to recover.
struct Commit {
  ViewId proposal;  // becomes the new view's id
  std::vector<DaemonId> members;
  std::vector<Edge> edges;  // sorted by (a, b)
  MemberIndex sequencer = 0;
  std::vector<Transition> transitions;  // each member is in exactly one
};

/// Member to coordinator: I have pushed what the rule made me push, so many messages to each.
struct Done {
  struct Count {
    MemberIndex to = 0;
    std::uint64_t messages = 0;
  };
  ViewId proposal;
  DaemonId member;
  std::vector<Count> pushed;
};

/// Coordinator to all, flooded: so many messages were pushed to each. Left out where nothing was pushed at all.
struct Counts {
  ViewId proposal;
  std::vector<std::uint64_t> pushed_to;  // per member of the new view
};

/// Member to coordinator: as much has arrived as was pushed to me, and I keep it whatever becomes of the proposal.
struct Received {
  ViewId proposal;
  DaemonId member;
};

/// Coordinator to all, flooded: every member has received everything; install.
struct Install {
  ViewId proposal;
};

// A PartitionOrder is flooded; each daemon passes on what is news to it, once.

using ControlMessage = std::variant<LinkHello, LinkState, LinkStateSummary, Propose, MemberState, Refuse, Commit, Done,
                                    Counts, Received, Install, PartitionOrder>;

/// The bytes of a `control` frame, without its head.
std::vector<std::uint8_t> encode_control(const ControlMessage& message);
/// malformed_frame, with what is wrong, for anything that is not one valid message.
Result<ControlMessage> decode_control(ByteView bytes);

}  // namespace spindled
