// What slow clients cost, and what their policies do about their queues.
#include "daemon/session/slow_clients.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "daemon/admission/price_curve.h"
#include "daemon/session/queue_watch.h"

namespace spindled {
namespace {

constexpr std::size_t kSoft = 1u << 20;
/// A fifth of the hard limit.
constexpr double kMostPriced = 0.2 * 16 * kSoft;

class SlowClientsTest : public testing::Test, public ClientPrices, public ClientNames {
 protected:
  SlowClientsTest() {
    config_.session.queue_full_price_bytes = kSoft;
    config_.session.queue_hard_bytes = 16 * kSoft;
  }
  void set_client_price(const std::string& name, double dollars, std::string_view slowest) override {
    ++told_;
    slowest_ = slowest;
    if (dollars == 0) {
      prices_.erase(name);
    } else {
      prices_[name] = dollars;
    }
  }
  bool is_reached_by(SessionId session, std::string_view name) const override {
    ++asked_;
    return members_.contains({session, std::string(name)});
  }
  std::string_view client_name_of(SessionId session) const override { return session == 1 ? "one" : "two"; }
  void deliver(SessionId session, std::vector<std::string_view> names) { slow_.note_message(session, names); }
  void pass(Duration time) {
    now_ += time;
    if (now_ >= slow_.next_deadline()) slow_.handle_time(now_);
    end_turn();
  }
  void end_turn() {
    slow_.flush(now_);
    turn_.end_turn();
  }
  double price(const std::string& name) const { return prices_.contains(name) ? prices_.at(name) : 0; }
  static double price_of(std::size_t queued, double soft = kSoft) {
    return queue_price(static_cast<double>(queued), soft, AdmissionConfig().price_max);
  }

