#include "tests/hunt/plan_bounds.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "libclient/protocol/client_frames.h"

namespace spindled::hunt {

namespace {

/// Around a message, or a fragment of one: the head of its body with a set of 64 daemons, the envelope with its
/// sender, and the report and the run that tell the sequencer of it.
constexpr std::size_t kAroundMessage = 160;
/// A subscription, a join, a leave, or a member that is announced: two names, and what is around a message.
constexpr std::size_t kChangeBytes = 2 * 64 + kAroundMessage;
/// A daemon keeps a set of destinations as its client names it, resolved, and to find it by.
constexpr std::size_t kDefinitionCopies = 3;
/// A feed is opened and closed, and said again where sides meet.
constexpr std::size_t kTimesEachFeed = 12;
/// A client that comes back opens its feeds anew; those of before are kept while repairs of them may be asked for.
constexpr std::size_t kSessionsOfOne = 8;
/// Of a message that does not fit into one packet of a feed.
constexpr std::size_t kFeedPayloadLeast = 1'000;
/// In place of "#m3" a message names "#m3#d001".
constexpr std::size_t kDaemonNameBytes = 8;
/// The largest answer of a client that answers.
constexpr std::size_t kAnswerBytes = 500;
/// The group and the message of a fresh member.
constexpr std::size_t kFreshBytes = 100;

template <typename Names>
std::size_t names_bytes(const Names& names) {
  std::size_t bytes = 0;
  for (const std::string& name : names) bytes += name.size() + kDaemonNameBytes;
  return bytes;
}

std::size_t message_bytes(std::size_t payload, std::size_t names) {
  return payload + names + kAroundMessage * (1 + payload / spindle::kChunkBytesMax);
}

/// What the tables of sets and flows have for each.
constexpr std::size_t kSetBytes = 1'200;

/// Of a set that the daemon keeps.
template <typename Names>
std::size_t definition_bytes(const Names& names) {
  return kSetBytes + kDefinitionCopies * (names_bytes(names) + names.size() * spindle::protocol::kDefinedNameBytes);
}

class Counter {
 public:
  explicit Counter(const Plan& plan) : has_rules_(!plan.rules.empty()) {
    bounds_.daemons.resize(plan.daemons);
    for (const Step& step : plan.steps) {
      if (step.kind == StepKind::connect) {
        std::vector<HostIndex>& hosts = hosts_[step.client];
        if (step.returns) returning_.insert(step.client);
        if (hosts.empty()) {
          hosts = step.others;
          hosts.push_back(step.host);
        }
      }
      if (step.kind == StepKind::join) joined_.insert(step.groups.front());
      if (names_destinations(step)) ++uses_[{step.client, &step.groups}];
    }
    for (const Step& step : plan.steps) add(step);
    for (PlanBounds::OfDaemon& each : bounds_.daemons) add_fresh(each);
    bounds_.groups = joined_.size() + 1;
    bounds_.memberships = plan.daemons;
    // One that comes back may be in a group in several lives at a time.
    for (const auto& [client, group] : memberships_) {
      const std::size_t hosts = hosts_.at(client).size();
      bounds_.memberships += returning_.contains(client) ? hosts + 1 : hosts;
    }
  }

  PlanBounds take() { return std::move(bounds_); }

 private:
  static bool names_destinations(const Step& step) {
    return step.kind == StepKind::send || step.kind == StepKind::ask_flow;
  }

  void add(const Step& step) {
    const auto hosts = hosts_.find(step.client);
    if (!is_of_client(step.kind) || hosts == hosts_.end()) return;
    // Of a client that comes back each of its daemons may get everything.
    const bool is_new_set = names_destinations(step) && defined_.emplace(step.client, &step.groups).second;
    for (const HostIndex host : hosts->second) add(step, is_new_set, bounds_.daemons[host]);
  }

