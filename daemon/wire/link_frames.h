// The frames between neighbouring daemons, hand-laid. `docs/wire-format.md` shows each with a worked example. Control
// messages travel inside `control` frames as Protocol Buffers (`control.h`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "daemon/base/member_set.h"
#include "daemon/base/slab.h"
#include "daemon/base/time.h"
#include "libclient/common/framing.h"
#include "libclient/include/spindle/types.h"

namespace spindled {

using spindle::FrameHead;
using spindle::kFrameHeadBytes;
using spindle::Reader;
using spindle::Writer;

inline constexpr std::uint16_t kLinkVersionMin = 1;
inline constexpr std::uint16_t kLinkVersionMax = 1;

/// Longest content of one fragment: a payload chunk of a client, and the envelope with 1,000 targets in front of it.
inline constexpr std::size_t kFragmentBytesMax = 320u << 10;
inline constexpr std::size_t kDataFrameBytesMax = kFragmentBytesMax + 1024;
inline constexpr std::size_t kControlFrameBytesMax = 8u << 20;
/// Longest control message; one that is longer than a frame comes in parts. A Commit of kMembersMax daemons that are
/// all linked with each other, and all of whose streams differ everywhere, is shorter.
inline constexpr std::size_t kControlMessageBytesMax = 96u << 20;
/// Weights in a bundle of small messages (daemon/group/bundle.h). With the heads in front of it, but for long names and
/// lists of them, a bundle is one packet on every link.
inline constexpr std::uint32_t kBundleWeightMax = 1300;

/// Names a view for ever: its number, higher than any seen before by the daemon that proposed it, and that daemon in
/// its life. A daemon that has restarted may take a number again that it no longer knows of.
struct ViewId {
  std::uint64_t number = 0;
  std::string coordinator;
  std::uint64_t incarnation = 0;  // of the coordinator

  auto operator<=>(const ViewId&) const = default;
};

/// "5@alpha"
std::string to_string(const ViewId& id);

using spindle::Service;

/// Whether the service delivers at a place in the order (causal is delivered as agreed, which implies it).
constexpr bool is_ordered(Service service) { return service >= Service::causal; }

/// Who above the streams a message is for. A class goes with any service or with one of them: `kBodyKinds` in
/// link_frames.cpp, which has room for more.
enum class MessageClass : std::uint8_t {
  client,  // a client's message
  group,   // an operation on the group table: agreed
  order,   // order records, and the reports that they are made of: reliable
  part,    // a part of the payload of a client's message that is still entering: reliable
};

inline constexpr unsigned kMessageClasses = 4;

/// The service of all messages of the class; nothing: any.
constexpr std::optional<Service> only_service(MessageClass message_class) {
  switch (message_class) {
    case MessageClass::client:
      return std::nullopt;
    case MessageClass::group:
      return Service::agreed;
    case MessageClass::order:
    case MessageClass::part:
      return Service::reliable;
  }
  return std::nullopt;
}

/// The head of a body, which is the same from its origin to all destinations:
///
///   u8      kind          bits 0-2 and 6-7 class and service, 3 first fragment, 4 last fragment, 5 `after` follows
///   varint  origin        index in the view
///   varint  number        place in the origin's stream, from 1; 0: unreliable, not in the stream
///   set     destinations  all members that the message is addressed to
///   varint  after         only with bit 5: number - the stream number of the sender's last ordered message
///   varint  seen          only in the last fragment of an ordered message: how far its origin was through the order
///   ...     content       of this fragment
struct BodyHead {
  MemberIndex origin = 0;
  std::uint64_t number = 0;
  Service service = Service::reliable;
  MessageClass message_class = MessageClass::client;
  bool first = true;
  bool last = true;
  std::uint64_t after = 0;  // stream number to be delivered first; 0: none
  std::uint64_t seen = 0;   // position; the message depends on nothing that was ordered behind it
};

/// Whether `seen` stands in a head.
constexpr bool has_seen(const BodyHead& head) { return head.last && is_ordered(head.service); }

struct Body {
  BodyHead head;
  ByteView destinations;  // encoded MemberSet, read only where it is needed
  std::size_t content_offset = 0;
};

std::size_t body_head_size(const BodyHead& head, const MemberSet& destinations);
void write_body_head(Writer& writer, const BodyHead& head, const MemberSet& destinations);
/// Nothing for bytes that do not start with a well-formed head.
std::optional<Body> read_body(ByteView bytes);
/// Whether a `kind` has the class `client` or `part`: its two highest bits are equal.
constexpr bool is_client_kind(unsigned kind) { return (kind >> 7 & 1) == (kind >> 6 & 1); }
/// Whether a `kind` is of an unreliable message: all bits of class and service are 0.
constexpr bool is_unreliable_kind(unsigned kind) { return (kind & 0xc7) == 0; }
// What who passes a body on has to know of one that is well-formed: `kind` is its first byte, so that nothing else of
// the head is read for that.
inline bool is_unreliable_body(ByteView bytes) { return !bytes.empty() && is_unreliable_kind(bytes[0]); }
/// Whether it carries what a client has sent, and not what daemons tell each other in the order.
inline bool is_client_body(ByteView bytes) { return !bytes.empty() && is_client_kind(bytes[0]); }
/// Decodes `Body::destinations`, which read_body has found well-formed.
MemberSet read_destinations(const Body& body);

/// From destination `from` to the origin it is routed to: every message of that origin's stream up to `high` that was
/// addressed to `from` has arrived.
struct Acknowledgement {
  MemberIndex from = 0;
  std::uint64_t high = 0;
};

/// From origin `from`: every destination has every message of its stream up to `line`.
struct Stable {
  MemberIndex from = 0;
  std::uint64_t line = 0;
};

/// To the sequencer, while safe messages wait: `from` has all it needs of the order up to position `line`.
struct Ready {
  MemberIndex from = 0;
  std::uint64_t line = 0;
};

/// Recovery of the old view `old_view`'s messages under proposal `proposal`; a body follows.
struct Push {
  ViewId proposal;
  ViewId old_view;
};

/// What it costs to send a packet over a link of `from`, or to the clients of `from` that a destination's name reaches;
/// flooded, never over the link itself. Counts only in the view that its indices are of.
///
///   u16     view       the lowest bits of the view's number
///   varint  from << 1 | (1: of clients)
///   varint  neighbour  of a link; of clients: u8 length, name
///   varint  sequence   counts the prices that its daemon has told in this view, from 1
///   u16     level      the logarithm of the price: level_of(dollars)
///   u16     delay      in which who pays it answers, in units of kPriceDelayUnit; at least one
///   u8 length, name    of clients: the slowest of them; may be empty
///
/// A price takes as many bytes however dear it is, so that what is told takes the same share of a link.
struct Price {
  std::uint16_t view = 0;
  MemberIndex from = 0;
  MemberIndex neighbour = 0;  // where `name` is empty: the link from `from` to it
  std::string name;           // a group, or a private name; not empty for a price of clients
  std::uint64_t sequence = 0;
  std::uint16_t level = 0;  // 0: it costs nothing
  std::uint16_t delay = 1;
  std::string slowest{};  // of clients: the name of the one that costs most

