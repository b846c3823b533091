#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "daemon/base/random.h"
#include "tests/unit/order_cluster.h"

namespace spindled::test {
namespace {

using ::testing::ElementsAre;

MemberSet set_of(std::initializer_list<MemberIndex> members) {
  MemberSet set;
  for (const MemberIndex member : members) set.insert(member);
  return set;
}

/// What was delivered after the view was installed.
std::vector<std::string> after_view(const OrderNode& node) {
  return {std::find(node.delivered.begin(), node.delivered.end(), "--- view") + 1, node.delivered.end()};
}

TEST(Order, AgreedMessagesOfAllOriginsAreDeliveredInOneOrder) {
  OrderCluster cluster(3, 1);
  Random random(11);
  for (int i = 0; i < 200; ++i) {
    OrderNode& node = cluster[random.below(3)];
    node.send(cluster.all(), node.name_ + std::to_string(i), Service::agreed);
    if (random.chance(0.3)) node.order->flush(node.now);
    while (random.chance(0.7)) cluster.move(random.below(3), random.below(3));
  }
  cluster.settle();
  const std::vector<std::string> expected = after_view(cluster[0]);
  EXPECT_EQ(expected.size(), 200u);
  EXPECT_EQ(after_view(cluster[1]), expected);
  EXPECT_EQ(after_view(cluster[2]), expected);
}

TEST(Order, ADaemonThatIsNotADestinationSkipsTheMessage) {
  OrderCluster cluster(3);
  cluster[1].send(set_of({0, 1}), "for a and b", Service::agreed);
  cluster[2].send(set_of({2}), "for c", Service::agreed);
  cluster.settle();
  EXPECT_THAT(after_view(cluster[0]), ElementsAre("for a and b"));
  EXPECT_THAT(after_view(cluster[1]), ElementsAre("for a and b"));
  EXPECT_THAT(after_view(cluster[2]), ElementsAre("for c"));
  EXPECT_EQ(cluster[0].order->log().processed(), 2u);
}

TEST(Order, FifoIsDeliveredOnArrivalButNotBeforeTheSendersOwnAgreedMessages) {
  OrderCluster cluster(2);
  SenderOrder careful;
  SenderOrder other;
  cluster[1].send(cluster.all(), "agreed", Service::agreed, &careful);
  cluster[1].send(cluster.all(), "fifo behind it", Service::fifo, &careful);
  cluster[1].send(cluster.all(), "fifo of another sender", Service::fifo, &other);
  while (cluster.move(1, 0)) {
  }
  EXPECT_THAT(after_view(cluster[0]), ElementsAre("fifo of another sender"));
  cluster.settle();
  EXPECT_THAT(after_view(cluster[0]), ElementsAre("fifo of another sender", "agreed", "fifo behind it"));
  EXPECT_THAT(after_view(cluster[1]), ElementsAre("fifo of another sender", "agreed", "fifo behind it"));
}

TEST(Order, FifoStaysBehindAnEarlierAgreedMessageWhenALaterOneWentElsewhere) {
  OrderCluster cluster(3);
  SenderOrder sender;
  cluster[1].send(cluster.all(), "agreed", Service::agreed, &sender);
  cluster[1].send(set_of({2}), "agreed, elsewhere", Service::agreed, &sender);
  cluster[1].send(cluster.all(), "fifo", Service::fifo, &sender);
  while (cluster.move(1, 0)) {
  }
  EXPECT_TRUE(after_view(cluster[0]).empty());
  cluster.settle();
  EXPECT_THAT(after_view(cluster[0]), ElementsAre("agreed", "fifo"));
}

TEST(Order, SafeMessagesWaitUntilEveryMemberHasThem) {
  OrderCluster cluster(3);
  cluster[0].send(cluster.all(), "safe", Service::safe);
  cluster[0].order->flush(cluster[0].now);
  while (cluster.move(0, 1)) {
  }
  cluster[1].order->flush(cluster[1].now);
  while (cluster.move(1, 0)) {
  }
  cluster[0].order->flush(cluster[0].now);
  EXPECT_TRUE(after_view(cluster[0]).empty()) << "c has not received the message";
  EXPECT_TRUE(after_view(cluster[1]).empty());
  cluster.settle();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_THAT(after_view(cluster[i]), ElementsAre("safe"));
}

TEST(Order, LongContentsTravelInFragmentsAndAreDeliveredWhole) {
  OrderCluster cluster(2);
  const std::string text(3 * kFragmentBytesMax + 17, 'x');
  cluster[0].send(cluster.all(), text, Service::agreed);
  cluster[1].send(cluster.all(), "short", Service::agreed);
  cluster.settle();
  EXPECT_EQ(after_view(cluster[0]), after_view(cluster[1]));
  EXPECT_EQ(std::count(cluster[1].sizes.begin(), cluster[1].sizes.end(), text.size()), 1);
}

TEST(Order, MessagesAreKeptUntilAllDestinationsReportThemAndNoLonger) {
  OrderCluster cluster(3);
  for (int i = 0; i < 100; ++i) cluster[0].send(cluster.all(), std::string(100, 'x'), Service::agreed);
  cluster[0].order->flush(cluster[0].now);
  EXPECT_GE(cluster[0].order->unstable_bytes(), 10'000u);
  while (cluster.move(0, 1)) {
  }
  cluster[1].now += 50ms;
  cluster[1].order->handle_time(cluster[1].now);
  while (cluster.move(1, 0)) {
  }
  EXPECT_GE(cluster[0].order->unstable_bytes(), 10'000u) << "c has not reported";
  cluster.settle();
  for (int i = 0; i < 4; ++i) cluster.pass_time(50ms);
  EXPECT_EQ(cluster[0].order->retained_bytes(), 0u) << "its own are stable";
  EXPECT_GE(cluster[1].order->retained_bytes(), 10'000u) << "that so little is stable is told late";
  cluster.pass_time(30s);
  for (int i = 0; i < 4; ++i) cluster.pass_time(50ms);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(cluster[i].order->retained_bytes(), 0u) << i;
}

TEST(Order, AMessageThatHoldsUpManyToOthersIsReportedSooner) {
  const Duration soon = OrderConfig().acknowledge_within / 10;
  for (const int to_others : {63, 64}) {
    OrderCluster cluster(3);
    for (int i = 0; i < to_others; ++i) {
      cluster[0].send(MemberSet::of(1), std::string(2 * OrderConfig().acknowledge_every_bytes / 63, 'x'),
                      Service::reliable);
    }
    cluster[0].send(MemberSet::of(2), "few", Service::reliable);
    cluster.settle();
    cluster.pass_time(soon - 1ms);
    EXPECT_GT(cluster[0].order->unstable_bytes(), 0u) << to_others;
    cluster.pass_time(1ms);
    EXPECT_EQ(cluster[0].order->unstable_bytes() == 0, to_others == 64) << to_others;
  }
}

TEST(Order, ThatMuchIsStableIsToldSoon) {
  OrderCluster cluster(3);
  for (int i = 0; i < 10; ++i) cluster[0].send(cluster.all(), std::string(2000, 'x'), Service::reliable);
  cluster.settle();
  for (int i = 0; i < 4; ++i) cluster.pass_time(50ms);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(cluster[i].order->retained_bytes(), 0u) << i;
}

TEST(Order, AnAgreedMessageMayOvertakeAReliableOneThatItsSenderHas) {
  // docs/semantics.md, "Where this is less": causality is between ordered messages.
  for (const Service service : {Service::reliable, Service::fifo, Service::causal}) {
    OrderCluster cluster(3, 1);  // b is the sequencer
    cluster[0].send(cluster.all(), "question", service);
    cluster[0].order->flush(cluster[0].now);
    for (int i = 0; i < 4; ++i) {  // a and b: whatever comes to c from a takes its time
      while (cluster.move(0, 1)) {
      }
      cluster[1].order->flush(cluster[1].now);
      while (cluster.move(1, 0)) {
      }
      cluster[0].order->flush(cluster[0].now);
    }
    EXPECT_THAT(after_view(cluster[1]), ElementsAre("question"));
    cluster[1].send(cluster.all(), "answer", Service::agreed);
    cluster[1].order->flush(cluster[1].now);
    while (cluster.move(1, 2)) {
    }
    cluster[2].order->flush(cluster[2].now);
    if (service == Service::causal) {
      EXPECT_TRUE(after_view(cluster[2]).empty());
      cluster.settle();
      EXPECT_THAT(after_view(cluster[2]), ElementsAre("question", "answer"));
    } else {
      cluster.settle();
      EXPECT_THAT(after_view(cluster[2]), ElementsAre("answer", "question"));
    }
  }
}

TEST(Order, WhatIsStableIsToldBeforeItsRoomIsTaken) {
  const std::size_t much = OrderConfig().acknowledge_every_bytes;
  OrderCluster cluster(2);
  cluster[0].send(cluster.all(), std::string(much, 'x'), Service::reliable);
  cluster.settle();
  cluster.pass_time(50ms);
  cluster[1].now += 50ms;
  cluster[0].send(cluster.all(), std::string(much, 'y'), Service::reliable);
  while (cluster.move(0, 1)) {
  }
  cluster[1].order->handle_time(cluster[1].now);
  cluster[1].order->flush(cluster[1].now);
  while (cluster.move(1, 0)) {
  }
  // In the same turn the next messages enter.
  cluster[0].send(cluster.all(), std::string(much, 'z'), Service::reliable);
  cluster[0].order->flush(cluster[0].now);
  std::size_t most = 0;
  while (cluster.move(0, 1)) most = std::max(most, cluster[1].order->foreign_bytes_max());
  EXPECT_LT(most, 2 * much) << "the old and the new at once";
}

TEST(Order, NothingIsSentWhileNothingHappens) {
  OrderCluster cluster(3);
  cluster[1].send(cluster.all(), "one", Service::agreed);
  cluster.settle();
  for (int i = 0; i < 5; ++i) cluster.pass_time(50ms);
  cluster.pass_time(30s);  // that little is stable is told late
  for (int i = 0; i < 5; ++i) cluster.pass_time(50ms);
  for (int i = 0; i < 100; ++i) {
    for (auto& node : cluster.nodes) {
      node->now += 1s;
      EXPECT_EQ(node->order->next_deadline(), kNever);
      node->order->handle_time(node->now);
      node->order->flush(node->now);
      for (const auto& link : node->links) EXPECT_TRUE(link.empty());
    }
  }
}

TEST(Order, TheHorizonIsToldOnceAllOriginsHaveReportedProgress) {
  OrderCluster cluster(3);
  cluster[2].send(cluster.all(), "subscription", Service::agreed);
  cluster.settle();
  EXPECT_EQ(cluster[2].horizon, 0u);
  cluster[0].order->report_progress();
  cluster[1].order->report_progress();
  cluster.settle();
  EXPECT_EQ(cluster[2].horizon, 0u) << "c itself has not reported";
  cluster[2].order->report_progress();
  cluster.settle();
  EXPECT_EQ(cluster[2].horizon, 1u);
}

TEST(Order, FramesThatMakeNoSenseAreDroppedWithAnError) {
  OrderCluster cluster(2);
  OrderNode& node = cluster[0];
  node.order->data_received(node.now, node.context->arena.copy(std::vector<std::uint8_t>{1, 2, 3}));
  node.order->acknowledgement_received(node.now, {1, 99});
  node.order->acknowledgement_received(node.now, {77, 1});
  node.order->stable_received(node.now, {77, 1});
  node.order->ready_received(node.now, {77, 1});
  EXPECT_EQ(node.sink.errors.size(), 3u);
  cluster[1].send(cluster.all(), "still works", Service::agreed);
  cluster.settle();
  EXPECT_THAT(after_view(node), ElementsAre("still works"));
}

TEST(Order, FramesOfNobodyEndTheLinkThatTheyCameOver) {
  OrderCluster cluster(2);
  OrderNode& node = cluster[0];
  std::array<std::uint8_t, kShortFrameBytesMax> bytes{};
  const auto takes = [&](MemberIndex from) {
    const std::size_t size = write_acknowledgement(bytes.data(), {from, 0});
    const Slice content = node.context->arena.copy(ByteView(bytes.data(), size));
    return node.handlers.at(LinkFrame::acknowledgement)(node.now, LinkId{}, content);
  };
  EXPECT_TRUE(takes(1));
  EXPECT_FALSE(takes(2));
  EXPECT_FALSE(node.handlers.at(LinkFrame::stable)(node.now, LinkId{}, Slice())) << "it cannot be read";
}

// --- The end of a view ---

TEST(OrderViewChange, WhatOneSurvivorHasAllSurvivorsDeliver) {
  OrderCluster cluster(3);
  cluster[2].send(cluster.all(), "seen by b only", Service::reliable);
  while (cluster.move(2, 1)) {
  }
  cluster.change_view({0, 1});
  EXPECT_THAT(cluster[0].delivered, ElementsAre("--- view", "seen by b only", "--- transitional", "--- view"));
  EXPECT_EQ(cluster[1].delivered, cluster[0].delivered);
}

TEST(OrderViewChange, AgreedMessagesOfWhichNobodySawAnotherAreDeliveredByOriginAndNumber) {
  OrderCluster cluster(3, 2);
  cluster[1].send(cluster.all(), "b1", Service::agreed);
  cluster[0].send(cluster.all(), "a1", Service::agreed);
  cluster[1].send(cluster.all(), "b2", Service::agreed);
  cluster.change_view({0, 1});
  EXPECT_THAT(cluster[0].delivered, ElementsAre("--- view", "--- transitional", "a1", "b1", "b2", "--- view"));
  EXPECT_EQ(cluster[1].delivered, cluster[0].delivered);
}

/// `asker` sends a question to b and c, to which b sends an answer to c. d orders them; c has got both when the view
/// ends, and nothing of d's.
OrderCluster asked_by(MemberIndex asker) {
  OrderCluster cluster(4, 3);
  const auto carry = [&](std::size_t from, std::size_t to) {
    cluster[from].order->flush(cluster[from].now);
    while (cluster.move(from, to)) {
    }
  };
  cluster[asker].send(set_of({1, 2}), "question", Service::agreed);
  carry(asker, 1);
  carry(asker, 3);
  carry(3, 1);
  cluster[1].order->flush(cluster[1].now);
  EXPECT_THAT(after_view(cluster[1]), ElementsAre("question"));
  cluster[1].send(set_of({2}), "answer", Service::agreed);
  carry(1, 2);
  cluster.move(asker, 2);
  return cluster;
}

TEST(OrderViewChange, AnAnswerThatWasNeverOrderedComesBehindItsQuestion) {
  OrderCluster own = asked_by(2);
  own.change_view({2});
  EXPECT_THAT(own[2].delivered, ElementsAre("--- view", "--- transitional", "question", "answer", "--- view"));
  OrderCluster gone = asked_by(3);
  gone.change_view({0, 2});
  EXPECT_THAT(gone[2].delivered, ElementsAre("--- view", "--- transitional", "question", "answer", "--- view"));
}

TEST(OrderViewChange, AfterAHoleMessagesFromOutsideTheSetAreDroppedAndOthersDelivered) {
  // c sends to a alone, then to a and b; the first message is lost with c, but its place in the order is known.
  OrderCluster cluster(3, 1);
  cluster[2].send(set_of({0}), "lost", Service::agreed);
  cluster[2].send(set_of({1}), "depends on it", Service::agreed);
  cluster[0].send(cluster.all(), "from inside", Service::agreed);
  cluster[2].order->flush(cluster[2].now);
  while (cluster.move(2, 1)) {
  }
  cluster[0].order->flush(cluster[0].now);
  while (cluster.move(0, 1)) {
  }
  // b orders both runs, but nothing of it reaches a before the view ends.
  cluster[1].order->flush(cluster[1].now);
  cluster[1].delivered = {"--- view"};
  cluster.change_view({0, 1});
  EXPECT_THAT(cluster[0].delivered, ElementsAre("--- view", "--- transitional", "from inside", "--- view"));
}

TEST(OrderViewChange, WhatOneSurvivorHasDeliveredBehindAHoleAllSurvivorsDeliver) {
  // b, to whom the lost message was not addressed, has delivered what follows it; a is held up by the hole.
  OrderCluster cluster(4, 1);
  cluster[2].send(set_of({0}), "lost", Service::agreed);
  cluster[3].send(set_of({0, 1}), "behind the hole", Service::agreed);
  cluster[3].send(set_of({0}), "never ordered", Service::agreed);
  for (const std::size_t from : {2u, 3u}) {
    cluster[from].order->flush(cluster[from].now);
    while (cluster.move(from, 1)) {
    }
  }
  cluster[1].order->flush(cluster[1].now);
  EXPECT_THAT(after_view(cluster[1]), ElementsAre("behind the hole"));
  cluster.change_view({0, 1});
  EXPECT_THAT(cluster[0].delivered, ElementsAre("--- view", "--- transitional", "behind the hole", "--- view"));
  EXPECT_THAT(cluster[1].delivered, ElementsAre("--- view", "behind the hole", "--- transitional", "--- view"));
}

TEST(OrderViewChange, WhatFollowsADroppedMessageOfItsSenderIsNotLostWithIt) {
  // b waits for a message of e that is lost; what c has sent behind it in the order is dropped. The fifo message that
  // waits for that went to a as well, where it has nothing to wait for.
  OrderCluster cluster(5, 3);
  SenderOrder sender;
  cluster[4].send(set_of({1}), "lost", Service::agreed);
  cluster[2].send(set_of({1}), "dropped", Service::agreed, &sender);
  cluster[2].send(set_of({0, 1}), "fifo", Service::fifo, &sender);
  const auto carry = [&](std::size_t from, std::size_t to) {
    while (cluster.move(from, to)) {
    }
  };
  cluster[4].order->flush(cluster[4].now);
  carry(4, 3);
  cluster[2].order->flush(cluster[2].now);
  carry(2, 3);
  carry(2, 1);
  cluster[3].order->flush(cluster[3].now);
  carry(3, 1);
  cluster[1].order->flush(cluster[1].now);
  cluster.change_view({0, 1});
  EXPECT_THAT(cluster[0].delivered, ElementsAre("--- view", "fifo", "--- transitional", "--- view"));
  EXPECT_THAT(cluster[1].delivered, ElementsAre("--- view", "--- transitional", "fifo", "--- view"));
}

TEST(OrderViewChange, WhatWasReceivedIsKeptThoughTheViewIsNotInstalled) {
  OrderCluster cluster(3);
  cluster[1].send(cluster.all(), "safe", Service::safe);
  cluster[1].send(cluster.all(), "reliable", Service::reliable);
  cluster.recover_in_vain({0, 1, 2});
  // The first two could install and deliver; the third is cut off and ends the view alone.
  cluster.change_view({2});
  EXPECT_THAT(cluster[2].delivered, ElementsAre("--- view", "reliable", "--- transitional", "safe", "--- view"));
}

TEST(OrderViewChange, WhereAllMoveTogetherThereIsNoTransitionalSignal) {
  OrderCluster cluster(2);
  cluster[0].send(cluster.all(), "agreed", Service::agreed);
  cluster[1].send(cluster.all(), "safe", Service::safe);
  cluster.change_view({0, 1});
  EXPECT_THAT(cluster[0].delivered, ElementsAre("--- view", "agreed", "safe", "--- view"));
  EXPECT_EQ(cluster[1].delivered, cluster[0].delivered);
}

/// Messages, what each depends on, directly or not, and how far each daemon of a cluster has read.
class Causes {
 public:
  explicit Causes(OrderCluster& cluster) : cluster_(cluster), known_(cluster.nodes.size()), read_(known_.size()) {}

  /// `text` is what `from` sends now.
  void add(std::size_t from, const std::string& text) {
    const std::vector<std::string>& ordered = cluster_[from].ordered;
    for (std::size_t& at = read_[from]; at < ordered.size(); ++at) {
      known_[from].insert(ordered[at]);
      known_[from].insert(causes_[ordered[at]].begin(), causes_[ordered[at]].end());
    }
    causes_[text] = known_[from];
    known_[from].insert(text);
  }

  /// The first message that `member` has got behind one that depends on it.
  std::string first_late(std::size_t member) {
    std::set<std::string> late;
    for (const std::string& text : cluster_[member].ordered) {
      if (late.contains(text)) return text;
      late.insert(causes_[text].begin(), causes_[text].end());
    }
    return {};
  }

 private:
  OrderCluster& cluster_;
  std::map<std::string, std::set<std::string>> causes_;
  std::vector<std::set<std::string>> known_;  // what the next message of each daemon depends on
  std::vector<std::size_t> read_;
};

TEST(OrderViewChange, CausesComeFirstInAnyRandomCut) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const std::size_t count = 3 + random.below(4);
    const std::size_t sequencer = random.below(count);
    const std::size_t deaf =
        (sequencer + 1 + random.below(count - 1)) % count;  // what the sequencer sends it is stalled
    OrderCluster cluster(count, static_cast<MemberIndex>(sequencer));
    Causes causes(cluster);
    for (int i = 0; i < 60; ++i) {
      const std::size_t from = random.below(count);
      MemberSet to;
      for (std::size_t member = 0; member < count; ++member) {
        if (random.chance(0.6)) to.insert(static_cast<MemberIndex>(member));
      }
      if (to.empty()) continue;
      const std::string text = cluster[from].name_ + std::to_string(i);
      causes.add(from, text);
      cluster[from].send(to, text, random.chance(0.2) ? Service::safe : Service::agreed);
      cluster[from].order->flush(cluster[from].now);
      while (random.chance(0.9)) {
        const std::size_t sender = random.below(count);
        const std::size_t receiver = random.below(count);
        if (sender == sequencer && receiver == deaf) continue;
        cluster.move(sender, receiver);
        cluster[receiver].order->flush(cluster[receiver].now);
      }
    }
    std::vector<MemberIndex> survivors;
    for (std::size_t member = 0; member < count; ++member) {
      if (member == deaf || random.chance(0.3)) survivors.push_back(static_cast<MemberIndex>(member));
    }
    cluster.change_view(survivors);
    for (const MemberIndex member : survivors) {
      EXPECT_EQ(causes.first_late(member), "") << "at " << cluster[member].name_ << ", seed " << seed;
    }
  }
}

TEST(OrderViewChange, NothingIsLostOrDoubledInAnyRandomCut) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const std::size_t count = 2 + random.below(4);
    OrderCluster cluster(count, static_cast<MemberIndex>(random.below(count)));
    std::vector<std::vector<std::string>> sent(count);
    for (int i = 0; i < 60; ++i) {
      const std::size_t from = random.below(count);
      MemberSet to;
      for (std::size_t member = 0; member < count; ++member) {
        if (random.chance(0.6)) to.insert(static_cast<MemberIndex>(member));
      }
      const Service service = random.chance(0.2)   ? Service::reliable
                              : random.chance(0.2) ? Service::safe
                                                   : Service::agreed;
      const std::string text = cluster[from].name_ + std::to_string(i);
      if (to.contains(static_cast<MemberIndex>(from))) sent[from].push_back(text);
      cluster[from].send(to, text, service);
      if (random.chance(0.4)) cluster[from].order->flush(cluster[from].now);
      while (random.chance(0.6)) cluster.move(random.below(count), random.below(count));
    }
    std::vector<MemberIndex> survivors;
    for (std::size_t member = 0; member < count; ++member) {
      if (random.chance(0.7)) survivors.push_back(static_cast<MemberIndex>(member));
    }
    if (survivors.empty()) survivors.push_back(0);
    cluster.change_view(survivors);
    for (const MemberIndex member : survivors) {
      const OrderNode& node = cluster[member];
      EXPECT_THAT(node.sink.errors, ElementsAre()) << "seed " << seed;
      std::vector<std::string> sorted = node.delivered;
      std::sort(sorted.begin(), sorted.end());
      for (std::size_t i = 1; i < sorted.size(); ++i) {
        if (sorted[i].starts_with("---")) continue;
        ASSERT_NE(sorted[i], sorted[i - 1]) << "delivered twice, seed " << seed;
      }
      for (const std::string& own : sent[member]) {
        ASSERT_TRUE(std::binary_search(sorted.begin(), sorted.end(), own)) << "own message lost, seed " << seed;
      }
    }
    // What two survivors both deliver, they deliver in the same order (reliable messages aside).
    for (const MemberIndex a : survivors) {
      for (const MemberIndex b : survivors) {
        std::vector<std::string> of_a;
        std::vector<std::string> of_b;
        const auto ordered_common = [&](const OrderNode& x, const OrderNode& y, std::vector<std::string>& out) {
          for (const std::string& text : x.ordered) {
            if (std::find(y.ordered.begin(), y.ordered.end(), text) != y.ordered.end()) out.push_back(text);
          }
        };
        ordered_common(cluster[a], cluster[b], of_a);
        ordered_common(cluster[b], cluster[a], of_b);
        ASSERT_EQ(of_a, of_b) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace spindled::test
