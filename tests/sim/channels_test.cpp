// Bulk channels without their content: who is told what, where in the order, and when a channel is complete and ends.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Members = std::vector<SimClient*>;

class Channels : public Scenario {
 protected:
  /// A line of daemons, and at each a client that hears of channels and is a member of g: a, b, ...
  void begin(std::uint64_t seed, std::size_t daemons, const NodeConfig& node = {}) {
    simulate_cluster(seed, Shape::line, daemons, node);
    for (std::size_t i = 0; i < daemons; ++i) add(i);
    await_group_view(members_, "g");
  }
  SimClient& add(std::size_t host, std::optional<ChannelHabit> habit = {}, bool wants = true) {
    const std::string name(1, static_cast<char>('a' + clients_));
    SimClient& client = sim().add_client(sim().host(host), name, {.wants_channels = wants, .channel_habit = habit});
    ++clients_;
    client.join("g");
    members_.push_back(&client);
    return client;
  }
  /// The client offers a content, of which all members that are there are told.
  BulkChannelId offer(SimClient& source, std::optional<Duration> seals_after = Duration{},
                      std::uint32_t linger_s = 60) {
    const std::size_t before = source.channels().size();
    source.offer("g", 100'000, seals_after, linger_s);
    await([&] { return source.channels().size() > before; }, 10s, "the offer");
    const BulkChannelId id = source.channels().ids().back();
    await([&] { return knows_all(id); }, 10s, "the offer at all members");
    return id;
  }
  bool knows_all(const BulkChannelId& id) {
    return std::all_of(members_.begin(), members_.end(), [&](const SimClient* each) {
      return each->is_closed() || each->channels().find(id) != nullptr;
    });
  }
  const ClientChannel& at(const SimClient& client, const BulkChannelId& id) { return *client.channels().find(id); }
  void await_complete(const Members& at, const BulkChannelId& id, Duration bound = 10s) {
    await(
        [&] {
          return std::all_of(at.begin(), at.end(), [&](const SimClient* each) { return is_complete(*each, id); });
        },
        bound, "the completion");
  }
  static bool is_complete(const SimClient& client, const BulkChannelId& id) {
    const ClientChannel* channel = client.channels().find(id);
    return channel != nullptr && channel->is_complete();
  }
  SimClient& member(std::size_t index) { return *members_.at(index); }

  Members members_;
  std::size_t clients_ = 0;
};

TEST_F(Channels, AreCompleteWhereTheLastOfTheAudienceHasSaidWhatCameOfIt) {
  begin(1, 4);
  const BulkChannelId id = offer(member(0));
  EXPECT_EQ(at(member(0), id).offered.source, "#a#d000");
  EXPECT_NE(at(member(0), id).offered.request, 0u);
  EXPECT_EQ(at(member(1), id).offered.request, 0u);
  EXPECT_FALSE(at(member(1), id).offered.is_late);
  member(1).say(id, BulkOutcome::accepted);
  member(1).say(id, BulkOutcome::done);
  member(2).say(id, BulkOutcome::failed);
  sim().run_for(1s);
  EXPECT_TRUE(at(member(3), id).is_sealed());
  EXPECT_FALSE(at(member(0), id).is_complete());
  member(3).say(id, BulkOutcome::refused);
  await_complete(members_, id);
  await_rest();
  check();
  const protocol::BulkComplete& complete = *at(member(0), id).complete;
  EXPECT_THAT(complete.done, ElementsAre("#b#d001"));
  ASSERT_EQ(complete.failed.size(), 1u);
  EXPECT_EQ(complete.failed[0].name, "#c#d002");
  EXPECT_EQ(complete.failed[0].code, static_cast<std::uint16_t>(Errc::limit_exceeded));
  EXPECT_THAT(complete.refused, ElementsAre("#d#d003"));
  for (const SimClient* each : members_) EXPECT_EQ(*at(*each, id).complete, complete);
}

TEST_F(Channels, AreNotCompleteBeforeTheyAreSealed) {
  begin(2, 2);
  const BulkChannelId id = offer(member(0), std::nullopt);
  member(1).say(id, BulkOutcome::done);
  sim().run_for(1s);
  EXPECT_FALSE(is_complete(member(0), id));
  member(0).seal(id);
  await_complete(members_, id);
  check();
}

TEST_F(Channels, AreToldWhatIsSaidFirstAtOnceAndTheRestTogether) {
  begin(24, 2);
  const BulkChannelId first = offer(member(0)), second = offer(member(0)), third = offer(member(0));
  member(1).say(first, BulkOutcome::done);
  await_complete(members_, first, 30ms);
  member(1).say(second, BulkOutcome::done);
  sim().run_for(20ms);
  member(1).say(third, BulkOutcome::done);
  sim().run_for(20ms);
  EXPECT_FALSE(is_complete(member(0), second));
  await_complete(members_, second, 100ms);
  EXPECT_TRUE(is_complete(member(0), third));
  check();
}

TEST_F(Channels, AreCompleteWithTheSealWhereNobodyIsInTheGroup) {
  simulate_cluster(3, Shape::line, 2);
  SimClient& source = sim().add_client(sim().host(0), "a", {.wants_channels = true});
  source.offer("nobody", 10);
  await([&] { return source.channels().size() == 1 && is_complete(source, source.channels().ids()[0]); }, 10s,
        "the completion");
  check();
}

TEST_F(Channels, EndWhenTheirTimeIsOver) {
  begin(4, 3);
  const BulkChannelId id = offer(member(1), Duration{}, 2);
  member(0).say(id, BulkOutcome::done);
  member(2).say(id, BulkOutcome::done);
  await_complete(members_, id);
  const Time complete = sim().now();
  await([&] { return at(member(2), id).ended.has_value(); }, 10s, "the end");
  EXPECT_GT(sim().now() - complete, 1500ms);
  EXPECT_EQ(at(member(2), id).ended, protocol::BulkEnd::over);
  await_rest();
  check();
}

TEST_F(Channels, EndWhereTheSourceCancels) {
  begin(5, 3);
  const BulkChannelId id = offer(member(0), std::nullopt);
  member(1).cancel(id);
  sim().run_for(1s);
  EXPECT_THAT(member(1).refused_channels(), ElementsAre(Errc::access_denied));
  member(0).cancel(id);
  await([&] { return at(member(2), id).ended.has_value(); }, 10s, "the end");
  EXPECT_EQ(at(member(0), id).ended, protocol::BulkEnd::cancelled);
  member(0).seal(id);
  member(2).say(id, BulkOutcome::done);
  await_rest();
  EXPECT_THAT(member(0).refused_channels(), ElementsAre(Errc::unknown_channel));
  EXPECT_THAT(member(2).refused_channels(), ElementsAre(Errc::unknown_channel));
  check();
}

TEST_F(Channels, WaitForNobodyWhoLeavesOrGoes) {
  begin(6, 5);
  const BulkChannelId id = offer(member(0));
  member(1).say(id, BulkOutcome::done);
  sim().run_for(1s);
  member(2).leave("g");
  member(3).bye();
  sim().run_for(1s);
  EXPECT_FALSE(is_complete(member(0), id));
  member(4).kill();
  await_complete({members_[0], members_[1]}, id);
  await_rest();
  EXPECT_THAT(at(member(0), id).complete->done, ElementsAre("#b#d001"));
  EXPECT_FALSE(is_complete(member(2), id)) << "who has left is told nothing more";
  check();
}

TEST_F(Channels, CountWhatIsSaidBeforeItsReceiverGoes) {
  begin(7, 3);
  const BulkChannelId id = offer(member(0), std::nullopt);
  SimClient& late = add(2);
  await_group_view(members_, "g");
  sim().run_for(1s);
  member(0).seal(id);
  sim().run_for(1s);
  member(1).say(id, BulkOutcome::done);
  member(2).say(id, BulkOutcome::done);
  member(2).bye();
  await_complete({members_[0], members_[1], &late}, id);
  await_rest();
  check();
}

TEST_F(Channels, TellLateMembersBehindTheirFirstView) {
  begin(8, 3);
  const BulkChannelId id = offer(member(0));
  SimClient& late = add(1);
  await_group_view(members_, "g");
  await([&] { return late.channels().size() == 1; }, 10s, "the late offer");
  EXPECT_TRUE(at(late, id).offered.is_late);
  EXPECT_TRUE(at(late, id).offered.root.has_value());
  late.say(id, BulkOutcome::done);
  member(1).say(id, BulkOutcome::done);
  member(2).say(id, BulkOutcome::done);
  await_complete(members_, id);
  EXPECT_THAT(at(late, id).complete->done, ElementsAre("#b#d001", "#c#d002"));
  SimClient& later = add(2);
  await([&] { return later.channels().size() == 1; }, 10s, "the later offer");
  EXPECT_TRUE(at(later, id).offered.is_complete);
  await_rest();
  check();
}

TEST_F(Channels, AreRefusedForWhoDoesNotHearOfThem) {
  begin(9, 2);
  SimClient& deaf = add(1, {}, false);
  await_group_view(members_, "g");
  members_.pop_back();
  const BulkChannelId id = offer(member(0));
  member(1).say(id, BulkOutcome::done);
  await_complete(members_, id);
  EXPECT_THAT(at(member(0), id).complete->refused, ElementsAre(deaf.private_name()));
  EXPECT_EQ(deaf.channels().size(), 0u);
  await_rest();
  check();
}

TEST_F(Channels, GoOnWithoutTheirSource) {
  begin(10, 3);
  const BulkChannelId id = offer(member(1));
  sim().run_for(1s);
  member(1).kill();
  sim().run_for(1s);
  member(0).say(id, BulkOutcome::done);
  member(2).say(id, BulkOutcome::done);
  await_complete({members_[0], members_[2]}, id);
  await([&] { return at(member(0), id).ended.has_value(); }, 120s, "the end");
  await_rest();
  check();
}

TEST_F(Channels, EndLongAfterTheirSourceWhereNobodyHasThem) {
  begin(11, 3);
  const BulkChannelId id = offer(member(0), std::nullopt);
  sim().host(0).crash();
  sim().run_for(55s);
  EXPECT_FALSE(at(member(1), id).ended.has_value());
  await([&] { return at(member(1), id).ended.has_value(); }, 15s, "the end");
  EXPECT_EQ(at(member(2), id).ended, protocol::BulkEnd::abandoned);
}

TEST_F(Channels, AreNotAbandonedSoSoonWhereAViewBeginsOrSomebodyHasThem) {
  begin(25, 4);
  const BulkChannelId id = offer(member(0), std::nullopt), held = offer(member(0));
  member(2).say(held, BulkOutcome::done);
  member(1).say(id, BulkOutcome::accepted);
  sim().run_for(1s);
  member(0).bye();
  sim().run_for(50s);
  sim().host(3).crash();
  sim().run_for(50s);
  EXPECT_FALSE(at(member(1), id).ended.has_value());
  // What a client says again changes nothing, and keeps nothing.
  for (int i = 0; i < 20; ++i) {
    member(1).say(id, BulkOutcome::accepted);
    sim().run_for(1s);
  }
  EXPECT_EQ(at(member(1), id).ended, protocol::BulkEnd::abandoned);
  EXPECT_FALSE(at(member(1), held).ended.has_value());
  member(2).say(held, BulkOutcome::kept);
  sim().run_for(55s);
  EXPECT_FALSE(at(member(1), held).ended.has_value());
  sim().run_for(10s);
  EXPECT_EQ(at(member(1), held).ended, protocol::BulkEnd::abandoned);
}

TEST_F(Channels, CountWhoIsGoneAndTellTheSourceWhoComesBack) {
  begin(26, 4);
  const BulkChannelId id = offer(member(0));
  member(1).say(id, BulkOutcome::done);
  member(2).say(id, BulkOutcome::accepted);
  member(3).say(id, BulkOutcome::accepted);
  sim().run_for(1s);
  member(1).leave("g");
  member(2).leave("g");
  sim().run_for(1s);
  sim().network().partition({{0, 1, 2}, {3}});
  await_complete({members_[0]}, id, 30s);
  EXPECT_EQ(at(member(0), id).complete->gone, (protocol::BulkGone{1, 0, 0, 2}));
  member(2).join("g");
  await([&] { return at(member(2), id).offers == 2; }, 10s, "the offer to who has left and is back");
  EXPECT_FALSE(at(member(0), id).returned) << "it has not accepted";
  member(2).say(id, BulkOutcome::accepted);
  await([&] { return at(member(0), id).returned.has_value(); }, 10s, "news of it");
  EXPECT_EQ(at(member(0), id).returned->gone, (protocol::BulkGone{0, 0, 0, 2}));
  EXPECT_EQ(at(member(0), id).returned->present, 1u);
  // What it has said to its side counts where sides meet.
  member(3).say(id, BulkOutcome::failed);
  sim().run_for(1s);
  sim().network().heal();
  await([&] { return at(member(0), id).returned->gone.failed == 1; }, 60s, "what has come of the other one");
  EXPECT_EQ(at(member(0), id).returned->gone.missing, 1u);
  member(2).say(id, BulkOutcome::done);
  await([&] { return at(member(0), id).returned->gone.missing == 0; }, 10s, "that nobody is missing");
  EXPECT_EQ(at(member(0), id).returned->gone, (protocol::BulkGone{1, 1, 0, 0}));
  for (const std::size_t i : {1u, 2u, 3u}) EXPECT_FALSE(at(member(i), id).returned) << "for the source only";
  await_rest();
  check();
}

TEST_F(Channels, AreCompleteForASideWithoutThoseWhoAreApart) {
  begin(12, 4);
  const BulkChannelId id = offer(member(0));
  sim().run_for(1s);
  member(1).say(id, BulkOutcome::done);
  sim().run_for(1s);
  sim().network().partition({{0, 1}, {2, 3}});
  await_complete({members_[0], members_[1]}, id, 30s);
  EXPECT_THAT(at(member(0), id).complete->done, ElementsAre("#b#d001"));
  EXPECT_FALSE(is_complete(member(2), id));
  sim().network().heal();
  await_group_view(members_, "g", 60s);
  await_rest();
  // The side of the source's daemon decides.
  EXPECT_THAT(at(member(2), id).complete->done, ElementsAre("#b#d001"));
  check();
}

TEST_F(Channels, AreDecidedByTheSideOfTheSourceWhereSidesMeet) {
  begin(13, 4);
  const BulkChannelId id = offer(member(3), std::nullopt);
  sim().network().partition({{0, 1}, {2, 3}});
  await([&] { return have_one_group_view({members_[0], members_[1]}, "g"); }, 30s, "the view of one side");
  member(0).say(id, BulkOutcome::done);
  sim().run_for(1s);
  member(3).seal(id);
  sim().run_for(1s);
  EXPECT_FALSE(at(member(0), id).is_sealed());
  sim().network().heal();
  await_group_view(members_, "g", 60s);
  await([&] { return at(member(0), id).is_sealed(); }, 10s, "the seal");
  EXPECT_FALSE(is_complete(member(0), id));
  member(2).say(id, BulkOutcome::done);
  await_complete(members_, id);
  EXPECT_THAT(at(member(0), id).complete->done, ElementsAre("#c#d002"));
  await_rest();
  check();
}

TEST_F(Channels, OfOneSideAreToldToTheOther) {
  begin(14, 4);
  sim().network().partition({{0, 1}, {2, 3}});
  await([&] { return have_one_group_view({members_[0], members_[1]}, "g"); }, 30s, "the view of one side");
  member(0).offer("g", 1000, std::nullopt);
  await([&] { return member(1).channels().size() == 1; }, 10s, "the offer");
  const BulkChannelId id = member(0).channels().ids().front();
  EXPECT_EQ(member(2).channels().size(), 0u);
  sim().network().heal();
  await_group_view(members_, "g", 60s);
  await([&] { return knows_all(id); }, 10s, "the offer at the other side");
  EXPECT_TRUE(at(member(2), id).offered.is_late);
  member(0).seal(id);
  member(1).say(id, BulkOutcome::done);
  await_complete(members_, id);
  await_rest();
  check();
}

TEST_F(Channels, ThatHaveEndedForTheSourceEndForAllWhereSidesMeet) {
  begin(15, 4);
  const BulkChannelId id = offer(member(0));
  sim().network().partition({{0, 1}, {2, 3}});
  await([&] { return have_one_group_view({members_[0], members_[1]}, "g"); }, 30s, "the view of one side");
  member(0).cancel(id);
  await([&] { return at(member(1), id).ended.has_value(); }, 10s, "the end");
  EXPECT_FALSE(at(member(2), id).ended.has_value());
  sim().network().heal();
  await([&] { return at(member(2), id).ended.has_value(); }, 60s, "the end at the other side");
  EXPECT_EQ(at(member(2), id).ended, protocol::BulkEnd::elsewhere);
  await_rest();
  check();
}

TEST_F(Channels, AreTakenWhileTheViewChanges) {
  begin(16, 4);
  for (int round = 0; round < 4; ++round) {
    sim().host(3).crash();
    for (int i = 0; i < 40; ++i) {
      member(static_cast<std::size_t>(i % 3)).offer("g", 1000);
      sim().run_for(10ms);
    }
    sim().host(3).start();
    for (int i = 0; i < 40; ++i) {
      member(static_cast<std::size_t>(i % 3)).offer("g", 1000);
      sim().run_for(10ms);
    }
    if (round == 0) members_.pop_back();
    for (SimClient* each : members_) {
      for (const BulkChannelId& id : each->channels().ids()) {
        if (at(*each, id).offered.request == 0 && !at(*each, id).ended) each->say(id, BulkOutcome::done);
      }
      sim().run_for(1s);
      each->cancel_all();
    }
    await_group_view(members_, "g", 60s);
    await_rest();
  }
  check();
  EXPECT_GT(member(0).channels().size(), 100u);
}

TEST_F(Channels, AreManyAtATime) {
  begin(17, 3);
  for (int i = 0; i < 40; ++i) {
    for (SimClient* each : members_) each->offer("g", 1000);
  }
  await([&] { return member(0).channels().size() == 120; }, 10s, "all offers");
  await([&] { return member(2).channels().size() == 120; }, 10s, "all offers");
  for (SimClient* each : members_) {
    for (const BulkChannelId& id : each->channels().ids()) {
      if (at(*each, id).offered.request == 0) each->say(id, BulkOutcome::done);
    }
  }
  for (const BulkChannelId& id : std::vector(member(0).channels().ids())) await_complete(members_, id);
  await_rest();
  check();
}

TEST_F(Channels, OfOneClientHaveABound) {
  begin(18, 2);
  for (int i = 0; i < 70; ++i) member(0).offer("g", 1000, std::nullopt);
  await([&] { return member(1).channels().size() == 64; }, 10s, "the offers");
  await_rest();
  EXPECT_EQ(member(1).channels().size(), 64u);
  EXPECT_EQ(member(0).refused_channels(), std::vector<Errc>(6, Errc::too_many_channels));
  member(0).cancel(member(0).channels().ids().front());
  sim().run_for(1s);
  member(0).offer("g", 1000, std::nullopt);
  await([&] { return member(1).channels().size() == 65; }, 10s, "one more");
  check();
}

TEST_F(Channels, OfAllClientsHaveABound) {
  simulate_cluster(19, Shape::line, 2);
  std::vector<SimClient*> sources;
  for (std::size_t i = 0; i < 18; ++i) {
    sources.push_back(&sim().add_client(sim().host(i % 2), "s" + std::to_string(i), {.wants_channels = true}));
    for (int j = 0; j < 60; ++j) sources.back()->offer("g", 1000, std::nullopt);
  }
  await_rest();
  std::size_t offered = 0, refused = 0;
  for (const SimClient* each : sources) {
    offered += each->channels().size();
    refused += static_cast<std::size_t>(
        std::count(each->refused_channels().begin(), each->refused_channels().end(), Errc::too_many_channels));
  }
  EXPECT_EQ(offered, 1024u);
  EXPECT_EQ(offered + refused, 18u * 60);
  check();
}

TEST_F(Channels, OfTwoSidesMeetInParts) {
  NodeConfig node;
  node.turn_work_max = 5;
  begin(20, 4, node);
  for (std::size_t i = 0; i < 20; ++i) add(i % 4);
  await_group_view(members_, "g");
  sim().network().partition({{0, 1}, {2, 3}});
  await([&] { return !member(0).view("g") || member(0).view("g")->members.size() == 12; }, 30s, "the view of one side");
  for (int i = 0; i < 20; ++i) {
    member(0).offer("g", 1000, std::nullopt);
    member(3).offer("g", 1000, std::nullopt);
  }
  sim().run_for(2s);
  sim().network().heal();
  await_group_view(members_, "g", 60s);
  await(
      [&] {
        return std::all_of(members_.begin(), members_.end(),
                           [](const SimClient* each) { return each->channels().size() == 40; });
      },
      10s, "all channels at all members");
  await_rest();
  check();
}

TEST_F(Channels, StayWithASessionThatIsResumed) {
  simulate_cluster(21, Shape::line, 2);
  for (std::size_t i = 0; i < 2; ++i) {
    members_.push_back(&sim().add_client(sim().host(i), std::string(1, static_cast<char>('a' + i)),
                                         {.returns = true, .wants_channels = true}));
    members_.back()->join("g");
  }
  await_group_view(members_, "g");
  member(0).request_token();
  await([&] { return member(0).channels().token().has_value(); }, 10s, "the token");
  member(1).cut(false, 100ms);
  member(0).offer("g", 1000);
  member(0).cut(false, 100ms);
  await([&] { return member(1).channels().size() == 1; }, 10s, "the offer");
  const BulkChannelId id = member(0).channels().ids().front();
  member(1).say(id, BulkOutcome::done);
  member(1).cut(false, 100ms);
  await_complete(members_, id);
  await_rest();
  check();
}

TEST_F(Channels, OfASynchronousGroupAreToldToMembersWithAView) {
  simulate_cluster(22, Shape::line, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    members_.push_back(&sim().add_client(sim().host(i), std::string(1, static_cast<char>('a' + i)),
                                         {.wants_channels = true, .channel_habit = ChannelHabit{}}));
    members_.back()->join("g", true);
  }
  await_group_view(members_, "g");
  for (int i = 0; i < 10; ++i) {
    members_.push_back(&sim().add_client(sim().host(0), "x" + std::to_string(i),
                                         {.wants_channels = true, .channel_habit = ChannelHabit{}}));
    members_.back()->join("g", true);
    member(1).offer("g", 1000);
    sim().run_for(3ms);
    member(2).offer("g", 1000);
    sim().run_for(40ms);
  }
  await_group_view(members_, "g");
  await_rest();
  EXPECT_EQ(members_.back()->channels().size(), 20u);
  for (const BulkChannelId& id : std::vector(member(1).channels().ids())) EXPECT_TRUE(is_complete(member(1), id));
  check();
}

}  // namespace
}  // namespace spindled::sim
