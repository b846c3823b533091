// What the clients of a run asked for and were told, and what its daemons did: all that the checkers know.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "daemon/base/member_set.h"
#include "daemon/base/node_config.h"
#include "daemon/base/time.h"
#include "daemon/wire/control.h"
#include "daemon/wire/link_frames.h"
#include "libclient/include/spindle/event.h"
#include "libclient/protocol/bulk_requests.h"
#include "tests/checkers/feed_history.h"

namespace spindled::checkers {

/// A message. Equal sender and digest mean the same message: clients never send the same type, size and payload twice.
struct MessageRecord {
  std::string sender;        // private name
  std::uint64_t digest = 0;  // of type, headers and payload
  std::uint64_t size = 0;    // of headers and payload
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
  std::optional<spindle::MessagePosition> position{};
};
struct JoinRequested {
  std::string group;
  bool synchronous = false;
};
struct LeaveRequested {
  std::string group;
  bool by_rules = false;  // its daemon had it leave, and this is when it was told
};
struct GroupView {
  std::string group;
  spindle::GroupViewId id;
  spindle::ViewCause cause{};
  std::vector<std::string> members;
  std::vector<std::string> vs_set;
  std::vector<std::string> changed;
  bool digest_matches = true;  // what the daemon says that the members hash to is what they do
  bool synchronous = false;    // the group is, from this view on
};
struct Transitional {
  std::string group;
};
/// The client was asked to flush a synchronous group.
struct FlushRequested {
  std::string group;
  std::uint64_t number = 0;
};
/// It has: what it sends to the group from here on is of its next view.
struct FlushAnswered {
  std::string group;
};
/// Messages that the client did not get, for it did not keep up.
struct Gapped {
  std::uint64_t messages = 0;
  std::map<std::string, std::uint64_t> of_name;  // how many were sent to each name
  std::uint64_t unlisted = 0;                    // how many were sent to names that are not told
};
/// A join or leave that the daemon refused.
struct Refused {
  std::string group;
  std::uint16_t code = 0;  // an Errc
};
/// Messages that the daemon refused, and nobody gets: so many to sets of destinations with that name.
struct MessagesRefused {
  std::string name;
  std::uint64_t messages = 0;
  bool by_rules = true;  // of access
};
/// What the client asked of bulk channels, or said of itself.
struct ChannelSaid {
  spindle::protocol::BulkRequest request;
};
/// What it was told of them.
struct ChannelTold {
  spindle::protocol::BulkNews news;
};
/// The client left, was cut off, or lost its daemon; nothing follows.
struct Closed {
  std::uint16_t code = 0;  // an Errc
  std::string text;
};

struct Event {
  Time at{};
  std::variant<Sent, Delivered, JoinRequested, LeaveRequested, GroupView, Transitional, Gapped, Refused, Closed,
               MessagesRefused, FlushRequested, FlushAnswered, ChannelSaid, ChannelTold>
      what;
};

struct ClientHistory {
  std::string name;  // private name; that of one that has gone may be another's later
  std::vector<Event> events{};
  std::vector<FeedEvent> feeds{};  // which are in no order with the events
  bool wants_channels = false;     // it is told of bulk channels
  bool independent_flows = false;  // its messages to one set of groups may overtake those to another
  Time since{};                    // when it was told its name, where that is known
  bool killed = false;             // it ended without a word, and its daemon had it until then
  bool bye_unanswered = false;     // it said goodbye, and its connection ended without an answer to that

  // Of a program that comes back where its connection is lost: its number, not 0, and which of its sessions this is.
  std::uint32_t program = 0;
  std::uint32_t session = 0;
  bool follows = false;  // what it sends waits for the end of the session before

  // Of one that is not to be cut off as long as it reads, where that is known:
  SlowPolicy policy{};                 // by which its daemon deals with it where it does not keep up
  std::optional<Time> slow_since{};    // until then it has read all that came, as it came
  std::vector<Time> ends_untold{};     // of connections that its daemon, which went on, has ended and not said why
  std::uint64_t messages_untaken = 0;  // in the end, where it is connected: that its daemon is not known to have taken
  std::uint64_t bytes_unsent = 0;      // likewise, of requests that its connection had no room for

  // Where it is to be held to rules:
  std::string daemon{};
  std::string wish{};                     // the name that it asked for, without its daemon
  std::vector<std::string> identities{};  // as its daemon knows it (Peer)
  Time connected{};                       // when it began to connect

