// What daemons do about NAKs, rule by rule (daemon/feed/nak_rules.h): transcripts of what crosses the links.
//
//                  0          the source
//                  |
//                  1
//                /   \         all links take 10 ms
//               2     3
//              / \   / \       members are 4 to 7
//             4   5 6   7
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sstream>

#include "tests/sim/feed_net.h"

namespace spindled::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Edge edge(MemberIndex a, MemberIndex b, std::uint32_t ms = 10) { return {a, b, ms * 1'000, ms * 2'000}; }

Graph small_tree() {
  Graph graph;
  graph.nodes = 8;
  graph.edges = {edge(0, 1), edge(1, 2), edge(1, 3), edge(2, 4), edge(2, 5), edge(3, 6), edge(3, 7)};
  graph.receivers = {4, 5, 6, 7};
  return graph;
}

FeedNetOptions options(FeedCache cache, bool steer_by_losses = true) {
  FeedNetOptions options;
  options.config.cache = cache;
  options.config.later_packets = 1;
  options.config.steer_by_losses = steer_by_losses;
  options.keeps_transcript = true;
  return options;
}

/// A feed that runs, of which packet 0 has come everywhere.
class Net : public FeedNet {
 public:
  explicit Net(const FeedNetOptions& options, const Graph& graph = small_tree(), const MemberSet& late = {})
      : FeedNet(graph, options) {
    open(late);
    send(receivers() - late);
    run_for(2s);
    transcript();
    start_ = now();
  }
  /// Packet 1 is lost where `loses` says.
  void lose_first(std::function<bool(const FeedCrossing&)> loses) {
    lose([loses](const FeedCrossing& crossing) {
      return crossing.type == DatagramFrame::packet && !crossing.is_repair && crossing.sequence == 1 && loses(crossing);
    });
  }
  /// Packet 1, and 2 a millisecond later.
  void send_two() {
    send();
    run_for(1ms);
    send();
    run_for(5s);
  }
  /// NAKs, repairs and what is gone, without packets and beats, in ms since the first packet.
  std::string said() {
    std::istringstream lines(transcript());
    std::string text = "\n";
    for (std::string line; std::getline(lines, line);) {
      if (line.find(" packet ") != std::string::npos || line.find(" beat ") != std::string::npos) continue;
      const double at_ms = std::stod(line) - to_seconds(start_ - Time(std::chrono::hours(1))) * 1e3;
      text += fmt::format("{:.0f}{}\n", at_ms, line.substr(line.find(' ', line.find_first_not_of(' '))));
    }
    return text;
  }
  std::vector<std::uint64_t> delivered_at(MemberIndex daemon) const {
    std::vector<std::uint64_t> sequences;
    for (const Delivery& each : deliveries) {
      if (each.daemon == daemon) sequences.push_back(each.sequence);
    }
    return sequences;
  }

 private:
  Time start_{};
};

auto on_link(MemberIndex from, MemberIndex to) {
  return [=](const FeedCrossing& crossing) { return crossing.from == from && crossing.to == to; };
}

// --- Rule 1: what is here is sent ---

TEST(FeedRules, TheDaemonAboveTheLossRepairsIt) {
  Net net(options(FeedCache::all));
  net.lose_first(on_link(2, 4));
  net.send_two();
  EXPECT_EQ(net.said(), R"(
31 4>2 nak 1 by 4 try 1
41 2>4 repair 1 to {4}
41 2>1 nak 1 by 4 try 1 served
51 1>0 nak 1 by 4 try 1 served
)");
  EXPECT_THAT(net.delivered_at(4), ElementsAre(0, 2, 1));
  EXPECT_EQ(net.needless(), 0u);
}

