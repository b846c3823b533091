// Bulk channels at one daemon: operations, the table, sides that meet, and what waits to be ordered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "daemon/channel/channel_exchange.h"
#include "daemon/channel/channel_operations.h"
#include "daemon/channel/channel_table.h"
#include "daemon/channel/progress_batch.h"

namespace spindled {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

BulkChannelId id_of(std::string daemon, std::uint64_t number = 1) { return {std::move(daemon), 1, number}; }

Channel channel_of(const BulkChannelId& id, ChannelReceivers audience = {}) {
  Channel channel;
  channel.id = id;
  channel.group = "g";
  channel.source = 7;
  channel.client = "ann";
  channel.terms.layout = *ContentLayout::of(100);
  channel.audience = std::move(audience);
  return channel;
}

ChannelProgress::Said said(SessionId session, BulkOutcome outcome, std::uint16_t code = 0) {
  return {session, outcome, code};
}

View view_of(std::vector<std::string> names, MemberIndex self = 0) {
  View view;
  view.id = {1, names.front(), 1};
  for (std::string& name : names) view.members.push_back({std::move(name), 1});
  view.self = self;
  return view;
}

TEST(OperationsOfChannels, ComeBackAsTheyWereAndAreReadStrictly) {
  Channel known = channel_of(id_of("alpha"), {{0, 3, BulkOutcome::failed, 30}, {1, 4}});
  known.others = {{1, 9, BulkOutcome::done}};
  known.gone = {{1, 2, 3}, {{{"alpha", 1}, 9}, {{"beta", 1}, 2}}, {4, 5, 6}};
  known.root.emplace();
  known.is_complete = true;
  const ChannelOperation operations[] = {
      ChannelOffered{id_of("alpha"), "g", 7, "ann", known.terms},
      ChannelSealed{id_of("alpha"), 100, {}},
      ChannelProgress{{{id_of("alpha"), {said(1, BulkOutcome::done), said(2, BulkOutcome::failed, 30)}}}},
      ChannelCancelled{id_of("alpha")},
      ChannelEnded{id_of("alpha"), BulkEnd::abandoned},
      ChannelRateSet{id_of("alpha"), 1000},
      ChannelSourceGone{7},
      ChannelsKnown{MemberSet::first(3), {known}, true}};
  std::uint8_t number = kChannelOperationMin;
  for (const ChannelOperation& operation : operations) {
    EXPECT_EQ(number_of(operation), number);
    std::vector<std::uint8_t> bytes = write_channel_operation(operation);
    const auto read = read_channel_operation(number, bytes);
    ASSERT_TRUE(read) << int{number};
    EXPECT_EQ(write_channel_operation(*read), bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(read_channel_operation(number, ByteView(bytes).first(size)));
    }
    bytes.push_back(0);
    EXPECT_FALSE(read_channel_operation(number++, bytes));
  }
  EXPECT_FALSE(read_channel_operation(number, {}));
}

TEST(ChannelTable, IsCompleteWithTheLastOutcomeAndTheSeal) {
  ChannelTable table;
  const BulkChannelId id = id_of("alpha");
  table.add(channel_of(id, {{0, 3}, {1, 4}}));
  EXPECT_TRUE(table.note(id, 0, said(3, BulkOutcome::accepted), true));
  EXPECT_TRUE(table.note(id, 0, said(3, BulkOutcome::done), true));
  EXPECT_FALSE(table.note(id, 0, said(3, BulkOutcome::failed), true)) << "what is final stays";
  EXPECT_FALSE(table.complete(id));
  EXPECT_TRUE(table.note(id, 1, said(4, BulkOutcome::refused), true));
  EXPECT_FALSE(table.complete(id)) << "it is not sealed";
  EXPECT_FALSE(table.seal({id, 99, {}})) << "another size was offered";
  EXPECT_TRUE(table.seal({id, 100, {}}));
  EXPECT_FALSE(table.seal({id, 100, {}}));
  EXPECT_TRUE(table.complete(id));
  EXPECT_FALSE(table.complete(id)) << "once";
}

TEST(ChannelTable, WhoIsDoneMayCeaseToGive) {
  ChannelTable table;
  const BulkChannelId id = id_of("alpha");
  table.add(channel_of(id, {{0, 3}, {1, 4}}));
  EXPECT_TRUE(table.note(id, 0, said(3, BulkOutcome::done), true));
  EXPECT_TRUE(table.note(id, 1, said(4, BulkOutcome::refused), true));
  EXPECT_EQ(table.find(id)->holding(), MemberSet::of(0));
  EXPECT_TRUE(table.note(id, 0, said(3, BulkOutcome::kept), true));
  EXPECT_TRUE(table.find(id)->holding().empty());
  EXPECT_FALSE(table.note(id, 0, said(3, BulkOutcome::done), true));
  EXPECT_FALSE(table.note(id, 1, said(4, BulkOutcome::kept), true));
}

TEST(ChannelTable, WaitsForNobodyWhoIsGone) {
  ChannelTable table;
  const BulkChannelId id = id_of("alpha");
  table.begin_view(view_of({"alpha", "beta", "gamma"}).members);
  table.add(channel_of(id, {{0, 3}, {1, 4}, {2, 5}}));
  ASSERT_TRUE(table.seal({id, 100, {}}));
  EXPECT_TRUE(table.leave(id, 0, 3));
  EXPECT_FALSE(table.leave(id, 0, 3));
  EXPECT_FALSE(table.note(id, 0, said(3, BulkOutcome::done), false));
  table.carry_over(id, {MemberIndex{0}, std::nullopt, MemberIndex{1}});
  table.begin_view(view_of({"alpha", "gamma"}).members);
  EXPECT_THAT(table.find(id)->audience, ElementsAre(ChannelReceiver{1, 5}));
  EXPECT_FALSE(table.complete(id));
  EXPECT_TRUE(table.leave(id, 1, 5));
  EXPECT_TRUE(table.complete(id));
  EXPECT_THAT(
      table.find(id)->gone.missing,
      ElementsAre(MissingReceiver{{"alpha", 1}, 3}, MissingReceiver{{"beta", 1}, 4}, MissingReceiver{{"gamma", 1}, 5}));
  EXPECT_EQ(table.receivers(), 3u) << "who is missing has a place";
  table.end(id);
  EXPECT_EQ(table.receivers(), 0u);
}

TEST(ChannelTable, CountsWhoIsGoneByWhatHadComeOfIt) {
  ChannelTable table;
  const BulkChannelId id = id_of("alpha");
  table.begin_view(view_of({"alpha", "beta"}).members);
  table.add(channel_of(id, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 5}, {1, 6}, {1, 7}}));
  table.note(id, 0, said(1, BulkOutcome::done), true);
  table.note(id, 0, said(1, BulkOutcome::kept), true);
  table.note(id, 0, said(2, BulkOutcome::failed), true);
  table.note(id, 0, said(3, BulkOutcome::refused), true);
  table.note(id, 0, said(4, BulkOutcome::accepted), true);
  table.note(id, 1, said(6, BulkOutcome::done), true);
  for (SessionId session = 1; session <= 4; ++session) EXPECT_TRUE(table.leave(id, 0, session));
  table.carry_over(id, {MemberIndex{0}, std::nullopt});
  table.begin_view(view_of({"alpha"}).members);
  const ChannelGone& gone = table.find(id)->gone;
  EXPECT_EQ(gone.said, (OutcomeCounts{2, 1, 1}));
  EXPECT_THAT(gone.missing, ElementsAre(MissingReceiver{{"alpha", 1}, 4}, MissingReceiver{{"beta", 1}, 5},
                                        MissingReceiver{{"beta", 1}, 7}));
  EXPECT_EQ(table.receivers(), 3u);
}

