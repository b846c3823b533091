// What a program receives: messages, and all else that a connection has to tell.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include "spindle/message.h"
#include "spindle/types.h"

namespace spindle {

/// The members of a group have changed, or, with form `answer`, are told again. Every member sees a change between the
/// same two ordered messages. From which size on a group is large is the daemon's configuration, 100 members by
/// default; who wants the list of a large group always keeps a Membership (membership.h). Names are private names.
struct GroupView {
  std::string group;
  GroupViewId id;
  ViewCause cause = ViewCause::join;
  ViewForm form = ViewForm::full;
  std::size_t member_count = 0;      ///< with this view
  std::uint64_t digest = 0;          ///< of the members in their order; docs/wire-format.md defines it
  std::vector<std::string> joined;   ///< who is new since the former view
  std::vector<std::string> left;     ///< who left, disconnected, or, with cause network, is out of reach
  std::vector<std::string> apart;    ///< cause network: the members that are not new and did not come from the former
                                     ///< view with this client
  std::vector<std::string> members;  ///< all, in an order that all members agree on; empty unless has_members()
  std::vector<std::string> vs_set;   ///< cause network, form full: this client, and the members that neither joined
                                     ///< nor are apart; empty in all other views
  std::optional<std::size_t> my_index;  ///< this client's place in `members`; nothing unless has_members()

  /// Whether `members`, `vs_set` and `my_index` are filled in.
  bool has_members() const { return spindle::has_members(form); }
};

/// From here to the group's next view of cause network, messages reach those of the former view that are still
/// together, and the promises of their services hold among those only. Views of other causes may come before that one.
struct Transitional {
  std::string group;
};

/// The daemon refused something.
struct RequestFailed {
  enum class Request : std::uint8_t {
    join,
    leave,
    view,        ///< to tell who the members are
    send,        ///< messages that it had been sent: nobody gets those
    membership,  ///< to have the client stay a member of the group: it has left, and its last view says so, too
  };
  Request request = Request::join;
  std::string group;  ///< of several destinations of messages, the first one that is refused
  std::error_code error;
  std::uint64_t messages = 0;  ///< request `send`: so many to one set of destinations, since it was last told
};

/// Independent flows only: a flow to these destinations, for which try_multicast() has said would_block, has room
/// again, at least half of what it may hold. Comes once after one or several would_block.
struct FlowReady {
  std::vector<std::string> groups;  ///< as given to try_multicast()
};

/// How a flow fares, that is, this client's messages to one set of destinations: what Connection::request_flow() asked
/// for. A flow earns a salary and pays a price for every packet, which is up to 1,400 bytes of a message, or some small
/// messages sent at one time; dollars have no meaning beyond that. A flow that cannot pay is blocked until it can.
struct FlowState {
  std::vector<std::string> groups;            ///< as given to request_flow()
  double price = 0;                           ///< of a packet now, in dollars
  double budget = 0;                          ///< in dollars; negative after a message of several packets
  double rate = 0;                            ///< packets a second that entered the network of late
  std::chrono::microseconds salary_period{};  ///< in which a salary is earned: the shorter, the more is earned
  double blocked_share = 0;                   ///< 0 to 1: of its life, while a message waited to enter
  std::string limited_by;                     ///< the link or the receivers that cost most, or what else the flow waits
                                              ///< for; empty where nothing holds it up
};

/// The client did not keep up, and its policy is to lose messages: those that stood at this place of what it receives
/// were dropped, the oldest first. Nothing but messages is ever lost so; views and signals are where they belong.
struct Gap {
  struct Name {
    std::string name;            ///< of a group, or a private name
    std::uint64_t messages = 0;  ///< how many of the messages were sent to it; one sent to several counts at each
  };
  std::uint64_t messages = 0;  ///< that were dropped here
  std::uint64_t bytes = 0;     ///< of their payloads
  std::vector<Name> names;     ///< where they were sent to; 64 names at most
  std::uint64_t unlisted = 0;  ///< how many of the messages were sent to a name that is not listed for want of room
};

/// The daemon holds more and more for this client: the queue has passed 50 or 80 percent of the limit at which the
/// client loses messages or its connection. Overtakes whatever waits in that queue.
struct QueueWarning {
  unsigned percent = 0;           ///< 50 or 80
  std::uint64_t bytes = 0;        ///< that waited in the daemon
  std::uint64_t limit_bytes = 0;  ///< of the daemon's configuration
};

/// How many messages multicast() has accepted that have not entered the network: nobody gets those. Messages enter in
/// the order sent, so it is the last ones, but with independent flows, where it may be the last ones of each flow.
struct NotTaken {
  std::uint64_t messages = 0;
  /// The daemon has said so with its last word. Otherwise no word of the daemon came, and it may have taken some of
  /// these: there are no more than `messages`.
  bool exact = false;
};

/// The connection has ended: the last event, and there is exactly one. Where the daemon closed the connection, this is
/// its reason, in its words.
struct Disconnected {
  std::error_code error;
  std::string text;
  NotTaken not_taken;
};

using Event = std::variant<Message, GroupView, Transitional, RequestFailed, FlowReady, FlowState, Gap, QueueWarning,
                           Disconnected>;

}  // namespace spindle
