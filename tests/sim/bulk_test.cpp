// Bulk channels with their content: from a client through daemons to the members of a group.
#include <gmock/gmock.h>

#include <algorithm>

#include "daemon/base/random.h"
#include "tests/sim/bulk_client.h"
#include "tests/sim/scenario.h"
#include "tests/support/known_content.h"

namespace spindled::sim {
namespace {

class Bulk : public Scenario {
 protected:
  /// A cluster without members, in place of any before it.
  void begin_empty(std::uint64_t seed, Shape shape, std::size_t daemons, const NodeConfig& config = {}) {
    members_.clear();
    bulk_.clear();
    simulate_cluster(seed, shape, daemons, config);
  }
  void begin(std::uint64_t seed, Shape shape, std::size_t daemons, const NodeConfig& config = {}) {
    begin_empty(seed, shape, daemons, config);
    for (std::size_t i = 0; i < daemons; ++i) add(i);
    await_group_view(members_, "g");
  }
  BulkClient& add(std::size_t host, BulkClient::Options options = {true, true}) {
    SimClient& client =
        sim().add_client(sim().host(host), "c" + std::to_string(members_.size()), {.wants_channels = true});
    client.join("g");
    members_.push_back(&client);
    bulk_.push_back(std::make_unique<BulkClient>(sim().world(), client, options));
    return *bulk_.back();
  }
  BulkChannelId offer(std::size_t member, std::size_t size) {
    content_ = spindle::test::content_of(static_cast<std::uint32_t>(size), size);
    const std::size_t before = members_[member]->channels().size();
    bulk_[member]->offer("g", content_);
    await([&] { return members_[member]->channels().size() > before; }, 10s, "the offer");
    return members_[member]->channels().ids().back();
  }
  bool has(std::size_t member, const BulkChannelId& id) const {
    const auto* received = bulk_[member]->received(id);
    return received != nullptr && *received == content_;
  }
  void await_complete(const BulkChannelId& id, std::size_t member) {
    await([&] { return members_[member]->channels().find(id)->is_complete(); }, 10s, "the completion");
  }
  void await_all(const BulkChannelId& id, std::size_t source, Duration bound) {
    await(
        [&] {
          for (std::size_t i = 0; i < members_.size(); ++i) {
            if (i != source && !members_[i]->is_closed() && !has(i, id)) return false;
          }
          return true;
        },
        bound, "the content at all members");
  }
  std::vector<SimClient*> members_;
  std::vector<std::unique_ptr<BulkClient>> bulk_;
  std::vector<std::uint8_t> content_;
};

TEST_F(Bulk, ReachesAMemberAtTheSameDaemon) {
  begin(1, Shape::line, 1);
  add(0);
  await_group_view(members_, "g");
  const BulkChannelId id = offer(0, 3'000'000);
  await_all(id, 0, 20s);
}

TEST_F(Bulk, ReachesAllMembersOfALine) {
  begin(2, Shape::line, 4);
  const BulkChannelId id = offer(1, 3'000'000);
  await_all(id, 1, 30s);
  await([&] { return members_[1]->channels().find(id)->is_complete(); }, 5s, "the completion");
  EXPECT_EQ(members_[1]->channels().find(id)->complete->done.size(), 3u);
  for (const std::size_t i : {0u, 2u, 3u}) {
    EXPECT_LE(bulk_[i]->counters(id)->duplicate, 60u);
    EXPECT_EQ(bulk_[i]->counters(id)->corrupt, 0u);
  }
}

TEST_F(Bulk, ServesWhoComesLate) {
  begin(3, Shape::ring, 4);
  const BulkChannelId id = offer(0, 8'000'000);
  sim().run_for(20ms);
  add(2);
  await_all(id, 0, 60s);
  EXPECT_TRUE(members_.back()->channels().find(id)->offered.is_late);
}

TEST_F(Bulk, ServesWhoComesLateToTheEnd) {
  begin(12, Shape::line, 2);
  content_ = spindle::test::content_of(12, 3'000'000);
  bulk_[0]->offer("g", content_, 64, 1);
  await([&] { return members_[0]->channels().size() == 1; }, 10s, "the offer");
  const BulkChannelId id = members_[0]->channels().ids().back();
  await([&] { return members_[0]->channels().find(id)->is_complete(); }, 30s, "the completion");
  BulkClient& late = add(1);
  late.set_reading(false);
  sim().run_for(5s);  // for longer than it lingers
  EXPECT_FALSE(members_[0]->channels().find(id)->ended);
  late.set_reading(true);
  await_all(id, 0, 30s);
  await([&] { return members_[0]->channels().find(id)->ended.has_value(); }, 5s, "the end");
}

/// Beside who reads, behind the same relay, and behind another one; and who reads is not held up meanwhile.
TEST_F(Bulk, WhoHasReadNothingForAWhileIsServedAsFastAsOthersWere) {
  struct Places {
    std::size_t daemons, reader, slow;
  };
  for (const auto& [daemons, at, slow_at] : {Places{1, 0, 0}, Places{2, 1, 1}, Places{2, 0, 1}, Places{3, 0, 2}}) {
    SCOPED_TRACE(testing::Message() << daemons << " daemons, who reads at " << at << ", who does not at " << slow_at);
    begin_empty(23, Shape::line, daemons);
    add(0);
    add(at);
    BulkClient& slow = add(slow_at);
    await_group_view(members_, "g");
    const Time begun = sim().now();
    const BulkChannelId id = offer(0, 60'000'000);
    slow.set_reading(false);
    await([&] { return has(1, id); }, 20s, "the content at who reads");
    const Duration of_one = sim().now() - begun;
    EXPECT_LE(of_one, 100ms);
    slow.set_reading(true);
    const Time again = sim().now();
    await_all(id, 0, 20s);
    EXPECT_LE(sim().now() - again, 100ms);
  }
}

/// As a program that was stopped: it is there, and reads nothing. Others have it, too.
TEST_F(Bulk, ServesWhoComesLateThoughOneThatHasItSendsNothing) {
  for (const std::size_t stopped : {0u, 2u}) {
    begin(16, Shape::line, 2);
    add(0);
    await_group_view(members_, "g");
    const BulkChannelId id = offer(0, 3'000'000);
    await_all(id, 0, 30s);
    bulk_[stopped]->set_reading(false);
    add(0);
    await([&] { return has(3, id); }, 10s, "the content at the late member");
  }
}

/// Others have it at another daemon only.
TEST_F(Bulk, AsksAboveForWhatAHolderHereDoesNotSend) {
  for (const Duration until_back : {Duration(3500ms), Duration(60s)}) {
    SCOPED_TRACE(testing::Message() << until_back.count());
    begin(20, Shape::line, 3);
    PathProperties path;
    path.bytes_per_second = 1'000'000;
    sim().network().set_path(0, 1, path);
    const BulkChannelId id = offer(0, 3'000'000);
    await_all(id, 0, 30s);
    bulk_[1]->set_reading(false);
    BulkClient& late = add(1);
    BulkClient& below = add(2);
    sim().run_for(until_back);
    EXPECT_EQ(late.is_done(id), until_back >= 10s);
    bulk_[1]->set_reading(true);
    await([&] { return late.is_done(id) && below.is_done(id); }, 10s, "the content at the late members");
    EXPECT_LE(late.counters(id)->duplicate, 600u)
        << "of 2,400, what a holder that was stopped had been asked for before";
  }
}

TEST_F(Bulk, AsksAHolderThatIsBackForWhatNobodyAboveGives) {
  begin(21, Shape::line, 2);
  add(1);
  await_group_view(members_, "g");
  const BulkChannelId id = offer(0, 3'000'000);
  await_all(id, 0, 30s);
  for (BulkClient* each : {bulk_[0].get(), bulk_[1].get(), bulk_[2].get()}) each->set_reading(false);
  BulkClient& late = add(1);
  sim().run_for(20s);
  ASSERT_FALSE(late.is_done(id));
  bulk_[2]->set_reading(true);
  await([&] { return late.is_done(id); }, 10s, "the content at the late member");
}

TEST_F(Bulk, OfWhichNothingNewComesIsGivenUpAfterAMinute) {
  begin(26, Shape::line, 3);
  PathProperties slow;
  slow.bytes_per_second = 2'000'000;
  sim().network().set_path(0, 1, slow);
  sim().network().set_path(1, 2, slow);
  const BulkChannelId id = offer(0, 12'000'000);
  sim().run_for(2s);
  members_[0]->kill();
  const Time gone = sim().now();
  for (const std::size_t i : {1u, 2u}) {
    ASSERT_FALSE(has(i, id));
    const auto ended = [&] { return members_[i]->channels().find(id)->ended; };
    await([&] { return ended().has_value(); }, 200s, "the end");
    EXPECT_EQ(ended(), protocol::BulkEnd::abandoned);
  }
  EXPECT_GE(sim().now() - gone, 60s);
  EXPECT_LE(sim().now() - gone, 90s);
}

TEST_F(Bulk, ServesWhoComesLateWhereTheSourceIsGone) {
  begin(4, Shape::line, 3);
  const BulkChannelId id = offer(0, 2'000'000);
  await_all(id, 0, 60s);
  await_complete(id, 1);
  members_[0]->kill();
  sim().run_for(1s);
  add(0);
  await_all(id, 0, 60s);
}

TEST_F(Bulk, ADaemonThatHasStartedAnewIsGivenTheIndexByWhoKnowsIt) {
  for (const bool is_beside : {true, false}) {
    begin_empty(is_beside ? 21 : 22, Shape::line, 3, {});
    add(0);
    const auto disk = std::make_shared<ContentDisk>();
    add(1, {.disk = disk});
    add(2);
    await_group_view(members_, "g");
    const BulkChannelId id = offer(0, 2'000'000);
    await_all(id, 0, 60s);
    await_complete(id, 1);
    members_[0]->kill();
    if (is_beside) members_[2]->kill();
    sim().host(1).crash();
    sim().run_for(1s);
    sim().host(1).start();
    // Its client runs again, with what is on its disk, beside one that has nothing.
    if (is_beside) add(1, {.disk = disk});
    add(1);
    add(2);
    await_all(id, 0, 60s);
    for (const auto& each : bulk_) EXPECT_EQ(each->counters(id) ? each->counters(id)->wrong_indexes : 0, 0u);
  }
}

TEST_F(Bulk, WhoHasItAndGivesItToNobodyIsNotWaitedFor) {
  simulate_cluster(13, Shape::line, 3, {});
  add(0, {.serves = false});  // of the first daemon, which would plan the tree
  add(1);
  add(2);
  await_group_view(members_, "g");
  const BulkChannelId id = offer(2, 2'000'000);
  await_all(id, 2, 60s);
  await_complete(id, 1);
  EXPECT_EQ(members_[1]->channels().find(id)->complete->done.size(), 2u);
  members_[2]->kill();
  sim().run_for(1s);
  add(0);
  add(2);
  await_all(id, 2, 60s);
}

TEST_F(Bulk, WhoHasLeftTheGroupIsAskedForNothing) {
  simulate_cluster(14, Shape::line, 2, {});
  add(0);
  const auto disk = std::make_shared<ContentDisk>();
  add(1, {.disk = disk});
  add(1);
  await_group_view(members_, "g");
  const BulkChannelId id = offer(0, 2'000'000);
  await_all(id, 0, 60s);
  members_[1]->leave("g");
  sim().run_for(1s);
  // Its file is no longer what it was, which it says to a daemon that does not hear it any more.
  disk->reads_to_spoil = 100;
  members_[0]->kill();
  sim().run_for(1s);
  add(0);
  await([&] { return has(3, id); }, 60s, "the content at the late member");
}

/// A daemon plans the tree, then another one that tells it nothing, as it has no place in that tree, and then the first
/// one again.
TEST_F(Bulk, IsPlannedAnewByWhoHadPlannedBeforeAnother) {
  simulate_cluster(17, Shape::line, 3, {});
  const auto disk = std::make_shared<ContentDisk>();
  add(0, {.disk = disk});
  add(1);
  await_group_view(members_, "g");
  const BulkChannelId id = offer(1, 2'000'000);
  await_all(id, 1, 60s);
  await_complete(id, 0);
  members_[1]->kill();
  sim().run_for(1s);
  BulkClient& late = add(2);
  late.set_reading(false);
  sim().run_for(1s);
  members_[0]->kill();  // nobody has it: the late one's daemon is the root
  sim().run_for(1s);
  ASSERT_FALSE(late.is_done(id));
  add(0, {.disk = disk});
  sim().run_for(1s);
  late.set_reading(true);
  await([&] { return has(2, id); }, 20s, "the content at the late member");
}

/// The source is at the end of a long link, and plans for a receiver that comes late before it is known there that it
/// is gone: its plan comes behind the first of the root after it.
TEST_F(Bulk, ALatePlanOfAFormerRootIsNotFollowed) {
  for (const Duration until_gone : {100ms, 200ms, 260ms, 280ms, 300ms, 320ms, 340ms, 400ms}) {
    SCOPED_TRACE(testing::Message() << until_gone.count());
    begin_empty(18, Shape::star, 4, {});
    PathProperties path;
    path.delay = 100ms;
    sim().network().set_path(0, 3, path);
    add(3);
    add(1);
    await_group_view(members_, "g");
    const BulkChannelId id = offer(0, 3'000'000);
    await_all(id, 0, 60s);
    await_complete(id, 1);
    add(2);
    sim().run_for(until_gone);
    members_[0]->kill();
    await([&] { return has(2, id); }, 20s, "the content at the late member");
  }
}

TEST_F(Bulk, LeavesANarrowLinkToHeartbeats) {
  for (const std::uint64_t rate : {20'000u, 60'000u, 130'000u, 500'000u}) {
    SCOPED_TRACE(rate);
    begin(19, Shape::line, 2);
    PathProperties path;
    path.bytes_per_second = rate;
    path.delay = 20ms;
    sim().network().set_path(0, 1, path);
    const auto views = [&] { return sim().host(0).node().counters().value(Counter::views_installed); };
    const std::uint64_t before = views();
    const BulkChannelId id = offer(0, rate * 20);
    await_all(id, 0, 60s);
    EXPECT_EQ(views(), before);
  }
}

TEST_F(Bulk, GoesOnWhereARelayIsLost) {
  begin(5, Shape::ring, 5);
  const BulkChannelId id = offer(0, 12'000'000);
  sim().run_for(30ms);
  sim().host(1).crash();
  await_all(id, 0, 60s);
}

TEST_F(Bulk, GoesOnWhereARelayLosesPower) {
  begin(6, Shape::ring, 5);
  const BulkChannelId id = offer(0, 12'000'000);
  sim().run_for(30ms);
  sim().host(4).crash(true);
  await_all(id, 0, 60s);
}

TEST_F(Bulk, GoesOnWithADaemonThatStartsAnewAfterALossOfPower) {
  begin(24, Shape::line, 2);
  const BulkChannelId id = offer(0, 2'000'000);
  await_all(id, 0, 60s);
  await_complete(id, 0);
  // Nothing goes over the hop any more: nobody hears that its other end is gone.
  sim().host(1).crash(true);
  sim().run_for(3s);
  sim().host(1).start();
  add(1);
  await_all(id, 0, 60s);
}

TEST_F(Bulk, GoesOnOverAHopThatOneSideHasLost) {
  for (std::uint64_t seed = 40; seed < 46; ++seed) {
    for (const std::size_t keeps : {0u, 1u}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", kept by " << keeps);
      begin(seed, Shape::line, 2);
      const BulkChannelId id = offer(keeps, 2'000'000);
      await_all(id, keeps, 60s);
      await_complete(id, keeps);
      members_[1 - keeps]->kill();
      sim().run_for(1s);
      // Over the hop the daemon of the source sends nothing any more: it keeps its end.
      sim().network().reset_at(static_cast<HostIndex>(1 - keeps), static_cast<HostIndex>(keeps));
      await([&] { return !have_one_view(sim().running_hosts()); }, 10s, "the loss of the link");
      await([&] { return have_one_view(sim().running_hosts()); }, 30s, "one view");
      add(1 - keeps);
      await_all(id, keeps, 20s);
      // Its daemon has handed on some of what the ring over there has, and is given that anew: no more than is granted
      // at first, half a ring.
      EXPECT_LE(bulk_.back()->counters(id)->duplicate, 512u);
    }
  }
}

/// TCP tries again after 25 s, and then after 51 s.
TEST_F(Bulk, GoesOnSoonAfterThePathWasDownForHalfAMinute) {
  for (const std::size_t source : {0u, 1u}) {
    SCOPED_TRACE(source);
    begin_empty(47, Shape::line, 2);
    PathProperties path = sim().network().path(0, 1);
    path.bytes_per_second = 1'000'000;
    path.congestion_control = CongestionControl::reno;
    sim().network().set_path(0, 1, path);
    for (const std::size_t host : {0u, 1u}) add(host);
    await_group_view(members_, "g");
    const BulkChannelId id = offer(source, 4'000'000);
    sim().run_for(1s);
    PathProperties down = path;
    down.loss = 1;
    sim().network().set_path(0, 1, down);
    sim().run_for(26s);
    ASSERT_FALSE(have_one_view(sim().running_hosts()));
    EXPECT_FALSE(has(1 - source, id));
    sim().network().set_path(0, 1, path);
    await_all(id, source, 15s);
    if (HasFailure()) return;
  }
}

TEST_F(Bulk, GivesNothingTwiceToWhoComesLateToAHopThatStands) {
  for (std::uint64_t seed = 40; seed < 46; ++seed) {
    SCOPED_TRACE(seed);
    begin(seed, Shape::line, 2);
    const BulkChannelId id = offer(0, 2'000'000);
    await_all(id, 0, 60s);
    await_complete(id, 0);
    members_[1]->kill();
    sim().run_for(1s);
    add(1);
    await_all(id, 0, 20s);
    EXPECT_EQ(bulk_.back()->counters(id)->duplicate, 0u);
  }
}

TEST_F(Bulk, GivesOnceWhatARelayAskedForAnewForEachThatCameLate) {
  for (std::uint64_t seed = 66; seed < 70; ++seed) {
    SCOPED_TRACE(seed);
    begin_empty(seed, Shape::star, 5, {});
    add(3);
    add(3);
    await_group_view(members_, "g");
    // All of it fits into the ring of the daemon in the middle several times.
    const BulkChannelId id = offer(0, 290'000);
    for (const std::size_t host : {2u, 4u, 1u, 0u}) {
      add(host);
      await_all(id, 0, 20s);
      sim().run_for(2s);
    }
    for (std::size_t i = 1; i < members_.size(); ++i) EXPECT_EQ(bulk_[i]->counters(id)->duplicate, 0u) << i;
  }
}

TEST_F(Bulk, AsksNoBackupWhileTheHopToTheParentIsOpened) {
  for (std::uint64_t seed = 60; seed < 64; ++seed) {
    SCOPED_TRACE(seed);
    begin(seed, Shape::full, 5);
    // Hops are open at very different times.
    Random random(seed);
    for (HostIndex a = 0; a < 5; ++a) {
      for (HostIndex b = 0; b < a; ++b) {
        PathProperties path;
        path.delay = random.below(2) == 0 ? Duration(100us) : Duration(10ms);
        sim().network().set_path(a, b, path);
      }
    }
    const BulkChannelId id = offer(0, 300'000);
    await_all(id, 0, 20s);
    sim().run_for(2s);
    for (std::size_t i = 1; i < 5; ++i) {
      EXPECT_EQ(sim().host(i).node().counters().value(Counter::bulk_backups_asked), 0u) << i;
      EXPECT_EQ(bulk_[i]->counters(id)->duplicate, 0u) << i;
    }
  }
}

TEST_F(Bulk, AsksTheBackupOfAParentThatStandsStillBeforeItsHopIsOpen) {
  // It has its place in the view, and in the tree, all the while.
  NodeConfig config;
  config.link.liveness_timeout = 60s;
  begin(65, Shape::ring, 4, config);
  const BulkChannelId id = offer(0, 300'000);
  sim().host(1).pause();
  await([&] { return has(2, id) && has(3, id); }, 10s, "the content beside the one that stands still");
  EXPECT_GT(sim().host(2).node().counters().value(Counter::bulk_backups_asked), 0u);
  EXPECT_FALSE(has(1, id));
  sim().host(1).resume();
  await_all(id, 0, 20s);
}

TEST_F(Bulk, GoesOnWhenSidesMeetAgain) {
  begin(7, Shape::line, 4);
  const BulkChannelId id = offer(0, 12'000'000);
  sim().run_for(30ms);
  sim().network().partition({{0, 1}, {2, 3}});
  sim().run_for(3s);
  EXPECT_FALSE(has(3, id));
  sim().network().heal();
  await_all(id, 0, 120s);
}

/// Two quick receivers that leave once they have it, and a slow one whose link is gone for a moment near its end.
class BulkLeft : public Bulk {
 protected:
  BulkChannelId offer_and_lose_the_slow_one(std::uint64_t seed) {
    begin(seed, Shape::star, 4);
    for (const HostIndex host : {HostIndex{1}, HostIndex{2}, kSlow}) {
      PathProperties path;
      path.bytes_per_second = host == kSlow ? 1'000'000 : 10'000'000;
      sim().network().set_path(0, host, path);
    }
    content_ = spindle::test::content_of(static_cast<std::uint32_t>(seed), 3'000'000);
    bulk_[0]->offer("g", content_, 64, 60);
    await([&] { return members_[0]->channels().size() == 1; }, 10s, "the offer");
    const BulkChannelId id = members_[0]->channels().ids().back();
    await([&] { return has(1, id) && has(2, id); }, 30s, "the content at those that are quick");
    sim().run_for(10ms);  // they say so
    for (const std::size_t quick : {1u, 2u}) members_[quick]->bye();
    await([&] { return bulk_[kSlow]->missing_blocks(id) <= 6; }, 30s, "nearly all of it at the one that is slow");
    sim().network().partition({{0, 1, 2}, {kSlow}});
    sim().network().reset_between(0, kSlow);
    await([&] { return members_[0]->channels().find(id)->is_complete(); }, 1s, "the completion without it");
    EXPECT_FALSE(has(kSlow, id));
    const ClientChannel& channel = *members_[0]->channels().find(id);
    EXPECT_THAT(channel.complete->done, testing::IsEmpty());
    EXPECT_EQ(channel.complete->gone, (protocol::BulkGone{2, 0, 0, 1}));
    return id;
  }
  static constexpr HostIndex kSlow = 3;
};

TEST_F(BulkLeft, WhoIsAwayForAMomentHasItInTheEndWhereTheSourceStaysForWhoIsMissing) {
  const BulkChannelId id = offer_and_lose_the_slow_one(50);
  sim().run_for(500ms);
  sim().network().heal();
  const auto returned = [&] { return members_[0]->channels().find(id)->returned; };
  await([&] { return returned().has_value(); }, 10s, "news of who is back");
  EXPECT_EQ(returned()->gone, (protocol::BulkGone{0, 0, 0, 1}));
  EXPECT_EQ(returned()->present, 1u);
  // As a program does that goes by what it is told.
  await([&] { return returned()->gone.missing == 0; }, 30s, "that nobody is missing any more");
  EXPECT_EQ(returned()->gone.done, 1u);
  members_[0]->kill();
  EXPECT_TRUE(has(kSlow, id));
  EXPECT_FALSE(members_[kSlow]->channels().find(id)->ended);
  await_rest();
  check();
}

TEST_F(BulkLeft, WhoIsBackAndFindsNobodyWhoHasItIsToldWithinAMinute) {
  const BulkChannelId id = offer_and_lose_the_slow_one(51);
  members_[0]->kill();
  sim().run_for(500ms);
  sim().network().heal();
  await([&] { return have_one_view(sim().running_hosts()); }, 10s, "one view");
  sim().run_for(50s);
  const auto ended = [&] { return members_[kSlow]->channels().find(id)->ended; };
  EXPECT_FALSE(ended());
  await([&] { return ended().has_value(); }, 20s, "the end");
  EXPECT_EQ(ended(), protocol::BulkEnd::abandoned);
  EXPECT_TRUE(bulk_[kSlow]->disk()->read_state(id)) << "it can be gone on with";
}

TEST_F(Bulk, GoesOnOverANewConnectionOfAClient) {
  begin(8, Shape::line, 3);
  const BulkChannelId id = offer(0, 12'000'000);
  for (const std::size_t member : {2u, 0u, 1u}) {
    sim().run_for(15ms);
    bulk_[member]->break_attachment();
  }
  await_all(id, 0, 60s);
}

TEST_F(Bulk, LosesNothingWithTheConnectionOfItsSource) {
  begin(21, Shape::line, 1);
  add(0);
  await_group_view(members_, "g");
  PathProperties slow;
  slow.bytes_per_second = 40'000'000;
  sim().network().set_local_path(slow);
  for (const auto& each : bulk_) each->break_attachment();
  const BulkChannelId id = offer(0, 12'000'000);
  for (int i = 0; i < 4; ++i) {
    sim().run_for(50ms);
    EXPECT_FALSE(has(1, id));
    bulk_[0]->break_attachment();
  }
  await_all(id, 0, 30s);
}

TEST_F(Bulk, CarriesSeveralAtATime) {
  begin(9, Shape::ring, 4);
  std::vector<BulkChannelId> ids;
  std::vector<std::vector<std::uint8_t>> contents;
  for (const std::size_t member : {0u, 1u, 2u, 2u}) {
    ids.push_back(offer(member, 1'000'000 + 300'000 * member + ids.size()));
    contents.push_back(content_);
  }
  const std::size_t sources[] = {0, 1, 2, 2};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    content_ = contents[i];
    await_all(ids[i], sources[i], 60s);
  }
}

/// The turns of one come further apart than a parent may be silent before it is asked anew for the first time.
TEST_F(Bulk, CarriesSeveralAtATimeOverASlowHop) {
  begin_empty(25, Shape::line, 2);
  PathProperties slow;
  slow.bytes_per_second = 125'000;
  sim().network().set_path(0, 1, slow);
  for (const std::size_t host : {0u, 1u}) {
    add(host, {.disk = std::make_shared<ContentDisk>(ContentDisk::Kind::hollow)});
  }
  await_group_view(members_, "g");
  constexpr std::size_t kContents = 5;
  for (std::size_t i = 0; i < kContents; ++i) bulk_[0]->offer("g", 1'000'000 + i, protocol::kChannelWeightMax);
  await([&] { return members_[1]->channels().size() == kContents; }, 10s, "the offers");
  await(
      [&] {
        const auto ids = members_[1]->channels().ids();
        return std::all_of(ids.begin(), ids.end(), [&](const BulkChannelId& id) { return bulk_[1]->is_done(id); });
      },
      200s, "the contents");
}

TEST_F(Bulk, ADaemonMayStopWhileHopsAreOpened) {
  for (int wait = 0; wait < 12; ++wait) {
    begin(20, Shape::line, 3);
    const std::size_t before = members_[0]->channels().size();
    bulk_[0]->offer("g", spindle::test::content_of(1, 100'000));
    await([&] { return members_[0]->channels().size() > before; }, 10s, "the offer");
    sim().run_for(std::chrono::milliseconds(10 * wait));
    for (std::size_t i = 0; i < 3; ++i) sim().host(i).stop();
    sim().run_for(5s);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(sim().host(i).is_running());
  }
}

/// A source that was started again offers what its receivers have in part.
class BulkResumed : public Bulk {
 protected:
  static constexpr std::size_t kBlocks = 40;
  static constexpr std::uint32_t kSymbols = 32;  // of a block, where nothing else is said
  static constexpr std::size_t kBlockBytes = kSymbols * spindle::bulk::kSymbolBytesMin;

  std::size_t block_bytes() const { return std::size_t{symbols_} * spindle::bulk::kSymbolBytesMin; }

  /// Members at all daemons; those at `has` get the content but for its last blocks, and then the source is killed.
  void begin_with(std::uint64_t seed, Shape shape, std::size_t daemons, std::initializer_list<std::size_t> has) {
    begin(seed, shape, daemons);
    content_ = spindle::test::content_of(static_cast<std::uint32_t>(seed), kBlocks * block_bytes());
    source_ = members_.size();
    add(0);
    await_group_view(members_, "g");
    bulk_[source_]->offer("g", content_, symbols_, 1);
    await([&] { return members_[source_]->channels().size() == 1; }, 10s, "the offer");
    former_ = members_[source_]->channels().ids().back();
    await_all(former_, source_, 30s);
    members_[source_]->kill();
    for (std::size_t i = 0; i < source_; ++i) {
      const bool has_some = std::find(has.begin(), has.end(), i) != has.end();
      if (has_some) lose(i, kBlocks - 2);
    }
    sim().run_for(1s);
  }
  /// It has no more than so many blocks, and goes on with them.
  void lose(std::size_t member, std::uint32_t but) { keep(member, spindle::bulk::BlockSet::of_first(but)); }
  /// It has these blocks, and goes on with them.
  void keep(std::size_t member, const spindle::bulk::BlockSet& blocks) {
    auto state = bulk_[member]->disk()->read_state(former_);
    ASSERT_TRUE(state);
    state->written = blocks;
    for (int i = 0; i < 2; ++i) bulk_[member]->disk()->write_state(former_, *state);
    bulk_[member]->disk()->goes_on_with = former_;
  }
  /// Another program offers it again.
  BulkChannelId offer_again(bool hashes_ahead = false) {
    source_ = members_.size();
    add(0, {.accepts = false, .hashes_ahead = hashes_ahead});
    await_membership();
    bulk_[source_]->offer("g", content_, symbols_, 60);
    await([&] { return members_[source_]->channels().size() > 0 && is_offered(); }, 10s, "the offer");
    return members_[source_]->channels().ids().back();
  }
  void await_membership() {
    await([&] { return members_.back()->view("g") != nullptr; }, 10s, "the view of the group");
  }
  bool is_offered() const {
    const auto id = members_[source_]->channels().ids().back();
    return members_[source_]->channels().find(id)->offered.request != 0;
  }
  std::uint64_t lacking_symbols() const { return 2 * kSymbols; }
  std::uint32_t symbols_ = kSymbols;
  std::size_t source_ = 0;
  BulkChannelId former_;
};

TEST_F(BulkResumed, OverRelaysTakesWhatIsLacking) {
  begin_with(31, Shape::line, 4, {0, 1, 2, 3});
  const BulkChannelId id = offer_again();
  await_all(id, source_, 10s);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(bulk_[i]->counters(id)->useful, lacking_symbols()) << i;
  EXPECT_EQ(bulk_[source_]->sent(id)->source, lacking_symbols());
  EXPECT_EQ(bulk_[source_]->sent(id)->repair, 0u);
}

TEST_F(BulkResumed, WhoHasNothingGetsAll) {
  begin_with(32, Shape::ring, 5, {1, 3, 4});
  const BulkChannelId id = offer_again();
  await_all(id, source_, 30s);
  for (const std::size_t i : {1u, 3u, 4u}) EXPECT_EQ(bulk_[i]->counters(id)->useful, lacking_symbols()) << i;
  for (const std::size_t i : {0u, 2u}) EXPECT_EQ(bulk_[i]->counters(id)->useful, kBlocks * kSymbols) << i;
}

TEST_F(BulkResumed, WhoComesLaterGetsAll) {
  begin_with(33, Shape::line, 4, {0, 1, 2, 3});
  const BulkChannelId id = offer_again();
  await_all(id, source_, 10s);
  add(3);
  add(2);
  await_all(id, source_, 30s);
}

TEST_F(BulkResumed, WhoLosesItsDiskMeanwhileGetsAll) {
  begin_with(34, Shape::line, 3, {0, 1, 2});
  PathProperties slow;
  slow.bytes_per_second = 20'000;
  sim().network().set_path(1, 2, slow);
  const BulkChannelId id = offer_again();
  sim().run_for(500ms);
  ASSERT_FALSE(has(2, id));
  bulk_[2]->end();
  members_[2]->kill();
  sim().network().set_path(1, 2, {});
  add(2);
  await_all(id, source_, 30s);
  EXPECT_EQ(bulk_.back()->counters(id)->useful, kBlocks * kSymbols);
}

TEST_F(BulkResumed, OfAnotherContentTakesWhatIsDifferent) {
  begin_with(38, Shape::line, 3, {0, 1, 2});
  content_[7 * kBlockBytes] ^= 1;
  content_[30 * kBlockBytes + 5] ^= 1;
  const BulkChannelId id = offer_again();
  await_all(id, source_, 30s);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(bulk_[i]->counters(id)->useful, 4 * kSymbols) << i;
}

TEST_F(BulkResumed, IsNotHeldUpLongByWhoDoesNotAnswer) {
  begin_with(35, Shape::line, 3, {0, 1, 2});
  add(1, {false, true});
  await_membership();
  const std::size_t silent = members_.size() - 1;
  const BulkChannelId id = offer_again();
  await([&] { return has(0, id) && has(1, id) && has(2, id); }, 5s, "the content at those that answer");
  EXPECT_EQ(bulk_[source_]->sent(id)->source, lacking_symbols());
  members_[silent]->kill();
  await([&] { return members_[source_]->channels().find(id)->is_complete(); }, 5s, "the completion");
}

TEST_F(BulkResumed, GoesOnWhereARelayIsStartedAnew) {
  begin_with(36, Shape::line, 4, {0, 1, 2, 3});
  const BulkChannelId id = offer_again();
  sim().run_for(30ms);
  sim().host(1).crash();
  sim().run_for(200ms);
  sim().host(1).start();
  await_all(id, source_, 60s);
}

TEST_F(BulkResumed, IsKnownByASealThatOneSideHadWhereSidesMeet) {
  begin_with(37, Shape::line, 2, {});
  lose(1, kBlocks);  // nothing
  members_[0]->kill();
  add(1);
  // Of the source only the seal can come: it sends neither content nor an index.
  SimClient& source = sim().add_client(sim().host(0), "source", {.wants_channels = true});
  source.join("g");
  await([&] { return source.view("g") != nullptr; }, 10s, "the view of the group");
  const ClientChannel former = *members_[1]->channels().find(former_);
  protocol::ContentTerms terms = former.offered.terms;
  terms.linger_s = 600;
  const std::size_t before = source.channels().size();
  source.offer("g", terms);
  await([&] { return source.channels().size() > before; }, 10s, "the offer");
  const BulkChannelId id = source.channels().ids().back();
  await([&] { return members_[1]->channels().find(id) != nullptr && members_.back()->channels().find(id) != nullptr; },
        10s, "the offer at the other daemon");
  sim().network().partition({{0}, {1}});
  sim().run_for(3s);
  source.seal(id, former.sealed->size, former.sealed->root);
  await([&] { return source.channels().find(id)->is_sealed(); }, 10s, "the seal at the side of the source");
  EXPECT_FALSE(members_[1]->channels().find(id)->is_sealed());
  sim().network().heal();
  await_all(id, members_.size(), 60s);
}

TEST_F(BulkResumed, IsPutTogetherByThoseThatHaveDifferentPartsHoweverLongItTakes) {
  symbols_ = 1024;
  begin_with(39, Shape::line, 2, {});
  spindle::bulk::BlockSet parts[2];
  for (std::uint32_t block = 0; block < kBlocks; ++block) parts[block % 2].add(block);
  for (const std::size_t i : {0u, 1u}) keep(i, parts[i]);
  PathProperties slow;
  slow.bytes_per_second = 280'000;
  sim().network().set_path(0, 1, slow);
  const BulkChannelId id = offer_again(true);
  bulk_[source_]->set_cap(1000);
  await([&] { return members_[1]->channels().find(id) && members_[1]->channels().find(id)->is_sealed(); }, 10s,
        "the seal");
  members_[source_]->kill();
  const Time alone = sim().now();
  await([&] { return has(0, id) && has(1, id); }, 200s, "the content at both");
  EXPECT_GT(sim().now() - alone, 65s) << "too quick to show anything";
}

TEST_F(BulkResumed, EndsWhereItsSourceCancelsIt) {
  begin_with(37, Shape::line, 3, {0, 1, 2});
  const BulkChannelId id = offer_again();
  members_[source_]->cancel(id);
  await([&] { return members_[2]->channels().find(id)->ended.has_value(); }, 5s, "the end");
}

TEST_F(Bulk, OfNothingIsThereAtOnce) {
  begin(10, Shape::line, 2);
  const BulkChannelId id = offer(0, 0);
  await_all(id, 0, 10s);
}

/// Slow links, clients that come late, daemons that are lost and come back, connections that break: who is there at the
/// end has all of it.
TEST_F(Bulk, ReachesAllWhateverHappens) {
  for (std::uint64_t seed = 100; seed < 112; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    begin(seed, kShapes[random.below(std::size(kShapes))], random.between(2, 6));
    const std::size_t daemons = members_.size();
    for (HostIndex a = 0; a < daemons; ++a) {
      for (HostIndex b = 0; b < a; ++b) {
        PathProperties path;
        path.bytes_per_second = random.between(1, 20) * 1'000'000;
        path.delay = std::chrono::microseconds(random.between(50, 5'000));
        sim().network().set_path(a, b, path);
      }
    }
    const BulkChannelId id = offer(0, random.between(1, 6'000'000));
    for (int i = 0; i < 4; ++i) {
      sim().run_for(std::chrono::milliseconds(random.below(300)));
      const std::size_t at = random.below(daemons);
      switch (random.below(4)) {
        case 0:
          add(at, {true, random.chance(0.5)});
          break;
        case 1:
          bulk_[random.below(bulk_.size())]->break_attachment();
          break;
        case 2:
          sim().network().reset_between(static_cast<HostIndex>(at), static_cast<HostIndex>(random.below(daemons)));
          break;
        default:
          sim().host(at).pause();
          sim().run_for(std::chrono::milliseconds(random.below(900)));
          sim().host(at).resume();
          break;
      }
    }
    await_all(id, 0, 300s);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace spindled::sim