TEST(ChannelTable, WhoComesBackIsMissingUntilItSaysWhatComesOfIt) {
  ChannelTable table;
  const BulkChannelId id = id_of("alpha");
  const std::vector<DaemonId> members = view_of({"alpha", "beta"}).members;
  table.begin_view(members);
  table.add(channel_of(id, {{0, 1}, {1, 2}, {1, 3}}));
  ASSERT_TRUE(table.seal({id, 100, {}}));
  for (const auto& [daemon, session] : {std::pair<MemberIndex, SessionId>{0, 1}, {1, 2}, {1, 3}}) {
    EXPECT_TRUE(table.leave(id, daemon, session));
  }
  const Channel& channel = *table.find(id);
  EXPECT_TRUE(table.note(id, 0, said(1, BulkOutcome::done), true));
  EXPECT_EQ(channel.gone.said, (OutcomeCounts{1, 0, 0}));
  ASSERT_TRUE(table.complete(id));
  EXPECT_TRUE(table.note(id, 1, said(2, BulkOutcome::accepted), true));
  EXPECT_TRUE(table.note(id, 1, said(9, BulkOutcome::done), true)) << "was never of the audience";
  EXPECT_EQ(channel.gone.missing.size(), 2u);
  EXPECT_EQ(channel.returned(members), 1u);
  EXPECT_TRUE(table.leave(id, 1, 2));
  EXPECT_EQ(channel.returned(members), 0u);
  EXPECT_TRUE(table.note(id, 1, said(2, BulkOutcome::done), true));
  EXPECT_THAT(channel.gone.missing, ElementsAre(MissingReceiver{{"beta", 1}, 3}));
  EXPECT_EQ(channel.gone.said, (OutcomeCounts{1, 0, 0}));
  EXPECT_EQ(channel.gone.said_since, (OutcomeCounts{1, 0, 0}));
  EXPECT_EQ(table.receivers(), channel.size());
}

