// Types that programs, daemons and the wire have in common. The numbers go over the wire and never change.
#pragma once

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
  price = 1,           ///< senders slow down; the client is cut off only beyond a hard limit
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