TEST(FeedRules, ARepairGoesToAllWhomTheLossHasAffected) {
  Net net(options(FeedCache::all));
  net.lose_first(on_link(1, 2));
  net.send_two();
  // One NAK, although three daemons lack the packet.
  EXPECT_EQ(net.said(), R"(
21 2>1 nak 1 by 2 try 1
31 1>2 repair 1 to {4 5}
31 1>0 nak 1 by 2 try 1 served
41 2>4 repair 1 to {4}
41 2>5 repair 1 to {5}
)");
  EXPECT_THAT(net.delivered_at(4), ElementsAre(0, 2, 1));
  EXPECT_THAT(net.delivered_at(5), ElementsAre(0, 2, 1));
}

TEST(FeedRules, WhatTheOriginHasNotGotAnyMoreIsGone) {
  FeedNetOptions small = options(FeedCache::all);
  small.config.cache_bytes = 64;  // no packet fits
  Net net(small);
  net.lose_first(on_link(1, 2));
  net.send_two();
  EXPECT_EQ(net.said(), R"(
21 2>1 nak 1 by 2 try 1
31 1>0 nak 1 by 2 try 1 affected {4 5}
41 0>1 gone 1-1 to {2 4 5}
51 1>2 gone 1-1 to {2 4 5}
61 2>4 gone 1-1 to {4}
61 2>5 gone 1-1 to {5}
)");
  ASSERT_EQ(net.losses.size(), 2u);
  EXPECT_EQ(net.losses[0].first, 1u);
  EXPECT_EQ(net.losses[0].count, 1u);
}

TEST(FeedRules, AFirstRequestThatARepairHasCrossedIsIgnored) {
  Graph graph = small_tree();
  graph.edges[3] = edge(2, 4, 2);  // the replier of 2
  Net net(options(FeedCache::members), graph);
  net.lose_first(on_link(1, 2));
  // 5 notices late: the repair that 4 has asked for is on its way.
  net.delay([](const FeedCrossing& crossing) -> Duration {
    return crossing.to == 5 && crossing.type != DatagramFrame::nak && !crossing.is_repair ? 42ms : 0ms;
  });
  net.send_two();
  EXPECT_EQ(net.said(), R"(
23 4>2 nak 1 by 4 try 1
25 2>1 nak 1 by 4 try 1
35 1>0 nak 1 by 4 try 1 affected {4 5}
45 0>1 repair 1 to {4 5}
55 1>2 repair 1 to {4 5}
65 2>4 repair 1 to {4}
65 2>5 repair 1 to {5}
73 5>2 nak 1 by 5 try 1
)");
  EXPECT_EQ(net.total(&RepairTally::naks_crossed), 1u);
  EXPECT_EQ(net.needless(), 0u);
}

// --- Rule 2: what this daemon has asked for itself is not asked for again ---

TEST(FeedRules, ARequestIsIgnoredByAReplierThatHasAskedItself) {
  Net net(options(FeedCache::members));
  net.lose_first(on_link(0, 1));
  net.send_two();
  EXPECT_EQ(net.said(), R"(
31 4>2 nak 1 by 4 try 1
31 5>2 nak 1 by 5 try 1
31 6>3 nak 1 by 6 try 1
31 7>3 nak 1 by 7 try 1
41 2>5 nak 1 by 4 try 1 affected {4} down
41 2>1 nak 1 by 5 try 1
41 3>7 nak 1 by 6 try 1 affected {6} down
41 3>1 nak 1 by 7 try 1
51 1>3 nak 1 by 5 try 1 affected {4 5} down
51 1>0 nak 1 by 7 try 1
61 3>7 nak 1 by 5 try 1 affected {4 5} down
61 0>1 repair 1 to {4 5 6 7}
71 1>2 repair 1 to {4 5}
71 1>3 repair 1 to {6 7}
81 2>4 repair 1 to {4}
81 2>5 repair 1 to {5}
81 3>6 repair 1 to {6}
81 3>7 repair 1 to {7}
)");
  EXPECT_EQ(net.reports.size(), 1u) << "one NAK leaves each subtree";
  EXPECT_EQ(net.needless(), 0u);
}

