// Relaying a channel, over chains and trees of relays.
#include <gtest/gtest.h>

#include <cmath>

#include "daemon/base/random.h"
#include "tests/unit/bulk_relay_net.h"

namespace spindled {
namespace {

using spindle::bulk::BlockSet;
using test::RelayNet;

std::uint64_t symbols_of(const RelayNet& net) { return std::uint64_t{net.content().blocks} * net.content().symbols; }

double seconds_to(const RelayNet::Receiver& receiver) {
  return std::chrono::duration<double>(receiver.done_at - Time{1h}).count();
}

TEST(ChannelRelay, BringsAllToOneReceiverOnce) {
  RelayNet net({40, 64});
  const auto a = net.add_daemon("a");
  const auto b = net.add_daemon("b");
  const ConnectionId hop = net.connect(a, b, 10);
  RelayNet::Receiver& receiver = net.add_receiver(b);
  net.add_source(a);
  ASSERT_TRUE(net.run(5'000));
  EXPECT_EQ(receiver.duplicates, 0U);
  EXPECT_EQ(net.sent_over(hop), symbols_of(net));
}

TEST(ChannelRelay, OfAChainRunsAtTheRateOfItsNarrowestHop) {
  RelayNet net({64, 128});
  std::vector<std::size_t> daemons;
  for (int i = 0; i < 6; ++i) daemons.push_back(net.add_daemon("d" + std::to_string(i)));
  std::vector<ConnectionId> hops;
  for (std::size_t i = 0; i + 1 < daemons.size(); ++i) {
    hops.push_back(net.connect(daemons[i], daemons[i + 1], i == 2 ? 4 : 20));
  }
  RelayNet::Receiver& last = net.add_receiver(daemons.back());
  net.add_source(daemons.front());
  ASSERT_TRUE(net.run(20'000));
  const double ideal = static_cast<double>(symbols_of(net)) / 4 / 1000;
  EXPECT_LE(seconds_to(last), 1.05 * ideal);
  // Nothing is sent above the narrow hop that cannot pass it.
  for (const ConnectionId hop : hops) EXPECT_LE(net.sent_over(hop), symbols_of(net) + 2 * net.content().blocks);
  EXPECT_EQ(last.duplicates, 0U);
}

TEST(ChannelRelay, LetsNobodyWaitForASlowReceiver) {
  RelayNet net({64, 128});
  const auto a = net.add_daemon("a");
  const auto fast = net.add_daemon("fast");
  const auto slow = net.add_daemon("slow");
  net.connect(a, fast, 20);
  const ConnectionId narrow = net.connect(a, slow, 0.2);
  RelayNet::Receiver& quick = net.add_receiver(fast);
  RelayNet::Receiver& late = net.add_receiver(slow);
  net.add_source(a);
  ASSERT_TRUE(net.run(100'000));
  EXPECT_LE(seconds_to(quick), 1.02 * static_cast<double>(symbols_of(net)) / 20 / 1000 + 0.01);
  // Its hop carries what it lacks, once.
  EXPECT_LE(net.sent_over(narrow), symbols_of(net) * 102 / 100);
  EXPECT_LE(seconds_to(late), 1.05 * static_cast<double>(symbols_of(net)) / 0.2 / 1000);
}

TEST(ChannelRelay, OfARelayWithoutContentServesEachChildAtItsOwnRate) {
  RelayNet net({64, 128});
  const auto a = net.add_daemon("a");
  const auto transit = net.add_daemon("transit");
  const auto fast = net.add_daemon("fast");
  const auto slow = net.add_daemon("slow");
  net.connect(a, transit, 40);
  net.connect(transit, fast, 20);
  net.connect(transit, slow, 5);
  RelayNet::Receiver& quick = net.add_receiver(fast);
  RelayNet::Receiver& late = net.add_receiver(slow);
  net.add_source(a);
  ASSERT_TRUE(net.run(60'000));
  EXPECT_LE(seconds_to(quick), 1.05 * static_cast<double>(symbols_of(net)) / 20 / 1000);
  EXPECT_LE(seconds_to(late), 1.1 * static_cast<double>(symbols_of(net)) / 5 / 1000);
}

TEST(ChannelRelay, HasAReceiverServeThoseBelowIt) {
  RelayNet net({64, 128});
  const auto a = net.add_daemon("a");
  const auto middle = net.add_daemon("middle");
  const auto below = net.add_daemon("below");
  const ConnectionId above = net.connect(a, middle, 20);
  net.connect(middle, below, 2);
  RelayNet::Receiver& holder = net.add_receiver(middle);
  RelayNet::Receiver& late = net.add_receiver(below);
  net.add_source(a);
  ASSERT_TRUE(net.run(60'000));
  EXPECT_LE(seconds_to(holder), 1.05 * static_cast<double>(symbols_of(net)) / 20 / 1000);
  EXPECT_LE(net.sent_over(above), symbols_of(net) * 101 / 100) << "the hop above carries each block once";
  EXPECT_LE(seconds_to(late), 1.1 * static_cast<double>(symbols_of(net)) / 2 / 1000);
}

TEST(ChannelRelay, OfASlowRelayTheHopCarriesWhatItsReceiverLacksAndNotWhatThoseBelowDo) {
  RelayNet net({12, 4'096});
  const auto a = net.add_daemon("a");
  const auto fast = net.add_daemon("fast");
  const auto middle = net.add_daemon("middle");
  const auto below = net.add_daemon("below");
  net.connect(a, fast, 20);
  const ConnectionId above = net.connect(a, middle, 12);
  net.connect(middle, below, 3);
  net.add_receiver(fast);
  RelayNet::Receiver& holder = net.add_receiver(middle);
  RelayNet::Receiver& late = net.add_receiver(below);
  net.add_source(a);
  ASSERT_TRUE(net.run(60'000));
  EXPECT_LE(net.sent_over(above), symbols_of(net) * 102 / 100);
  EXPECT_LE(seconds_to(holder), 1.05 * static_cast<double>(symbols_of(net)) / 12 / 1000);
  EXPECT_LE(seconds_to(late), 1.1 * static_cast<double>(symbols_of(net)) / 3 / 1000);
}

TEST(ChannelRelay, ServesOneThatComesLate) {
  RelayNet net({64, 128});
  const auto a = net.add_daemon("a");
  const auto b = net.add_daemon("b");
  const auto c = net.add_daemon("c");
  net.connect(a, b, 10);
  net.add_receiver(b);
  net.add_source(a);
  net.run(300);
  const ConnectionId hop = net.connect(a, c, 10);
  RelayNet::Receiver& late = net.add_receiver(c);
  ASSERT_TRUE(net.run(10'000));
  EXPECT_LE(net.sent_over(hop), symbols_of(net) * 102 / 100);
  EXPECT_LE(late.duplicates, symbols_of(net) * 2 / 100);
}

TEST(ChannelRelay, GoesOnUnderAnotherParent) {
  RelayNet net({64, 128});
  const auto a = net.add_daemon("a");
  const auto b = net.add_daemon("b");
  const auto c = net.add_daemon("c");
  net.connect(a, b, 20);
  const ConnectionId lost = net.connect(b, c, 10);
  RelayNet::Receiver& receiver = net.add_receiver(c);
  net.add_source(a);
  net.run(300);
  ASSERT_FALSE(receiver.is_done(net.content()));
  const std::uint64_t before = receiver.symbols;
  net.disconnect(lost);
  const ConnectionId next = net.connect(a, c, 10);
  ASSERT_TRUE(net.run(20'000));
  EXPECT_LE(net.sent_over(next), symbols_of(net) - before + symbols_of(net) * 5 / 100);
}

TEST(ChannelRelay, GivesNothingTwiceThatParentAndBackupBothSend) {
  // One block, that fits into what is granted before any of it has come, and one that does not.
  for (const std::uint32_t symbols : {256u, 4'096u}) {
    SCOPED_TRACE(symbols);
    RelayNet net({1, symbols});
    const auto root = net.add_daemon("root"), a = net.add_daemon("a"), b = net.add_daemon("b");
    const auto c = net.add_daemon("c"), d = net.add_daemon("d");
    net.connect(root, a, 10);
    net.connect(root, b, 10, 5);
    net.connect(b, c, 10);
    net.connect(a, c, 10);
    const ConnectionId below = net.connect(c, d, 10);
    const RelayNet::Receiver& at_c = net.add_receiver(c);
    const RelayNet::Receiver& at_d = net.add_receiver(d);
    net.add_source(root);
    ASSERT_TRUE(net.run(20'000));
    net.run_for(1'000);
    EXPECT_EQ(at_c.duplicates, 0U);
    EXPECT_EQ(at_d.duplicates, 0U);
    EXPECT_LE(net.sent_over(below), symbols);
  }
}

TEST(ChannelRelay, GivesNothingTwiceThatAFormerParentGave) {
  RelayNet net({1, 1'000});
  const auto root = net.add_daemon("root"), a = net.add_daemon("a"), c = net.add_daemon("c");
  net.connect(root, a, 10);
  const ConnectionId former = net.connect(a, c, 10);
  const RelayNet::Receiver& receiver = net.add_receiver(c);
  net.add_source(root);
  net.run(60);
  ASSERT_FALSE(receiver.is_done(net.content()));
  ASSERT_GT(receiver.symbols, 200U);
  net.disconnect(former);
  net.connect(root, c, 10);
  ASSERT_TRUE(net.run(20'000));
  net.run_for(1'000);
  EXPECT_EQ(receiver.duplicates, 0U);
}

/// How many symbols a relay has to give to a child now.
std::size_t symbols_given(const RelayNet& net, ChannelRelay& relay, ConnectionId to) {
  std::size_t symbols = 0;
  while (auto item = relay.next(net.now(), to)) symbols += std::holds_alternative<RelayedSymbol>(*item) ? 1 : 0;
  return symbols;
}

TEST(ChannelRelay, GivesOnceWhatItAskedForAnewForThoseThatTheNextPlansAdd) {
  RelayNet net({4, 4});
  const auto root = net.add_daemon("root"), a = net.add_daemon("a");
  const ConnectionId hop = net.connect(root, a, 10);
  ChannelRelay& relay = net.relay(a);
  const std::vector<std::uint8_t> bytes(RelayNet::kSymbolBytes, 1);
  const auto join = [&](ConnectionId id, const char* daemon) {
    relay.add_child(net.now(), id, daemon);
    relay.need_received(net.now(), id, {});
    relay.grant_received(id, 1'000);
    net.run_for(10);
  };
  const auto come = [&](std::uint8_t generation) {
    for (std::uint32_t esi = 0; esi < 4; ++esi) {
      relay.symbol_received(net.now(), hop, 0,
                            {generation, 3, esi, spindle::bulk::crc32c(bytes), Slice({}, bytes.data(), bytes.size())});
    }
  };
  std::set<std::string, std::less<>> below;
  for (std::uint8_t i = 1; i <= 3; ++i) {
    SCOPED_TRACE(int{i});
    const ConnectionId id{70u + i};
    const std::string daemon = "d" + std::to_string(i);
    below.insert(daemon);
    relay.set_plan(i, below);
    join(id, daemon.c_str());
    EXPECT_EQ(symbols_given(net, relay, id), 0U) << "it had no place in the plans by which that came";
    come(i);
    EXPECT_EQ(symbols_given(net, relay, id), 4U);
    relay.need_received(net.now(), id, {BlockSet::of_first(4), {}});
    net.run_for(500);
  }
  const ConnectionId client{79};
  join(client, "");
  EXPECT_EQ(symbols_given(net, relay, client), 4U) << "of what the ring has three times";
}

/// All blocks but these.
BlockSet all_but(std::uint32_t blocks, std::initializer_list<std::uint32_t> lacking) {
  BlockSet has = BlockSet::of_first(blocks);
  for (const std::uint32_t block : lacking) has.remove(block);
  return has;
}

TEST(ChannelRelay, HasTheSourcePassOverWhatAllHave) {
  RelayNet net({1'000, 64});
  const auto a = net.add_daemon("a");
  const auto transit = net.add_daemon("transit");
  const auto b = net.add_daemon("b");
  net.connect(a, transit, 20, 30);
  const ConnectionId hop = net.connect(transit, b, 20, 30);
  RelayNet::Receiver& near = net.add_receiver(a, 1e9, true, all_but(1'000, {7, 500, 999}));
  RelayNet::Receiver& far = net.add_receiver(b, 1e9, true, all_but(1'000, {7, 300}));
  net.add_source(a);
  ASSERT_TRUE(net.run(5'000));
  EXPECT_EQ(near.symbols, 3 * 64U);
  EXPECT_EQ(far.symbols, 2 * 64U);
  EXPECT_EQ(net.sent_over(hop), 2 * 64U);
  // Of the ring that the source is granted at a time all is sent that belongs to a block.
  EXPECT_LE(net.sent_live(), 4 * 64U);
}

TEST(ChannelRelay, WaitsForThoseThatAreGoingToAskBeforeAnythingIsPassedOver) {
  for (const bool is_told : {false, true}) {
    RelayNet net({200, 64});
    const auto a = net.add_daemon("a");
    const auto b = net.add_daemon("b");
    if (is_told) net.relay(b).set_awaited(net.now(), {{}, {}, true});
    net.connect(a, b, 20);
    net.add_receiver(a, 1e9, true, all_but(200, {199}));
    net.add_receiver(b, 1e9, true, all_but(200, {199}));
    if (is_told) net.relay(b).set_awaited(net.now(), {{}, {}, true});
    net.add_source(a);
    EXPECT_EQ(net.run(900), !is_told);
    EXPECT_EQ(net.sent_live(), is_told ? 0U : 64U);
    EXPECT_TRUE(net.run(500));
    EXPECT_EQ(net.sent_live(), 64U);
  }
}

TEST(ChannelRelay, DoesNotWaitLongForWhoNeverAsks) {
  RelayNet net({60'000, 1'024});
  const auto a = net.add_daemon("a");
  RelayNet::Receiver& receiver = net.add_receiver(a, 20, true, all_but(60'000, {59'999}));
  net.relay(a).set_awaited(net.now(), {{"nobody"}, {}, false});
  net.add_source(a);
  ASSERT_TRUE(net.run(3'000));
  EXPECT_EQ(receiver.symbols, 1'024U);
  EXPECT_EQ(net.sent_live(), 1'024U);
}

TEST(ChannelRelay, GivesWhatWasPassedOverToWhoComesLater) {
  for (const int later : {1, 40, 3'000}) {
    RelayNet net({100, 64});
    const auto a = net.add_daemon("a");
    const auto b = net.add_daemon("b");
    const auto c = net.add_daemon("c");
    net.connect(a, b, 20);
    const ConnectionId hop = net.connect(b, c, 20, 10);
    net.add_receiver(b, 1e9, false, all_but(100, {}));
    net.add_source(a);
    net.run_for(later);
    RelayNet::Receiver& late = net.add_receiver(c);
    ASSERT_TRUE(net.run(10'000)) << later;
    EXPECT_LE(late.duplicates, 64U);
    EXPECT_LE(net.sent_over(hop), 102 * 64U);
    EXPECT_EQ(net.sent_live(), later == 3'000 ? 0U : 100 * 64U);
  }
}

TEST(ChannelRelay, GivesAllToWhoHasLostWhatItHad) {
  RelayNet net({200, 64});
  const auto a = net.add_daemon("a");
  const auto b = net.add_daemon("b");
  net.connect(a, b, 20);
  net.add_receiver(a, 1, true, all_but(200, {150, 199}));
  RelayNet::Receiver& receiver = net.add_receiver(b, 1e9, true, all_but(200, {151}));
  net.add_source(a);
  net.run_for(80);
  receiver.complete.clear();
  ASSERT_TRUE(net.run(10'000));
  EXPECT_LE(receiver.symbols, 205 * 64U);
}

/// A relay with a source of 12 blocks, the first ten of which a child has.
class PassedOver : public testing::Test, protected RelayOutput {
 protected:
  PassedOver() : relay_(*this, RelayNet::kSymbolBytes, 64, sha256_) {
    relay_.set_blocks(12);
    relay_.add_child(kNow, kChild, "");
    relay_.add_upstream(kNow, kSource, true);
    say(relay_, kNow, kChild, need_of(10));
    relay_.grant_received(kChild, 100);
    EXPECT_EQ(told_, BlockSet::of_first(10));
  }
  static spindle::bulk::Need need_of(std::uint32_t complete) { return {BlockSet::of_first(complete), {}}; }
  /// And what comes of that at the end of the turn, or when it is due.
  static void say(ChannelRelay& relay, Time now, ConnectionId child, spindle::bulk::Need need) {
    relay.need_received(now, child, std::move(need));
    relay.handle_time(std::max(now, relay.next_deadline()));
  }
  void send(std::uint32_t block) {
    static const std::vector<std::uint8_t> bytes(RelayNet::kSymbolBytes);
    relay_.symbol_received(kNow, kSource, 0, {0, block, 0, 0, Slice({}, bytes.data(), bytes.size())});
  }
  bool is_behind(ConnectionId id) const {
    for (const ChannelRelay::ChildInfo& child : relay_.children(kNow)) {
      if (child.connection == id) return child.is_behind;
    }
    return false;
  }
  static constexpr Time kNow{1h};
  static constexpr ConnectionId kSource{1}, kChild{2}, kLate{3};
  BlockSet told_;
  std::uint64_t merged_ = 0;
  std::map<ConnectionId, std::uint64_t> granted_;
  const spindle::test::Sha256 sha256_;
  ChannelRelay relay_;

 private:
  void may_send(ConnectionId) override {}
  void send_need(ConnectionId to, std::uint8_t, const spindle::bulk::Need& need) override {
    if (to == kSource) told_ = need.complete;
  }
  void send_grant(ConnectionId to, std::uint8_t, std::uint64_t symbols) override { granted_[to] += symbols; }
  void send_release(ConnectionId, std::uint8_t) override {}
  void ask_index(ConnectionId) override {}
};

TEST_F(PassedOver, IsMissedByWhoHasLostIt) {
  send(10);
  EXPECT_FALSE(is_behind(kChild));
  relay_.need_received(kNow + 1s, kChild, need_of(9));
  EXPECT_TRUE(is_behind(kChild));
}

TEST_F(PassedOver, IsMissedByWhoHasLostItBeforeTheSourceGoesOn) {
  say(relay_, kNow + 1s, kChild, need_of(9));
  EXPECT_EQ(told_, BlockSet::of_first(9));
  EXPECT_FALSE(is_behind(kChild)) << "the source may not have been told in time, or it may";
  send(10);
  EXPECT_TRUE(is_behind(kChild));
}

TEST_F(PassedOver, IsMissedByWhoComesLater) {
  send(10);
  relay_.add_child(kNow, kLate, "");
  relay_.need_received(kNow, kLate, need_of(0));
  EXPECT_TRUE(is_behind(kLate));
  EXPECT_FALSE(is_behind(kChild));
}

TEST_F(PassedOver, ButSentAllTheSameCountsAsNeedless) {
  send(10);
  EXPECT_EQ(relay_.tally().needless, 0u);
  send(3);
  EXPECT_EQ(relay_.tally().needless, 1u);
}

TEST_F(PassedOver, ToTheEndIsMissedByWhoLacksAnything) {
  say(relay_, kNow + 1s, kChild, need_of(12));
  EXPECT_EQ(told_, BlockSet::of_first(12));
  relay_.release_received(kNow + 1s, kSource, 0);
  EXPECT_FALSE(is_behind(kChild));
  relay_.add_child(kNow + 1s, kLate, "");
  relay_.need_received(kNow + 1s, kLate, need_of(11));
  EXPECT_TRUE(is_behind(kLate));
}

TEST_F(PassedOver, ParentsThatWereToldThatEnoughIsThereAreNotTakenForSilent) {
  ChannelRelay relay(*this, RelayNet::kSymbolBytes, 64, sha256_);
  relay.set_blocks(12);
  relay.add_child(kNow, kChild, "");
  relay.add_upstream(kNow, kSource, false);
  spindle::bulk::Need need = need_of(11);
  need.begun = {{11, 63}};
  relay.need_received(kNow, kChild, need);
  relay.handle_time(kNow + 1s);
  EXPECT_TRUE(relay.silent_since(kSource));
  need.begun = {{11, spindle::bulk::kEnough}};
  relay.need_received(kNow + 1s, kChild, need);
  relay.handle_time(kNow + 2s);
  EXPECT_FALSE(relay.silent_since(kSource));
}

/// What goes by a plan in which a daemon is not below this one may be on its way back: it is not given to it, and
/// counts as missed.
TEST_F(PassedOver, SymbolsGoToDaemonsByThePlanThatTheyTravelBy) {
  static const std::vector<std::uint8_t> bytes(RelayNet::kSymbolBytes);
  const auto is_given = [&](std::uint8_t generation, std::uint8_t latest) {
    ChannelRelay relay(*this, RelayNet::kSymbolBytes, 64, sha256_);
    relay.set_blocks(12);
    for (std::uint8_t plan = 1; plan <= latest; ++plan) {
      if (plan == 2) {
        relay.set_plan(plan, {"another"});
      } else {
        relay.set_plan(plan, {"below"});
      }
    }
    relay.add_child(kNow, kChild, "below");
    relay.add_upstream(kNow, kSource, false);
    relay.need_received(kNow, kChild, need_of(0));
    relay.grant_received(kChild, 100);
    relay.symbol_received(kNow, kSource, 0, {generation, 0, 0, 0, Slice({}, bytes.data(), bytes.size())});
    const bool came = relay.next(kNow, kChild).has_value();
    EXPECT_EQ(relay.children(kNow).at(0).is_behind, !came);
    return came;
  };
  EXPECT_TRUE(is_given(1, 3));
  EXPECT_FALSE(is_given(2, 3));
  EXPECT_TRUE(is_given(3, 3));
  EXPECT_FALSE(is_given(4, 3)) << "one that is not known yet";
  EXPECT_TRUE(is_given(1, ChannelRelay::kGenerationsKept));
  EXPECT_FALSE(is_given(1, ChannelRelay::kGenerationsKept + 1)) << "one that is forgotten";
}

/// Nobody owns what all have; what somebody owned who is gone others are given all the same.
TEST_F(PassedOver, AMeshedChildIsGivenWhatItsFormerSelfOwned) {
  static const std::vector<std::uint8_t> bytes(RelayNet::kSymbolBytes);
  ChannelRelay relay(*this, RelayNet::kSymbolBytes, 64, sha256_);
  relay.set_blocks(2);
  relay.set_plan(1, {"below"});
  relay.add_upstream(kNow, kSource, false);
  spindle::bulk::Need need = need_of(1);
  need.meshed = true;
  const auto ask = [&](ConnectionId child) {
    relay.add_child(kNow, child, "below");
    relay.need_received(kNow, child, need);
    relay.grant_received(child, 100);
  };
  ask(kChild);
  for (const std::uint32_t block : {0u, 1u}) {
    for (std::uint32_t esi = 0; esi < 4; ++esi) {
      relay.symbol_received(kNow, kSource, 0, {1, block, esi, 0, Slice({}, bytes.data(), bytes.size())});
    }
  }
  const auto given = [&](ConnectionId child, Time now) {
    int symbols = 0;
    while (relay.next(now, child)) ++symbols;
    return symbols;
  };
  EXPECT_EQ(given(kChild, kNow), 4);
  relay.remove(kNow, kChild);
  const ConnectionId again{99};
  ask(again);
  EXPECT_EQ(given(again, kNow), 0) << "it may come of others";
  EXPECT_EQ(given(again, kNow + 1s), 4);
}

/// What another one owns a meshed child may get of that one. Once the source has sent everything it gives what nobody
/// has.
TEST_F(PassedOver, AMeshedChildIsServedWhatNobodyHasOnceTheSourceHasSentAll) {
  static const std::vector<std::uint8_t> bytes(RelayNet::kSymbolBytes);
  const ConnectionId children[] = {ConnectionId{21}, ConnectionId{22}};
  ChannelRelay relay(*this, RelayNet::kSymbolBytes, 64, sha256_);
  relay.set_blocks(1);
  relay.set_plan(0, {"below"});
  relay.add_holder(kSource, true);
  relay.add_upstream(kNow, kSource, true);
  spindle::bulk::Need need = need_of(0);
  need.meshed = true;
  for (const ConnectionId child : children) {
    relay.add_child(kNow, child, "below");
    relay.need_received(kNow, child, need);
    relay.grant_received(child, 100);
  }
  const auto symbol = [&](std::uint8_t stream, std::uint32_t esi) {
    relay.symbol_received(kNow, kSource, stream, {0, 0, esi, 0, Slice({}, bytes.data(), bytes.size())});
  };
  const auto given = [&](ConnectionId child, Time now) {
    std::vector<std::uint32_t> esis;
    while (const auto item = relay.next(now, child)) {
      if (const auto* each = std::get_if<RelayedSymbol>(&*item)) esis.push_back(each->esi);
      if (const auto* mark = std::get_if<RelayedMark>(&*item)) need.seen = mark->mark;
    }
    return esis;
  };
  for (std::uint32_t esi = 0; esi < 4; ++esi) symbol(spindle::bulk::kLiveStream, esi);
  EXPECT_EQ(given(children[0], kNow).size(), 4U);
  relay.release_received(kNow, kSource, spindle::bulk::kLiveStream);
  EXPECT_EQ(given(children[1], kNow + 1s), std::vector<std::uint32_t>{});
  EXPECT_EQ(given(children[1], kNow + 2s), std::vector<std::uint32_t>{}) << "it is asked what it lacks";
  ASSERT_NE(need.seen, 0U);
  relay.need_received(kNow + 2s, children[1], need);
  symbol(1, 70);
  EXPECT_EQ(given(children[1], kNow + 2s), std::vector<std::uint32_t>{70});
  // What others have given meanwhile is not sent once more.
  symbol(1, 71);
  need.begun = {{0, spindle::bulk::kEnough}};
  relay.need_received(kNow + 3s, children[1], need);
  EXPECT_EQ(given(children[1], kNow + 3s), std::vector<std::uint32_t>{});
}

/// What it owed before it was not waited for.
TEST_F(PassedOver, AParentIsSilentFromThenOnThatItWasToldOfWhatIsLacking) {
  ChannelRelay relay(*this, RelayNet::kSymbolBytes, 64, sha256_);
  relay.set_blocks(12);
  relay.add_child(kNow, kChild, "");
  relay.add_upstream(kNow, kSource, false);
  say(relay, kNow, kChild, need_of(12));
  ASSERT_GT(granted_[kSource], 0u);
  relay.handle_time(kNow + 10s);
  ASSERT_FALSE(relay.silent_since(kSource));
  say(relay, kNow + 20s, kChild, need_of(11));
  EXPECT_EQ(relay.silent_since(kSource), kNow + 20s);
  say(relay, kNow + 25s, kChild, need_of(10));
  EXPECT_EQ(relay.silent_since(kSource), kNow + 20s) << "it has still sent nothing";
}

/// Peers may have given enough of all blocks, and no hashes.
TEST_F(PassedOver, AParentFromWhichOnlyHashesAreLackingIsSilentAllTheSame) {
  const std::vector<std::uint8_t> bytes(RelayNet::kSymbolBytes);
  const ConnectionId peer{31};
  for (const bool is_of_peers : {false, true}) {
    SCOPED_TRACE(is_of_peers);
    ChannelRelay relay(*this, RelayNet::kSymbolBytes, 64, sha256_);
    relay.set_blocks(1);
    relay.add_child(kNow, kChild, "");
    relay.add_upstream(kNow, kSource, false);
    say(relay, kNow, kChild, need_of(0));
    EXPECT_EQ(relay.silent_since(kSource), kNow);
    relay.add_peer_sender(kNow, peer);
    if (is_of_peers) {
      const Slice slice({}, bytes.data(), bytes.size());
      EXPECT_EQ(relay.symbol_received(kNow, peer, 0, {0, 0, 5, spindle::bulk::crc32c(bytes), slice}), true);
    }
    spindle::bulk::Need need = need_of(0);
    need.begun = {{0, spindle::bulk::kEnough}};
    say(relay, kNow + 2s, kChild, need);
    const std::optional<Time> since = relay.silent_since(kSource);
    EXPECT_EQ(since.has_value(), is_of_peers);
    if (since) {
      EXPECT_GT(*since, kNow + 1s);
    }
  }
}

/// They may have what nobody else gives.
TEST_F(PassedOver, PeersThatWereOfNoUseAreTriedWhereNothingComesOfOthers) {
  ChannelRelay relay(*this, RelayNet::kSymbolBytes, 64, sha256_);
  relay.set_blocks(12);
  relay.add_child(kNow, kChild, "");
  relay.add_upstream(kNow, kSource, false);
  say(relay, kNow, kChild, need_of(0));
  std::set<ConnectionId> peers;
  for (std::uint64_t i = 0; i < 20; ++i) peers.insert(ConnectionId{31 + i});
  for (const ConnectionId peer : peers) relay.add_peer_sender(kNow, peer);
  const auto granted = [&] {
    std::uint64_t sum = 0;
    for (const ConnectionId peer : peers) sum += granted_[peer];
    return sum;
  };
  // What there is not.
  const auto give = [&](Time now) {
    for (const ConnectionId peer : peers) {
      for (; granted_[peer] > 0; --granted_[peer]) {
        relay.symbol_received(now, peer, 0, RelayNet::symbol(99, 0));
      }
    }
  };
  while (granted() > 0) give(kNow);
  relay.handle_time(kNow + 500ms);
  EXPECT_EQ(granted(), 0u);
  relay.handle_time(kNow + 1500ms);
  EXPECT_GT(granted(), 0u);
}

/// What it lacks of it comes to it, and no more than that is asked for above.
TEST_F(PassedOver, WhoHasBegunABlockThatAHolderCameWithIsGivenTheRestOfItOnceThatIsWhole) {
  send(10);
  relay_.add_child(kNow, kLate, "");
  spindle::bulk::Need need = need_of(10);
  need.serves = true;
  need.begun = {{10, 60}};
  relay_.need_received(kNow, kLate, need);
  spindle::bulk::Need lacking = need_of(10);
  lacking.begun = {{10, 1}};
  relay_.need_received(kNow + 1s, kChild, lacking);
  EXPECT_FALSE(is_behind(kChild));
  need = need_of(11);
  need.serves = true;
  relay_.need_received(kNow + 1s, kLate, need);
  EXPECT_TRUE(is_behind(kChild));
  relay_.need_received(kNow + 2s, kChild, need_of(11));
  EXPECT_FALSE(is_behind(kChild));
  need = need_of(12);
  need.serves = true;
  send(11);
  relay_.need_received(kNow + 2s, kLate, need);
  EXPECT_FALSE(is_behind(kChild)) << "that came in passing";
}

TEST_F(PassedOver, ADaemonThatHasSaidNothingForAWhileIsSilent) {
  EXPECT_FALSE(relay_.has_silent_child(kNow + 1h)) << "a client may say nothing";
  relay_.add_child(kNow, kLate, "late");
  EXPECT_FALSE(relay_.has_silent_child(kNow + 1h)) << "it has not asked yet";
  relay_.need_received(kNow, kLate, need_of(0));
  EXPECT_FALSE(relay_.has_silent_child(kNow + 1s));
  EXPECT_TRUE(relay_.has_silent_child(kNow + 3s));
}

/// To merge the needs of all costs the more the more there are: not each need has that done.
TEST_F(PassedOver, NeedsOfManyThatOnlyHaveMoreAreMergedNowAndThen) {
  constexpr std::uint64_t kChildren = 200;
  ChannelRelay relay(*this, RelayNet::kSymbolBytes, 64, sha256_);
  relay.set_blocks(12);
  relay.add_upstream(kNow, kSource, false);
  const auto child = [](std::uint64_t i) { return ConnectionId{100 + i}; };
  for (std::uint64_t i = 0; i < kChildren; ++i) relay.add_child(kNow, child(i), "");
  Time now = kNow;
  for (std::uint32_t blocks = 0; blocks <= 8; ++blocks) {
    for (std::uint64_t i = 0; i < kChildren; ++i) {
      now += 1250us;  // each says four times a second what it has
      relay.need_received(now, child(i), need_of(blocks));
      if (now >= relay.next_deadline()) relay.handle_time(now);
    }
    if (blocks == 0) merged_ = relay.tally().merged;
  }
  EXPECT_GE(told_.count(), 7u) << "or the parent would give what they have";
  EXPECT_LE(relay.tally().merged - merged_, 2 * 25 * kChildren) << "25 times a second";
}

TEST_F(PassedOver, WhatOneOfManyLacksAnewIsToldAtOnceAndThoseOfAMomentTogether) {
  constexpr std::uint64_t kChildren = 50;
  ChannelRelay relay(*this, RelayNet::kSymbolBytes, 64, sha256_);
  relay.set_blocks(12);
  relay.add_upstream(kNow, kSource, false);
  const auto child = [](std::uint64_t i) { return ConnectionId{100 + i}; };
  for (std::uint64_t i = 0; i < kChildren; ++i) {
    relay.add_child(kNow, child(i), "");
    say(relay, kNow, child(i), need_of(12));
  }
  relay.handle_time(kNow + 1s);
  ASSERT_EQ(told_, BlockSet::of_first(12));
  merged_ = relay.tally().merged;
  for (std::uint64_t i = 0; i < kChildren; ++i) {
    relay.need_received(kNow + 1100ms, child(i), need_of(11 - i % 4));
  }
  ASSERT_EQ(relay.next_deadline(), kNow + 1100ms) << "the end of the turn";
  relay.handle_time(kNow + 1100ms);
  EXPECT_EQ(told_, BlockSet::of_first(8));
  EXPECT_EQ(relay.tally().merged - merged_, kChildren) << "once";
}

TEST_F(PassedOver, IsNothingOfAContentWhoseSizeIsNotKnown) {
  told_.clear();
  ChannelRelay relay(*this, RelayNet::kSymbolBytes, 64, sha256_);
  relay.add_child(kNow, kChild, "");
  relay.add_upstream(kNow, kSource, true);
  say(relay, kNow, kChild, need_of(10));
  EXPECT_TRUE(told_.empty());
}

TEST(ChannelRelay, AHolderGivesWhatHasNotPassedThroughHere) {
  RelayNet net({8, 64});
  const auto anew = net.add_daemon("anew"), below = net.add_daemon("below");
  RelayNet::Receiver& early = net.add_receiver(anew);
  const ConnectionId hop = net.connect(anew, below, 10);
  RelayNet::Receiver& distant = net.add_receiver(below);
  net.run(100);
  net.add_receiver(anew, 1e9, true, all_but(8, {}));  // it has come from another daemon with all of it
  RelayNet::Receiver& late = net.add_receiver(anew);
  ASSERT_TRUE(net.run(5'000));
  for (const RelayNet::Receiver* each : {&early, &distant, &late}) EXPECT_EQ(each->duplicates, 0U);
  EXPECT_EQ(net.sent_over(hop), symbols_of(net));
}

/// From then on nothing comes from above.
TEST(ChannelRelay, AHolderThatComesInTheMiddleOfABlockGivesTheRestOfIt) {
  RelayNet net({8, 64});
  const auto a = net.add_daemon("a"), below = net.add_daemon("below"), last = net.add_daemon("last");
  net.add_source(a);
  net.connect(a, below, 1);
  net.connect(below, last, 10);
  RelayNet::Receiver& early = net.add_receiver(below);
  RelayNet::Receiver& distant = net.add_receiver(last);
  net.run_for(7 * 64 + 32);  // some of the last block is there
  ASSERT_EQ(early.complete, BlockSet::of_first(7));
  ASSERT_FALSE(early.held.empty());
  net.add_receiver(below, 1e9, true, BlockSet::of_first(8));
  EXPECT_TRUE(net.run(5'000));
  for (const RelayNet::Receiver* each : {&early, &distant}) EXPECT_LE(each->duplicates, 64U);
}

TEST(ChannelRelay, WhatAHolderLacksThatHasNotPassedThroughHereComesFromAbove) {
  RelayNet net({8, 64});
  const auto a = net.add_daemon("a"), anew = net.add_daemon("anew");
  net.add_source(a);
  net.add_receiver(anew, 1e9, true, BlockSet::of_first(5));
  RelayNet::Receiver& late = net.add_receiver(anew);
  const ConnectionId hop = net.connect(a, anew, 10);
  ASSERT_TRUE(net.run(5'000));
  EXPECT_EQ(late.duplicates, 0U);
  EXPECT_EQ(net.sent_over(hop), 3U * net.content().symbols);
}

/// As a program that was stopped.
TEST(ChannelRelay, AHolderThatSendsNothingLosesItsStreamToAnotherOne) {
  RelayNet net({8, 64});
  const auto anew = net.add_daemon("anew");
  RelayNet::Receiver* holders[2];
  for (RelayNet::Receiver*& holder : holders) holder = &net.add_receiver(anew, 1e9, true, BlockSet::of_first(8));
  net.run_for(10);
  holders[0]->is_stopped = true;
  RelayNet::Receiver& first = net.add_receiver(anew, 1e9, false);
  ASSERT_TRUE(net.run(5'000));
  // Who comes next does not wait for it.
  RelayNet::Receiver& next = net.add_receiver(anew, 1e9, false);
  ASSERT_TRUE(net.run(500));
  // Where nobody else has it, it is asked all the same.
  holders[0]->is_stopped = false;
  holders[1]->serves = false;
  net.run_for(1'500);
  RelayNet::Receiver& last = net.add_receiver(anew, 1e9, false);
  ASSERT_TRUE(net.run(1'000));
  for (const RelayNet::Receiver* each : {&first, &next, &last}) EXPECT_EQ(each->duplicates, 0U);
}

TEST(ChannelRelay, WhoCeasesToServeIsAskedNoMore) {
  RelayNet net({8, 64});
  const auto a = net.add_daemon("a");
  RelayNet::Receiver& holder = net.add_receiver(a, 1e9, true, all_but(8, {}));
  net.run(10);
  EXPECT_TRUE(net.relay(a).has_holder());
  holder.serves = false;
  net.add_receiver(a, 0, false);
  net.run(400);
  EXPECT_FALSE(net.relay(a).has_holder());
  EXPECT_EQ(net.relay(a).need().complete.count(), 0U) << "what it has is given to nobody";
}

/// Trees and rates of any kind, receivers that come late or go on with what they have, relays that serve nothing, hops
/// that are lost and replaced.
TEST(ChannelRelay, BringsAllToEverybodyInAnyTree) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    RelayNet net(
        {static_cast<std::uint32_t>(random.between(1, 40)), static_cast<std::uint32_t>(random.between(1, 100))});
    const std::size_t count = random.between(2, 10);
    const double goes_on = seed % 2 == 0 ? random.real() * 0.9 : 0;
    std::vector<ConnectionId> above(count);
    std::vector<std::size_t> parent(count);
    const auto rate = [&] { return std::exp2(random.real() * 8 - 2); };
    for (std::size_t i = 0; i < count; ++i) {
      net.add_daemon("d" + std::to_string(i));
      if (i == 0) continue;
      parent[i] = random.below(i);
      above[i] = net.connect(parent[i], i, rate(), static_cast<int>(random.below(20)));
    }
    net.add_source(0);
    std::vector<RelayNet::Receiver*> receivers;
    for (std::size_t i = 1; i < count; ++i) {
      if (i + 1 < count && random.chance(0.3)) continue;  // a relay only
      const double its_rate = random.chance(0.2) ? rate() : 1e9;
      const bool serves = random.chance(0.7);
      BlockSet has;
      while (random.chance(goes_on)) {
        const auto first = static_cast<std::uint32_t>(random.below(net.content().blocks));
        has.add_run(first, first + static_cast<std::uint32_t>(random.below(net.content().blocks - first + 1)));
      }
      receivers.push_back(&net.add_receiver(i, its_rate, serves && has.empty(), has));
      if (random.chance(0.3)) net.run(static_cast<int>(random.below(200)));
    }
    for (int losses = 0; losses < 3 && random.chance(0.5); ++losses) {
      net.run(static_cast<int>(random.below(300)));
      const std::size_t child = random.between(1, count - 1);
      net.disconnect(above[child]);
      parent[child] = random.below(child);
      above[child] = net.connect(parent[child], child, rate(), static_cast<int>(random.below(20)));
    }
    ASSERT_TRUE(net.run(600'000)) << "seed " << seed;
    for (const RelayNet::Receiver* each : receivers) {
      EXPECT_LE(each->duplicates, symbols_of(net) / 2 + 2000) << "seed " << seed;
    }
  }
}

TEST(ChannelRelay, KeepsOneInStepThatWasHeldUpWhileItIsGivenWhatItHasMissed) {
  RelayNet net({128, 128});
  const auto a = net.add_daemon("a");
  const auto b = net.add_daemon("b");
  const auto c = net.add_daemon("c");
  net.connect(a, b, 50);
  const ConnectionId held = net.connect(a, c, 50);
  net.add_receiver(b);
  RelayNet::Receiver& receiver = net.add_receiver(c);
  net.add_source(a, 20);
  const auto missed = [&] {
    const auto children = net.relay(a).children(net.now());
    const auto child =
        std::find_if(children.begin(), children.end(), [&](const auto& each) { return each.connection == held; });
    return child->missed;
  };
  net.run(50);
  net.set_rate(held, 0);
  net.run(400);
  net.set_rate(held, 50);
  net.run(20);
  const std::uint64_t then = missed();
  EXPECT_GT(then, 0U);
  ASSERT_TRUE(net.run(1'000));
  EXPECT_EQ(missed(), then);
  EXPECT_EQ(receiver.duplicates, 0U);
}

TEST(ChannelRelay, KeepsNoMoreThanItMay) {
  constexpr std::size_t kMost = 64u << 10;
  for (const bool is_bounded : {false, true}) {
    RelayNet net({64, 128});
    const auto a = net.add_daemon("a");
    const auto fast = net.add_daemon("fast");
    const auto slow = net.add_daemon("slow");
    net.connect(a, fast, 20);
    net.connect(a, slow, 0.2);
    RelayNet::Receiver& quick = net.add_receiver(fast);
    net.add_receiver(slow);
    if (is_bounded) net.relay(a).set_ring_bytes_max(kMost);
    net.add_source(a);
    net.run(300);
    std::size_t largest = 0;
    for (int i = 0; i < 2'000 && !quick.is_done(net.content()); ++i) {
      net.run(10);
      largest = std::max(largest, net.relay(a).ring_bytes());
    }
    EXPECT_TRUE(quick.is_done(net.content()));
    EXPECT_EQ(largest <= kMost + ChannelRelay::kStreamBytes, is_bounded) << largest;
  }
}

/// A root with two children that are peers of each other, each with a receiver.
struct Triangle {
  Triangle(double to_a, double to_b, double between, int delay = 1, double source_rate = 1e9) : net({16, 1024}) {
    root = net.add_daemon("root");
    a = net.add_daemon("a");
    b = net.add_daemon("b");
    hop_a = net.connect(root, a, to_a, delay);
    hop_b = net.connect(root, b, to_b, delay);
    if (between > 0) net.mesh(a, b, between, delay);
    net.add_source(root, source_rate);
    at_a = &net.add_receiver(a);
    at_b = &net.add_receiver(b);
  }
  double seconds() { return std::max(seconds_to(*at_a), seconds_to(*at_b)); }
  std::uint64_t useless(std::size_t daemon) { return net.relay(daemon).tally().duplicates; }

  RelayNet net;
  std::size_t root = 0, a = 0, b = 0;
  ConnectionId hop_a{}, hop_b{};
  RelayNet::Receiver* at_a = nullptr;
  RelayNet::Receiver* at_b = nullptr;
};

TEST(ChannelRelayPeers, GiveEachOtherWhatEachIsGiven) {
  for (const double to_b : {4.0, 2.0}) {
    SCOPED_TRACE(to_b);
    Triangle with(4, to_b, 4);
    ASSERT_TRUE(with.net.run(20'000));
    // Each has what comes to both.
    const double all = static_cast<double>(symbols_of(with.net));
    EXPECT_LE(with.seconds(), 1.05 * all / (4 + to_b) / 1000);
    EXPECT_LE(with.at_a->duplicates + with.at_b->duplicates, symbols_of(with.net) / 20);
    EXPECT_LE(with.useless(with.a) + with.useless(with.b), symbols_of(with.net) / 20);
    EXPECT_LE(static_cast<double>(with.net.sent_over(with.hop_a) + with.net.sent_over(with.hop_b)), 1.01 * all);
  }
}

TEST(ChannelRelayPeers, CostNothingWhereTheyAreOfNoUse) {
  struct Case {
    const char* what;
    double between, source_rate;
  };
  for (const Case& each : {Case{"hardly anything is between them", 0.05, 1e9}, Case{"the source is slow", 4, 2}}) {
    SCOPED_TRACE(each.what);
    Triangle without(4, 4, 0, 1, each.source_rate), with(4, 4, each.between, 1, each.source_rate);
    ASSERT_TRUE(without.net.run(20'000));
    ASSERT_TRUE(with.net.run(20'000));
    EXPECT_LE(with.seconds(), 1.02 * without.seconds());
    EXPECT_LE(with.at_a->duplicates, symbols_of(with.net) / 100);
  }
}

TEST(ChannelRelayPeers, HaveNothingComeTwiceBelowWhereTheyAreEarlierThanTheTree) {
  RelayNet net({4, 256});
  const auto root = net.add_daemon("root"), a = net.add_daemon("a"), b = net.add_daemon("b"), c = net.add_daemon("c");
  net.connect(root, a, 10, 40);
  net.connect(root, b, 10);
  const ConnectionId below = net.connect(a, c, 10);
  net.connect_peers(b, a, 10);
  net.add_source(root, 2);
  const RelayNet::Receiver& at_a = net.add_receiver(a);
  const RelayNet::Receiver& at_c = net.add_receiver(c);
  net.add_receiver(b);
  ASSERT_TRUE(net.run(20'000));
  net.run_for(100);
  EXPECT_GT(net.relay(a).tally().overtaken, 50U) << "came along the tree later";
  EXPECT_LE(net.relay(a).tally().overtaken, symbols_of(net) / 2) << "and it is asked less and less";
  EXPECT_EQ(at_a.duplicates, 0U);
  EXPECT_EQ(at_c.duplicates, 0U);
  EXPECT_LE(net.sent_over(below), symbols_of(net));
}

TEST(ChannelRelayPeers, WhoGiveEarlierAreNoReasonToWithholdWhatWasLost) {
  Triangle with(4, 4, 0);
  ChannelRelay& relay = with.net.relay(with.a);
  const ConnectionId peer{77}, client{79}, slow{80};
  relay.add_peer_sender(with.net.now(), peer);
  const auto come = [&](ConnectionId from, std::uint32_t esi) {
    relay.symbol_received(with.net.now(), from, 0, RelayNet::symbol(3, esi));
  };
  for (const ConnectionId each : {client, slow}) {
    relay.add_child(with.net.now(), each, "");
    relay.need_received(with.net.now(), each, {});
    relay.grant_received(each, each == client ? 1'000 : 0);
  }
  with.net.run_for(10);
  symbols_given(with.net, relay, client);
  for (std::uint32_t esi : {0u, 1u}) come(peer, esi);
  EXPECT_EQ(symbols_given(with.net, relay, client), 2U);
  come(with.hop_a, 0);
  EXPECT_EQ(symbols_given(with.net, relay, client), 0U) << "it has that";
  spindle::bulk::Need need;
  need.lost = true;
  relay.need_received(with.net.now() + 10ms, client, need);
  come(with.hop_a, 1);
  EXPECT_EQ(symbols_given(with.net, relay, client), 1U) << "it may have lost that";
}

TEST(ChannelRelayPeers, AreOfNoUseWithWhatCameBeforeTheFirstOfThem) {
  Triangle with(4, 4, 0);
  ChannelRelay& relay = with.net.relay(with.a);
  const ConnectionId peer{77}, client{79};
  const auto come = [&](ConnectionId from, std::uint32_t esi) {
    return relay.symbol_received(with.net.now(), from, 0, RelayNet::symbol(3, esi));
  };
  relay.add_child(with.net.now(), client, "");
  relay.need_received(with.net.now(), client, {});
  relay.grant_received(client, 1'000);
  with.net.run_for(10);
  symbols_given(with.net, relay, client);
  come(with.hop_a, 0);
  EXPECT_EQ(symbols_given(with.net, relay, client), 1U);
  relay.add_peer_sender(with.net.now(), peer);
  EXPECT_EQ(come(peer, 0), false);
  EXPECT_EQ(come(peer, 1), true);
  EXPECT_EQ(symbols_given(with.net, relay, client), 1U) << "only what is new";
  EXPECT_EQ(relay.tally().overtaken, 0U);
  come(with.hop_a, 0);
  EXPECT_EQ(relay.tally().overtaken, 0U) << "no peer was earlier than the tree";
  come(with.hop_a, 1);
  EXPECT_EQ(relay.tally().overtaken, 1U);
  EXPECT_EQ(symbols_given(with.net, relay, client), 0U);
}

TEST(ChannelRelayPeers, AreOfUseOverLongPathsAndWhereTheyAreSlow) {
  Triangle distant(4, 4, 4, 20);
  ASSERT_TRUE(distant.net.run(20'000));
  EXPECT_LE(distant.seconds(), 0.65 * static_cast<double>(symbols_of(distant.net)) / 4 / 1000);
  Triangle slow(4, 4, 1);
  ASSERT_TRUE(slow.net.run(20'000));
  EXPECT_LE(slow.seconds(), 0.92 * static_cast<double>(symbols_of(slow.net)) / 4 / 1000);
}

TEST(ChannelRelayPeers, GiveNothingOfOtherPeers) {
  Triangle with(4, 4, 4);
  // One that is a peer of one of them, with no parent: it has what came to that one along the tree.
  const auto c = with.net.add_daemon("c");
  const ConnectionId hop = with.net.connect_peers(with.a, c, 100);
  RelayNet::Receiver& at_c = with.net.add_receiver(c);
  with.net.run_for(1'000);
  EXPECT_GT(at_c.symbols, 1'000U);
  EXPECT_EQ(at_c.duplicates, 0U);
  EXPECT_LE(with.net.sent_over(hop), with.net.sent_over(with.hop_a));
}

TEST(ChannelRelayPeers, MayGoAtAnyTime) {
  Triangle with(4, 4, 0);
  const ConnectionId to_b = with.net.connect_peers(with.a, with.b, 4);
  const ConnectionId to_a = with.net.connect_peers(with.b, with.a, 4);
  with.net.run_for(700);
  EXPECT_GT(with.net.sent_over(to_b), 1'000U);
  with.net.disconnect(to_a);
  with.net.disconnect(to_b);
  ASSERT_TRUE(with.net.run(20'000));
  EXPECT_LE(with.seconds(), static_cast<double>(symbols_of(with.net)) / 4 / 1000);
}

TEST(ChannelRelayPeers, WhoGivesWhatItsChecksumDeniesIsSuspect) {
  Triangle with(4, 4, 0);
  ChannelRelay& relay = with.net.relay(with.a);
  const ConnectionId liar{77};
  relay.add_peer_sender(with.net.now(), liar);
  const std::vector<std::uint8_t> bytes(RelayNet::kSymbolBytes, 1);
  const Slice slice({}, bytes.data(), bytes.size());
  const std::uint32_t crc = spindle::bulk::crc32c(bytes);
  // Who is of use may have more on its way.
  for (std::uint32_t esi = 0; esi < 8; ++esi) {
    EXPECT_EQ(relay.symbol_received(with.net.now(), liar, 0, {1, 3, esi, crc, slice}), true);
  }
  EXPECT_EQ(relay.symbol_received(with.net.now(), liar, 0, {1, 3, 7, crc, slice}), false) << "it is here already";
  EXPECT_EQ(relay.symbol_received(with.net.now(), liar, 0, {1, 16, 7, crc, slice}), false) << "there is no such block";
  EXPECT_FALSE(relay.is_suspect(liar));
  EXPECT_EQ(relay.symbol_received(with.net.now(), liar, 0, {1, 3, 8, crc ^ 1, slice}), false);
  EXPECT_TRUE(relay.is_suspect(liar));
  relay.remove_peer_sender(liar);
  EXPECT_EQ(relay.symbol_received(with.net.now(), liar, 0, {1, 3, 9, crc, slice}), std::nullopt);
}

TEST(ChannelRelayPeers, WhoGaveAPartOfABlockThatWasThrownAwayIsSuspect) {
  Triangle with(4, 4, 0);
  ChannelRelay& relay = with.net.relay(with.a);
  const ConnectionId liar{77}, other{78}, client{79};
  const std::vector<std::uint8_t> bytes(RelayNet::kSymbolBytes, 1);
  const Slice slice({}, bytes.data(), bytes.size());
  const std::uint32_t crc = spindle::bulk::crc32c(bytes);
  for (const ConnectionId peer : {liar, other}) relay.add_peer_sender(with.net.now(), peer);
  relay.add_child(with.net.now(), client, "");
  spindle::bulk::Need need;
  for (std::uint32_t esi = 0; esi < 1024; ++esi) {
    relay.symbol_received(with.net.now(), liar, 0, {1, 3, esi, crc, slice});
    for (int i = 0; i < 2; ++i) {
      if (relay.next(with.net.now(), client)) continue;
      relay.grant_received(client, 10);
    }
  }
  relay.symbol_received(with.net.now(), other, 0, {1, 4, 0, crc, slice});
  need.begun = {{3, 1024}};
  relay.need_received(with.net.now() + 10ms, client, need);
  EXPECT_FALSE(relay.is_suspect(liar));
  need.begun.clear();
  need.lost = true;
  relay.need_received(with.net.now() + 20ms, client, need);
  EXPECT_TRUE(relay.is_suspect(liar));
  EXPECT_FALSE(relay.is_suspect(other)) << "it gave nothing of that block";
}

TEST(ChannelRelayPeers, WhoGaveAPartOfALastBlockThatWasThrownAwayIsSuspect) {
  Triangle with(4, 4, 0);
  ChannelRelay& relay = with.net.relay(with.a);
  relay.set_blocks(16, 5);
  const ConnectionId liar{77}, client{79};
  relay.add_peer_sender(with.net.now(), liar);
  relay.add_child(with.net.now(), client, "");
  spindle::bulk::Need need;
  for (std::uint32_t esi = 0; esi < 5; ++esi) {
    EXPECT_FALSE(relay.is_suspect(liar));
    need.begun = {{15, esi + 1}};
    relay.symbol_received(with.net.now(), liar, 0, RelayNet::symbol(15, esi));
    relay.need_received(with.net.now() + 10ms * (esi + 1), client, need);
  }
  need.begun.clear();
  need.lost = true;
  relay.need_received(with.net.now() + 100ms, client, need);
  EXPECT_TRUE(relay.is_suspect(liar));
}

// Of these the tree has brought nothing yet.
TEST(ChannelRelayPeers, WhatTheyGaveAndWasThrownAwayIsGivenByOthers) {
  Triangle with(4, 4, 0);
  ChannelRelay& relay = with.net.relay(with.a);
  const ConnectionId peer{77}, client{79};
  relay.add_peer_sender(with.net.now(), peer);
  relay.add_child(with.net.now(), client, "");
  relay.grant_received(client, 10);
  ASSERT_EQ(relay.symbol_received(with.net.now(), peer, 0, RelayNet::symbol(3, 0)), true);
  ASSERT_TRUE(relay.next(with.net.now(), client));
  const auto is_behind = [&] {
    const auto children = relay.children(with.net.now());
    const auto found =
        std::find_if(children.begin(), children.end(), [&](const auto& each) { return each.connection == client; });
    return found != children.end() && found->is_behind;
  };
  spindle::bulk::Need need;
  relay.need_received(with.net.now() + 10ms, client, need);
  EXPECT_FALSE(is_behind());
  need.lost = true;
  relay.need_received(with.net.now() + 20ms, client, need);
  EXPECT_TRUE(is_behind());
}

TEST(ChannelRelay, TakesNothingThatNobodyWants) {
  RelayNet net({8, 64});
  const auto a = net.add_daemon("a");
  net.add_source(a);
  EXPECT_TRUE(net.run(10)) << "there is nobody";
  ChannelRelay& relay = net.relay(a);
  relay.symbol_received(net.now(), ConnectionId{77}, 0, {});
  relay.need_received(net.now(), ConnectionId{77}, {});
  relay.grant_received(ConnectionId{77}, 9);
  relay.release_received(net.now(), ConnectionId{77}, 3);
  relay.remove(net.now(), ConnectionId{77});
  EXPECT_EQ(relay.ring_bytes(), 0U);
  EXPECT_FALSE(relay.next(net.now(), ConnectionId{77}));
}

}  // namespace
}  // namespace spindled
