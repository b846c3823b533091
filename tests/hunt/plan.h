// A run of the hunt as data: a cluster, its clients, what they do, and what breaks when.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/node_config.h"
#include "daemon/wire/link_frames.h"
#include "tests/sim/client_channels.h"
#include "tests/sim/network.h"

namespace spindled::hunt {

using sim::HostIndex;

// X(kind, its name in plans)
#define SPINDLE_HUNT_STEPS(X)             \
  X(connect, "connect")                   \
  X(join, "join")                         \
  X(leave, "leave")                       \
  X(send, "send")                         \
  X(ask_view, "view")                     \
  X(ask_flow, "flow")                     \
  X(bye, "bye")                           \
  X(kill, "kill")                         \
  X(sever, "sever")                       \
  X(offer, "offer")                       \
  X(cancel_offers, "cancel-offers")       \
  X(detach, "detach")                     \
  X(cap, "cap")                           \
  X(listen, "listen")                     \
  X(stop_listening, "stop-listening")     \
  X(open_feed, "open-feed")               \
  X(feed, "feed")                         \
  X(close_feed, "close-feed")             \
  X(read_rate, "read")                    \
  X(start, "start")                       \
  X(stop, "stop")                         \
  X(crash, "crash")                       \
  X(crash_when, "crash-when")             \
  X(power_loss, "power-loss")             \
  X(pause, "pause")                       \
  X(resume, "resume")                     \
  X(reload, "reload")                     \
  X(cut, "cut")                           \
  X(repair, "repair")                     \
  X(reset, "reset")                       \
  X(reset_half, "reset-half")             \
  X(stall, "stall")                       \
  X(unstall, "unstall")                   \
  X(block, "block")                       \
  X(unblock, "unblock")                   \
  X(path, "path")                         \
  X(partition, "partition")               \
  X(heal, "heal")                         \
  X(heal_with_resets, "heal-with-resets") \
  X(impose, "impose")                     \
  X(part_when, "part-when")               \
  X(received, "received")

/// In the order of SPINDLE_HUNT_STEPS: clients' steps first, faults from `stop` on, but for what repairs them.
enum class StepKind : std::uint8_t {
#define SPINDLE_HUNT_STEP(kind, name) kind,
  SPINDLE_HUNT_STEPS(SPINDLE_HUNT_STEP)
#undef SPINDLE_HUNT_STEP
      count_
};

inline constexpr std::size_t kStepKinds = static_cast<std::size_t>(StepKind::count_);

std::string_view to_string(StepKind kind);
/// Whether steps of this kind break something; those that repair it are none.
bool is_fault(StepKind kind);
/// Whether only few runs have steps of this kind (draw_rare).
constexpr bool is_rare(StepKind kind) {
  return kind == StepKind::crash_when || kind == StepKind::impose || kind == StepKind::part_when ||
         kind == StepKind::ask_view || kind == StepKind::ask_flow || kind == StepKind::block;
}
/// Whether steps of this kind have to do with feeds.
constexpr bool is_of_feeds(StepKind kind) {
  return (kind >= StepKind::listen && kind <= StepKind::close_feed) || kind == StepKind::block ||
         kind == StepKind::unblock;
}
/// Whether steps of this kind part daemons.
constexpr bool has_sides(StepKind kind) {
  return kind == StepKind::partition || kind == StepKind::impose || kind == StepKind::part_when;
}
/// Whether steps of this kind wait for what a daemon says.
constexpr bool waits(StepKind kind) { return kind == StepKind::crash_when || kind == StepKind::part_when; }
/// Whether steps of this kind are something that a client does.
constexpr bool is_of_client(StepKind kind) { return kind <= StepKind::read_rate; }

/// Of a client that sends and receives the contents of bulk channels.
struct ContentHabit {
  bool serves = true;                 // others, with what it has
  std::optional<std::uint32_t> disk;  // it goes on with what that client has left
  bool is_torn = false;               // whose last states were not written to their ends
  std::uint32_t fails = 0;            // so many of its first writes of a content fail
  std::uint32_t spoils = 0;           // so many of the first blocks that it reads for others went bad on its disk
  std::uint32_t forges = 0;           // and so many are changed before they are given
  std::uint64_t memory = 0;           // for symbols, in bytes; 0: as usual
  bool operator==(const ContentHabit&) const = default;
};

/// One thing that happens; which members mean something depends on the kind. A step whose subject is not there (a
/// daemon that is down, a client that has gone) does nothing, so that any part of a plan is a plan.
struct Step {
  Duration at{};  // since the beginning; whole microseconds, as all durations of a plan
  StepKind kind{};
  HostIndex host = 0;        // the daemon; of a path, where it begins
  HostIndex peer = 0;        // where a path ends
  std::uint32_t client = 0;  // "m" and this number are its name, where it has none of its own; it connects once
  /// join, leave, ask_view: the group; send, ask_flow: the destinations, "#m3" for client m3.
  std::vector<std::string> groups;
  Service service = Service::agreed;  // send
  std::uint64_t size = 0;             // send: bytes of payload
  bool self_discard = false;          // send
  bool synchronous = false;           // join: the group is to be
  /// read_rate: kReadAll or a rate, 0 for nothing at all; cap: of what the client sends of each of its contents; cap,
  /// path: 0 for unlimited.
  std::uint64_t bytes_per_second = 0;
  Duration delay{};                           // path; impose: how long the partition lasts; part_when: after the words
  Duration jitter{};                          // path
  std::vector<std::vector<HostIndex>> sides;  // partition, impose, part_when: daemons on none form one more
  bool independent_flows = false;             // connect
  SlowPolicy policy{};                        // connect: what the client asks for; 0: nothing
  std::optional<Duration> flushes_after = Duration{};  // connect: when it answers a request to flush; none: never
  std::uint32_t answers = 0;                           // connect: how often the client answers what it is told
  std::optional<std::uint32_t> named;                  // connect: takes the name of the client of this number
  std::vector<std::string> identities;                 // connect: as the daemon knows it (Peer)
  bool returns = false;                                // connect: it comes back where its connection is lost,
  std::vector<HostIndex> others;                       // to its daemon or one of these
  std::optional<sim::ChannelHabit> channels;           // connect: it hears of bulk channels, and does so about them
  std::optional<ContentHabit> content;                 // connect: it has to do with what channels carry
  std::uint32_t block_symbols = 0;                     // offer: with its content, in blocks of so many symbols of 1 KiB
  std::optional<Duration> seals_after;                 // offer: when it is sealed; none: never. `size`: of the content
  std::uint32_t linger_s = 0;                          // offer
  std::uint32_t feed = 0;                              // open_feed, feed, close_feed: the client's number of it
  Duration repair_for{};                               // open_feed; `bytes_per_second`: the most, 0 for what goes
  bool drops_oldest = false;                           // open_feed
  bool in_order = false;                               // listen
  Duration deadline{};                                 // listen
  std::uint32_t messages = 0;                          // feed: so many, each of `size` bytes,
  Duration interval{};                                 // one each
  bool silently = false;  // sever: its daemon hears nothing of it; `delay`: how long the client
                          // does not reach it
  std::size_t rules = 0;  // reload: from now on the daemon's file has these of the plan
  std::string says;       // crash_when, part_when: the daemon's next line with this in it (kViewSteps)