// --- Rule 3: turning points ---

TEST(FeedRules, ARelayWithoutACacheTurnsARequestToItsReplier) {
  Net net(options(FeedCache::members));
  net.lose_first(on_link(2, 5));
  net.send_two();
  EXPECT_EQ(net.said(), R"(
31 5>2 nak 1 by 5 try 1
41 2>4 nak 1 by 5 try 1 affected {5} down
51 4>2 repair 1 to {5}
51 4>2 nak 1 by 5 try 1 served
61 2>5 repair 1 to {5}
61 2>1 nak 1 by 5 try 1 served
71 1>0 nak 1 by 5 try 1 served
)");
  EXPECT_THAT(net.delivered_at(5), ElementsAre(0, 2, 1));
}

TEST(FeedRules, WhoIsAffectedIsSaidWhereALossBelowIsKnown) {
  // The loss is on the replier link of 3: the request leaves the subtree, and the repair does not go to 6.
  Graph graph = small_tree();
  graph.edges[6] = edge(3, 7, 2);    // the replier of 3
  graph.edges[5] = edge(3, 6, 500);  // and no other is near
  Net net(options(FeedCache::members), graph);
  net.lose_first(on_link(3, 7));
  net.send_two();
  EXPECT_EQ(net.said(), R"(
23 7>3 nak 1 by 7 try 1
25 3>1 nak 1 by 7 try 1 affected {7}
35 1>0 nak 1 by 7 try 1 affected {7}
45 0>1 repair 1 to {7}
55 1>3 repair 1 to {7}
65 3>7 repair 1 to {7}
)");
  EXPECT_EQ(net.needless(), 0u);
}

TEST(FeedRules, InThePaperALossOnTheReplierLinkExposesOthers) {
  Graph graph = small_tree();
  graph.edges[6] = edge(3, 7, 2);  // the replier of 3
  Net net(options(FeedCache::members, false), graph);
  net.lose_first(on_link(3, 7));
  net.send_two();
  EXPECT_EQ(net.said(), R"(
23 7>3 nak 1 by 7 try 1
25 3>1 nak 1 by 7 try 1
35 1>0 nak 1 by 7 try 1
45 0>1 repair 1 to {4 5 6 7}
55 1>2 repair 1 to {4 5}
55 1>3 repair 1 to {6 7}
65 2>4 repair 1 to {4}
65 2>5 repair 1 to {5}
65 3>6 repair 1 to {6}
65 3>7 repair 1 to {7}
)");
  EXPECT_THAT(net.delivered_at(7), ElementsAre(0, 2, 1));
  EXPECT_EQ(net.needless(), 3u) << "at 4, 5 and 6";
}

TEST(FeedRules, NextToTheOriginItIsTheOriginThatRepairs) {
  Net net(options(FeedCache::members));
  net.lose_first(on_link(1, 2));
  net.send_two();
  EXPECT_EQ(net.said(), R"(
31 4>2 nak 1 by 4 try 1
31 5>2 nak 1 by 5 try 1
41 2>5 nak 1 by 4 try 1 affected {4} down
41 2>1 nak 1 by 5 try 1
51 1>0 nak 1 by 5 try 1 affected {4 5}
61 0>1 repair 1 to {4 5}
71 1>2 repair 1 to {4 5}
81 2>4 repair 1 to {4}
81 2>5 repair 1 to {5}
)");
  EXPECT_EQ(net.reports.size(), 1u);
  EXPECT_EQ(net.needless(), 0u);
}

TEST(FeedRules, ANakThatHasGoneTooFarEnds) {
  Net net(options(FeedCache::members));
  FeedNak nak{net.ref(), 0, 1, 0, 4, 0, {}, net.on_wire(0), {}};
  nak.bits.insert(0);
  net.inject(4, 2, nak);
  net.run_for(1s);
  EXPECT_EQ(net.said(), "\n");
  EXPECT_EQ(net.at(2).tally().naks_ended, 1u);
}