  std::set<std::pair<SessionId, std::string>> members_{{1, "g"}, {1, "h"}, {2, "g"}, {1, "#one#d"}};
  std::map<std::string, double> prices_;
  std::string slowest_;  // of what was told last
  int told_ = 0;
  mutable std::size_t asked_ = 0;
  Time now_{1h};
  NodeConfig config_;
  SlabPool slabs_;
  MemoryBudget memory_{config_, slabs_};
  TurnWork turn_{10'000};
  SlowClients slow_{config_, memory_, turn_, *this, *this};
};

TEST_F(SlowClientsTest, NamesThatFeedALongQueueHaveItsPrice) {
  slow_.note_behind(now_, 1, kSoft / 4, 0);
  deliver(1, {"g"});
  deliver(1, {"#one#d"});
  EXPECT_EQ(told_, 0) << "it may be a burst";
  pass(50ms);
  EXPECT_DOUBLE_EQ(price("g"), price_of(kSoft / 4));
  EXPECT_DOUBLE_EQ(price("#one#d"), price_of(kSoft / 4));
  EXPECT_EQ(price("h"), 0) << "it has sent nothing";
  EXPECT_EQ(slowest_, "one");
  slow_.note_behind(now_, 1, kSoft / 3, 0);
  EXPECT_DOUBLE_EQ(price("g"), price_of(kSoft / 4)) << "too soon";
  pass(50ms);
  EXPECT_DOUBLE_EQ(price("g"), price_of(kSoft / 3));
}

TEST_F(SlowClientsTest, NamesThatDoNotReachTheClientCostNothing) {
  slow_.note_behind(now_, 2, kSoft, 0);
  deliver(2, {"g", "h", "#one#d"});
  pass(50ms);
  EXPECT_EQ(prices_.size(), 1u);
  EXPECT_GT(price("g"), 0);
  members_.erase({2, "g"});
  pass(50ms);
  EXPECT_EQ(price("g"), 0) << "it has left";
}

TEST_F(SlowClientsTest, ABurstThatIsReadCostsNothing) {
  slow_.note_behind(now_, 1, kSoft / 4, 0);
  deliver(1, {"g"});
  now_ += 10ms;
  slow_.note_caught_up(now_, 1, 0, kSoft / 4);
  pass(100ms);
  EXPECT_EQ(told_, 0);
  EXPECT_EQ(slow_.next_deadline(), kNever) << "nothing is left to look at";
}

TEST_F(SlowClientsTest, AShortQueueCostsNothingButWhereItWasLongOfLate) {
  constexpr std::size_t queued = kSoft / 64;
  ASSERT_LT(price_of(queued), kOnsetFees);
  slow_.note_behind(now_, 1, queued, 0);
  deliver(1, {"g"});
  for (int i = 0; i < 5; ++i) pass(50ms);
  EXPECT_EQ(told_, 0);
  slow_.note_behind(now_, 1, kSoft, 0);
  pass(50ms);
  EXPECT_DOUBLE_EQ(price("g"), price_of(kSoft));
  slow_.note_behind(now_, 1, queued, 0);
  pass(50ms);
  EXPECT_DOUBLE_EQ(price("g"), price_of(queued));
  for (Duration waited{}; waited <= kLinger; waited += 50ms) pass(50ms);
  EXPECT_EQ(price("g"), 0) << "though so much still waits";
}

TEST_F(SlowClientsTest, AQueueThatGrowsFastIsPricedAtOnce) {
  slow_.note_behind(now_, 1, kSoft / 4, 0);
  deliver(1, {"g"});
  slow_.note_behind(now_, 1, kSoft, 0);
  end_turn();
  EXPECT_DOUBLE_EQ(price("g"), price_of(kSoft));
  slow_.note_behind(now_, 1, 2 * kSoft, 0);
  end_turn();
  EXPECT_DOUBLE_EQ(price("g"), price_of(kSoft)) << "it has not doubled";
  slow_.note_behind(now_, 1, 2 * kSoft + 1, 0);
  end_turn();
  EXPECT_GT(price("g"), price_of(2 * kSoft));
}

TEST_F(SlowClientsTest, APauseCostsNoLongerThanItLasts) {
  slow_.note_behind(now_, 1, kSoft / 4, 0);
  deliver(1, {"g"});
  slow_.note_behind(now_, 1, kSoft, 0);
  end_turn();
  ASSERT_DOUBLE_EQ(price("g"), price_of(kSoft));
  now_ += 3ms;
  slow_.note_caught_up(now_, 1, 0, kSoft);
  end_turn();
  EXPECT_DOUBLE_EQ(price("g"), kLingerFees);
  const int told = told_;
  slow_.note_behind(now_, 1, kSoft / 4, kSoft);
  slow_.note_caught_up(now_, 1, 0, 2 * kSoft);
  end_turn();
  EXPECT_EQ(told_, told) << "what lingers falls no further";
}

TEST_F(SlowClientsTest, ThePriceOfADrainedQueueLingers) {
  slow_.note_behind(now_, 1, kSoft / 4, 0);
  deliver(1, {"g"});
  pass(50ms);
  slow_.note_caught_up(now_, 1, 0, 1000);
  pass(50ms);
  EXPECT_DOUBLE_EQ(price("g"), kLingerFees);
  slow_.note_behind(now_, 1, kSoft / 4, 1000);
  pass(50ms);
  EXPECT_DOUBLE_EQ(price("g"), price_of(kSoft / 4)) << "its names are still known";
  slow_.note_caught_up(now_, 1, 0, 1000);
  for (Duration waited{}; waited <= kLinger; waited += 50ms) pass(50ms);
  EXPECT_EQ(price("g"), 0);
  EXPECT_EQ(slow_.next_deadline(), kNever);
}

TEST_F(SlowClientsTest, TheSlowestOfANameCounts) {
  for (const SessionId session : {1u, 2u}) slow_.note_behind(now_, session, kSoft / session, 0);
  for (const SessionId session : {1u, 2u}) deliver(session, {"g"});
  pass(50ms);
  EXPECT_DOUBLE_EQ(price("g"), price_of(kSoft));
  slow_.forget(1);
  end_turn();
  EXPECT_DOUBLE_EQ(price("g"), price_of(kSoft / 2));
  slow_.forget(2);
  end_turn();
  EXPECT_EQ(price("g"), 0) << "at once: it is gone";
}

TEST_F(SlowClientsTest, ForgettingOneThatIsNotBehindChangesNothing) {
  slow_.forget(1);
  EXPECT_EQ(told_, 0);
  slow_.note_behind(now_, 2, kSoft, 0);
  deliver(2, {"g"});
  pass(50ms);
  const int told = told_;
  const Time deadline = slow_.next_deadline();
  slow_.forget(1);
  end_turn();
  EXPECT_EQ(told_, told);
  EXPECT_DOUBLE_EQ(price("g"), price_of(kSoft));
  EXPECT_EQ(slow_.next_deadline(), deadline);
}

TEST_F(SlowClientsTest, TwoThatLingerOnOneNameKeepItsPriceUntilTheLastIsDone) {
  for (const SessionId session : {1u, 2u}) slow_.note_behind(now_, session, kSoft, 0);
  for (const SessionId session : {1u, 2u}) deliver(session, {"g"});
  pass(50ms);
  slow_.note_caught_up(now_, 1, 0, kSoft);
  pass(50ms);
  EXPECT_DOUBLE_EQ(price("g"), price_of(kSoft)) << "the other one is as slow as before";
  for (int i = 0; i < 10; ++i) pass(50ms);
  const Time first = now_ - 550ms, second = now_;
  slow_.note_caught_up(now_, 2, 0, kSoft);
  pass(50ms);
  EXPECT_DOUBLE_EQ(price("g"), kLingerFees);
  const int told = told_;
  while (now_ < first + kLinger + 100ms) pass(50ms);
  EXPECT_DOUBLE_EQ(price("g"), kLingerFees) << "the second lingers";
  EXPECT_EQ(slowest_, "two");
  EXPECT_EQ(told_, told + 1) << "at the same price, which is the other's now";
  while (now_ < second + kLinger + 50ms) pass(50ms);
  EXPECT_EQ(price("g"), 0);
  EXPECT_EQ(slow_.next_deadline(), kNever);
}

TEST_F(SlowClientsTest, WhoReadsFastMayHaveMoreWaiting) {
  slow_.note_behind(now_, 1, kSoft, 0);
  deliver(1, {"g"});
  now_ += 50ms;
  slow_.note_behind(now_, 1, 9 * kSoft, 4 * kSoft);
  end_turn();
  EXPECT_DOUBLE_EQ(price("g"), price_of(9 * kSoft, kMostPriced));
  pass(0ms);
  EXPECT_DOUBLE_EQ(price("g"), price_of(9 * kSoft, kMostPriced)) << "nothing is measured over no time";
}

TEST_F(SlowClientsTest, WhoReadsMuchShowsHowFastItIsInAnyTime) {
  slow_.note_behind(now_, 1, kSoft / 4, 0);
  deliver(1, {"g"});
  now_ += 1ms;
  slow_.note_behind(now_, 1, 5 * kSoft, 2 * kSoft);
  end_turn();
  EXPECT_DOUBLE_EQ(price("g"), price_of(5 * kSoft, kMostPriced)) << "the most that may wait for that price";
}

TEST_F(SlowClientsTest, ItIsThoughtToBeFastUntilItIsKnownToBeSlow) {
  config_.session.queue_full_price_bytes = kSoft / 8;
  slow_.note_behind(now_, 1, kSoft / 8, 0);
  deliver(1, {"g"});
  pass(50ms);
  const double first = price("g");
  EXPECT_GT(first, price_of(kSoft / 8));
  EXPECT_LT(first, 1.5 * price_of(kSoft / 8));
  // What it does not read while nothing waits says nothing.
  slow_.note_caught_up(now_, 1, 0, kSoft / 8);
  for (int i = 0; i < 10; ++i) pass(50ms);
  slow_.note_behind(now_, 1, kSoft / 8, kSoft / 8);
  pass(50ms);
  EXPECT_DOUBLE_EQ(price("g"), price_of(kSoft / 8, kSoft * std::exp(-100ms / 1ms / 150.0)));
  for (int i = 0; i < 20; ++i) pass(50ms);
  EXPECT_DOUBLE_EQ(price("g"), price_of(kSoft / 8, kSoft / 8));
}

TEST_F(SlowClientsTest, NamesOfOneClientAreBounded) {
  slow_.note_behind(now_, 1, kSoft, 0);
  for (std::size_t i = 0; i < 2 * SlowClients::kNamesMax; ++i) {
    const std::string name = "group " + std::to_string(i);
    members_.insert({1, name});
    deliver(1, {name});
  }
  pass(50ms);
  EXPECT_EQ(prices_.size(), SlowClients::kNamesMax);
  EXPECT_GT(price("group 0"), 0);
}

TEST_F(SlowClientsTest, OfAMessageToManyNamesSomeAreAskedAboutAndOthersWithTheNext) {
  std::vector<std::string> texts;
  for (int i = 0; i < 1'000; ++i) texts.push_back("nobody " + std::to_string(i));
  texts[900] = "g";
  const std::vector<std::string_view> names(texts.begin(), texts.end());
  slow_.note_behind(now_, 1, kSoft, 0);
  for (std::size_t i = 0; i < 1'000 / SlowClients::kNamesAsked; ++i) {
    asked_ = 0;
    slow_.note_message(1, names);
    ASSERT_LE(asked_, SlowClients::kNamesAsked) << i;
  }
  pass(50ms);
  EXPECT_DOUBLE_EQ(price("g"), price_of(kSoft)) << "it has been its turn";
}

/// Clients with many names each, of which a turn can see to some only.
class ManySlowClients : public testing::Test, public ClientPrices, public ClientNames {
 protected:
  static constexpr SessionId kClients = 500;
  static constexpr std::size_t kNames = SlowClients::kNamesMax;
  static constexpr std::size_t kTurnMax = 1'000;  // a tenth of it for prices

  void set_client_price(const std::string& name, double dollars, std::string_view) override {
    ++told_in_turn_;
    if (dollars == 0) {
      prices_.erase(name);
    } else {
      prices_[name] = dollars;
    }
  }
  bool is_reached_by(SessionId, std::string_view) const override {
    ++asked_in_turn_;
    return true;
  }
  std::string_view client_name_of(SessionId) const override { return "slow"; }

  void fall_behind(std::size_t queued = 1u << 20) {
    for (SessionId client = 1; client <= kClients; ++client) slow_.note_behind(now_, client, queued, 0);
  }
  /// Each has names of its own, or all have the same.
  void deliver(bool same) {
    for (SessionId client = 1; client <= kClients; ++client) {
      for (std::size_t i = 0; i < kNames; ++i) {
        const std::string name = same ? fmt::format("g{}", i) : fmt::format("g{}-{}", client, i);
        const std::string_view names[] = {name};
        slow_.note_message(client, names);
      }
    }
    turn_.end_turn();
  }
  void end_turn() {
    slow_.flush(now_);
    EXPECT_LE(asked_in_turn_, kTurnMax / 10 + kNames);
    EXPECT_LE(told_in_turn_, 2 * (kTurnMax / 10 + kNames)) << "a name, and one that gives way to it";
    turn_.end_turn();
    asked_in_turn_ = told_in_turn_ = 0;
    ++turns_;
  }
  /// Turns happen when they are due.
  void run(Duration duration) {
    asked_in_turn_ = told_in_turn_ = 0;
    end_turn();
    for (const Time end = now_ + duration; slow_.next_deadline() <= end;) {
      now_ = std::max(now_, slow_.next_deadline());
      slow_.handle_time(now_);
      end_turn();
    }
  }

  std::map<std::string, double> prices_;
  std::size_t told_in_turn_ = 0;
  mutable std::size_t asked_in_turn_ = 0;
  int turns_ = 0;
  Time now_{1h};
  NodeConfig config_;
  SlabPool slabs_;
  MemoryBudget memory_{config_, slabs_};
  TurnWork turn_{kTurnMax};
  SlowClients slow_{config_, memory_, turn_, *this, *this};
};

TEST_F(ManySlowClients, AreLookedAtInTheSharesOfTurns) {
  fall_behind();
  deliver(true);
  run(10s);
  EXPECT_EQ(prices_.size(), kNames);
  EXPECT_GT(turns_, 200) << "there was much to divide";
  // All become urgent in one turn, and all go in one.
  fall_behind(8u << 20);
  run(0s);
  for (const auto& [name, dollars] : prices_) EXPECT_GT(dollars, 1.0);
  const int before = turns_;
  for (SessionId client = 1; client <= kClients; ++client) slow_.forget(client);
  run(0s);
  EXPECT_GT(turns_ - before, 100);
  EXPECT_TRUE(prices_.empty());
  run(1h);
  EXPECT_EQ(slow_.next_deadline(), kNever);
}

TEST_F(ManySlowClients, NoMoreNamesHaveAPriceThanOthersTakeAndTheDearestDo) {
  fall_behind(1u << 18);
  deliver(false);
  run(10s);
  EXPECT_EQ(prices_.size(), kClientPricesMax) << "of " << kClients * kNames;
  ASSERT_FALSE(prices_.contains("g500-0")) << "others have come first";
  const double usual = prices_.begin()->second;
  slow_.note_behind(now_, 500, 4u << 20, 0);
  run(0s);
  EXPECT_EQ(prices_.size(), kClientPricesMax);
  ASSERT_TRUE(prices_.contains("g500-0"));
  EXPECT_GT(prices_.at("g500-0"), 2 * usual);
  // Where some are gone others have their places.
  for (SessionId client = 1; client <= 100; ++client) slow_.forget(client);
  run(10s);
  EXPECT_EQ(prices_.size(), kClientPricesMax);
  EXPECT_FALSE(prices_.contains("g1-0"));
}

class QueueWatchTest : public testing::Test {
 protected:
  QueueWatchTest() {
    config_.session.queue_full_price_bytes = config_.session.queue_soft_bytes = 1000;
    config_.session.queue_hard_bytes = 10'000;
    config_.session.stall_timeout = 10s;
  }
  QueueWatch watch(SlowPolicy policy) {
    QueueWatch watch(config_.session, memory_);
    EXPECT_EQ(watch.policy(), config_.session.slow_policy);
    watch.set_policy(policy);
    return watch;
  }
  NodeConfig config_;
  SlabPool slabs_;
  MemoryBudget memory_{config_, slabs_};
  Time now_{1h};
};

TEST_F(QueueWatchTest, WarnsOnceAtEachStepOfTheLimitThatCounts) {
  for (const auto& [policy, limit] : {std::pair{SlowPolicy::price, 10'000u}, {SlowPolicy::drop, 1000u}}) {
    QueueWatch watched = watch(policy);
    EXPECT_EQ(watched.limit(), limit);
    const unsigned most = limit;  // Clang 14 captures no structured binding
    const auto at = [&](unsigned percent) { return watched.note_length(now_, most * percent / 100); };
    EXPECT_EQ(at(49), std::nullopt);
    EXPECT_EQ(at(50), 50u);
    EXPECT_EQ(at(79), std::nullopt);
    EXPECT_EQ(at(45), std::nullopt);
    EXPECT_EQ(at(60), std::nullopt) << "it has not fallen far enough";
    EXPECT_EQ(at(100), 80u);
    EXPECT_EQ(at(39), std::nullopt);
    EXPECT_EQ(at(80), std::nullopt) << "too soon";
    now_ += 10s;
    EXPECT_EQ(at(39), std::nullopt);
    EXPECT_EQ(at(79), std::nullopt) << "of 50 % it was warned";
    EXPECT_EQ(at(80), 80u);
    now_ += 10s;
    EXPECT_EQ(at(0), std::nullopt);
    EXPECT_EQ(at(99), 80u) << "one warning is enough";
  }
}

TEST_F(QueueWatchTest, PriceCutsOffOnlyWhoReadsNothing) {
  QueueWatch watched = watch(SlowPolicy::price);
  watched.note_length(now_, 62);
  EXPECT_FALSE(watched.is_priced());
  watched.note_length(now_, 63);
  EXPECT_TRUE(watched.is_priced());
  EXPECT_FALSE(watched.objection(now_ + 9s, 10'000));
  EXPECT_FALSE(watched.objection(now_ + 999ms, 10'001)) << "it has had no time to read it";
  EXPECT_TRUE(watched.objection(now_ + 1s, 10'001));
  EXPECT_TRUE(watched.objection(now_ + 10s, 63));
  watched.note_progress(now_ + 9s);
  EXPECT_FALSE(watched.objection(now_ + 18s, 9000)) << "it reads, however slowly";
  EXPECT_TRUE(watched.is_paid_for(now_ + 9s));
  EXPECT_FALSE(watched.objection(now_ + 9s, 1'000'000)) << "senders pay for it";
  EXPECT_TRUE(watched.objection(now_ + 10s, 1'000'000));
  watched.note_length(now_ + 18s, 15);
  EXPECT_FALSE(watched.is_behind());
  EXPECT_FALSE(watched.objection(now_ + 1h, 15)) << "nobody waits for it";
}

TEST_F(QueueWatchTest, TimeInWhichTheDaemonStoodStillDoesNotCount) {
  for (const SlowPolicy policy : {SlowPolicy::price, SlowPolicy::disconnect}) {
    QueueWatch watched = watch(policy);
    const auto look = [&](std::size_t bytes) {
      watched.note_look(now_);
      watched.note_length(now_, bytes);
      return watched.objection(now_, bytes).has_value();
    };
    EXPECT_FALSE(look(5000));
    for (int i = 0; i < 4; ++i) {
      now_ += 1min;
      EXPECT_FALSE(look(10'000)) << "it may have read everything meanwhile";
    }
    const Time went_on = now_;
    while (!look(10'000)) now_ += QueueWatch::kLookPeriod;
    EXPECT_EQ(now_ - went_on, 10s - 4 * QueueWatch::kLookPeriod);
  }
  QueueWatch watched = watch(SlowPolicy::price);
  watched.note_look(now_);
  watched.note_length(now_, 5000);
  now_ += 2s;
  watched.note_look(now_);
  watched.note_length(now_, 11'000);
  EXPECT_FALSE(watched.objection(now_, 11'000)) << "who sends pays for it";
  now_ += QueueWatch::kLookPeriod;
  watched.note_look(now_);
  EXPECT_TRUE(watched.objection(now_, 11'000));
}

TEST_F(QueueWatchTest, DropCutsOffAtTheHardLimitOnly) {
  QueueWatch watched = watch(SlowPolicy::drop);
  watched.note_length(now_, 1001);
  EXPECT_EQ(watched.drop_from(), 1000u);
  EXPECT_EQ(watched.drop_to(), 750u);
  EXPECT_FALSE(watched.is_priced());
  EXPECT_FALSE(watched.objection(now_ + 1h, 1001));
  EXPECT_TRUE(watched.objection(now_, 10'001));
}

TEST_F(QueueWatchTest, DisconnectCutsOffAfterAWhileAboveTheSoftLimit) {
  QueueWatch watched = watch(SlowPolicy::disconnect);
  watched.note_length(now_, 1001);
  EXPECT_FALSE(watched.is_priced());
  watched.note_progress(now_ + 9s);
  EXPECT_FALSE(watched.objection(now_ + 9s, 1001));
  const std::optional<std::string> objection = watched.objection(now_ + 10s, 1001);
  ASSERT_TRUE(objection);
  EXPECT_NE(objection->find("1001 bytes"), std::string::npos) << *objection;
  EXPECT_NE(objection->find("session.queue_soft_bytes"), std::string::npos) << *objection;
  watched.note_length(now_ + 10s, 500);
  EXPECT_FALSE(watched.is_behind());
}

TEST_F(QueueWatchTest, WhatCameWhileItWasAwayIsNotHeldAgainstIt) {
  for (const SlowPolicy policy : {SlowPolicy::price, SlowPolicy::drop, SlowPolicy::disconnect}) {
    QueueWatch watched = watch(policy);
    watched.note_length(now_, 5000);
    const Time back = now_ + 30s;
    watched.note_return(back, 18'000);
    watched.note_length(back, 18'000);
    EXPECT_FALSE(watched.objection(back, 18'000)) << "it has had no time to read it";
    EXPECT_EQ(watched.unexcused(18'000), 0u);
    EXPECT_FALSE(watched.objection(back + 2s, 28'000));
    EXPECT_TRUE(watched.objection(back + 2s, 28'001)) << "more comes than it reads";
    watched.note_length(back + 2s, 6000);
    EXPECT_EQ(watched.unexcused(16'001), 10'001u) << "it has read most of it";
    EXPECT_TRUE(watched.objection(back + 2s, 16'001));
    watched.note_length(back + 2s, 0);
    EXPECT_TRUE(watched.objection(back + 2s, 10'001));
  }
}

TEST_F(QueueWatchTest, AStallIsSaidOnceInAWhile) {
  const SessionConfig config;
  QueueWatch watch(config, memory_);
  Time now{1h};
  watch.note_length(now, config.queue_full_price_bytes);
  now += 900ms;
  EXPECT_FALSE(watch.note_stall(now));
  now += 200ms;
  ASSERT_TRUE(watch.note_stall(now));
  now += 5s;
  EXPECT_FALSE(watch.note_stall(now)) << "it was said";
  now += 5s;
  EXPECT_EQ(watch.note_stall(now), 11100ms);
  watch.note_progress(now);
  now += 20s;
  watch.note_length(now, 0);
  EXPECT_FALSE(watch.note_stall(now)) << "nothing waits for it";
  QueueWatch other(config, memory_);
  other.set_policy(SlowPolicy::drop);
  other.note_length(now, config.queue_soft_bytes + 1);
  now += 20s;
  EXPECT_FALSE(other.note_stall(now)) << "nobody slows down for it";
}

TEST_F(QueueWatchTest, LessMayWaitWhereMemoryIsScarce) {
  config_.session = SessionConfig();
  config_.memory_bytes_max = 100u << 20;
  QueueWatch priced = watch(SlowPolicy::price);
  QueueWatch dropping = watch(SlowPolicy::drop);
  const std::size_t usual = config_.session.queue_full_price_bytes / 16;
  const auto use = [&](std::size_t percent) { memory_.set(MemoryBudget::Use::groups, percent << 20); };
  use(70);
  priced.note_length(now_, usual);
  EXPECT_FALSE(priced.is_behind());
  EXPECT_EQ(dropping.drop_from(), config_.session.queue_soft_bytes);
  use(83);
  priced.note_length(now_, usual);
  EXPECT_TRUE(priced.is_behind());
  EXPECT_LT(dropping.drop_from(), config_.session.queue_soft_bytes / 2);
  EXPECT_GT(dropping.drop_from(), config_.session.queue_soft_bytes / 4);
  use(100);
  EXPECT_LT(dropping.drop_from(), config_.session.queue_soft_bytes / 32);
  EXPECT_GT(dropping.drop_to(), 4096u) << "what the client is about to read stays";
}

TEST_F(SlowClientsTest, CostMoreWhereMemoryIsScarce) {
  config_.memory_bytes_max = 100u << 20;
  slow_.note_behind(now_, 1, kSoft, 0);
  deliver(1, {"g"});
  pass(50ms);
  const double usual = price("g");
  EXPECT_GT(usual, 0);
  memory_.set(MemoryBudget::Use::groups, 80u << 20);
  pass(50ms);
  EXPECT_GT(price("g"), 1.5 * usual);
  memory_.set(MemoryBudget::Use::groups, 94u << 20);
  pass(50ms);
  EXPECT_GT(price("g"), 50 * usual);
  memory_.set(MemoryBudget::Use::groups, 0);
  pass(50ms);
  EXPECT_DOUBLE_EQ(price("g"), usual);
}

}  // namespace
}  // namespace spindled