TEST(ChannelTable, KeepsWhoAcceptsLateApart) {
  ChannelTable table;
  table.begin_view(view_of({"alpha", "beta"}).members);
  const BulkChannelId id = id_of("alpha");
  table.add(channel_of(id, {{0, 3}}));
  EXPECT_FALSE(table.note(id, 1, said(9, BulkOutcome::accepted), false));
  EXPECT_TRUE(table.note(id, 1, said(9, BulkOutcome::accepted), true));
  EXPECT_TRUE(table.note(id, 1, said(8, BulkOutcome::done), true));
  const Channel& channel = *table.find(id);
  EXPECT_THAT(channel.others,
              ElementsAre(ChannelReceiver{1, 8, BulkOutcome::done}, ChannelReceiver{1, 9, BulkOutcome::accepted}));
  EXPECT_EQ(channel.lacking(), MemberSet::of(1));
  EXPECT_EQ(channel.holding(), MemberSet::of(1));
  EXPECT_EQ(table.receivers(), 3u);
  EXPECT_TRUE(table.end(id));
  EXPECT_FALSE(table.end(id));
  EXPECT_EQ(table.receivers(), 0u);
  EXPECT_FALSE(table.has_group("g"));
}

TEST(ChannelTable, HasABound) {
  ChannelTable table;
  for (std::uint64_t i = 1; i <= ChannelTable::kChannelsMax; ++i) {
    EXPECT_TRUE(table.has_room(1000));
    table.add(channel_of(id_of("alpha", i)));
  }
  EXPECT_FALSE(table.has_room(0));
  EXPECT_FALSE(ChannelTable().has_room(ChannelTable::kReceiversMax + 1));
}

class Meeting : public testing::Test {
 protected:
  Meeting() { view_ = view_of({"alpha", "beta", "gamma", "zeta"}); }
  bool say(MemberIndex origin, std::vector<MemberIndex> side, std::vector<Channel> channels) {
    MemberSet daemons;
    for (const MemberIndex each : side) daemons.insert(each);
    return exchange_.add(origin, {daemons, std::move(channels), false}, view_);
  }
  View view_;
  ChannelExchange exchange_;
};