// --- Rule 4: a replier that has not got it ---

TEST(FeedRules, AReplierThatHasComeLateSendsTheRequestUpstream) {
  Net net(options(FeedCache::members), small_tree(), MemberSet::of(4));
  net.lose_first(on_link(2, 5));
  net.send(net.receivers() - MemberSet::of(4));
  net.run_for(1ms);
  net.send();
  net.run_for(5s);
  EXPECT_EQ(net.said(), R"(
31 5>2 nak 1 by 5 try 1
41 2>4 nak 1 by 5 try 1 affected {5} down
51 4>2 nak 1 by 5 try 1 affected {5}
61 2>1 nak 1 by 5 try 1 affected {5}
71 1>0 nak 1 by 5 try 1 affected {5}
81 0>1 repair 1 to {5}
91 1>2 repair 1 to {5}
101 2>5 repair 1 to {5}
)");
  EXPECT_THAT(net.delivered_at(4), ElementsAre(2));
  EXPECT_THAT(net.delivered_at(5), ElementsAre(0, 2, 1));
}

// --- Repliers that are dead, and relays of both kinds ---

TEST(FeedRules, ADeadReplierIsPassedByFromTheThirdTryOn) {
  Net net(options(FeedCache::members));
  net.lose_first(on_link(2, 5));
  net.kill(4);
  net.send_two();
  EXPECT_EQ(net.said(), R"(
31 5>2 nak 1 by 5 try 1
41 2>4 nak 1 by 5 try 1 affected {5} down
151 5>2 nak 1 by 5 try 2
161 2>4 nak 1 by 5 try 2 affected {5} down
271 5>2 nak 1 by 5 try 3
281 2>1 nak 1 by 5 try 3 affected {5}
291 1>0 nak 1 by 5 try 3 affected {5}
301 0>1 repair 1 to {5}
311 1>2 repair 1 to {5}
321 2>5 repair 1 to {5}
)");
  EXPECT_THAT(net.delivered_at(5), ElementsAre(0, 2, 1));
}

TEST(FeedRules, TheNextBestReplierIsAsked) {
  // A relay with three members, far from the source: the second best has it.
  Graph graph;
  graph.nodes = 6;
  graph.edges = {edge(0, 1, 50), edge(1, 2, 50), edge(2, 3, 1), edge(2, 4, 2), edge(2, 5, 3)};
  graph.receivers = {3, 4, 5};
  Net net(options(FeedCache::members), graph);
  net.lose_first(on_link(2, 5));
  net.kill(3);
  net.send_two();
  EXPECT_EQ(net.said(), R"(
104 5>2 nak 1 by 5 try 1
107 2>3 nak 1 by 5 try 1 affected {5} down
516 5>2 nak 1 by 5 try 2
519 2>3 nak 1 by 5 try 2 affected {5} down
928 5>2 nak 1 by 5 try 3
931 2>4 nak 1 by 5 try 3 affected {5} down
931 2>1 nak 1 by 5 try 3 affected {5}
933 4>2 repair 1 to {5}
933 4>2 nak 1 by 5 try 3 served
935 2>5 repair 1 to {5}
935 2>1 nak 1 by 5 try 3 served
981 1>0 nak 1 by 5 try 3 affected {5}
985 1>0 nak 1 by 5 try 3 served
1031 0>1 repair 1 to {5}
1081 1>2 repair 1 to {5}
1131 2>5 repair 1 to {5}
)");
  EXPECT_THAT(net.delivered_at(5), ElementsAre(0, 2, 1));
}

