#include "tests/sim/underlay/topology.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "daemon/base/check.h"

namespace spindled::sim::underlay {

namespace {

// The square is as wide as a link of 30 ms is long; each link takes a millisecond besides.
constexpr double kAcross_s = 0.03;
constexpr double kEach_s = 0.001;
constexpr double kAccess_s = 0.001;
// New routers with one, two and three links, in the shares that topologies of autonomous systems have about.
constexpr double kOneLink = 0.3;
constexpr double kTwoLinks = 0.3;
constexpr double kTransitShare = 0.05;

constexpr double kPayloadOfPacket = 1'448.0 / 1'500;
constexpr double kPacketBytes = 1'448;

}  // namespace

double tcp_rate(double loss, double round_trip_s) {
  if (loss <= 0) return std::numeric_limits<double>::infinity();
  const double timeout_s = 4 * round_trip_s;
  const double per_packet =
      round_trip_s * std::sqrt(2 * loss / 3) + timeout_s * 3 * std::sqrt(3 * loss / 8) * loss * (1 + 32 * loss * loss);
  return kPacketBytes / per_packet;
}

double loss_at(double rate, double round_trip_s) {
  double low = 1e-7, high = 1.0 / 3;
  for (int i = 0; i < 24; ++i) {
    const double middle = std::sqrt(low * high);
    (tcp_rate(middle, round_trip_s) > rate ? low : high) = middle;
  }
  return low;
}

Topology::Topology(std::uint64_t seed, const TopologyOptions& options)
    : participants_(options.participants), nodes_(options.routers + options.participants) {
  SPINDLE_CHECK(options.routers >= 4 && options.participants >= 2 && options.participants <= UINT16_MAX);
  Random random(seed);
  join_routers(random, options.routers);
  join_participants(random, options.routers);
  for (Link& link : links_) link.bandwidth_draw = random.real();
  route();
  set_bandwidths(kMediumBandwidths);
}

void Topology::join_routers(Random& random, std::size_t routers) {
  std::vector<std::pair<double, double>> places(routers);
  for (auto& [x, y] : places) {
    x = random.real();
    y = random.real();
  }
  std::vector<std::uint32_t> ends;  // of links: a router is there as often as it has links
  std::vector<std::uint32_t> degrees(routers);
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    const double distance = std::hypot(places[a].first - places[b].first, places[a].second - places[b].second);
    links_.push_back({.a = a, .b = b, .delay_s = kEach_s + kAcross_s * distance});
    ends.insert(ends.end(), {a, b});
    ++degrees[a];
    ++degrees[b];
  };
  for (std::uint32_t a = 0; a < 4; ++a) {
    for (std::uint32_t b = a + 1; b < 4; ++b) join(a, b);
  }
  for (std::uint32_t router = 4; router < routers; ++router) {
    const double drawn = random.real();
    const std::size_t count = drawn < kOneLink ? 1 : drawn < kOneLink + kTwoLinks ? 2 : 3;
    std::vector<std::uint32_t> chosen;
    while (chosen.size() < count) {
      const std::uint32_t other = ends[random.below(ends.size())];
      if (std::find(chosen.begin(), chosen.end(), other) == chosen.end()) chosen.push_back(other);
    }
    for (const std::uint32_t other : chosen) join(other, router);
  }
  std::vector<std::uint32_t> order(routers);
  for (std::uint32_t i = 0; i < routers; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return degrees[a] > degrees[b]; });
  std::vector<bool> is_transit(routers);
  const auto transit = std::max<std::size_t>(4, static_cast<std::size_t>(kTransitShare * static_cast<double>(routers)));
  for (std::size_t i = 0; i < transit && i < routers; ++i) is_transit[order[i]] = true;
  for (Link& link : links_) {
    link.place = is_transit[link.a] && is_transit[link.b]   ? LinkClass::transit_transit
                 : is_transit[link.a] || is_transit[link.b] ? LinkClass::transit_stub
                                                            : LinkClass::stub_stub;
  }
}

void Topology::join_participants(Random& random, std::size_t routers) {
  std::vector<std::uint32_t> degrees(routers);
  for (const Link& link : links_) {
    ++degrees[link.a];
    ++degrees[link.b];
  }
  std::vector<std::uint32_t> edge;
  for (std::uint32_t router = 0; router < routers; ++router) {
    if (degrees[router] == 1) edge.push_back(router);
  }
  SPINDLE_CHECK(!edge.empty());
  for (std::size_t i = edge.size(); i > 1; --i) std::swap(edge[i - 1], edge[random.below(i)]);
  for (std::size_t i = 0; i < participants_; ++i) {
    links_.push_back({.a = edge[i % edge.size()],
                      .b = static_cast<std::uint32_t>(routers + i),
                      .place = LinkClass::client_stub,
                      .delay_s = kAccess_s});
  }
}