TEST_F(Meeting, TheSideOfTheSourceDecidesAndOutcomesOfOthersAreKept) {
  Channel near = channel_of(id_of("gamma"), {{2, 5}}), far = channel_of(id_of("gamma"), {{0, 3, BulkOutcome::done}});
  near.root.emplace();
  EXPECT_TRUE(say(0, {0, 1}, {far}));
  EXPECT_TRUE(say(2, {2, 3}, {near}));
  const auto united = exchange_.unite(id_of("gamma"), view_);
  ASSERT_TRUE(united);
  EXPECT_THAT(united->audience, ElementsAre(ChannelReceiver{2, 5}));
  EXPECT_THAT(united->others, ElementsAre(ChannelReceiver{0, 3, BulkOutcome::done}));
  EXPECT_TRUE(united->is_sealed());
}

TEST_F(Meeting, WhoWasMissingAndHasItByNowIsMissingNoMore) {
  Channel near = channel_of(id_of("gamma"), {{2, 5}});
  Channel far = channel_of(id_of("gamma"), {{0, 3, BulkOutcome::done}, {1, 4, BulkOutcome::accepted}});
  near.gone.missing = {{{"alpha", 1}, 3}, {{"alpha", 2}, 4}, {{"beta", 1}, 4}};
  near.root.emplace();
  near.is_complete = true;
  far.gone.said = {7, 7, 7};
  EXPECT_TRUE(say(0, {0, 1}, {far}));
  EXPECT_TRUE(say(2, {2, 3}, {near}));
  const auto united = exchange_.unite(id_of("gamma"), view_);
  ASSERT_TRUE(united);
  EXPECT_THAT(united->gone.missing, ElementsAre(MissingReceiver{{"alpha", 2}, 4}, MissingReceiver{{"beta", 1}, 4}));
  EXPECT_EQ(united->gone.said_since, (OutcomeCounts{1, 0, 0}));
  EXPECT_EQ(united->gone.said, OutcomeCounts());
  EXPECT_EQ(united->returned(view_.members), 1u);
}

TEST_F(Meeting, ThoseThatAreMissingComeInParts) {
  Channel first = channel_of(id_of("alpha")), second = first, again = first;
  first.gone.missing = {{{"alpha", 1}, 3}};
  second.gone.missing = {{{"alpha", 1}, 4}, {{"beta", 1}, 1}};
  again.gone.missing = {{{"beta", 1}, 1}};
  EXPECT_TRUE(say(0, {0, 1}, {first}));
  EXPECT_TRUE(say(0, {0, 1}, {second}));
  EXPECT_EQ(exchange_.unite(id_of("alpha"), view_)->gone.missing.size(), 3u);
  EXPECT_FALSE(say(0, {0, 1}, {again})) << "it is there";
}

TEST_F(Meeting, AnyCutOfATableComesTogetherAgain) {
  ChannelTable table;
  table.begin_view(view_.members);
  Channel large = channel_of(id_of("alpha", 2), {{0, 1}, {0, 2, BulkOutcome::done}, {1, 3}});
  large.others = {{0, 8, BulkOutcome::accepted}, {1, 9, BulkOutcome::failed, 30}};
  large.gone = {{1, 2, 3}, {{{"beta", 2}, 4}, {{"omega", 1}, 5}, {{"omega", 1}, 6}}, {4, 5, 6}};
  large.root.emplace();
  large.is_complete = true;
  for (const Channel& each : {channel_of(id_of("alpha", 1)), large, channel_of(id_of("omega"), {{1, 3}})}) {
    table.add(each);
  }
  const auto written = [](const Channel& channel) {
    return write_channel_operation(ChannelsKnown{MemberSet::first(2), {channel}, false});
  };
  for (std::size_t part_max = 2; part_max <= 16; ++part_max) {
    ChannelExchange exchange;
    KnownChannels known(table, MemberSet::first(2), part_max);
    for (bool more = true; more;) {
      ChannelsKnown part = known.next_part();
      more = part.more;
      EXPECT_LE(known.channels_and_receivers(), part_max + 1);
      ASSERT_TRUE(exchange.add(0, std::move(part), view_));
    }
    EXPECT_EQ(exchange.ids().size(), table.size());
    for (const auto& [id, channel] : table)
      EXPECT_EQ(written(*exchange.unite(id, view_)), written(channel)) << part_max;
  }
}

