// The frames between a client and its daemon. `docs/wire-format.md` shows each with a worked example.
//
// A connection starts with `hello` from the client and `welcome` (or `close`) from the daemon (client_handshake.h).
// Strings stay out of the path of messages where that pays: a client names a set of destinations once (`define`) and
// then sends to its number. A message larger than kChunkBytesMax goes as one `send` and as many `send_more` as it
// takes, with nothing of the same direction between them that is itself a message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libclient/common/bytes.h"
#include "libclient/common/framing.h"
#include "libclient/common/limits.h"
#include "libclient/common/names.h"
#include "libclient/include/spindle/error.h"
#include "libclient/include/spindle/types.h"

namespace spindle::protocol {

/// Destination sets that a session may have defined at one time; a client that needs more defines a number anew.
inline constexpr std::size_t kHandlesMax = 4096;
/// What they may take in all, by defined_bytes(); a client that needs more gives up others (a `define` without names)
/// or defines their numbers anew.
inline constexpr std::size_t kDefinedBytesMax = 16u << 20;
/// What a name in a set counts beside its bytes, for what it costs a daemon however short it is.
inline constexpr std::size_t kDefinedNameBytes = 64;
static_assert(kGroupsPerMessageMax * (kGroupNameBytesMax + kDefinedNameBytes) <= kDefinedBytesMax,
              "any set fits alone");
/// What a set of these names counts; each counts as often as it is there.
template <typename Names>
std::size_t defined_bytes(const Names& names) {
  std::size_t bytes = 0;
  for (const std::string_view name : names) bytes += name.size() + kDefinedNameBytes;
  return bytes;
}
/// Of a view's content in one `view` or `view_part` frame, and in all of them: two million names of the longest.
inline constexpr std::size_t kViewPartBytesMax = 256u << 10;
inline constexpr std::size_t kViewBytesMax = 256u << 20;
/// Names that one `gap` lists.
inline constexpr std::size_t kGapNamesMax = 64;
/// The longest frame that a client may send: a `define` of 1,000 names of 255 bytes.
inline constexpr std::size_t kClientFrameBytesMax = 260u << 10;
static_assert(kGroupsPerMessageMax * (kGroupNameBytesMax + 1) + 32 <= kClientFrameBytesMax);

/// What the messages of one flow may count that a client with independent flows has sent and was not yet told to be
/// `admitted`; the last of them may exceed it. The window is that of the handle, whatever destinations it stands for.
inline constexpr std::size_t kFlowWindowBytes = 64u << 10;
/// The daemon tells of this much at the latest, and of anything less once nothing is held that was.
inline constexpr std::size_t kFlowToldBytes = kFlowWindowBytes / 4;
/// What a message counts beside its payload, so that empty ones count, too.
inline constexpr std::size_t kFlowMessageBytes = 64;
constexpr std::size_t flow_bytes(std::size_t payload, std::size_t messages = 1) {
  return payload + messages * kFlowMessageBytes;
}

enum class ClientFrame : std::uint8_t {
  // client to daemon
  hello = 1,
  define = 2,
  send = 3,
  send_more = 4,
  join = 5,
  leave = 6,
  bye = 7,
  ping = 8,
  view_request = 9,
  flow_request = 10,
  received = 11,  // and 31: how many frames of the other side have come
  flush_ok = 12,
  confirm = 13,
  // daemon to client
  welcome = 16,
  close = 17,
  message = 18,
  message_more = 19,
  view = 20,
  transitional = 21,
  reply = 22,
  pong = 23,
  admitted = 24,
  flow = 25,
  gap = 26,      // stands where messages were that the client was too slow for
  warning = 27,  // overtakes what waits for the client
  view_part = 28,
  taken = 29,
  refused = 30,
  received_by_daemon = 31,
  flush_request = 32,
  order_view = 34,
  confirmed = 35,
  going = 36,  // overtakes what waits for the client
  // client to daemon: bulk channels (bulk_requests.h)
  bulk_offer = 40,
  bulk_seal = 41,
  bulk_outcome = 42,
  bulk_cancel = 43,
  bulk_set_rate = 44,
  bulk_token_request = 45,
  // daemon to client
  bulk_offered = 48,
  bulk_sealed = 49,
  bulk_complete = 50,
  bulk_ended = 51,
  bulk_token = 52,
  bulk_returned = 53,
  // client to daemon: feeds (feed_frames.h)
  feed_open = 56,
  feed_send = 57,
  feed_close = 58,
  listen = 59,
  stop_listening = 60,
  // daemon to client
  feed_ready = 64,
  feed_room = 65,
  feed_flow = 66,
  feed_opened = 67,
  feed_packet = 68,
  feed_gap = 69,
  feed_end = 70,
};

struct Close {
  std::uint16_t code = 0;   // an Errc
  std::string_view text;    // at most 65,535 bytes
  std::uint64_t taken = 0;  // messages of the client that have entered the network, of all that it sent
};

/// Gives the destination set `handle` (below kHandlesMax) its meaning, replacing an earlier one.
struct Define {
  std::uint32_t handle = 0;
  /// Group names, or private names "#name#daemon". None: the handle has no meaning any more.
  std::vector<std::string_view> groups;
};

struct Send {
  std::uint32_t handle = 0;
  std::uint8_t service = 0;  // spindle::Service
  bool self_discard = false;
  std::uint16_t type = 0;    // the application's 16-bit tag
  std::uint32_t total = 0;   // bytes of the whole payload
  ByteView chunk;            // its first bytes: all of them, or kChunkBytesMax
  bool has_headers = false;  // the payload begins with them (header_block.h)
};

/// `join`, `leave` and `view_request`.
struct GroupRequest {
  std::uint32_t request = 0;  // echoed in the reply
  std::string_view group;
  std::uint8_t flags = 0;  // of a `join`: the bit below; all others are zero
};
/// In `GroupRequest::flags`: the group is to be synchronous.
inline constexpr std::uint8_t kSynchronousBit = 0x01;

/// `flush_request`: the member is to stop sending to the synchronous group, and to say so. `flush_ok`: it has, until
/// the next view comes.
struct Flush {
  std::uint64_t request = 0;  // echoed in the answer: one to another request, which has come late, goes for nothing
  std::string_view group;
};

/// The outcome of a request: code 0 says of a `join` or `leave` that it is on its way into the order, where the group
/// view that follows shows it done, and of a `view_request` that the answer came before.
struct Reply {
  std::uint32_t request = 0;
  std::uint16_t code = 0;  // 0 or an Errc
};

/// Asks how the flow to the destination set `handle` fares.
struct FlowRequest {
  std::uint32_t request = 0;  // echoed in the answer
  std::uint32_t handle = 0;
};

/// So many bytes of the flow, by flow_bytes(), have entered the network since the daemon last said so.
struct Admitted {
  std::uint32_t handle = 0;
  std::uint32_t bytes = 0;
};

/// The answer to a `confirm`: all messages that the client sent before it have entered the network, or were refused.
struct Confirmed {
  std::uint32_t request = 0;
  std::uint64_t taken = 0;  // messages of the client that have entered, as in `taken`
};

/// The answer to a `flow_request`.
struct FlowReport {
  std::uint32_t request = 0;
  std::uint64_t price = 0;    // of a packet, in thousandths of a dollar
  std::int64_t budget = 0;    // in thousandths of a dollar
  std::uint64_t period = 0;   // in which the salary is earned, in microseconds
  std::uint64_t rate = 0;     // packets a second that enter the network, in thousandths
  std::uint16_t blocked = 0;  // thousandths of its life in which the flow had a message that could not enter
  std::string_view limit;     // what holds the flow up most; empty where nothing does. At most kLimitBytesMax
};
inline constexpr std::uint16_t kBlockedMax = 1000;
inline constexpr std::size_t kLimitBytesMax = 1024;

/// Where a message stands in the order that the last `order_view` has told of.
struct Place {
  std::uint64_t order = 0;  // 0: nowhere
  std::uint32_t index = 0;  // of messages that travelled as one
  bool is_there() const { return order != 0; }
  bool operator==(const Place&) const = default;
};

/// Bytes of the place in a frame; most are the first that travelled so.
inline std::size_t place_size(std::size_t order_bytes, std::uint32_t index) {
  return order_bytes == 0 ? 0 : order_bytes + (index < 0x80 ? 1 : varint_size(index));
}
inline std::size_t place_size(const Place& place) {
  return place.is_there() ? place_size(varint_size(place.order), place.index) : 0;
}

/// Whether the first byte of a `message` says that its place follows.
bool has_place(std::uint8_t first);

struct MessageHead {
  std::uint8_t service = 0;
  std::uint16_t type = 0;
  std::string_view sender;               // "#name#daemon"
  std::vector<std::string_view> groups;  // as the sender gave them
  std::uint32_t total = 0;
  ByteView chunk;
  Place place{};
  bool has_headers = false;
};

/// The head of a `message` frame whose names are packed, for the daemon's path of messages: many have the same names.
struct PackedHead {
  std::uint8_t service = 0;
  std::uint16_t type = 0;
  std::uint32_t total = 0;
  ByteView names;  // made by `pack_names`
  std::size_t chunk_bytes = 0;
  Place place{};
  std::size_t place_bytes = 0;  // place_size(place)
  bool has_headers = false;
};

/// A `message` frame whose group names are left as they came, for the client's path of messages, which allocates
/// nothing. `sender` ends where `groups` begins, and `groups` where `chunk` begins. `place`, where it is there, begins
/// `place_bytes` before the sender.
struct PackedMessage {
  std::uint8_t service = 0;
  std::uint16_t type = 0;
  std::uint16_t group_count = 0;
  std::uint32_t total = 0;
  std::string_view sender;
  ByteView groups;  // each behind one byte of length
  ByteView chunk;
  Place place;
  std::uint8_t place_bytes = 0;
  bool has_headers = false;
};

struct GroupViewFrame {
  std::string_view group;
  GroupViewId id;
  ViewCause cause = ViewCause::join;
  ViewForm form = ViewForm::full;
  std::uint32_t member_count = 0;          // written as the number of `members` where the form has them
  std::uint64_t digest = 0;                // of all members: member_list.h
  std::vector<std::string_view> joined{};  // who is new; empty in answers
  std::vector<std::string_view> left{};    // who is gone; empty in answers
  std::vector<std::string_view>
      apart{};  // cause network: those who are not new and did not come along; empty in answers
  std::vector<std::string_view> members{};  // in the agreed order; empty where the form has none
  bool synchronous = false;                 // the group is, from this view on
};

/// Messages that waited for the client and were dropped, all that stood at this place.
struct Gap {
  struct Name {
    std::string_view name;       // of a group, or a private name
    std::uint64_t messages = 0;  // how many of the messages were sent to it, among others perhaps
    bool operator==(const Name&) const = default;
  };
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;  // of their payloads
  std::vector<Name> names;  // kGapNamesMax at most
  /// How many of the messages were sent to a name that the list has no room for.
  std::uint64_t unlisted = 0;
};

/// The queue of the client has grown to `percent` of the limit at which its policy costs it something.
struct Warning {
  std::uint8_t percent = 0;  // 1 to 100
  std::uint64_t bytes = 0;   // that wait
  std::uint64_t limit_bytes = 0;
};

/// What the client asked for without a request, or has had until now, is not allowed to it.
struct Refused {
  /// `messages` were thrown away, or the client has been taken out of the group, or a join that was on its way is not
  /// to be.
  enum class What : std::uint8_t { messages = 0, membership = 1, join = 2 };
  What what = What::messages;
  std::uint16_t code = 0;      // an Errc
  std::uint64_t messages = 0;  // of those to one set of destinations, since the client was last told; 0 of all else
  std::string_view name;       // of a group, or a private name: the first one of the set that is not allowed
};

// Each `write_*` appends one frame, head included, to `out`. The caller has checked the limits above.
void write_define(std::vector<std::uint8_t>& out, const Define& define);
void write_group_request(std::vector<std::uint8_t>& out, ClientFrame type, const GroupRequest& request);
void write_bye(std::vector<std::uint8_t>& out);
void write_ping(std::vector<std::uint8_t>& out, ClientFrame type, std::uint64_t token);  // ping or pong
void write_close(std::vector<std::uint8_t>& out, const Close& close);
/// One `view`, or `view_part`s and a `view` where one frame cannot hold it. `view_bytes` are kViewBytesMax at most.
void write_view(std::vector<std::uint8_t>& out, const GroupViewFrame& view);
/// Bytes of its content.
std::size_t view_bytes(const GroupViewFrame& view);
/// So many frames of the other side have come since the session began, handshakes not counted; `type` is `received` or
/// `received_by_daemon`.
void write_received(std::vector<std::uint8_t>& out, ClientFrame type, std::uint64_t frames);
/// So many messages of the client have entered the network since it connected.
void write_taken(std::vector<std::uint8_t>& out, std::uint64_t messages);
/// Which order the places of messages to come are of, and the last change of any group before them.
void write_order_view(std::vector<std::uint8_t>& out, const GroupViewId& change);
void write_transitional(std::vector<std::uint8_t>& out, std::string_view group);
/// The daemon stops, and waits for so many milliseconds for its clients to go.
void write_going(std::vector<std::uint8_t>& out, std::uint32_t milliseconds);
void write_flush(std::vector<std::uint8_t>& out, ClientFrame type, const Flush& flush);
void write_reply(std::vector<std::uint8_t>& out, const Reply& reply);
void write_flow_request(std::vector<std::uint8_t>& out, const FlowRequest& request);
/// Asks to be told once all that was sent before has entered; `request` is echoed in the answer.
void write_confirm(std::vector<std::uint8_t>& out, std::uint32_t request);
void write_confirmed(std::vector<std::uint8_t>& out, const Confirmed& confirmed);
void write_admitted(std::vector<std::uint8_t>& out, const Admitted& admitted);
void write_flow_report(std::vector<std::uint8_t>& out, const FlowReport& report);
void write_gap(std::vector<std::uint8_t>& out, const Gap& gap);
void write_warning(std::vector<std::uint8_t>& out, const Warning& warning);
void write_refused(std::vector<std::uint8_t>& out, const Refused& refused);

// Messages are written in two steps, so that a large payload need not be copied: the size of the frame up to its
// chunk, then those bytes. The chunk follows.
std::size_t send_head_size(const Send& send);
void write_send_head(Writer& writer, const Send& send);
/// The same where the chunk, of so many bytes, is not in one piece, and not in `send`.
void write_send_head_before(Writer& writer, const Send& send, std::size_t chunk_bytes);
/// Bytes before the chunk of a `message` frame.
std::size_t message_head_size(const MessageHead& message);
void write_message_head(Writer& writer, const MessageHead& message);
/// Bytes of the names of a message in its frame.
std::size_t packed_names_size(std::string_view sender, std::span<const std::string_view> groups);
/// Bytes of a `message` frame with all of its payload, which is at most kChunkBytesMax.
std::size_t message_frame_size(std::size_t payload, std::size_t packed_names_bytes, std::size_t place_bytes = 0);
/// Replaces `out` by the names of a message, as they stand in its frame.
void pack_names(std::vector<std::uint8_t>& out, std::string_view sender, std::span<const std::string_view> groups);
std::size_t packed_head_size(const PackedHead& message);
void write_packed_head(Writer& writer, const PackedHead& message);

// Each `read_*` takes the bytes behind the frame head. Nothing is returned for bytes that are not exactly one
// well-formed frame of the kind, its limits kept and its names valid. The names in `hello` and in requests are for the
// daemon to judge, which answers a bad one with a reason. Views point into `body`.
std::optional<Define> read_define(ByteView body);
std::optional<Send> read_send(ByteView body);
std::optional<GroupRequest> read_group_request(ClientFrame type, ByteView body);
std::optional<std::uint64_t> read_ping(ByteView body);
std::optional<Close> read_close(ByteView body);
std::optional<std::uint64_t> read_taken(ByteView body);
std::optional<std::uint64_t> read_received(ByteView body);
std::optional<MessageHead> read_message(ByteView body);
/// Names are not checked that are those in `good_names`, packed; others that pass take their place there.
std::optional<PackedMessage> read_packed_message(ByteView body, std::vector<std::uint8_t>* good_names = nullptr);
std::optional<GroupViewFrame> read_view(ByteView body);
std::optional<GroupViewId> read_order_view(ByteView body);
std::optional<std::string_view> read_transitional(ByteView body);
std::optional<std::uint32_t> read_going(ByteView body);
std::optional<Flush> read_flush(ByteView body);
std::optional<Reply> read_reply(ByteView body);
std::optional<FlowRequest> read_flow_request(ByteView body);
std::optional<std::uint32_t> read_confirm(ByteView body);
std::optional<Confirmed> read_confirmed(ByteView body);
std::optional<Admitted> read_admitted(ByteView body);
std::optional<FlowReport> read_flow_report(ByteView body);
std::optional<Gap> read_gap(ByteView body);
std::optional<Warning> read_warning(ByteView body);
std::optional<Refused> read_refused(ByteView body);

}  // namespace spindle::protocol