TEST(FeedRules, AmongRelaysWithCachesOneMayHaveNone) {
  FeedNetOptions mixed = options(FeedCache::all);
  mixed.without_cache = {2};
  Net net(mixed);
  net.lose_first(on_link(0, 1));
  net.send_two();
  EXPECT_EQ(net.said(), R"(
11 1>0 nak 1 by 1 try 1
21 0>1 repair 1 to {4 5 6 7}
31 1>2 repair 1 to {4 5}
31 1>3 repair 1 to {6 7}
41 2>4 repair 1 to {4}
41 2>5 repair 1 to {5}
41 3>6 repair 1 to {6}
41 3>7 repair 1 to {7}
)");
  Net other(mixed);
  other.lose_first(on_link(1, 2));
  other.send_two();
  EXPECT_EQ(other.said(), R"(
31 4>2 nak 1 by 4 try 1
31 5>2 nak 1 by 5 try 1
41 2>5 nak 1 by 4 try 1 affected {4} down
41 2>1 nak 1 by 5 try 1
51 1>2 repair 1 to {4 5}
51 1>0 nak 1 by 5 try 1 served
61 2>4 repair 1 to {4}
61 2>5 repair 1 to {5}
)");
  EXPECT_THAT(other.delivered_at(5), ElementsAre(0, 2, 1));
  EXPECT_EQ(other.needless(), 0u);
}

// --- Late joiners, tails, tries ---

TEST(FeedRules, ALateJoinerAsksForNothingOlderAndForNothingInItsFirstRoundTrip) {
  Net net(options(FeedCache::all), small_tree(), MemberSet::of(4));
  net.send();  // 1
  net.run_for(1s);
  EXPECT_THAT(net.delivered_at(4), ElementsAre(1)) << "it was sent to all";
  EXPECT_EQ(net.said(), "\n");
  Net lossy(options(FeedCache::members), small_tree(), MemberSet::of(4));
  lossy.lose(
      [](const FeedCrossing& crossing) { return crossing.to == 4 && crossing.sequence == 2 && !crossing.is_repair; });
  for (int i = 1; i <= 3; ++i) lossy.send();
  lossy.run_for(5s);
  // Its first packet came at 30 ms, and its round trip is 60 ms.
  EXPECT_EQ(lossy.said(), R"(
90 4>2 nak 2 by 4 try 1
100 2>5 nak 2 by 4 try 1 affected {4} down
110 5>2 repair 2 to {4}
110 5>2 nak 2 by 4 try 1 served
120 2>4 repair 2 to {4}
120 2>1 nak 2 by 4 try 1 served
130 1>0 nak 2 by 4 try 1 served
)");
  EXPECT_THAT(lossy.delivered_at(4), ElementsAre(1, 3, 2));
}

TEST(FeedRules, BeatsShowALostTail) {
  Net net(options(FeedCache::all));
  net.lose_first(on_link(2, 4));
  net.send();
  net.run_for(5s);
  EXPECT_EQ(net.said(), R"(
34 4>2 nak 1 by 4 try 1
44 2>4 repair 1 to {4}
44 2>1 nak 1 by 4 try 1 served
54 1>0 nak 1 by 4 try 1 served
)");
  EXPECT_THAT(net.delivered_at(4), ElementsAre(0, 1));
}

/// Of feeds that had listeners at their daemon only for days.
TEST(FeedRules, ABeatNamesNothingOlderThanCanBeFound) {
  FeedNetOptions with_room = options(FeedCache::all);
  with_room.config.cache_bytes = 64u << 20;
  Net net(with_room);
  for (std::uint64_t i = 0; i < 2 * PacketCache::kPlacesMax; ++i) net.send(MemberSet());
  net.transcript();
  net.send();
  net.run_for(3ms);
  const std::string beat = fmt::format("0>1 beat {} to {{4 5 6 7}} since {}\n", 2 * PacketCache::kPlacesMax + 1,
                                       2 * PacketCache::kPlacesMax + 1);
  EXPECT_THAT(net.transcript(), HasSubstr(beat));
}

