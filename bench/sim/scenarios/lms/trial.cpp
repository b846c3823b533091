#include "bench/sim/scenarios/lms/trial.h"

#include <algorithm>
#include <tuple>

#include "daemon/overlay/shortest_paths.h"

namespace spindled::scenarios::lms {

namespace {

sim::FeedNetOptions options_of(Mode mode, unsigned later_packets) {
  sim::FeedNetOptions options;
  options.config.cache = mode == Mode::all ? FeedCache::all : FeedCache::members;
  options.config.steer_by_losses = mode != Mode::paper;
  options.config.later_packets = later_packets;
  return options;
}

/// Between the packet that is lost and the next.
constexpr Duration kSpacing = 1ms;

}  // namespace

std::string_view to_string(Mode mode) {
  switch (mode) {
    case Mode::paper:
      return "paper";
    case Mode::members:
      return "members";
    case Mode::all:
      return "all";
  }
  return "";
}

void Measured::add(const Measured& other) {
  latency_min = recoveries == 0         ? other.latency_min
                : other.recoveries == 0 ? latency_min
                                        : std::min(latency_min, other.latency_min);
  losses += other.losses;
  recoveries += other.recoveries;
  latency_sum += other.latency_sum;
  latency_max = std::max(latency_max, other.latency_max);
  exposure_sum += other.exposure_sum;
  duplicates += other.duplicates;
  unrepaired += other.unrepaired;
  naks_at_source = std::max(naks_at_source, other.naks_at_source);
  naks_up_max = std::max(naks_up_max, other.naks_up_max);
  naks_max = std::max(naks_max, other.naks_max);
}

Trial::Trial(const sim::Graph& graph, Mode mode, unsigned later_packets)
    : graph_(graph), net_(graph, options_of(mode, later_packets)) {
  const ShortestPaths paths(Adjacency(graph.nodes, graph.edges), graph.source);
  for (const MemberIndex receiver : graph.receivers) {
    round_trips_[receiver] = std::chrono::microseconds(paths.round_trip_us(receiver));
    for (MemberIndex at = receiver; at != graph.source; at = paths.predecessor(at)) {
      parents_[at] = paths.predecessor(at);
    }
  }
  for (const auto& [child, parent] : parents_) {
    tree_.push_back({parent, child, graph.kinds[graph.edge_of(parent, child)]});
  }
  quiet_ = 20 * std::chrono::microseconds(paths.longest_round_trip_us());
  net_.open();
  net_.send();
  net_.run_for(quiet_);
}

void Trial::lose_at_source(Measured& measured) {
  lose(measured, [this](MemberIndex from, MemberIndex) { return from == graph_.source; });
}

void Trial::lose_on(const TreeLink& link, Measured& measured) {
  lose(measured, [&](MemberIndex from, MemberIndex to) { return from == link.from && to == link.to; });
}

void Trial::lose(Measured& measured, const Loses& loses) {
  bool is_first = true;
  net_.deliveries.clear();
  net_.lose([&](const sim::FeedCrossing& crossing) {
    return is_first && crossing.type == DatagramFrame::packet && !crossing.is_repair &&
           loses(crossing.from, crossing.to);
  });
  std::map<std::tuple<MemberIndex, MemberIndex, std::uint8_t>, std::uint64_t> naks;
  std::map<MemberIndex, std::uint64_t> repairs;  // of receivers
  std::uint64_t at_source = 0;
  net_.watch([&](const sim::FeedCrossing& crossing, bool) {
    if (crossing.type == DatagramFrame::nak) {
      if (crossing.to == graph_.source && crossing.attempt == 1) ++at_source;
      if (!crossing.is_served) ++naks[{crossing.from, crossing.to, crossing.attempt}];
    } else if (crossing.is_repair && round_trips_.contains(crossing.to)) {
      ++repairs[crossing.to];
    }
  });
  const std::uint64_t lost = net_.send();
  // What is lost is lost while it is on its way; the next packet is behind it everywhere.
  net_.lose([&, lost](const sim::FeedCrossing& crossing) {
    return crossing.type == DatagramFrame::packet && !crossing.is_repair && crossing.sequence == lost &&
           loses(crossing.from, crossing.to);
  });
  net_.run_for(kSpacing);
  is_first = false;
  net_.send();
  net_.run_for(quiet_);
  net_.watch(nullptr);
  net_.lose(nullptr);

  Measured one;
  one.losses = 1;
  recoveries(lost, one);
  for (const auto& [receiver, count] : repairs) {
    const bool was_repaired = std::any_of(
        net_.deliveries.begin(), net_.deliveries.end(),
        [&, id = receiver](const auto& each) { return each.daemon == id && each.sequence == lost && each.is_repair; });
    if (was_repaired) {
      one.duplicates += count - 1;
    } else {
      one.exposure_sum += static_cast<double>(count) / static_cast<double>(round_trips_.size());
    }
  }
  one.naks_at_source = at_source;
  for (const auto& [link, count] : naks) {
    const auto& [from, to, attempt] = link;
    one.naks_max = std::max(one.naks_max, count);
    const auto parent = parents_.find(from);
    if (parent != parents_.end() && parent->second == to) one.naks_up_max = std::max(one.naks_up_max, count);
  }
  measured.add(one);
}

void Trial::recoveries(std::uint64_t lost, Measured& measured) const {
  std::map<MemberIndex, Time> seen_at;
  for (const auto& each : net_.deliveries) {
    if (each.sequence == lost + 1) seen_at[each.daemon] = each.at;
  }
  std::uint64_t came = 0;
  for (const auto& each : net_.deliveries) {
    if (each.sequence != lost) continue;
    ++came;
    if (!each.is_repair) continue;
    const double latency = to_seconds(each.at - seen_at.at(each.daemon)) / to_seconds(round_trips_.at(each.daemon));
    measured.latency_min = measured.recoveries == 0 ? latency : std::min(measured.latency_min, latency);
    measured.latency_max = std::max(measured.latency_max, latency);
    measured.latency_sum += latency;
    ++measured.recoveries;
  }
  measured.unrepaired += round_trips_.size() - came;
}

}  // namespace spindled::scenarios::lms