void Topology::set_bandwidths(const Bandwidths& bandwidths) {
  for (Link& link : links_) {
    const Range& range = bandwidths[static_cast<std::size_t>(link.place)];
    const double kbps = range.low + (range.high - range.low) * link.bandwidth_draw;
    link.bytes_per_s = kbps * 1'000 / 8 * kPayloadOfPacket;
  }
}

void Topology::set_losses(std::uint64_t seed) {
  Random random(seed);
  for (Link& link : links_) {
    link.loss = random.real() * (link.place == LinkClass::transit_transit ? 0.001 : 0.003);
    if (random.chance(0.05)) link.loss = 0.05 + random.real() * 0.05;
  }
}

void Topology::route() {
  struct Neighbour {
    std::uint32_t node;
    Pipe pipe;  // towards it
  };
  std::vector<std::vector<Neighbour>> neighbours(nodes_);
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const auto pipe = static_cast<Pipe>(2 * i);
    neighbours[links_[i].a].push_back({links_[i].b, pipe});
    neighbours[links_[i].b].push_back({links_[i].a, pipe + 1});
  }
  const std::size_t routers = nodes_ - participants_;
  std::vector<double> distance(nodes_);
  std::vector<Pipe> arrived_by(nodes_);
  std::vector<Pipe> reversed;
  using Entry = std::pair<double, std::uint32_t>;
  for (std::size_t from = 0; from < participants_; ++from) {
    std::fill(distance.begin(), distance.end(), std::numeric_limits<double>::infinity());
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    const auto start = static_cast<std::uint32_t>(routers + from);
    distance[start] = 0;
    queue.emplace(0, start);
    while (!queue.empty()) {
      const auto [at, node] = queue.top();
      queue.pop();
      if (at > distance[node]) continue;
      for (const Neighbour& next : neighbours[node]) {
        const double there = at + links_[next.pipe / 2].delay_s;
        if (there >= distance[next.node]) continue;
        distance[next.node] = there;
        arrived_by[next.node] = next.pipe;
        queue.emplace(there, next.node);
      }
    }
    for (std::size_t to = from + 1; to < participants_; ++to) {
      path_begins_.push_back(static_cast<std::uint32_t>(paths_.size()));
      reversed.clear();
      for (auto node = static_cast<std::uint32_t>(routers + to); node != start;) {
        const Pipe pipe = arrived_by[node];
        reversed.push_back(pipe);
        node = pipe % 2 == 0 ? links_[pipe / 2].a : links_[pipe / 2].b;
      }
      paths_.insert(paths_.end(), reversed.rbegin(), reversed.rend());
    }
  }
  path_begins_.push_back(static_cast<std::uint32_t>(paths_.size()));
}

template <typename Each>
void Topology::for_path(Participant from, Participant to, Each&& each) const {
  if (from == to) return;
  const std::size_t low = std::min(from, to), high = std::max(from, to);
  // Pairs of lower ones come first.
  const std::size_t pair = low * (2 * participants_ - low - 1) / 2 + (high - low - 1);
  const std::size_t begin = path_begins_[pair], end = path_begins_[pair + 1];
  if (from < to) {
    for (std::size_t i = begin; i < end; ++i) each(paths_[i]);
  } else {
    for (std::size_t i = end; i-- > begin;) each(paths_[i] ^ 1u);
  }
}

std::vector<Pipe> Topology::path(Participant from, Participant to) const {
  std::vector<Pipe> pipes;
  for_path(from, to, [&](Pipe pipe) { pipes.push_back(pipe); });
  return pipes;
}

double Topology::delay_s(Participant from, Participant to) const {
  double sum = 0;
  for_path(from, to, [&](Pipe pipe) { sum += link_of(pipe).delay_s; });
  return sum;
}

double Topology::loss(Participant from, Participant to) const {
  double arrives = 1;
  for_path(from, to, [&](Pipe pipe) { arrives *= 1 - link_of(pipe).loss; });
  return 1 - arrives;
}

}  // namespace spindled::sim::underlay
