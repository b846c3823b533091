#include <gtest/gtest.h>

#include "daemon/overlay/forwarding_table.h"
#include "tests/unit/overlay_graphs.h"

namespace spindled {
namespace {

using test::random_topology;
using test::view_of;

/// Links to all members but `self`: the link's number is the member's index and 1,000.
std::map<DaemonId, LinkId> all_links(const View& view) {
  std::map<DaemonId, LinkId> links;
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (i != view.self) links[view.members[i]] = static_cast<LinkId>(1000 + i);
  }
  return links;
}

std::vector<ForwardingTable> all_tables(const Topology& topology) {
  std::vector<ForwardingTable> tables;
  for (std::size_t i = 0; i < topology.members.size(); ++i) {
    const View view = view_of(topology, static_cast<MemberIndex>(i));
    tables.emplace_back(view, all_links(view));
  }
  return tables;
}

MemberSet random_destinations(Random& random, std::size_t count) {
  MemberSet set;
  for (std::size_t i = 0; i < count; ++i) {
    if (random.chance(0.5)) set.insert(static_cast<MemberIndex>(i));
  }
  return set;
}

TEST(ForwardingTable, MasksArePartsOfTheView) {
  Random random(1);
  for (int round = 0; round < 8; ++round) {
    const Topology topology = random_topology(random, random.between(1, 150), random.real() * 0.1, 2);
    for (const ForwardingTable& table : all_tables(topology)) {
      MemberSet seen = MemberSet::of(table.self());
      for (const ForwardingTable::Hop& hop : table.hops()) {
        EXPECT_FALSE(hop.mask.intersects(seen));
        EXPECT_TRUE(hop.mask.contains(hop.neighbour));
        seen |= hop.mask;
      }
      EXPECT_EQ(seen, MemberSet::first(topology.members.size()));
    }
  }
}

/// Relays a frame as daemons do; every destination gets it exactly once, and no link carries it twice.
TEST(ForwardingTable, OneCopyReachesEachDestination) {
  Random random(2);
  for (int round = 0; round < 30; ++round) {
    const Topology topology = random_topology(random, random.between(2, 100), random.real() * 0.1, 2);
    const auto tables = all_tables(topology);
    const auto origin = static_cast<MemberIndex>(random.below(tables.size()));
    MemberSet destinations = random_destinations(random, tables.size());
    destinations.erase(origin);
    struct Copy {
      MemberIndex at;
      MemberSet to;
    };
    std::vector<Copy> copies{{origin, destinations}};
    std::vector<int> visits(tables.size(), 0);
    MemberSet reached;
    for (std::size_t next = 0; next < copies.size(); ++next) {
      ASSERT_LT(next, tables.size()) << "a loop";
      Copy copy = copies[next];
      EXPECT_EQ(++visits[copy.at], 1) << "the ways of one origin form a tree";
      if (copy.to.contains(copy.at)) {
        reached.insert(copy.at);
        copy.to.erase(copy.at);
      }
      tables[copy.at].split(copy.to, [&](LinkId link, const MemberSet& to) {
        copies.push_back({static_cast<MemberIndex>(static_cast<std::size_t>(link) - 1000), to});
      });
    }
    EXPECT_EQ(reached, destinations);
  }
}

TEST(ForwardingTable, UsesOnlyLinksThatAreUpToTheViewsIncarnations) {
  const Topology line{test::members(4), {{0, 1, 1, 0}, {1, 2, 1, 0}, {2, 3, 1, 0}}};
  const View view = view_of(line, 1);
  std::map<DaemonId, LinkId> links = all_links(view);
  ForwardingTable table(view, links);
  ASSERT_EQ(table.hops().size(), 2u);
  EXPECT_EQ(table.hops()[1].mask, MemberSet::of(2) | MemberSet::of(3));

  EXPECT_FALSE(table.has_given_up(view.members[2]));
  table.remove(LinkId{1002}, view.members[2]);
  EXPECT_TRUE(table.has_given_up(view.members[2]));
  ASSERT_EQ(table.hops().size(), 1u);
  table.split(MemberSet::first(4), [](LinkId link, const MemberSet& to) {
    EXPECT_EQ(link, LinkId{1000});
    EXPECT_EQ(to, MemberSet::of(0));
  });

  links.erase(view.members[0]);
  links[{view.members[0].name, view.members[0].incarnation + 1}] = LinkId{7};
  const ForwardingTable without(view, links);
  EXPECT_EQ(without.hops().size(), 1u);
  EXPECT_TRUE(without.has_given_up(view.members[0]));
  EXPECT_FALSE(without.has_given_up(view.members[3])) << "no neighbour";
}

TEST(ForwardingTable, KnowsWhichDestinationsExist) {
  const Topology pair{test::members(2), {{0, 1, 1, 0}}};
  const View view = view_of(pair, 0);
  const ForwardingTable table(view, all_links(view));
  EXPECT_TRUE(table.is_valid(MemberSet::of(1)));
  EXPECT_TRUE(table.is_valid(MemberSet::first(2)));
  EXPECT_FALSE(table.is_valid(MemberSet::first(3)));
  EXPECT_FALSE(table.is_valid(MemberSet::of(100)));
  EXPECT_FALSE(table.is_valid({}));
  EXPECT_FALSE(ForwardingTable().is_valid(MemberSet::of(0)));
}

}  // namespace
}  // namespace spindled