TEST(FeedRules, ALostRepairIsAskedForAgain) {
  Net net(options(FeedCache::all));
  int repairs = 0;
  net.lose([&](const FeedCrossing& crossing) {
    if (crossing.to != 4 || crossing.type != DatagramFrame::packet || crossing.sequence != 1) return false;
    return !crossing.is_repair || ++repairs <= 2;
  });
  net.send_two();
  EXPECT_EQ(net.said(), R"(
31 4>2 nak 1 by 4 try 1
41 2>4 repair 1 to {4} LOST
41 2>1 nak 1 by 4 try 1 served
51 1>0 nak 1 by 4 try 1 served
151 4>2 nak 1 by 4 try 2
161 2>4 repair 1 to {4} LOST
161 2>1 nak 1 by 4 try 2 served
171 1>0 nak 1 by 4 try 2 served
271 4>2 nak 1 by 4 try 3
281 2>4 repair 1 to {4}
281 2>1 nak 1 by 4 try 3 served
291 1>0 nak 1 by 4 try 3 served
)");
  EXPECT_THAT(net.delivered_at(4), ElementsAre(0, 2, 1));
}

TEST(FeedRules, WhatComesTooLateIsLostOnce) {
  FeedNetOptions hasty = options(FeedCache::all);
  hasty.repair_for = 25ms;
  Net net(hasty);
  net.lose([](const FeedCrossing& crossing) { return crossing.to == 4 && crossing.sequence == 1; });
  net.send_two();
  ASSERT_EQ(net.losses.size(), 1u);
  EXPECT_EQ(net.losses[0].daemon, 4);
  EXPECT_EQ(net.losses[0].first, 1u);
  EXPECT_THAT(net.delivered_at(4), ElementsAre(0, 2));
}

TEST(FeedRules, WhereNoRepairIsOfUseTheSourceHearsOfTheLossAllTheSame) {
  FeedNetOptions none = options(FeedCache::all);
  none.repair_for = 0ms;
  Net net(none);
  net.lose_first(on_link(2, 4));
  net.send_two();
  EXPECT_EQ(net.said(), R"(
31 4>2 nak 1 by 4 try 1 served
41 2>1 nak 1 by 4 try 1 served
51 1>0 nak 1 by 4 try 1 served
)");
  ASSERT_EQ(net.reports.size(), 1u);
  EXPECT_TRUE(net.reports[0].is_served);
  EXPECT_THAT(net.delivered_at(4), ElementsAre(0, 2));
}

TEST(FeedRules, AGapCountsAfterThreeLaterPackets) {
  FeedNetOptions patient = options(FeedCache::all);
  patient.config.later_packets = Gaps::kLaterPackets;
  Net net(patient);
  net.lose_first(on_link(2, 4));
  for (int i = 0; i < 5; ++i) {
    net.send();
    net.run_for(1ms);
  }
  net.run_for(5s);
  EXPECT_EQ(net.said(), R"(
33 4>2 nak 1 by 4 try 1
43 2>4 repair 1 to {4}
43 2>1 nak 1 by 4 try 1 served
53 1>0 nak 1 by 4 try 1 served
)");
}

// --- Served NAKs ---

TEST(FeedRules, ServedNaksOfManyReportersAreMerged) {
  Net net(options(FeedCache::all));
  // Each of the members loses 20 packets of its own.
  net.lose([](const FeedCrossing& crossing) {
    return crossing.type == DatagramFrame::packet && !crossing.is_repair && crossing.to >= 4 &&
           crossing.sequence % 4 == crossing.to - 4u && crossing.sequence > 0 && crossing.sequence <= 80;
  });
  std::size_t served_at_source = 0;
  net.watch([&](const FeedCrossing& crossing, bool) {
    if (crossing.to == 0 && crossing.type == DatagramFrame::nak && crossing.is_served) ++served_at_source;
  });
  for (int i = 0; i < 90; ++i) {
    net.send();
    net.run_for(100us);
  }
  net.run_for(5s);
  EXPECT_EQ(net.needless(), 0u);
  for (MemberIndex member = 4; member < 8; ++member) EXPECT_EQ(net.delivered_at(member).size(), 91u);
  // 9 ms, in which each of the four reporters may be heard three times.
  EXPECT_LE(served_at_source, 12u);
  EXPECT_EQ(net.reports.size(), served_at_source);
}

