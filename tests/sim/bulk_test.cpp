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
  void begin(std::uint64_t seed, Shape shape, std::size_t daemons) {
    simulate_cluster(seed, shape, daemons, {});
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

TEST_F(Bulk, ServesWhoComesLateWhereTheSourceIsGone) {
  begin(4, Shape::line, 3);
  const BulkChannelId id = offer(0, 2'000'000);
  await_all(id, 0, 60s);
  await([&] { return members_[1]->channels().find(id)->is_complete(); }, 10s, "the completion");
  members_[0]->kill();
  sim().run_for(1s);
  add(0);
  await_all(id, 0, 60s);
}

TEST_F(Bulk, ADaemonThatHasStartedAnewIsGivenTheIndexByWhoKnowsIt) {
  for (const bool is_beside : {true, false}) {
    members_.clear();
    bulk_.clear();
    simulate_cluster(is_beside ? 21 : 22, Shape::line, 3, {});
    add(0);
    const auto disk = std::make_shared<ContentDisk>();
    add(1, {.disk = disk});
    add(2);
    await_group_view(members_, "g");
    const BulkChannelId id = offer(0, 2'000'000);
    await_all(id, 0, 60s);
    await([&] { return members_[1]->channels().find(id)->is_complete(); }, 10s, "the completion");
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
  await([&] { return members_[1]->channels().find(id)->is_complete(); }, 10s, "the completion");
  EXPECT_EQ(members_[1]->channels().find(id)->complete->done.size(), 2u);
  members_[2]->kill();
  sim().run_for(1s);
  add(0);
  add(2);
  await_all(id, 2, 60s);
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
  await([&] { return members_[0]->channels().find(id)->is_complete(); }, 10s, "the completion");
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
      members_.clear();
      bulk_.clear();
      begin(seed, Shape::line, 2);
      const BulkChannelId id = offer(keeps, 2'000'000);
      await_all(id, keeps, 60s);
      await([&] { return members_[keeps]->channels().find(id)->is_complete(); }, 10s, "the completion");
      members_[1 - keeps]->kill();
      sim().run_for(1s);
      // Over the hop the daemon of the source sends nothing any more: it keeps its end.
      sim().network().reset_at(static_cast<HostIndex>(1 - keeps), static_cast<HostIndex>(keeps));
      await([&] { return !have_one_view(sim().running_hosts()); }, 10s, "the loss of the link");
      await([&] { return have_one_view(sim().running_hosts()); }, 30s, "one view");
      add(1 - keeps);
      await_all(id, keeps, 20s);
    }
  }
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

TEST_F(Bulk, ADaemonMayStopWhileHopsAreOpened) {
  for (int wait = 0; wait < 12; ++wait) {
    members_.clear();
    bulk_.clear();
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
  static constexpr std::uint32_t kSymbols = 32;  // of a block
  static constexpr std::size_t kBlockBytes = kSymbols * spindle::bulk::kSymbolBytesMin;

  /// Members at all daemons; those at `has` get the content but for its last blocks, and then the source is killed.
  void begin_with(std::uint64_t seed, Shape shape, std::size_t daemons, std::initializer_list<std::size_t> has) {
    begin(seed, shape, daemons);
    content_ = spindle::test::content_of(static_cast<std::uint32_t>(seed), kBlocks * kBlockBytes);
    source_ = members_.size();
    add(0);
    await_group_view(members_, "g");
    bulk_[source_]->offer("g", content_, kSymbols, 1);
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
  void lose(std::size_t member, std::uint32_t but) {
    auto state = bulk_[member]->disk()->read_state(former_);
    ASSERT_TRUE(state);
    state->written = spindle::bulk::BlockSet::of_first(but);
    for (int i = 0; i < 2; ++i) bulk_[member]->disk()->write_state(former_, *state);
    bulk_[member]->disk()->goes_on_with = former_;
  }
  /// Another program offers it again.
  BulkChannelId offer_again() {
    source_ = members_.size();
    add(0, {false, true});
    await_membership();
    bulk_[source_]->offer("g", content_, kSymbols, 60);
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
    members_.clear();
    bulk_.clear();
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
