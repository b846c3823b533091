// What travels in messages of the classes `client`, `part` and `group`: the envelope in front of a client's payload,
// the head of a part of one, and the operations that change the group table.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/base/slab.h"

namespace spindled {

/// A client session of one daemon; never reused in the daemon's life. 0 is none.
using SessionId = std::uint64_t;

/// A group's number in the table of the view: every daemon gives it at the same point of the order. 0 is none.
using GroupId = std::uint64_t;

/// The envelope of a client's message:
///
///   varint  session      of the sender, at the origin
///   string  sender       the client's name, behind its length byte
///   u16     type         the application's tag; 0 of a bundle
///   u8      flags        bit 0: not to the sender itself; bit 1: a bundle follows (bundle.h); bit 2: parts went ahead;
///                        bit 3: a fifo message that takes a place in the order (MessageSender); bit 4: views follow
///                        the targets; bit 5: the payload, each of a bundle, begins with headers (header_block.h)
///   varint  total        bytes of the payload; 0 of a bundle
///   varint  parts        only with bit 2: the number under which they went, from 1
///   varint  ahead        only with bit 2: bytes of the payload that they hold; 0: they are void, all of it follows
///   varint  count        of targets, and that many:
///     varint  group      its id; 0: a name follows, of a client ("#name#daemon"), or of a group that nobody has joined
///     or
///                        that not every daemon knows yet
///     string  name       only behind 0
///   varint  view         only with bit 4, for each target: of a synchronous group that the sender is a member of, in
///                        which of its views the message is sent, Synchrony::round + 1; 0 of all others
struct Envelope {
  struct Target {
    GroupId group = 0;
    std::string_view name;
    std::uint64_t view = 0;
  };
  SessionId session = 0;
  std::string_view sender;
  std::uint16_t type = 0;
  bool self_discard = false;
  bool bundle = false;
  bool is_fifo = false;
  bool has_views = false;
  bool has_headers = false;
  std::uint32_t total = 0;
  std::uint64_t parts = 0;  // 0: none went ahead
  std::uint32_t ahead = 0;
  std::vector<Target> targets;
};

/// A part of the payload of a large message that is still entering (entering_messages.h):
///
///   varint  number  of the message, from 1; the origin gives it once
///   varint  total   bytes of its payload; 0: the message never comes, and nothing follows
///   ...     payload, behind that of the parts before
struct Part {
  std::uint64_t number = 0;
  std::uint32_t total = 0;
  ByteView payload;
};

/// What goes in front of the payload of a part.
std::vector<std::uint8_t> write_part_head(std::uint64_t number, std::uint32_t total);
/// Nothing where the content is malformed.
std::optional<Part> read_part(ByteView content);

/// The targets with their count, and their views, as they end an envelope: made once for each set of destinations.
std::vector<std::uint8_t> write_targets(const std::vector<Envelope::Target>& targets, bool has_views = false);
/// Replaces `out` by the envelope; `targets` as written above.
void write_envelope(std::vector<std::uint8_t>& out, const Envelope& envelope, ByteView targets);
/// Fills `envelope`, whose targets vector is reused; the size of the envelope, or 0 where it is malformed.
std::size_t read_envelope(ByteView content, Envelope& envelope);

// Operations on the group table. Each takes effect at its place in the order, at all daemons.

/// The origin has, or is about to have, a member of the group: send it the group's messages.
struct Subscribe {
  std::string group;
};
/// The origin's last member is gone.
struct Unsubscribe {
  std::string group;
};
struct JoinGroup {
  std::string group;
  SessionId session = 0;
  std::string client;
  bool synchronous = false;  // as the client takes the group to be
};
struct LeaveGroup {
  std::string group;
  SessionId session = 0;
};
/// The session ended: it leaves all its groups.
struct Disconnect {
  SessionId session = 0;
};
/// All members that the origin has of a synchronous group, and that have a view of it, have stopped sending to it.
struct Flushed {
  std::string group;
  std::uint64_t round = 0;  // Synchrony::round
};
/// After a view change: what the origin's group table is, without the members of daemons that have not come along with
/// it. Where all say the same the table stays as it is; otherwise announcements follow.
struct TableState {
  std::uint64_t groups = 0;
  GroupId next_id = 0;
  std::uint64_t digest = 0;
  /// Groups whose members at the origin got a transitional signal, which a view has to end; sorted. Those that have
  /// lost members are left out: they get a view anyhow.
  std::vector<std::string> signalled;
  bool more = false;  // another part follows, with more of these
};
/// After a view change, where tables differ: members that the origin has. It announces all of them, in one or several
/// parts.
struct Announce {
  struct Member {
    SessionId session = 0;
    std::string client;
    bool is_newcomer = false;  // of a synchronous group: it has no view of it yet
  };
  struct Group {
    std::string name;
    GroupId id = 0;               // in the table that is kept; 0: the origin's is not
    std::vector<Member> members;  // in the order in which they joined; at least one
    bool synchronous = false;
    bool is_pending = false;  // of a synchronous one: its members have changed since its last view
  };
  std::vector<Group> groups;  // sorted by name; the last one of a part may be the first one of the next, too
  bool more = false;          // another part follows
};

/// From this number on operations are of channels beside the groups: each has its number, and says what follows it.
inline constexpr std::uint8_t kChannelOperationMin = 128;

using GroupOperation =
    std::variant<Subscribe, Unsubscribe, JoinGroup, LeaveGroup, Disconnect, Flushed, TableState, Announce>;

// Names in operations, of groups and of channels. The reader fails where it is none.
std::string read_group_name(spindle::Reader& reader);
std::string read_client_name(spindle::Reader& reader);

std::vector<std::uint8_t> write_operation(const GroupOperation& operation);
/// Nothing where the bytes are not exactly one valid operation.
std::optional<GroupOperation> read_operation(ByteView content);

}  // namespace spindled