  bool is_closed() const { return !events.empty() && std::holds_alternative<Closed>(events.back().what); }
};

// Daemons. Every event belongs to the view installed last before it; members are told by their index in that view.

/// The members of a view, which many histories share.
using MemberList = std::shared_ptr<const std::vector<DaemonId>>;

struct ViewInstalled {
  ViewId id;
  MemberList members;
  MemberSet came_along;  // the members that come from the same old view, as this daemon was told
};
/// This daemon gave a message its place in its stream.
struct Originated {
  std::uint64_t number = 0;  // 0: unreliable; its digest tells it apart
  Service service = Service::agreed;
  MessageClass message_class = MessageClass::client;
  std::uint64_t sender = 0;  // of a client's message: the client, by a number of the origin's
  MemberSet destinations;
  std::uint64_t digest = 0;  // of the content
};
/// This daemon's order layer handed a message up.
struct HandedUp {
  MemberIndex origin = 0;
  std::uint64_t number = 0;
  Service service = Service::agreed;
  MessageClass message_class = MessageClass::client;
  std::uint64_t position = 0;  // in the order of the view; 0: not ordered
  std::uint64_t digest = 0;
};
/// The transitional signal: what follows may not have reached members of the view outside `members`.
struct Signal {
  MemberSet members;
};

/// A client of the daemon leaves a group, and stays in others: because it asked for that, or the daemon had it leave.
struct LeftGroup {
  std::string client;
  std::string group;
};

struct DaemonEvent {
  Time at{};
  std::variant<ViewInstalled, Originated, HandedUp, Signal, LeftGroup> what;
};

/// One life of a daemon, from its start to its end.
struct DaemonHistory {
  enum class End : std::uint8_t { running, stopped, crashed };

  DaemonId id;
  std::vector<DaemonEvent> events;
  End end = End::running;

  bool is_running() const { return end == End::running; }
};

/// What a client had to do with the content of a bulk channel.
struct ContentHistory {
  struct Block {
    std::uint32_t number = 0;
    std::uint64_t digest = 0;
  };

  spindle::bulk::BulkChannelId channel;
  std::string client;  // its private name
  bool is_source = false;
  bool is_receiver = false;
  std::vector<Block> blocks;            // of the source all; of a receiver each as it was given to its program
  std::optional<std::uint64_t> digest;  // of all of it; of a receiver once it was done
  std::size_t resumed_blocks = 0;       // of a receiver, that it had when it began
  std::uint64_t symbols = 0;            // that came to a receiver,
  std::uint64_t symbols_wanted = 0;     // and that it had to get
  std::uint64_t bad_given = 0;          // blocks that went bad on its disk, and that it gave to others all the same
  std::uint64_t bad_kept = 0;           // that it knew to have gone bad, and had not got again when it was done
  std::uint64_t beyond_cap = 0;         // the most bytes that a source sent beyond what its cap allowed
  bool is_undisturbed = false;          // nothing has failed, and it was there from the beginning to the end
  // In the end:
  bool is_there = false;  // the client, and the channel
  bool gives = false;     // it has all, and gives it to others
};

/// What a life of a daemon had to do with the mesh of a bulk channel, in symbols.
struct PeerHistory {
  std::string daemon;
  spindle::bulk::BulkChannelId channel;
  std::vector<std::string> wrong;  // what it gives, and may not (PeerGiving)
  std::uint64_t given = 0;         // to other daemons
  std::uint64_t wanted = 0;        // blocks, by peers: each as often as that was said
  std::uint64_t symbols = 0;       // that came,
  std::uint64_t of_peers = 0;      // and of these from peers,
  std::uint64_t had_before = 0;    // of which these had come before
  std::uint64_t had_of_peers = 0;  // and those that came along the tree when peers had given them
  std::uint64_t told_at_once = 0;  // the most bytes for the mesh that went beyond its budget
  bool is_undisturbed = false;     // nothing has failed
};

/// A daemon goes by these rules from then on.
struct RulesInForce {
  std::string daemon;
  Time from{};
  AccessConfig rules;
};

/// The histories of all clients that ever connected, and of all lives of all daemons; the latter may be unknown.
struct History {
  std::vector<ClientHistory> clients;
  std::vector<DaemonHistory> daemons;
  std::vector<ClientHistory> turned_away;  // clients that were never told a name
  std::vector<RulesInForce> rules;         // those of each daemon in order; a daemon without any allows everything
  std::vector<ContentHistory> contents;
  std::vector<PeerHistory> peers;
  bool is_undisturbed =
      false;  // nothing was lost, no daemon ended or stood still, and feeds had all links for themselves
  bool is_memory_scarce = false;  // the limit of daemons is far below the least that a configuration file may say
  Time end = Time::max();         // when it was taken
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
