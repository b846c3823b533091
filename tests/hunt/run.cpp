#include "tests/hunt/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "tests/checkers/checkers.h"
#include "tests/checkers/history.h"
#include "tests/hunt/contents.h"
#include "tests/hunt/count_clients.h"
#include "tests/hunt/explain.h"
#include "tests/hunt/key_probes.h"
#include "tests/hunt/memory_limits.h"
#include "tests/hunt/plan_bounds.h"
#include "tests/hunt/plan_text.h"
#include "tests/hunt/quota_probes.h"
#include "tests/hunt/rules_alarms.h"
#include "tests/hunt/work_limits.h"
#include "tests/sim/admin_request.h"
#include "tests/sim/stranger.h"

namespace spindled::hunt {

namespace {

using sim::SimClient;
using sim::SimHost;

// Virtual time. Redialling backs off to 5 s, a hold-down that flapping has doubled lasts 10 s.
constexpr Duration kOneViewBound = 60s;
constexpr Duration kRestBound = 120s;
constexpr Duration kFreshBound = 20s;
constexpr Duration kContentBound = 120s;
constexpr Duration kFeedsRest = 7s;
/// What clients have said just now is with their daemons by then.
constexpr Duration kHandOver = 20ms;
/// For who waits no longer what is only late is missing.
constexpr Duration kPatience = 500ms;
constexpr Duration kRest = 1s;
constexpr Duration kSampleInterval = 20ms;
/// A client with so much that its daemon has not taken yet sends nothing more.
constexpr std::size_t kUnsentBytesMax = 400'000;
/// So many messages of one client differ in their types.
constexpr std::size_t kTypesOfOwner = 4096;
/// One client in so many sends messages with headers, too.
constexpr std::uint32_t kWithHeaders = 3;

WorkLimits work_limits_of(const Plan& plan) {
  const PlanBounds bounds = bounds_of(plan);
  return {bounds.sessions(), plan.turn_work, bounds.message, bounds.sum(&PlanBounds::OfDaemon::feeds)};
}

/// A plan that waits for what a daemon says needs all that it says.
LogLevel log_level_of(const Plan& plan, const RunOptions& options) {
  const bool any = std::any_of(plan.steps.begin(), plan.steps.end(), [](const Step& step) { return waits(step.kind); });
  return any ? LogLevel::debug : options.log_level;
}

std::string_view text_of(std::string_view view_step) {
  const auto* const found = std::find_if(std::begin(kViewSteps), std::end(kViewSteps),
                                         [&](const ViewStep& each) { return each.word == view_step; });
  return found->text;
}

/// Those that a client got of a group. Others may come beside them: who has a name that was another's gets what was
/// sent to it and had not arrived.
std::size_t messages_of(const std::string& group, const checkers::ClientHistory& history) {
  return static_cast<std::size_t>(std::count_if(history.events.begin(), history.events.end(), [&](const auto& event) {
    const auto* delivered = std::get_if<checkers::Delivered>(&event.what);
    return delivered != nullptr && delivered->message.groups == std::vector{group};
  }));
}

class Run {
 public:
  Run(const Plan& plan, const RunOptions& options)
      : plan_(plan),
        options_(options),
        sim_({.seed = plan.seed, .log_level = log_level_of(plan, options), .log_echo = options.log_echo}),
        limits_(plan),
        work_limits_(work_limits_of(plan)),
        contents_(plan, sim_) {}

  Outcome execute();

 private:
  void build();
  void go_to(Time time);
  void apply(const Step& step);
  void apply_to_client(const Step& step);
  void apply_to_daemon(const Step& step);
  void apply_to_network(const Step& step);
  void connect(const Step& step);
  bool has_returning() const;
  bool is_anybody_away();
  void send(SimClient& client, const Step& step);
  void ask_flow(SimClient& client, const Step& step);
  std::vector<std::string> destinations_of(const Step& step) const;
  SimClient* client(std::uint32_t number) {
    const auto found = clients_.find(number);
    return found == clients_.end() || found->second->is_closed() ? nullptr : found->second;
  }
  void impose(const Step& step);
  void watch_what_is_said();
  void set_path(const PlannedLink& link, std::uint64_t rate, Duration delay, Duration jitter);
  void set_blocked(HostIndex a, HostIndex b, bool is_blocked);
  bool is_undisturbed() const;
  void sample();

