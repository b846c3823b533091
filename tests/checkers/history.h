// What the clients of a run asked for and were told: all that the checkers know.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/wire/link_frames.h"
#include "libclient/include/spindle/message.h"

namespace spindled::checkers {

/// A message. Equal sender and digest mean the same message: clients never send the same type, size and payload twice.
struct MessageRecord {
  std::string sender;        // private name
  std::uint64_t digest = 0;  // of type and payload
  std::uint64_t size = 0;
  Service service = Service::agreed;
  std::uint16_t type = 0;
  std::vector<std::string> groups;  // as given by the sender

  bool operator==(const MessageRecord&) const = default;
};

struct Sent {
  MessageRecord message;
  bool self_discard = false;
};
struct Delivered {
  MessageRecord message;
};
struct JoinRequested {
  std::string group;
};
struct LeaveRequested {
  std::string group;
};
struct GroupView {
  std::string group;
  spindle::GroupViewId id;
  spindle::ViewCause cause{};
  std::vector<std::string> members;
  std::vector<std::string> vs_set;
  std::vector<std::string> changed;
  bool digest_matches = true;  // what the daemon says that the members hash to is what they do
};
struct Transitional {
  std::string group;
};
/// A join or leave that the daemon refused.
struct Refused {
  std::string group;
  std::uint16_t code = 0;  // an Errc
};
/// The client left, was cut off, or lost its daemon; nothing follows.
struct Closed {
  std::uint16_t code = 0;  // an Errc
  std::string text;
};

struct Event {
  Time at{};
  std::variant<Sent, Delivered, JoinRequested, LeaveRequested, GroupView, Transitional, Refused, Closed> what;
};

struct ClientHistory {
  std::string name;  // private name
  std::vector<Event> events;

  bool is_closed() const { return !events.empty() && std::holds_alternative<Closed>(events.back().what); }
};

/// The histories of all clients that ever connected.
struct History {
  std::vector<ClientHistory> clients;
};

/// Empty when all is well; otherwise one sentence for each violation, the first kViolationsMax of them.
using Violations = std::vector<std::string>;
inline constexpr std::size_t kViolationsMax = 10;

/// Every event of kind T in order, as pointers into `client`.
template <typename T>
std::vector<const T*> events_of(const ClientHistory& client) {
  std::vector<const T*> found;
  for (const Event& event : client.events) {
    if (const T* what = std::get_if<T>(&event.what)) found.push_back(what);
  }
  return found;
}

}  // namespace spindled::checkers
