#include "daemon/overlay/link_state_flooding.h"

#include <algorithm>
#include <set>

#include "daemon/base/check.h"
#include "daemon/overlay/shortest_paths.h"

namespace spindled {

namespace {

/// Capacities that differ by less than a quarter need not be told: no tree would be another one.
bool is_alike(std::uint64_t told, std::uint64_t now) {
  if (told == 0 || now == 0) return told == now;
  return std::max(told, now) < std::min(told, now) / 4 * 5;
}

}  // namespace

LinkStateFlooding::LinkStateFlooding(Context& context, const Links& links, ControlChannel& channel,
                                     LinkStateEvents& events)
    : context_(context),
      links_(links),
      channel_(channel),
      events_(events),
      log_(context.log_sink, "overlay"),
      database_({context.config.name, context.config.incarnation}, context.config.view.refresh_interval),
      namesakes_(context, database_) {}

void LinkStateFlooding::start(Time now) {
  sweep_at_ = now + context_.config.view.refresh_interval;
  database_.own().set_settings(now, own_settings());
  update_own_links(now);
  advertise(now);
}

void LinkStateFlooding::handle_time(Time now) {
  if (database_.own().next_deadline() <= now) {
    update_own_links(now);
    advertise(now);
  }
  if (sweep_at_ <= now) {
    sweep_at_ = now + context_.config.view.refresh_interval;
    if (database_.expire(now)) topology_changed(now);
    const std::vector<std::string> known = known_daemons();
    std::erase_if(other_rules_,
                  [&](const std::string& name) { return std::find(known.begin(), known.end(), name) == known.end(); });
  }
  if (namesakes_.next_deadline() <= now) {
    namesakes_.remind(now);
    advertise(now);
  }
}

// --- This daemon's links ---

void LinkStateFlooding::link_up(LinkId link) {
  const LinkInfo info = links_.info(link);
  neighbours_.resize(std::max(neighbours_.size(), static_cast<std::size_t>(link) + 1));
  Neighbour& neighbour = at(link);
  neighbour = {.up = true, .peer = info.peer, .weight = LinkWeight(info.configured_weight)};
  neighbour.weight.update(links_.path_round_trip(link));
  channel_.send(link, database_.summary());
}

void LinkStateFlooding::link_down(Time now, LinkId link) {
  const DaemonId peer = std::exchange(at(link), Neighbour{}).peer;
  database_.own().neighbour_lost(now, peer);
  look_for_namesakes(now);
  review_own_links(now);
}

void LinkStateFlooding::round_trip_changed(Time now, LinkId link) {
  if (!at(link).up) return;
  LinkWeight& weight = at(link).weight;
  const std::uint32_t before = weight.value();
  // Where the neighbour dialled first, its name is known only now to be behind an address that has a weight.
  const std::uint32_t configured = links_.configured_weight(link);
  if (weight.configured() != configured) weight = LinkWeight(configured);
  weight.update(links_.path_round_trip(link));
  if (weight.value() == before) return;
  review_own_links(now);
  topology_changed(now);
}

bool LinkStateFlooding::set_capacity(Time now, std::string_view neighbour, std::uint64_t bytes_per_second) {
  bool is_news = false;
  for (Neighbour& each : neighbours_) {
    if (!each.up || each.peer.name != neighbour || is_alike(each.bytes_per_second, bytes_per_second)) continue;
    each.bytes_per_second = bytes_per_second;
    is_news = true;
  }
  if (!is_news) return false;
  update_own_links(now);
  database_.own().repeat(now);
  advertise(now);
  return true;
}

std::string_view LinkStateFlooding::bulk_address(const DaemonId& daemon) const {
  const auto found = database_.entries().find(daemon);
  return found == database_.entries().end() ? std::string_view() : found->second.state.settings.bulk_address;
}

std::uint64_t LinkStateFlooding::capacity(const DaemonId& a, const DaemonId& b) const {
  const auto told_by = [&](const DaemonId& end, const DaemonId& other) -> std::uint64_t {
    const bool is_self = end == database_.self();
    const auto entry = database_.entries().find(end);
    if (!is_self && entry == database_.entries().end()) return 0;
    const std::vector<AdvertisedLink>& links = is_self ? database_.own().published().links : entry->second.state.links;
    const auto at = std::lower_bound(links.begin(), links.end(),
                                     std::pair<std::string_view, std::uint64_t>(other.name, other.incarnation),
                                     [](const AdvertisedLink& each, const auto& key) { return key_of(each) < key; });
    const bool is_there =
        at != links.end() && at->neighbour == other.name && at->neighbour_incarnation == other.incarnation;
    return is_there ? at->bytes_per_second : 0;
  };
  const std::uint64_t forth = told_by(a, b), back = told_by(b, a);
  return forth == 0 || back == 0 ? std::max(forth, back) : std::min(forth, back);
}

void LinkStateFlooding::review_own_links(Time now) {
  update_own_links(now);
  advertise(now);
}

void LinkStateFlooding::update_own_links(Time now) {
  std::map<DaemonId, AdvertisedLink> own;
  for (std::size_t i = 0; i < neighbours_.size(); ++i) {
    const Neighbour& neighbour = neighbours_[i];
    if (!neighbour.up || !neighbour.in_step || events_.has_given_up(neighbour.peer)) continue;
    const Duration round_trip = links_.path_round_trip(static_cast<LinkId>(i));
    AdvertisedLink& advertised = own[neighbour.peer];
    advertised.neighbour = neighbour.peer.name;
    advertised.neighbour_incarnation = neighbour.peer.incarnation;
    advertised.weight = neighbour.weight.value();
    advertised.bytes_per_second = std::max(advertised.bytes_per_second, neighbour.bytes_per_second);
    advertised.round_trip_us = static_cast<std::uint32_t>(std::min<std::int64_t>(round_trip / 1us, UINT32_MAX));
  }
  std::vector<AdvertisedLink> links;
  links.reserve(own.size());
  for (auto& [peer, link] : own) links.push_back(std::move(link));
  database_.own().set_links(now, std::move(links));
  forget_reachable();
}

void LinkStateFlooding::advertise(Time now) {
  const LinkState* state = database_.own().take_due(now);
  if (state == nullptr) return;
  channel_.flood(*state, std::nullopt);
  topology_changed(now);
}

void LinkStateFlooding::look_for_namesakes(Time now) {
  std::vector<DaemonId> in_step;
  for (const Neighbour& neighbour : neighbours_) {
    if (neighbour.up && neighbour.in_step) in_step.push_back(neighbour.peer);
  }
  namesakes_.look(now, in_step);
}

// --- What others advertise ---

void LinkStateFlooding::received(Time now, LinkId link, LinkState state, const Slice& encoded) {
  const DaemonId origin = state.origin;
  const DaemonSettings settings = state.settings;
  const auto known = database_.entries().find(origin);
  if (known == database_.entries().end() || known->second.state.settings != settings) ++settings_version_;
  const bool lives = state.stays_out && origin.name == database_.self().name && database_.entries().contains(origin);
  const LinkStateDatabase::Outcome outcome = database_.accept(now, std::move(state));
  switch (outcome) {
    case LinkStateDatabase::Outcome::refreshed:
    case LinkStateDatabase::Outcome::changed:
      channel_.pass_on(encoded, Counter::bytes_link_state, link);
      forget_reachable();
      if (lives) namesakes_.heard(now, origin);
      compare_rules(origin.name, settings.rules);
      if (outcome == LinkStateDatabase::Outcome::changed) topology_changed(now);
      advertise(now);
      return;
    case LinkStateDatabase::Outcome::own:
      advertise(now);
      return;
    case LinkStateDatabase::Outcome::full:
      if (std::exchange(complained_of_size_, true)) return;
      log_.warning("there is no room for more than {} daemons: {} is ignored", kLinkStatesMax, origin.name);
      return;
    case LinkStateDatabase::Outcome::old:
      return;
  }
}

void LinkStateFlooding::reconsider(Time now) {
  database_.own().set_settings(now, own_settings());
  ++settings_version_;
  // What the former life of a daemon had is known, too, and is nobody's any more.
  for (const DaemonId& member : reachable().members) {
    const auto found = database_.entries().find(member);
    if (found != database_.entries().end()) compare_rules(member.name, found->second.state.settings.rules);
  }
  advertise(now);
}

void LinkStateFlooding::compare_rules(const std::string& daemon, std::uint64_t rules) {
  if (daemon == database_.self().name) return;
  const bool differ = rules != database_.own().settings().rules;
  if (differ == other_rules_.contains(daemon)) return;
  if (differ) {
    other_rules_.insert(daemon);
    log_.warning("{} has other rules of access than this daemon: [[access]] and [[names]] should be the same at all",
                 daemon);
  } else {
    other_rules_.erase(daemon);
    log_.info("{} has the same rules of access as this daemon", daemon);
  }
}

std::vector<std::string> LinkStateFlooding::daemons_with_other_rules() const {
  std::vector<std::string> names;
  for (const DaemonId& member : reachable().members) {
    const auto found = database_.entries().find(member);
    if (found != database_.entries().end() && found->second.state.settings.rules != database_.own().settings().rules) {
      names.push_back(member.name);
    }
  }
  return names;
}

std::size_t LinkStateFlooding::smallest_memory(const std::vector<DaemonId>& members) const {
  std::size_t smallest = context_.config.memory_bytes_max;
  for (const DaemonId& member : members) {
    const auto found = database_.entries().find(member);
    if (found == database_.entries().end()) continue;
    smallest = std::min<std::size_t>(smallest, found->second.state.settings.memory_bytes);
  }
  return smallest;
}

bool LinkStateFlooding::received(Time now, LinkId link, const LinkStateSummary& summary) {
  if (!summary.is_answer) {
    if (std::exchange(at(link).has_asked, true)) return false;
    for (const LinkState& state : database_.lacking(summary)) channel_.send(link, state);
    channel_.send(link, LinkStateSummary{{}, true});
    return true;
  }
  if (std::exchange(at(link).in_step, true)) return true;
  update_own_links(now);
  topology_changed(now);
  advertise(now);
  return true;
}

// --- What follows from it ---

void LinkStateFlooding::topology_changed(Time now) {
  look_for_namesakes(now);
  forget_reachable();
  events_.reachable_changed(now);
}

void LinkStateFlooding::forget_reachable() {
  reachable_.reset();
  longest_round_trip_.reset();
}

const Topology& LinkStateFlooding::reachable() const {
  if (!reachable_) reachable_ = database_.reachable();
  return *reachable_;
}

Duration LinkStateFlooding::longest_round_trip() const {
  if (longest_round_trip_) return *longest_round_trip_;
  const std::vector<DaemonId>& members = reachable().members;
  const auto self = std::lower_bound(members.begin(), members.end(), database_.self());
  SPINDLE_CHECK(self != members.end() && *self == database_.self());
  const ShortestPaths paths(Adjacency(members.size(), reachable_->edges),
                            static_cast<MemberIndex>(self - members.begin()));
  longest_round_trip_ = std::chrono::microseconds(paths.longest_round_trip_us());
  return *longest_round_trip_;
}

std::vector<std::string> LinkStateFlooding::known_daemons() const {
  std::set<std::string> names{database_.self().name};
  for (const auto& [id, entry] : database_.entries()) names.insert(id.name);
  return {names.begin(), names.end()};
}

}  // namespace spindled