  void end_faults();
  void revive();
  /// Holds daemons to the limits of the plan meanwhile.
  bool await(const sim::Simulator::Predicate& predicate, Duration bound, const std::string& what);
  bool await_unsampled(const sim::Simulator::Predicate& predicate, Duration bound, const std::string& what);
  /// The same, asked again only where an event has happened: for what depends on nothing else, and not on time.
  sim::Simulator::Predicate after_events(sim::Simulator::Predicate predicate);
  bool await_one_view();
  bool await_rest();
  bool await_fresh_members();
  bool await_channels();
  void let_feeds_rest();
  bool await_content();
  std::string free_name(HostIndex host) const;
  void check_received();
  void check_properties(bool at_rest);
  void check_nothing_enters();
  void check_nothing_waits();
  void check_refusals();
  void check_spins();
  void count();

  const Plan& plan_;
  const RunOptions& options_;
  sim::Simulator sim_;
  MemoryLimits limits_;
  WorkLimits work_limits_;
  std::map<std::uint32_t, SimClient*> clients_;
  std::map<std::string, std::size_t> owners_;                                     // how many have wanted each name
  std::map<std::pair<HostIndex, std::string>, std::vector<SimClient*>> by_wish_;  // by daemon and name; of one several
  std::vector<std::unique_ptr<sim::Stranger>> administrators_;
  std::multimap<std::string, const Step*, std::less<>> waiting_;  // by the daemon whose words they wait for
  Contents contents_;
  std::set<std::pair<HostIndex, HostIndex>> blocked_;  // datagrams do not get through, in both directions
  bool faults_have_ended_ = false;
  std::map<std::pair<HostIndex, std::uint64_t>, Counters> lives_;  // of daemons, by their incarnations
  Outcome outcome_;
};

void Run::build() {
  const auto incarnations = static_cast<sim::Incarnations>(plan_.incarnations % sim::kIncarnations);
  for (HostIndex i = 0; i < plan_.daemons; ++i) {
    sim::SimHost& host = sim_.add_host(config_of(plan_, i));
    host.set_incarnations(incarnations);
    if ((plan_.mesh & 4) != 0 && i % 3 == 2) host.lie_to_peers();
  }
  for (const PlannedLink& link : plan_.links) set_path(link, link.bytes_per_second, link.delay, link.jitter);
  if (plan_.datagrams != 0) sim_.network().datagrams().turn_on();
  if (plan_.datagrams == 2) sim_.network().datagrams().protect();
  watch_what_is_said();
}

void Run::watch_what_is_said() {
  sim_.log().listen([this](std::string_view host, LogLevel, std::string_view room, std::string_view line) {
    if (room != "view") return;
    const auto [begin, end] = waiting_.equal_range(host);
    const auto found = std::find_if(
        begin, end, [&](const auto& each) { return line.find(text_of(each.second->says)) != std::string_view::npos; });
    if (found == end) return;
    const Step& step = *found->second;
    waiting_.erase(found);
    // Not in the middle of its turn.
    sim_.after(step.kind == StepKind::part_when ? step.delay : 0ns, [this, &step] {
      if (faults_have_ended_) return;
      if (step.kind == StepKind::part_when) return sim_.network().partition(step.sides);
      SimHost& speaker = sim_.host(step.host);
      if (speaker.is_running()) speaker.crash();
    });
  });
}

void Run::set_path(const PlannedLink& link, std::uint64_t rate, Duration delay, Duration jitter) {
  sim::PathProperties path;
  path.bytes_per_second = rate;
  path.delay = delay;
  path.jitter = jitter;
  sim_.network().set_path(link.a, link.b, path);
  sim::DatagramPath datagrams;
  datagrams.delay = delay;
  datagrams.jitter = jitter;
  datagrams.blocked = blocked_.contains(std::minmax(link.a, link.b));
  if (!faults_have_ended_) {
    datagrams.loss = static_cast<double>(plan_.datagram_loss) / 1'000;
    datagrams.repeated = static_cast<double>(plan_.datagram_repeated) / 1'000;
    datagrams.late = static_cast<double>(plan_.datagram_late) / 1'000;
    datagrams.late_by = plan_.datagram_late_by;
  }
  sim_.network().datagrams().set_path(link.a, link.b, datagrams);
}

void Run::set_blocked(HostIndex a, HostIndex b, bool is_blocked) {
  if (is_blocked) {
    blocked_.insert(std::minmax(a, b));
  } else {
    blocked_.erase(std::minmax(a, b));
  }
  sim::DatagramNetwork& datagrams = sim_.network().datagrams();
  datagrams.path(a, b).blocked = datagrams.path(b, a).blocked = is_blocked;
}

void Run::go_to(Time time) {
  while (sim_.now() < time) {
    sim_.run_for(std::min<Duration>(kSampleInterval, time - sim_.now()));
    sample();
  }
}

void Run::sample() {
  for (std::size_t i = 0; i < sim_.host_count(); ++i) {
    SimHost& host = sim_.host(i);
    if (!host.is_running()) continue;
    limits_.check(host.index(), host.node().memory());
    work_limits_.check(host.name(), host.config().turn_work_max, host.node().work());
    lives_[{host.index(), host.incarnation()}] = host.node().counters();
  }
}

// Steps.

void Run::apply(const Step& step) {
  if (is_of_client(step.kind)) return apply_to_client(step);
  if (is_fault(step.kind)) outcome_.tally.add(fmt::format("faults.{}", to_string(step.kind)));
  if (step.kind >= StepKind::cut) return apply_to_network(step);
  sample();  // what a daemon knows ends with it
  apply_to_daemon(step);
}

void Run::apply_to_daemon(const Step& step) {
  SimHost& host = sim_.host(step.host);
  if (step.kind == StepKind::start) {
    if (!host.is_running()) host.start();
    return;
  }
  if (step.kind == StepKind::reload) {
    host.config().access = access_of(plan_, step.rules);
    return host.reload();
  }
  if (!host.is_running()) return;
  switch (step.kind) {
    case StepKind::stop:
      return host.stop();
    case StepKind::crash:
      return host.crash();
    case StepKind::crash_when:
      waiting_.emplace(host.name(), &step);
      return;
    case StepKind::power_loss:
      return host.crash(true);
    case StepKind::pause:
      return host.is_paused() ? void() : host.pause();
    case StepKind::resume:
      return host.is_paused() ? host.resume() : void();
    default:
      return;
  }
}

void Run::apply_to_network(const Step& step) {
  sim::Network& network = sim_.network();
  switch (step.kind) {
    case StepKind::cut:
    case StepKind::repair:
      sim_.log().note(to_text(step));
      return network.set_cut(step.host, step.peer, step.kind == StepKind::cut);
    case StepKind::stall:
    case StepKind::unstall:
      return network.set_stalled(step.host, step.peer, step.kind == StepKind::stall);
    case StepKind::reset:
      return network.reset_between(step.host, step.peer);
    case StepKind::reset_half:
      return network.reset_at(step.host, step.peer);
    case StepKind::received:
      return check_received();
    case StepKind::block:
    case StepKind::unblock:
      return set_blocked(step.host, step.peer, step.kind == StepKind::block);
    case StepKind::path:
      return set_path({.a = step.host, .b = step.peer}, step.bytes_per_second, step.delay, step.jitter);
    case StepKind::partition:
      return network.partition(step.sides);
    case StepKind::heal:
    case StepKind::heal_with_resets:
      return network.heal(step.kind == StepKind::heal_with_resets);
    case StepKind::impose:
      return impose(step);
    case StepKind::part_when:
      waiting_.emplace(name_of(step.host), &step);
      return;
    default:
      return;
  }
}

/// As `spmonitor partition` does; the daemons lift it by themselves.
void Run::impose(const Step& step) {
  SimHost& host = sim_.host(step.host);
  if (!host.is_running() || host.is_stopping()) return;
  spindle::admin::Request request;
  for (const auto& side : step.sides) {
    auto& added = *request.mutable_partition()->add_sides();
    for (const HostIndex each : side) added.add_daemons(name_of(each));
  }
  request.mutable_partition()->set_milliseconds(static_cast<std::uint64_t>(step.delay / 1ms));
  administrators_.push_back(std::make_unique<sim::Stranger>(sim_.world(), host, Port::admin));
  administrators_.back()->send(sim::admin_frame_of(request));
}

void Run::apply_to_client(const Step& step) {
  if (step.kind == StepKind::connect) return connect(step);
  SimClient* subject = client(step.client);
  if (subject == nullptr) return;
  switch (step.kind) {
    case StepKind::join:
      return subject->join(step.groups.front(), step.synchronous);
    case StepKind::leave:
      return subject->leave(step.groups.front());
    case StepKind::send:
      return send(*subject, step);
    case StepKind::ask_view:
      return subject->request_view(step.groups.front());
    case StepKind::ask_flow:
      return ask_flow(*subject, step);
    case StepKind::bye:
      return subject->bye();
    case StepKind::kill:
      return subject->kill();
    case StepKind::offer:
      if (step.block_symbols > 0) return contents_.offer(step);
      return subject->offer(step.groups.front(), step.size, step.seals_after, step.linger_s);
    case StepKind::cancel_offers:
      return subject->cancel_all();
    case StepKind::detach:
      return contents_.detach(step.client);
    case StepKind::cap:
      return contents_.set_cap(step.client, step.bytes_per_second);
    case StepKind::listen:
      return subject->listen(step.groups.front(), step.in_order, step.deadline);
    case StepKind::stop_listening:
      return subject->stop_listening(step.groups.front());
    case StepKind::open_feed:
      return subject->open_feed(step.feed, step.groups.front(),
                                {step.repair_for, step.bytes_per_second, step.drops_oldest});
    case StepKind::feed:
      return subject->feed(step.feed, step.messages, step.size, step.interval);
    case StepKind::close_feed:
      return subject->close_feed(step.feed);
    case StepKind::sever:
      return subject->cut(step.silently, step.delay);
    case StepKind::read_rate:
      contents_.set_reading(step.client, step.bytes_per_second != 0);
      return subject->set_read_rate(step.bytes_per_second == kReadAll ? std::nullopt
                                                                      : std::optional(step.bytes_per_second));
    default:
      return;
  }
}

void Run::connect(const Step& step) {
  // The checkers take what a client was told for one history: each connects once.
  SimHost& host = sim_.host(step.host);
  if (!host.is_running() || host.is_stopping() || clients_.contains(step.client)) return;
  sim::ClientOptions options{.independent_flows = step.independent_flows,
                             .policy = step.policy,
                             .answers = step.answers,
                             .identities = step.identities,
                             .flushes_after = step.flushes_after,
                             .returns = step.returns,
                             .keepalive = std::chrono::duration_cast<std::chrono::milliseconds>(plan_.keepalive)};
  for (const HostIndex other : step.others) options.others.push_back(&sim_.host(other));
  options.tell_taken = step.returns;
  options.wants_channels = step.channels.has_value() || step.content.has_value();
  options.channel_habit = step.channels;
  options.has_headers = step.client % kWithHeaders == 0;
  const std::string name = fmt::format("m{}", step.named.value_or(step.client));
  options.first_type = static_cast<std::uint16_t>(kTypesOfOwner * owners_[name]++);
  clients_[step.client] = &sim_.add_client(host, name, options);
  if (step.content) contents_.add(step, *clients_[step.client]);
  by_wish_[{step.host, name}].push_back(clients_[step.client]);
  for (const HostIndex other : step.others) by_wish_[{other, name}].push_back(clients_[step.client]);
}

/// Whether a client of the plan comes back where its connection is lost.
bool Run::has_returning() const {
  return std::any_of(plan_.steps.begin(), plan_.steps.end(), [](const Step& step) { return step.returns; });
}

/// Whether a client is away, or a daemon still waits for one that will not come back.
bool Run::is_anybody_away() {
  std::size_t open = 0, sessions = 0;
  for (std::size_t i = 0; i < sim_.client_count(); ++i) {
    const SimClient& each = sim_.client(i);
    if (each.is_closed()) continue;
    if (!each.may_send()) return true;
    ++open;
  }
  for (const SimHost* host : sim_.running_hosts()) sessions += host->node().sessions();
  return sessions != open;
}

std::vector<std::string> Run::destinations_of(const Step& step) const {
  std::vector<std::string> destinations;
  for (const std::string& each : step.groups) {
    if (each.front() != '#') {
      destinations.push_back(each);
      continue;
    }
    for (const auto& [number, other] : clients_) {
      if (other->is_welcome() && fmt::format("#m{}", number) == each) destinations.push_back(other->private_name());
    }
  }
  return destinations;
}

void Run::ask_flow(SimClient& client, const Step& step) {
  const std::vector<std::string> destinations = destinations_of(step);
  if (!destinations.empty()) client.request_flow(destinations);
}

void Run::send(SimClient& from, const Step& step) {
  if (from.unsent_bytes() > kUnsentBytesMax) return;
  const std::vector<std::string> destinations = destinations_of(step);
  if (destinations.empty()) return;
  from.multicast(destinations, {.service = step.service, .size = step.size, .self_discard = step.self_discard});
}

// The end.

void Run::end_faults() {
  sim_.log().note("the faults end");
  faults_have_ended_ = true;
  waiting_.clear();
  sim_.network().heal();
  blocked_.clear();
  for (const PlannedLink& link : plan_.links) set_path(link, link.bytes_per_second, link.delay, link.jitter);
  for (SimHost* host : sim_.hosts()) {
    if (host->is_paused()) host->resume();
  }
  for (const auto& [number, each] : clients_) {
    if (!each->is_closed()) each->set_read_rate(std::nullopt);
    contents_.set_reading(number, true);
    contents_.set_cap(number, 0);
  }
}

void Run::revive() {
  for (SimHost* host : sim_.hosts()) {
    if (!host->is_running()) host->start();
  }
}

bool Run::await(const sim::Simulator::Predicate& predicate, Duration bound, const std::string& what) {
  Time sampled{};
  return await_unsampled(
      [&] {
        if (sim_.now() - sampled >= kSampleInterval) {
          sampled = sim_.now();
          sample();
        }
        return predicate();
      },
      bound, what);
}

bool Run::await_unsampled(const sim::Simulator::Predicate& predicate, Duration bound, const std::string& what) {
  const Time begin = sim_.now();
  const bool came = sim_.run_until(predicate, bound);
  outcome_.tally.raise(fmt::format("{}, virtual ms", what), static_cast<std::uint64_t>((sim_.now() - begin) / 1ms));
  if (!came) {
    outcome_.findings.push_back(
        {fmt::format("liveness: {}", what), fmt::format("liveness: not within {} s: {}", to_seconds(bound), what)});
  }
  return came;
}

sim::Simulator::Predicate Run::after_events(sim::Simulator::Predicate predicate) {
  return [this, predicate = std::move(predicate), asked = std::optional<std::uint64_t>(), holds = false]() mutable {
    if (asked == sim_.events_happened()) return holds;
    holds = predicate();
    asked = sim_.events_happened();
    return holds;
  };
}

bool Run::await_one_view() {
  const auto one_view = [this] {
    revive();
    const std::vector<SimHost*> hosts = sim_.hosts();
    if (std::any_of(hosts.begin(), hosts.end(), [](const SimHost* host) { return host->is_stopping(); })) return false;
    return sim::have_one_view(hosts);
  };
  return await(after_events(one_view), kOneViewBound, "one view of all daemons");
}

bool Run::await_rest() {
  const auto events = [this] {
    std::size_t count = 0;
    for (const auto& [number, each] : clients_) count += each->history().events.size() + each->history().feeds.size();
    return count;
  };
  // Who has sent much at once, or while a link was dear, earns for seconds before the next message can be paid; and is
  // told a while later that it was.
  const auto waits = [this] {
    for (const auto& [number, each] : clients_) {
      if (!each->is_closed() && each->untaken_messages() > 0) return true;
    }
    const std::vector<SimHost*> hosts = sim_.running_hosts();
    return std::any_of(hosts.begin(), hosts.end(), [](const SimHost* host) {
      return host->node().feeds_waiting_bytes() > 0 || host->node().waiting_clients() > 0;
    });
  };
  const bool any_returns = has_returning();
  std::size_t last = events();
  Time since = sim_.now();
  std::optional<std::uint64_t> rested;  // as many events had happened when nobody did anything
  const auto rest = [&] {
    if (rested != sim_.events_happened()) {
      if (const std::size_t now = events(); now != last || waits() || (any_returns && is_anybody_away())) {
        last = now;
        since = sim_.now();
      } else {
        rested = sim_.events_happened();
      }
    }
    return sim_.now() - since >= kRest;
  };
  return await(rest, kRestBound, "clients at rest");
}

/// Where all who had a name of this daemon have gone, that name.
std::string Run::free_name(HostIndex host) const {
  for (const auto& [wish, clients] : by_wish_) {
    const bool is_free = std::all_of(clients.begin(), clients.end(), [](const SimClient* c) { return c->is_closed(); });
    if (wish.first == host && is_free) return wish.second;
  }
  return fmt::format("fresh{}", host);
}

bool Run::await_fresh_members() {
  std::vector<SimClient*> fresh;
  sim::ClientOptions options;
  if (!plan_.rules.empty()) options.identities = {kFreshIdentity};
  for (SimHost* host : sim_.hosts()) {
    const std::string name = free_name(host->index());
    options.first_type = static_cast<std::uint16_t>(kTypesOfOwner * owners_[name]++);
    fresh.push_back(&sim_.add_client(*host, name, options));
    fresh.back()->join("fresh", plan_.seed % 2 == 0);
  }
  const auto one_view = [&] { return sim::have_one_group_view(fresh, "fresh"); };
  if (!await(after_events(one_view), kFreshBound, "one view of fresh members")) return false;
  for (SimClient* each : fresh) {
    each->multicast({"fresh"}, {.service = each->host().index() % 2 == 0 ? Service::agreed : Service::safe});
  }
  const auto has_all = [&](const SimClient* each) {
    return each->messages() >= fresh.size() && messages_of("fresh", each->history()) == fresh.size();
  };
  return await(after_events([&] { return std::all_of(fresh.begin(), fresh.end(), has_all); }), kFreshBound,
               "messages of fresh members");
}

/// What anybody has, and gives to others, all get.
bool Run::await_content() {
  return contents_.empty() ||
         await(after_events([this] { return contents_.are_received(); }), kContentBound, "contents at all receivers");
}

/// What is missing of feeds is given up by then, at the latest: repairs are of use for five seconds in plans.
void Run::let_feeds_rest() {
  const bool any = std::any_of(plan_.steps.begin(), plan_.steps.end(),
                               [](const Step& step) { return step.kind == StepKind::open_feed; });
  if (any) sim_.run_for(kFeedsRest);
}

/// Channels end by themselves: what their daemons say of that is not to be on its way. A client may have been told of
/// one only now, and gets its content. Clients of no plan may be there by then, who probed quotas.
bool Run::await_channels() {
  const bool any = std::any_of(plan_.steps.begin(), plan_.steps.end(),
                               [](const Step& step) { return step.kind == StepKind::offer; });
  const auto has_all = [](const SimHost* host) { return host->node().own_stream_bytes() == 0; };
  const auto is_quiet = [&] {
    const std::vector<SimHost*> hosts = sim_.hosts();
    return std::all_of(hosts.begin(), hosts.end(), has_all) && contents_.are_received();
  };
  if (!any) return true;
  const Duration bound = contents_.empty() ? kFreshBound : kContentBound;
  const auto await_quiet = [&] {
    return await_unsampled(after_events(is_quiet), bound, "what daemons say of channels");
  };
  if (!await_quiet()) return false;
  sim_.run_for(kHandOver);
  return await_quiet();
}

/// While something is broken: what is left has brought the contents to all whose daemons run.
void Run::check_received() {
  for (const std::string& lack : contents_.lacks()) {
    outcome_.findings.push_back({"recovery", fmt::format("recovery: {}", lack)});
  }
}

/// No packet of a feed may be missing: nothing of the network, the daemons and the clients is in its way.
bool Run::is_undisturbed() const {
  const bool any_fault = std::any_of(plan_.steps.begin(), plan_.steps.end(), [](const Step& step) {
    const bool is_hasty = step.kind == StepKind::listen && step.in_order && step.deadline < kPatience;
    return is_fault(step.kind) || step.kind == StepKind::kill || step.kind == StepKind::read_rate || is_hasty;
  });
  if (any_fault || plan_.datagram_loss != 0 || plan_.datagram_late != 0 || plan_.datagram_repeated != 0) return false;
  return std::all_of(lives_.begin(), lives_.end(), [](const auto& life) {
    return life.second.value(Counter::feed_packets_yielded) == 0 && life.second.value(Counter::datagrams_dropped) == 0;
  });
}

/// Nobody sends any more, so that no daemon keeps a part of a message.
void Run::check_nothing_enters() {
  for (const SimHost* host : sim_.running_hosts()) {
    const std::size_t partial = host->node().memory().partial;
    if (partial == 0) continue;
    outcome_.findings.push_back(
        {"entering", fmt::format("entering: {} keeps {} bytes of messages that nobody sends any more",
                                 name_of(host->index()), partial)});
  }
}

/// All clients read, so that nothing is left for them.
void Run::check_nothing_waits() {
  for (const SimHost* host : sim_.running_hosts()) {
    const std::size_t waiting = host->node().memory().session_queue;
    if (waiting == 0) continue;
    outcome_.findings.push_back(
        {"reading", fmt::format("reading: {} bytes wait at {} for a client, and all read", waiting, host->name())});
  }
}

void Run::check_properties(bool at_rest) {
  checkers::History history = sim_.history();
  history.contents = contents_.histories();
  history.is_undisturbed = is_undisturbed();
  history.is_memory_scarce = plan_.memory_bytes != 0;
  for (checkers::PeerHistory& each : history.peers) each.is_undisturbed = contents_.is_undisturbed();
  count_peers(history.peers, outcome_.tally);
  for (const std::string& sentence : checkers::check_all(history, at_rest)) {
    outcome_.findings.push_back({sentence.substr(0, sentence.find(':')), sentence});
  }
}

/// A name is refused to who wants it only where another had it: not all who ever wanted it are refused. Whoever had it
/// need not know, as the welcome is lost where the daemon ends. One that tries several daemons tells only the last
/// refusal, and one that came back had the name before. Who has what name is checked with all properties.
void Run::check_spins() {
  for (const SimHost* host : sim_.hosts()) {
    outcome_.tally.raise("turns for nothing, in a row", host->longest_spin());
    if (host->longest_spin() <= SimHost::kSpinMax) continue;
    outcome_.findings.push_back(
        {"work: for nothing",
         fmt::format("work: {} was awake for {} turns in a row, did nothing and wanted the next one", host->name(),
                     host->longest_spin())});
  }
}

void Run::check_refusals() {
  std::map<const SimClient*, bool> refused;  // and whether anybody had the name, where it was wanted
  for (const auto& [wish, clients] : by_wish_) {
    const bool any_had_it = std::any_of(clients.begin(), clients.end(), [](const SimClient* each) {
      const Errc code = each->close_code();
      return each->is_welcome() ||
             (code != Errc::name_in_use && code != Errc::access_denied && code != Errc::too_many_sessions);
    });
    for (const SimClient* each : clients) {
      if (each->close_code() == Errc::name_in_use) refused[each] = refused[each] || any_had_it;
    }
    const auto owners =
        std::count_if(clients.begin(), clients.end(), [](const SimClient* each) { return each->is_welcome(); });
    if (owners > 1) outcome_.tally.add("names taken over", static_cast<std::uint64_t>(owners - 1));
  }
  for (const auto& [client, any_had_it] : refused) {
    outcome_.tally.add("names refused");
    if (any_had_it) continue;
    outcome_.findings.push_back({"names: refused", fmt::format("names: {} was refused at {}, and nobody had it",
                                                               client->history().wish, client->host().name())});
  }
}

void Run::count() {
  Tally& tally = outcome_.tally;
  count_clients(sim_.history(), tally);
  contents_.count(tally);
  if (!plan_.rules.empty()) tally.add("runs with rules");
  tally.add("daemons", plan_.daemons);
  tally.add("restarts", lives_.size() - std::min<std::size_t>(lives_.size(), plan_.daemons));
  for (const auto& [daemon, counters] : lives_) {
    for (std::size_t i = 0; i < kCounterCount; ++i) {
      const auto counter = static_cast<Counter>(i);
      if (counters.value(counter) > 0) tally.add(counted(counter), counters.value(counter));
    }
  }
  tally.add("events", sim_.events_happened());
  tally.add("virtual ms", static_cast<std::uint64_t>((sim_.now().time_since_epoch() - Duration(1h)) / 1ms));
  limits_.count(tally);
  tally.raise("work of a turn, units", work_limits_.most().largest_turn);
  tally.raise("work of a step, units", work_limits_.most().largest_step);
}

Outcome Run::execute() {
  build();
  const Time begin = sim_.now();
  for (const Step& step : plan_.steps) {
    go_to(begin + step.at);
    apply(step);
  }
  end_faults();
  bool at_rest = await_one_view() && await_content() && await_rest() && await_content() && await_fresh_members();
  if (at_rest && !plan_.rules.empty()) {
    for (Finding& each : probe_quotas(sim_)) outcome_.findings.push_back(std::move(each));
    for (Finding& each : check_rules_alarms(sim_)) outcome_.findings.push_back(std::move(each));
  }
  at_rest = at_rest && await_channels();  // the probes took time
  if (at_rest) let_feeds_rest();
  check_properties(at_rest);
  if (at_rest && has_returning()) {
    for (Finding& each : probe_keys(sim_)) outcome_.findings.push_back(std::move(each));
  }
  if (at_rest) check_nothing_enters();
  if (at_rest) check_nothing_waits();
  check_refusals();
  for (Finding& each : limits_.findings()) outcome_.findings.push_back(std::move(each));
  for (Finding& each : work_limits_.findings()) outcome_.findings.push_back(std::move(each));
  check_spins();
  count();
  outcome_.digest = sim_.digest();
  if (outcome_.failed() && options_.explain) outcome_.explanation = explain(sim_, outcome_.findings);
  return std::move(outcome_);
}

}  // namespace

Outcome run(const Plan& plan, const RunOptions& options) { return Run(plan, options).execute(); }

}  // namespace spindled::hunt