// --- Floods ---

TEST(FeedRules, AFloodOfNaksDoesNotAmplify) {
  Net net(options(FeedCache::all));
  for (int i = 0; i < 100; ++i) net.send();
  net.run_for(2s);
  const std::uint64_t before = net.total(&RepairTally::repairs);
  std::size_t up = 0;
  net.watch([&](const FeedCrossing& crossing, bool) {
    if (crossing.from == 2 && crossing.to == 1) ++up;
  });
  FeedNak nak{net.ref(), 0, 9, kNakHopsMax, 4, 0, {}, net.on_wire(1), {}};
  for (std::size_t i = 0; i < 100; ++i) nak.bits.insert(i);
  for (int i = 0; i < 20'000; ++i) net.inject(4, 2, nak);
  net.run_for(100ms);
  const double payload = 64;  // and what stands in front of it, at most
  const double first = RepairBudget::kPackets * static_cast<double>(RepairConfig().datagram_bytes);
  const double most = first + RepairBudget::kShare * 100 * payload;
  EXPECT_GT(net.total(&RepairTally::repairs), before);
  EXPECT_LE(static_cast<double>(net.total(&RepairTally::repairs) - before) * 32, most);
  EXPECT_EQ(net.at(2).tally().naks_refused, 19'500u) << "one that names 100 packets counts twice";
  EXPECT_LE(up, 2u);
}

// --- Views ---

TEST(FeedRules, WhatWasLostInOneViewIsRepairedInTheNext) {
  // 2 dies with the repairs that 4 and 5 need; they are below 3 in the next view.
  Net net(options(FeedCache::all));
  net.lose_first(on_link(1, 2));
  net.send();
  net.run_for(1ms);
  net.send();
  net.run_for(12ms);
  net.kill(2);
  Graph next = small_tree();
  next.edges = {edge(0, 1), edge(1, 3), edge(3, 4), edge(3, 5), edge(3, 6), edge(3, 7)};
  net.change(next, [](MemberIndex daemon) { return std::chrono::milliseconds(daemon); });
  net.run_for(5ms);
  net.send();
  net.run_for(5s);
  net.send();
  net.run_for(5s);
  for (const MemberIndex member : small_tree().receivers) {
    EXPECT_THAT(net.delivered_at(member), UnorderedElementsAre(0, 1, 2, 3, 4)) << member;
  }
  EXPECT_THAT(net.losses, IsEmpty());
}

TEST(FeedRules, FeedsOfWhichNothingIsHeardAreForgotten) {
  const FeedNetOptions net_options = options(FeedCache::all);
  Net net(net_options);
  EXPECT_EQ(net.at(4).feeds(), 1u);
  // Beats end when repairs are of no use any more.
  net.run_for(net_options.repair_for + 1s + kFeedSilence);
  EXPECT_EQ(net.at(4).feeds(), 0u);
  EXPECT_EQ(net.at(0).feeds(), 1u);
}

TEST(FeedRules, WhatIsLostBehindAPauseIsToldHoweverMuchItIs) {
  FeedNetOptions quiet = options(FeedCache::all);
  quiet.keeps_transcript = false;
  for (const std::uint64_t lost :
       {std::uint64_t{1}, std::uint64_t{Gaps::kOpenMax}, std::uint64_t{3 * Gaps::kOpenMax}}) {
    Net net(quiet);
    net.run_for(quiet.repair_for + 1s + kFeedSilence);
    ASSERT_EQ(net.at(4).feeds(), 0u);
    net.lose(on_link(2, 4));
    for (std::uint64_t i = 0; i < lost; ++i) net.send();
    net.run_for(100ms);
    net.lose(nullptr);
    net.send();
    net.run_for(20s);
    std::uint64_t told = 0;
    for (const FeedNet::Loss& each : net.losses) told += each.daemon == 4 ? each.count : 0;
    EXPECT_EQ(net.delivered_at(4).size() + told, lost + 2) << lost;
  }
}

TEST(FeedRules, WhatComesTooLateBehindAPauseIsNotGivenAgain) {
  const FeedNetOptions net_options = options(FeedCache::all);
  Net net(net_options);
  const Duration pause = net_options.repair_for + 1s + kFeedSilence;
  // A copy of packet 1 is on its way to 4 for all that time.
  net.delay([&](const FeedCrossing& crossing) {
    const bool is_late = crossing.type == DatagramFrame::packet && crossing.to == 4 && crossing.sequence == 1;
    return is_late ? pause + 15s : 0ms;
  });
  net.send();
  net.run_for(1ms);
  net.send();
  net.run_for(pause + 5s);
  ASSERT_EQ(net.at(4).feeds(), 0u);
  net.run_for(60s);
  EXPECT_THAT(net.delivered_at(4), ElementsAre(0, 2));
}

TEST(FeedRules, AFeedThatIsClosedIsRepairedForAsLongAsThatIsOfUse) {
  Net net(options(FeedCache::all));
  net.lose_first(on_link(2, 4));
  net.send();
  net.close();
  net.run_for(1s);
  EXPECT_THAT(net.delivered_at(4), ElementsAre(0, 1));
  EXPECT_EQ(net.at(0).feeds(), 1u);
  net.run_for(10s);
  EXPECT_EQ(net.at(0).feeds(), 0u);
}

TEST(FeedRules, WhatALinkThatIsDownLedToIsLeftToTheNextView) {
  Net net(options(FeedCache::all));
  net.cut(1, 2);
  net.send();
  net.run_for(1s);
  EXPECT_EQ(net.transcript().find("1>2"), std::string::npos);
  EXPECT_THAT(net.delivered_at(4), ElementsAre(0));
  EXPECT_THAT(net.delivered_at(6), ElementsAre(0, 1));
  Graph next = small_tree();
  next.edges = {edge(0, 1), edge(1, 3), edge(2, 3), edge(2, 4), edge(2, 5), edge(3, 6), edge(3, 7)};
  net.change(next, nullptr);
  net.send();
  net.run_for(5s);
  EXPECT_THAT(net.delivered_at(4), ElementsAre(0, 2, 1)) << "3 has it";
}

TEST(FeedRules, AGapCountsAfterAQuarterOfTheRoundTripThatWasMeasured) {
  FeedNetOptions patient = options(FeedCache::all);
  patient.config.later_packets = Gaps::kLaterPackets;
  Net net(patient);
  net.at(4).set_round_trip(LinkId{2}, 12ms);
  net.lose_first(on_link(2, 4));
  net.send_two();
  // The next packet comes at 31, and a quarter of 12 ms later the gap counts.
  EXPECT_THAT(net.said(), ::testing::HasSubstr("\n34 4>2 nak 1 by 4 try 1\n"));
}

TEST(FeedRules, ANakBringsTheMeanRoundTripOfItsWayToTheSource) {
  for (const bool is_known : {true, false}) {
    Net net(options(FeedCache::all));
    net.at(2).set_round_trip(LinkId{4}, 10ms);
    net.at(2).set_round_trip(LinkId{4}, 30ms);
    if (is_known) net.at(1).set_round_trip(LinkId{2}, 300us);
    net.at(0).set_round_trip(LinkId{1}, 4ms);
    net.lose_first(on_link(2, 4));
    net.send_two();
    ASSERT_EQ(net.reports.size(), 1u);
    EXPECT_EQ(net.reports[0].way_us, is_known ? 24'300u : FeedNak::kWayUnknown);
  }
}

}  // namespace
}  // namespace spindled::sim