TEST_F(Meeting, WithoutTheSourceTheSideOfTheSmallerDaemonDecides) {
  Channel first = channel_of(id_of("omega"), {{1, 4}}), second = channel_of(id_of("omega"), {{2, 5}});
  second.root.emplace();
  EXPECT_TRUE(say(2, {2, 3}, {second}));
  EXPECT_TRUE(say(0, {0, 1}, {first}));
  const auto united = exchange_.unite(id_of("omega"), view_);
  ASSERT_TRUE(united);
  EXPECT_THAT(united->audience, ElementsAre(ChannelReceiver{1, 4}));
  EXPECT_THAT(united->others, IsEmpty());
  EXPECT_TRUE(united->is_sealed()) << "the other side knows";
}

TEST_F(Meeting, WhatTheSideOfTheSourceDoesNotKnowHasEnded) {
  EXPECT_TRUE(say(0, {0, 1}, {channel_of(id_of("gamma")), channel_of(id_of("omega"))}));
  EXPECT_FALSE(exchange_.unite(id_of("gamma"), view_)) << "that side has said nothing, and so knows none";
  EXPECT_TRUE(exchange_.unite(id_of("omega"), view_));
  EXPECT_THAT(exchange_.ids(), ElementsAre(id_of("gamma"), id_of("omega")));
}

TEST_F(Meeting, AChannelGoesOnInTheNextPart) {
  EXPECT_TRUE(say(0, {0, 1}, {channel_of(id_of("alpha"), {{0, 3}})}));
  EXPECT_TRUE(say(0, {0, 1}, {channel_of(id_of("alpha"), {{0, 4}, {1, 1}})}));
  EXPECT_EQ(exchange_.unite(id_of("alpha"), view_)->audience.size(), 3u);
  EXPECT_FALSE(say(0, {0, 1}, {channel_of(id_of("alpha"), {{1, 1}})})) << "it is there";
}

TEST_F(Meeting, TakesNoSidesThatCannotBe) {
  EXPECT_FALSE(say(1, {0, 1}, {})) << "the smallest daemon speaks";
  EXPECT_FALSE(say(0, {0, 4}, {})) << "the view has four";
  EXPECT_TRUE(say(0, {0, 1}, {}));
  EXPECT_FALSE(say(0, {0, 1, 3}, {}));
  EXPECT_FALSE(say(2, {2, 1}, {}));
  EXPECT_FALSE(say(2, {2}, {channel_of(id_of("alpha"), {{3, 1}})})) << "a receiver of another side";
}

TEST(ProgressBatch, KeepsWhatIsFinalAndCutsWhatIsLong) {
  ProgressBatch batch;
  batch.add(id_of("alpha"), said(1, BulkOutcome::accepted));
  batch.add(id_of("alpha"), said(1, BulkOutcome::done));
  batch.add(id_of("alpha"), said(1, BulkOutcome::failed));
  batch.add(id_of("gamma"), said(2, BulkOutcome::done));
  batch.add(id_of("gamma"), said(2, BulkOutcome::kept));
  EXPECT_TRUE(batch.has(1));
  ChannelProgress progress = batch.take();
  ASSERT_EQ(progress.channels.size(), 2u);
  ASSERT_EQ(progress.channels[0].said.size(), 1u);
  EXPECT_EQ(progress.channels[0].said[0].outcome, BulkOutcome::done);
  EXPECT_EQ(progress.channels[1].said[0].outcome, BulkOutcome::kept);
  EXPECT_TRUE(batch.empty());
  EXPECT_FALSE(batch.has(1));
  for (SessionId session = 1; session <= 1500; ++session) batch.add(id_of("beta"), said(session, BulkOutcome::done));
  EXPECT_EQ(batch.take().channels[0].said.size(), 1000u);
  EXPECT_EQ(batch.take().channels[0].said.size(), 500u);
  EXPECT_TRUE(batch.empty());
}

}  // namespace
}  // namespace spindled
