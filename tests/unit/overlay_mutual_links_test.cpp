// The graph that is kept as advertisements come, against one that is built from all of them each time.
#include "daemon/overlay/mutual_links.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "daemon/base/random.h"

namespace spindled {
namespace {

using States = std::map<DaemonId, LinkState>;

const AdvertisedLink* half(const States& states, const DaemonId& from, const DaemonId& to) {
  const auto found = states.find(from);
  if (found == states.end() || !states.contains(to)) return nullptr;
  for (const AdvertisedLink& link : found->second.links) {
    if (link.neighbour == to.name && link.neighbour_incarnation == to.incarnation) return &link;
  }
  return nullptr;
}

std::set<DaemonId> reached_from(const States& states, const DaemonId& start, const std::set<DaemonId>& closed) {
  std::set<DaemonId> reached{start};
  for (std::size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const auto& [to, state] : states) {
      if (closed.contains(to)) continue;
      for (const DaemonId& from : std::set(reached)) {
        if (half(states, from, to) != nullptr && half(states, to, from) != nullptr) reached.insert(to);
      }
    }
  }
  return reached;
}

Topology model(const States& states, const DaemonId& start) {
  std::set<DaemonId> reached = reached_from(states, start, {});
  std::set<DaemonId> closed;
  for (const DaemonId& each : reached) {
    for (const DaemonId& other : reached) {
      if (each.name == other.name && each != start && (each < other || other == start)) {
        if (each != other) closed.insert(each);
      }
    }
  }
  reached = reached_from(states, start, closed);
  const std::vector<DaemonId> members(reached.begin(), reached.end());
  Topology topology;
  for (std::size_t a = 0; a < members.size(); ++a) {
    topology.members.push_back(members[a]);
    for (std::size_t b = a + 1; b < members.size(); ++b) {
      const AdvertisedLink* there = half(states, members[a], members[b]);
      const AdvertisedLink* back = half(states, members[b], members[a]);
      if (there == nullptr || back == nullptr) continue;
      topology.edges.push_back({static_cast<MemberIndex>(a), static_cast<MemberIndex>(b),
                                std::max(there->weight, back->weight),
                                std::max(there->round_trip_us, back->round_trip_us)});
    }
  }
  return topology;
}

LinkState random_state(Random& random, std::size_t names, std::size_t self) {
  const auto name = [](std::size_t i) { return std::string(1, static_cast<char>('a' + i)); };
  LinkState state{{name(self), 1 + random.below(8) / 7}, 1, {}, false};
  for (std::size_t i = 0; i < names; ++i) {
    if (i == self || !random.chance(0.5)) continue;
    const auto weight = static_cast<std::uint32_t>(1 + random.below(3));
    const auto round_trip_us = static_cast<std::uint32_t>(random.below(3));
    const std::uint64_t drawn = random.below(10);
    for (std::uint64_t life = 1; life <= 2; ++life) {
      if (drawn == life) continue;  // a link to the other life only
      state.links.push_back({name(i), life, weight, round_trip_us, 0});
    }
  }
  return state;
}

TEST(MutualLinks, AreThoseOfAGraphBuiltAfresh) {
  Random random(7);
  std::size_t edges = 0;
  for (int round = 0; round < 200; ++round) {
    MutualLinks links;
    States states;
    const std::size_t names = 2 + random.below(9);
    for (int step = 0; step < 40; ++step) {
      const LinkState state = random_state(random, names, random.below(names));
      if (random.chance(0.2)) {
        links.erase(state.origin);
        states.erase(state.origin);
      } else {
        links.set(state);
        states[state.origin] = state;
      }
      for (const auto& [id, each] : states) {
        const Topology topology = links.reachable_from(id);
        ASSERT_EQ(topology, model(states, id)) << "round " << round << " step " << step << " from " << id.name;
        edges += topology.edges.size();
      }
    }
  }
  EXPECT_GT(edges, 10'000u) << "the test has something to compare";
}

TEST(MutualLinks, ReachTheNearestWhereThereAreTooMany) {
  MutualLinks links;
  const auto name = [](std::size_t i) { return std::to_string(10'000 + i); };
  for (std::size_t i = 0; i <= kMembersMax; ++i) {
    LinkState state{{name(i), 1}, 1, {}, false};
    if (i > 0) state.links.push_back({name(i - 1), 1, 1, 0, 0});
    if (i < kMembersMax) state.links.push_back({name(i + 1), 1, 1, 0, 0});
    links.set(state);
  }
  const Topology topology = links.reachable_from({name(1), 1});
  EXPECT_EQ(topology.members.size(), kMembersMax);
  EXPECT_EQ(topology.edges.size(), kMembersMax - 1);
  EXPECT_EQ(topology.members.front().name, name(0));
  EXPECT_EQ(topology.members.back().name, name(kMembersMax - 1));
}

}  // namespace
}  // namespace spindled