  bool operator==(const Price&) const = default;
};

inline constexpr Duration kPriceDelayUnit = 250us;

/// A price as it is told, to within a two-thousandth: 1 + 2048 (ln dollars + 8), within what 16 bits can say, and 0 for
/// what costs nothing.
std::uint16_t level_of(double dollars);
double dollars_of(std::uint16_t level);
/// A delay as it is told, rounded up, within what 16 bits can say.
std::uint16_t price_delay_of(Duration delay);

struct Ping {
  std::uint64_t token = 0;  // the sender's clock; the pong brings it back
};

struct LinkClose {
  std::uint16_t code = 0;  // an Errc
  std::string text;
};

// Routed frames (data, acknowledgement, stable, ready, push) start with the set of members still to be reached, which
// relays rewrite; what follows it is opaque to them. The write functions below write what follows the set, the read
// functions read it.
std::size_t write_acknowledgement(std::uint8_t* out,
                                  const Acknowledgement& acknowledgement);  // at most kShortFrameBytesMax
std::size_t write_stable(std::uint8_t* out, const Stable& stable);
std::size_t write_ready(std::uint8_t* out, const Ready& ready);
std::size_t push_size(const Push& push);
void write_push(Writer& writer, const Push& push);
inline constexpr std::size_t kShortFrameBytesMax = 2 * spindle::kVarintBytesMax;

std::optional<Acknowledgement> read_acknowledgement(ByteView bytes);
std::optional<Stable> read_stable(ByteView bytes);
std::optional<Ready> read_ready(ByteView bytes);
/// The body is what `rest` is set to.
std::optional<Push> read_push(ByteView bytes, ByteView& rest);

// Frames between neighbours only.
std::vector<std::uint8_t> write_view_id(const ViewId& id);
std::optional<ViewId> read_view_id(ByteView bytes);
std::vector<std::uint8_t> write_price(const Price& price);
std::optional<Price> read_price(ByteView bytes);
std::optional<Ping> read_ping(ByteView bytes);
std::vector<std::uint8_t> write_link_close(const LinkClose& close);
std::optional<LinkClose> read_link_close(ByteView bytes);

}  // namespace spindled
