// What a Node is told when it starts. `daemon/config` reads it from TOML; tests fill it in.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "daemon/base/time.h"
#include "libclient/include/spindle/types.h"

namespace spindled {

struct NeighbourConfig {
  std::string address;       // "host:port", dialled for ever
  std::uint32_t weight = 0;  // cost of the link in shortest paths; 0: derived from the round-trip time
};

struct LinkConfig {
  std::vector<NeighbourConfig> neighbours;
  Duration hello_interval = 250ms;    // a heartbeat, the frame `ping`, is sent on each link this often
  Duration liveness_timeout = 750ms;  // a link on which no byte came for this long is down; at least two heartbeats
  Duration handshake_timeout = 2s;    // from the connection to the link that is up
  // Before a neighbour is dialled again: the first wait, doubled and jittered after each failure, and the longest one.
  Duration redial_min = 100ms;
  Duration redial_max = 5s;
  Duration redial_lost_max = 500ms;  // the longest one for a neighbour that there was a link to
};

struct ViewConfig {
  Duration gain_hold_down = 200ms;  // a daemon or link that comes has to stay this long before the view changes for it
  Duration gain_hold_down_max = 10s;  // what doubling makes of that for one that comes and goes
  Duration response_timeout = 500ms;  // how long the coordinator waits in a phase of a change, on top of round trips
  Duration refresh_interval = 30s;    // each daemon floods its link state again this often, changed or not
  Duration reroute_delay = 30s;       // better paths alone change the view only after they have lasted this long
};

struct OrderConfig {
  /// Bytes of messages, its own and others', that a daemon keeps until they are stable. Beyond it takes no more from
  /// its clients.
  std::size_t retention_bytes_max = 64u << 20;
  /// A destination acknowledges a stream after so many bytes of it, and otherwise within this time.
  std::size_t acknowledge_every_bytes = 64u << 10;
  Duration acknowledge_within = 50ms;
  /// An origin announces to destinations what has become stable, so that they let go of it: much of it after the bytes
  /// or the time above, little of it within this time.
  Duration announce_stable_within = 30s;
};

/// What admission seeks the most of; daemon/admission/benefit.h says what each means.
enum class BenefitKind : std::uint8_t { sending, receiving, fair };
inline constexpr std::size_t kBenefitKinds = 3;

/// Cost-benefit admission (daemon/admission). Prices and budgets are in dollars, a unit without meaning of its own: a
/// packet of up to 1,400 bytes on an idle network costs one fee.
struct AdmissionConfig {
  bool enabled = true;                         // false: messages wait for room only, here and at clients
  BenefitKind benefit = BenefitKind::sending;  // what is sought
  /// By benefit: the groups that it is sought for instead. What ends with '*' is how names begin.
  std::array<std::vector<std::string>, kBenefitKinds> groups{};
  double fee = 1;              // Δ: what a packet costs beside the links
  double price_threshold = 2;  // H: what a packet costs in balance where a flow sends a million a second
  double price_max = 20;       // C_max: a packet for a client that has SessionConfig::queue_full_price_bytes waiting
  double salary = 10;          // what a new flow earns at the least, in dollars a second
  double savings_max = 20;     // S: a flow can have saved as many packets as this buys, and two
  // The target of the queue of a congested link: so long a wait, or so many packets where these wait longer.
  Duration queue_time = 5ms;
  std::size_t queue_packets = 24;
  Duration update_min = 50ms;    // T_min: how often the price of a link is told that takes 178 packets a second
  Duration update_max = 2500ms;  // T_max: how often prices that stay are repeated