  void add(const Step& step, bool is_new_set, PlanBounds::OfDaemon& daemon) {
    switch (step.kind) {
      case StepKind::connect:
        // One that comes back begins another session, before it takes up or ends the former one.
        daemon.sessions += step.returns ? 2 : 1;
        // A connection for contents is that of a session until it has said what it is for.
        if (step.content) ++daemon.sessions;
        if (step.answers > 0) add_answers(daemon, step.answers);
        return;
      case StepKind::join:
        if (hosts_.contains(step.client)) memberships_.emplace(step.client, step.groups.front());
        // Where there are rules, they may have it leave as often.
        if (has_rules_ || step.synchronous) daemon.changes += step.groups.front().size() + kChangeBytes;
        if (step.synchronous) add_flushes(step.groups.front());
        [[fallthrough]];
      case StepKind::leave:
        daemon.changes += step.groups.front().size() + kChangeBytes;
        return;
      case StepKind::open_feed:
        daemon.feeds += returning_.contains(step.client) ? kSessionsOfOne : 1;
        daemon.changes += kTimesEachFeed * (step.groups.front().size() + kChangeBytes);
        return;
      case StepKind::feed:
        daemon.feed_packets += step.messages * (1 + step.size / kFeedPayloadLeast);
        return;
      case StepKind::listen:
        daemon.listens += returning_.contains(step.client) ? 2 : 1;
        return;
      case StepKind::send:
        bounds_.message = std::max<std::size_t>(bounds_.message, step.size);
        ++bounds_.messages;
        daemon.messages += message_bytes(step.size, names_bytes(step.groups));
        [[fallthrough]];
      case StepKind::ask_flow:
        if (is_new_set) {
          // One that comes back has two sessions for a moment, each with what it defines.
          const std::size_t sessions = returning_.contains(step.client) ? 2 : 1;
          daemon.definitions += sessions * names_of(step) * definition_bytes(step.groups);
        }
        return;
      default:
        return;
    }
  }

  /// Under how many names a set may be defined: before a client that it names is welcome it is left out, and one that
  /// comes back has another name at each of its daemons.
  std::size_t names_of(const Step& step) const {
    std::size_t welcomes = 1, places = 1;
    bool any_returns = false;
    for (const std::string& name : step.groups) {
      const std::optional<std::uint32_t> client = client_named(name);
      const auto hosts = client ? hosts_.find(*client) : hosts_.end();
      if (hosts == hosts_.end()) continue;
      ++welcomes;
      any_returns = any_returns || returning_.contains(*client);
      places *= 1 + (returning_.contains(*client) ? hosts->second.size() : 1);
    }
    return std::min(uses_.at({step.client, &step.groups}), any_returns ? places : welcomes);
  }
  /// Of "#m3".
  static std::optional<std::uint32_t> client_named(std::string_view name) {
    std::uint32_t number = 0;
    if (!name.starts_with("#m")) return std::nullopt;
    const auto [end, error] = std::from_chars(name.data() + 2, name.data() + name.size(), number);
    return error == std::errc() && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
  }

  /// Every daemon says once for a join, and once for its end, that its members have flushed.
  void add_flushes(const std::string& group) {
    for (PlanBounds::OfDaemon& each : bounds_.daemons) each.changes += 2 * (group.size() + kChangeBytes);
  }

  /// Each to one group that the client is in.
  void add_answers(PlanBounds::OfDaemon& daemon, std::size_t count) {
    std::size_t longest = 0;
    for (const std::string& group : joined_) longest = std::max(longest, group.size());
    daemon.messages += count * message_bytes(kAnswerBytes, longest);
    daemon.definitions += definition_bytes(joined_) + joined_.size() * kSetBytes;
    bounds_.messages += count;
    bounds_.message = std::max(bounds_.message, kAnswerBytes);
  }

  void add_fresh(PlanBounds::OfDaemon& daemon) {
    ++daemon.sessions;
    daemon.messages += message_bytes(kFreshBytes, kFreshBytes);
    daemon.definitions += definition_bytes(std::array{std::string("fresh")});
    ++bounds_.messages;
    daemon.changes += kFreshBytes + kChangeBytes;
    bounds_.message = std::max(bounds_.message, kFreshBytes);
  }

  /// A set of destinations that a client names.
  using Defined = std::pair<std::uint32_t, const std::vector<std::string>*>;
  struct ByNames {
    bool operator()(const Defined& a, const Defined& b) const {
      return std::tie(a.first, *a.second) < std::tie(b.first, *b.second);
    }
  };

  bool has_rules_;
  PlanBounds bounds_;
  std::map<std::uint32_t, std::vector<HostIndex>> hosts_;
  std::set<std::uint32_t> returning_;
  std::set<std::string> joined_;
  std::set<std::pair<std::uint32_t, std::string>> memberships_;
  std::set<Defined, ByNames> defined_;
  std::map<Defined, std::size_t, ByNames> uses_;  // how often each is named
};

}  // namespace

PlanBounds bounds_of(const Plan& plan) { return Counter(plan).take(); }

}  // namespace spindled::hunt