  bool operator==(const Step&) const = default;
};

inline constexpr std::uint64_t kReadAll = UINT64_MAX;

struct PlannedLink {
  enum class Dialler : std::uint8_t { both, first, second };

  HostIndex a = 0;
  HostIndex b = 0;
  Dialler dialler = Dialler::both;
  std::uint64_t bytes_per_second = 0;  // 0: unlimited
  Duration delay{};
  Duration jitter{};

  bool operator==(const PlannedLink&) const = default;
};

struct Plan {
  std::uint64_t seed = 1;  // for what the simulator draws itself: jitter, how inputs gather, what a daemon draws
  std::uint32_t daemons = 0;
  std::vector<PlannedLink> links;  // connect all daemons

  // What all daemons are configured with.
  std::uint64_t first_number = 0;
  std::uint64_t retention_bytes = 0;
  std::uint64_t window_bytes = 0;
  std::uint64_t queue_soft_bytes = 0;
  std::uint64_t queue_hard_bytes = 0;
  std::uint64_t full_view_members = 0;
  std::uint64_t admission = 1;     // 0: off
  std::uint64_t varied = 0;        // 1: each daemon differs a little from the others
  std::uint64_t incarnations = 0;  // a sim::Incarnations
  std::uint64_t turn_work = 10'000;
  std::uint64_t datagrams = 0;          // 1: hosts have them, 2: and links protect them
  std::uint64_t datagram_loss = 0;      // in thousandths, for each datagram
  std::uint64_t datagram_repeated = 0;  // likewise
  std::uint64_t datagram_late = 0;      // likewise
  std::uint64_t feed_cache_bytes = 64u << 20;
  std::uint64_t feed_members_keep = 0;  // 1: only daemons with listeners keep packets (FeedCache)
  std::uint64_t feed_rate_min = 0;
  /// 1: daemons that share a channel give each other what they get, beside its tree; and 2: those without links, too,
  /// and 4: every third daemon gives its peers what is wrong.
  std::uint64_t mesh = 0;
  Duration datagram_late_by{};
  Duration resume_timeout = 5s;
  Duration going_time = 2s;
  Duration keepalive = 500ms;  // of clients that come back; whole milliseconds
  std::uint64_t resume_bytes = 1u << 20;
  std::uint64_t memory_bytes = 0;  // of each daemon; 0: as usual
  Duration stall_timeout{};
  Duration flush_timeout = 500ms;
  Duration announce_stable_within{};
  Duration heartbeat_interval{};
  Duration liveness_timeout{};
  Duration hold_down{};

  /// Rules of access, one set after the other: of the first one from the start on. None: there are none at any time.
  std::vector<AccessConfig> rules;

  std::vector<Step> steps;  // ascending in time

  /// At the end of `steps`: one of a client.
  Step& add(Duration at, StepKind kind, std::uint32_t client) {
    Step& step = steps.emplace_back();
    step.at = at;
    step.kind = kind;
    step.client = client;
    return step;
  }

  bool operator==(const Plan&) const = default;
};

/// What daemons say in the course of a view change, as one word each, and the text in their log.
struct ViewStep {
  std::string_view word;
  std::string_view text;
};
inline constexpr ViewStep kViewSteps[] = {{"proposes", "proposes"},     {"answers", "answers"},
                                          {"commits", "commits"},       {"recovers", "recovers under"},
                                          {"counts", "has all counts"}, {"has-received", "has received all"},
                                          {"tells", "tells all to"},    {"installed", " installed: "}};

/// Everything that the seed decides, decided.
Plan draw_plan(std::uint64_t seed);

/// The configuration of daemon `host`: d000, d001, ...
NodeConfig config_of(const Plan& plan, HostIndex host);
/// A set of the plan's rules, as daemons are configured with it: with what fresh members of the end need (Run).
AccessConfig access_of(const Plan& plan, std::size_t rules);
/// Who they are then.
inline constexpr char kFreshIdentity[] = "uid:99";
std::string name_of(HostIndex host);

/// Whether the links of the plan connect all its daemons.
bool is_connected(const Plan& plan);

}  // namespace spindled::hunt