  std::vector<std::string>& groups_of(BenefitKind kind) { return groups[static_cast<std::size_t>(kind)]; }
  const std::vector<std::string>& groups_of(BenefitKind kind) const { return groups[static_cast<std::size_t>(kind)]; }
};

using spindle::SlowPolicy;

struct SessionConfig {
  std::size_t sessions_max = 10'000;
  std::size_t memberships_max = 100'000;  // groups that one client may have joined
  std::size_t groups_max = 2'000'000;     // that have members anywhere, beyond which no client makes another one
  std::size_t full_view_members = 100;    // in a group with more, members are told of changes, and not of all members
  /// What the joins and leaves of one client may come to, in bytes told to members each second
  /// (daemon/admission/membership_rate.h), and at once; of all clients together twice as much.
  std::size_t membership_rate_bytes = 8u << 20;
  std::size_t membership_burst_bytes = 1u << 20;
  Duration handshake_timeout = 5s;
  std::size_t send_window_bytes = 8u << 20;  // this daemon's own unstable bytes beyond which its clients wait
  /// A session's unread bytes at which a packet for it costs AdmissionConfig::price_max, more for one that reads fast.
  /// The smaller, the less the rate of senders swings about what the client reads.
  std::size_t queue_full_price_bytes = 128u << 10;
  std::size_t queue_soft_bytes = 1u << 20;     // with other policies: messages are dropped, or the client's time runs
  std::size_t queue_hard_bytes = 64u << 20;    // at which the client is cut off
  SlowPolicy slow_policy = SlowPolicy::price;  // for clients that ask for none
  std::size_t held_bytes_max = 4u << 20;       // of messages that wait in the daemon for one client's independent flows
  /// A client that senders pay for and that reads nothing for this long is cut off; with policy `disconnect` one that
  /// has been above the soft limit for this long.
  Duration stall_timeout = 30s;
  std::size_t client_memory_bytes_max = 96u << 20;  // that one client may hold (daemon/session/session_memory.h)
  Duration message_timeout = 30s;                   // in which the rest of a message that was begun has to come
  /// A client whose connection is lost may come back within this time, and goes on where it was; 0: it has left.
  Duration resume_timeout = 5s;
  /// What was written to a client that may come back, and is not known to have come, beyond which nothing is written.
  std::size_t resume_bytes = 1u << 20;
  /// What a daemon that stops gives clients that can go elsewhere to do so; 0: nothing.
  Duration going_time = 2s;
  Duration flush_timeout = 10s;  // in which a member of a synchronous group has to answer a request
};

struct BulkConfig {
  /// What bulk content has left of what a path carries where ordered messages want all of it; 1: it does not yield.
  double share = 0.05;
  /// Whether daemons that share a channel give each other what they get, beside the tree (daemon/bulk/channel_mesh.h).
  bool mesh = false;
  /// Where daemons that have no link to this one may dial it for the mesh: a host and a port; empty: nowhere.
  std::string address = {};
};

/// Who keeps packets of feeds for repairs, and asks for what it lacks.
enum class FeedCache : std::uint8_t {
  all,      // every daemon on the way
  members,  // those with listeners; relays steer requests to them, as in the paper
};

struct FeedConfig {
  bool datagrams = true;  // false: what feeds send to neighbours goes over the connections of links
  /// The longest datagram, as UDP carries it; the same in the whole cluster.
  std::size_t datagram_bytes = 1400;
  FeedCache cache = FeedCache::all;
  std::size_t cache_bytes = 64u << 20;  // for the packets of all feeds; an eighth of the daemon's memory at most
  /// While ordered messages wait for a link, feeds send over it this part of what they send, at most.
  double link_share = 0.5;
  /// Bytes a second that losses without congestion leave to each feed (FeedRate); 0: nothing.
  std::size_t rate_min = 100'000;
};

/// What a client may be allowed to do with a group.
enum class Right : std::uint8_t {
  send,    // messages to it
  join,    // it, where it has members or `create` is allowed, too
  create,  // be the first to join it
};
inline constexpr std::size_t kRights = 3;

class RightSet {
 public:
  static RightSet all() {
    RightSet rights;
    rights.bits_ = (1U << kRights) - 1;
    return rights;
  }
  bool contains(Right right) const { return (bits_ >> static_cast<unsigned>(right) & 1U) != 0; }
  void insert(Right right) { bits_ |= 1U << static_cast<unsigned>(right); }
  bool operator==(const RightSet&) const = default;

 private:
  unsigned bits_ = 0;
};

/// Who may do what; daemon/access/access_rules.h says how rules are read. Patterns have `*` for any bytes.
struct AccessRule {
  std::vector<std::string> who;     // patterns of identities (Peer), or kAnyone
  std::vector<std::string> groups;  // patterns of groups and of private names
  RightSet allow;

  bool operator==(const AccessRule&) const = default;
};
inline constexpr char kAnyone[] = "anyone";

/// Names that only some clients may choose.
struct ReservedNames {
  std::string pattern;
  std::vector<std::string> who;  // as in AccessRule

  bool operator==(const ReservedNames&) const = default;
};

/// What the clients of one identity may use of one daemon together; 0: no bound.
struct QuotaLimits {
  std::size_t connections = 0;
  std::size_t memberships = 0;
  std::size_t bytes_per_s = 0;  // of the payloads of messages
  std::size_t memory_bytes = 0;

  bool operator==(const QuotaLimits&) const = default;
};

struct QuotaRule {
  std::vector<std::string> who;  // as in AccessRule
  QuotaLimits limits;

  bool operator==(const QuotaRule&) const = default;
};

struct AccessConfig {
  std::vector<AccessRule> rules;  // none: everybody may do everything
  std::vector<ReservedNames> names;
  std::vector<QuotaRule> quotas;
  /// Of rules and names, as they were written: all daemons should have the same. 0: there are none.
  std::uint64_t digest = 0;

  bool operator==(const AccessConfig&) const = default;
};

/// Whom an administration connection has to be of. Identities, as in AccessRule.
struct AdminConfig {
  std::string owner = "uid:0";         // that this process runs as: an operator, as root is
  std::vector<std::string> operators;  // may look and change
  std::vector<std::string> viewers;    // may look
  bool allow_partition = true;         // partitions may be imposed for field tests, here and by other daemons
};

inline constexpr std::size_t kMemoryBytesDefault = 1u << 30;
inline constexpr std::size_t kMemoryBytesLeast = 64u << 20;  // that a configuration file may say

struct NodeConfig {
  std::string cluster = "spindle";
  std::string name;               // this daemon; unique in the cluster
  std::uint64_t incarnation = 0;  // drawn at each start of the daemon; see DaemonId
  /// Numbers (views, streams, order positions) start this high; tests set it near wrap-around.
  std::uint64_t first_number = 0;
  /// What a turn may do of the work that grows with groups and members, in units of about a microsecond
  /// (daemon/base/turn_work.h); tests set it low.
  std::size_t turn_work_max = 10'000;
  std::size_t memory_bytes_max = kMemoryBytesDefault;  // that the daemon may hold (daemon/base/memory_budget.h)
  LinkConfig link;
  ViewConfig view;
  OrderConfig order;
  AdmissionConfig admission;
  SessionConfig session;
  BulkConfig bulk;
  FeedConfig feed;
  AccessConfig access;
  AdminConfig admin;
};

}  // namespace spindled
