// Types that programs, daemons and the wire have in common. The numbers go over the wire and never change.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace spindle {

/// What is promised for a message; each service includes what those before it promise.
enum class Service : std::uint8_t {
  unreliable = 0,  ///< may be lost
  reliable = 1,    ///< delivered to all members that stay connected, in no particular order
  fifo = 2,        ///< a sender's messages in the order sent
  causal = 3,      ///< after every message that its sender had seen
  agreed = 4,      ///< in one order everywhere
  safe = 5,        ///< delivered only when every daemon concerned has it
};

/// By number: how tools and files spell them.
inline constexpr std::string_view kServiceNames[] = {"unreliable", "reliable", "fifo", "causal", "agreed", "safe"};

/// "unknown" for a number that no service has.
constexpr std::string_view to_string(Service service) {
  const auto number = static_cast<std::size_t>(service);
  return number < std::size(kServiceNames) ? kServiceNames[number] : "unknown";
}

/// What a daemon does about a client that does not read fast enough.
enum class SlowPolicy : std::uint8_t {
  daemon_default = 0,  ///< what its configuration says
  price = 1,           ///< senders slow down; the client is cut off only where it stops reading
  drop = 2,            ///< the oldest messages are lost, and the client is told which
  disconnect = 3,      ///< the client is cut off
};

/// By number, from 1: how tools and files spell them.
inline constexpr std::string_view kSlowPolicyNames[] = {"price", "drop", "disconnect"};

/// Identifies a view of a group; equal at all members that see the view, and never used for another one.
struct GroupViewId {
  std::uint64_t view_number = 0;  ///< of the view of the daemons
  std::string coordinator;        ///< of the view of the daemons
  std::uint64_t incarnation = 0;  ///< of the coordinator: which of its lives, from one start to the next
  std::uint64_t position = 0;     ///< in the order of that view
  bool operator==(const GroupViewId&) const = default;
};

/// Names a bulk channel, one content that a client offers to a group, for good.
struct ChannelId {
  std::string daemon;             ///< of the client that offers
  std::uint64_t incarnation = 0;  ///< of that daemon: which of its lives
  std::uint64_t number = 0;       ///< of the offers of that daemon in that life, from 1

  auto operator<=>(const ChannelId&) const = default;
};

/// "number@daemon", as people read it.
inline std::string to_string(const ChannelId& channel) { return std::to_string(channel.number) + "@" + channel.daemon; }

/// What a content that is offered is at its source.
enum class ContentKind : std::uint8_t { bytes = 0, file = 1, directory = 2 };

/// Whether both are of the same view of the daemons, so that their positions compare.
inline bool are_of_one_order(const GroupViewId& a, const GroupViewId& b) {
  return a.view_number == b.view_number && a.incarnation == b.incarnation && a.coordinator == b.coordinator;
}

/// A place in the order of a view of the daemons.
struct OrderPlace {
  std::uint64_t order = 0;
  std::uint32_t index = 0;  ///< among messages that travelled as one
};

/// Where a message stands in what the daemons have ordered: equal at all receivers, and no other message's. Messages
/// have one that came in one order: the causal, agreed and safe ones, but for those that were left open when a view of
/// the daemons ended. Positions of one view of the daemons compare; every new view begins anew.
struct MessagePosition {
  /// The last change of any group before the message, with what identifies the view of the daemons. A receiver that has
  /// missed a change, behind a message that was lost, has an earlier one.
  GroupViewId change;
  std::uint64_t order = 0;  ///< in the order of that view
  std::uint32_t index = 0;  ///< among messages that travelled as one

  /// Whether it is the same place: whatever changes of groups the receivers have had.
  friend bool operator==(const MessagePosition& a, const MessagePosition& b) {
    return are_of_one_order(a.change, b.change) && a.order == b.order && a.index == b.index;
  }
  /// Unordered where the views of the daemons differ.
  friend std::partial_ordering operator<=>(const MessagePosition& a, const MessagePosition& b) {
    if (!are_of_one_order(a.change, b.change)) return std::partial_ordering::unordered;
    return a.order != b.order ? a.order <=> b.order : a.index <=> b.index;
  }
  /// Whether the message comes behind a group view, which is of the same view of the daemons. The message was delivered
  /// in the last view of its group that it is behind; where it is behind none of this order, in the last one of an
  /// earlier order.
  bool is_behind(const GroupViewId& view) const {
    return are_of_one_order(change, view) && view.position <= change.position;
  }
};

/// Why a group has a new view.
enum class ViewCause : std::uint8_t { join = 1, leave = 2, disconnect = 3, network = 4 };

constexpr std::string_view to_string(ViewCause cause) {
  switch (cause) {
    case ViewCause::join:
      return "join";
    case ViewCause::leave:
      return "leave";
    case ViewCause::disconnect:
      return "disconnect";
    case ViewCause::network:
      return "network";
  }
  return "unknown";
}

/// What a view of a group says of the members.
enum class ViewForm : std::uint8_t {
  full = 0,      ///< all of them: the first view that a client gets of a group, and every view of a small group
  change = 1,    ///< who joined and who left, and a digest of the rest: the further views of a large group
  answer = 2,    ///< all of them, once more: what Connection::request_view() asked for. Nothing has changed
  farewell = 3,  ///< nothing: this client has left the group
};

/// Whether a view of this form lists all members.
constexpr bool has_members(ViewForm form) { return form == ViewForm::full || form == ViewForm::answer; }

}  // namespace spindle
