// The checker of feeds on histories that are right, and on one with each thing wrong that it is there to find.
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "daemon/base/result.h"
#include "tests/checkers/checkers.h"
#include "tests/checkers/feed_frames_check.h"

namespace spindled::checkers {
namespace {

using Why = spindle::FeedClosed::Why;
using Cause = spindle::FeedGap::Cause;

constexpr Time kBegin{1h};

/// A source, #s#a, that has sent ten messages to g as its feed 1, of digests 100 to 109, and two members of g that
/// listen.
class FeedWriter {
 public:
  FeedWriter() {
    history_.clients.resize(3);
    const char* const names[] = {"#s#a", "#x#b", "#y#b"};
    for (std::size_t i = 0; i < 3; ++i) {
      ClientHistory& client = history_.clients[i];
      client.name = names[i];
      client.daemon = i == 0 ? "a" : "b";
      client.events.push_back({kBegin, JoinRequested{"g", false}});
      GroupView view;
      view.group = "g";
      view.members = {"#s#a", "#x#b", "#y#b"};
      client.events.push_back({kBegin, view});
    }
    at(0).says(FeedAsked{1, "g", false});
    for (std::uint64_t i = 0; i < 10; ++i) says(FeedSent{1, 100 + i});
    for (const std::size_t listener : {1u, 2u}) {
      at(listener).says(ListenAsked{"g", listener == 1}).says(FeedHeard{7, "g", "#s#a", listener == 1});
    }
  }

  FeedWriter& at(std::size_t client) {
    client_ = client;
    return *this;
  }
  /// From here on all is told at one time.
  FeedWriter& at_once() {
    now_ += std::exchange(step_, Duration::zero());
    return *this;
  }
  FeedWriter& waits(Duration for_how_long) {
    now_ += for_how_long;
    return *this;
  }
  template <typename What>
  FeedWriter& says(What what) {
    now_ += step_;
    history_.clients[client_].feeds.push_back({now_, what});
    return *this;
  }
  FeedWriter& gets(std::uint64_t sequence, std::uint64_t digest, std::uint64_t packets = 1) {
    return says(FeedGot{7, sequence, packets, digest});
  }
  FeedWriter& misses(std::uint64_t first, std::uint64_t count = 1, Cause cause = Cause::lost) {
    return says(FeedMissed{7, first, count, cause});
  }
  /// All that is sent, in packets of their own, from that on.
  FeedWriter& gets_all(std::uint64_t from = 0) {
    for (std::uint64_t i = from; i < 10; ++i) gets(i, 100 + i);
    return *this;
  }
  FeedWriter& ends(Why why) { return says(FeedOver{7, why}); }
  FeedWriter& closes(Errc code = Errc::closed_by_client) {
    now_ += 1ms;
    history_.clients[client_].events.push_back({now_, Closed{static_cast<std::uint16_t>(code), ""}});
    return *this;
  }
  History& history() { return history_; }
  std::string found(bool at_rest = true) const { return to_text(check_feeds(history_, at_rest)); }

 private:
  History history_;
  std::size_t client_ = 0;
  Time now_ = kBegin;
  Duration step_ = 1ms;
};

FeedWriter all_got() {
  FeedWriter w;
  w.at(1).gets_all().at(2).gets_all();
  return w;
}

#define EXPECT_FINDS(writer, text) EXPECT_NE((writer).found().find(text), std::string::npos) << (writer).found()

TEST(FeedChecker, FindsNothingInGoodHistories) {
  EXPECT_EQ(all_got().found(), "");
  EXPECT_EQ(to_text(check_feeds(History{}, true)), "");
  // Gaps, a message of three packets, a bundle of two, and what comes in another order where that is allowed.
  FeedWriter w;
  w.at(1).gets(0, 100).misses(1, 2).gets(3, 102, 3).gets(6, 103).gets(6, 104).gets(7, 105);
  w.at(2).gets(6, 103).gets(6, 104).gets(3, 102, 3).gets(0, 100).misses(1, 2);
  EXPECT_EQ(w.found(), "");
  w.at(0).says(FeedGivenUp{1}).at(1).ends(Why::closed).at(2).ends(Why::closed);
  EXPECT_EQ(w.found(), "");
}

TEST(FeedChecker, FindsWhatIsTooMuch) {
  EXPECT_FINDS(FeedWriter().at(1).gets(0, 999), "nobody has sent");
  EXPECT_FINDS(all_got().at(1).gets(10, 109), "in another order, or twice");
  EXPECT_FINDS(all_got().at(1).gets(9, 109), "is given messages of #s#a in another order, or twice, at 9");
  EXPECT_FINDS(FeedWriter().at(2).gets(0, 100).misses(0), "behind 0 to 0");
  EXPECT_FINDS(FeedWriter().at(2).misses(0, 3).gets(1, 101), "behind 0 to 2");
  EXPECT_FINDS(FeedWriter().at(1).gets(0, 105).gets(1, 104), "in another order");
  EXPECT_FINDS(FeedWriter().at(1).says(FeedGot{8, 0, 1, 100}), "a feed that it was not told of");
  EXPECT_FINDS(FeedWriter().at(1).says(FeedHeard{7, "g", "#s#a", true}), "is told twice of a feed");
  EXPECT_FINDS(FeedWriter().at(1).says(FeedHeard{8, "h", "#s#a", true}), "does not listen there");
  EXPECT_FINDS(FeedWriter().at(1).says(ListenAsked{"h", true}).says(FeedHeard{8, "h", "#s#a", true}),
               "which it never joined");
}

TEST(FeedChecker, FindsMessagesOfOtherFeeds) {
  FeedWriter other;
  other.at(0).says(FeedAsked{2, "g", false}).says(FeedSent{2, 200}).at(1).gets(0, 100).gets(1, 200);
  EXPECT_FINDS(other, "two feeds of #s#a as one");
  FeedWriter group;
  group.at(0).says(FeedAsked{2, "h", false}).says(FeedSent{2, 200}).at(1).gets(0, 200);
  EXPECT_FINDS(group, "another source or group");
  FeedWriter source;
  source.at(2).says(FeedAsked{2, "g", false}).says(FeedSent{2, 200}).at(1).gets(0, 200);
  EXPECT_FINDS(source, "another source or group");
}

TEST(FeedChecker, FindsWhatIsNeitherGivenNorMissed) {
  EXPECT_FINDS(FeedWriter().at(1).gets(0, 100).gets(2, 102), "is told of packets 2 to 2 of #s#a behind 0 to 0");
  FeedWriter later;
  later.at(2).gets(0, 100).gets(2, 102);
  EXPECT_EQ(later.found(false), "") << "it may be on its way";
  EXPECT_FINDS(later, "is told of packets 2 to 2");
  later.at(0).says(FeedGivenUp{1}).at(1).ends(Why::closed).at(2).ends(Why::closed);
  EXPECT_FINDS(later, "is told of packets 2 to 2");
}

TEST(FeedChecker, FindsWrongEnds) {
  EXPECT_FINDS(all_got().at(1).ends(Why::closed), "is closed, and it is not");
  FeedWriter early;
  early.at(1).ends(Why::closed).at(0).says(FeedGivenUp{1}).at(2).ends(Why::closed);
  EXPECT_FINDS(early, "is closed, and it is not");
  FeedWriter behind;
  behind.at(0).says(FeedGivenUp{1}).at(2).ends(Why::closed).at(1).ends(Why::closed);
  EXPECT_EQ(behind.found(), "");
  EXPECT_FINDS(FeedWriter(behind).at(1).gets(0, 100), "a message of a feed of #s#a that is over");
  EXPECT_FINDS(FeedWriter(behind).at(1).ends(Why::closed), "the end of a feed of #s#a that is over");
  FeedWriter source;
  source.at(0).closes().at(1).ends(Why::closed).at(2).ends(Why::closed);
  EXPECT_EQ(source.found(), "") << "it ends with its source";
}

TEST(FeedChecker, FindsALossWithoutACause) {
  FeedWriter w;
  w.at(0).closes().at(1).ends(Why::lost).at(2).ends(Why::lost);
  EXPECT_EQ(w.found(), "") << "nothing is known of daemons";
  w.history().daemons.resize(1);
  w.history().daemons[0].id.name = "b";
  EXPECT_FINDS(w, "has seen no other view");
  w.history().daemons[0].events.push_back({kBegin - 10s, ViewInstalled{}});
  EXPECT_FINDS(w, "has seen no other view");
  FeedWriter slow = w;
  for (ClientHistory& each : slow.history().clients) each.slow_since = kBegin - 11s;
  EXPECT_EQ(slow.found(), "") << "they have read nothing since";
  w.history().daemons[0].events.push_back({kBegin + 16ms, ViewInstalled{}});
  EXPECT_EQ(w.found(), "");
}

TEST(FeedChecker, FindsAtRestWhoHearsOthersThanAreOpen) {
  FeedWriter kept = all_got();
  kept.at(0).says(FeedGivenUp{1}).at(1).ends(Why::closed);
  EXPECT_FINDS(kept, "#y#b hears 1 feeds of #s#a to g, of which 0 are open");
  EXPECT_EQ(kept.found(false), "") << "it may be on its way";
  FeedWriter second = all_got();
  second.at(0).says(FeedAsked{2, "g", false}).at(1).says(FeedHeard{8, "g", "#s#a", true});
  EXPECT_FINDS(second, "#y#b hears 1 of the 2 feeds of #s#a to g that are open");
  second.at(2).says(ListenOver{"g"});
  EXPECT_EQ(second.found(), "") << "it does not listen any more";
}

TEST(FeedChecker, FindsWhatIsMissingThoughNothingWasLost) {
  FeedWriter lost;
  lost.at(1).gets(0, 100).misses(1).gets_all(2).at(2).gets_all();
  EXPECT_EQ(lost.found(), "");
  lost.history().is_undisturbed = true;
  EXPECT_FINDS(lost, "misses packet 1 of #s#a, and nothing was lost");
  FeedWriter late;
  late.history().is_undisturbed = true;
  late.at(1).misses(0).gets_all(1).at(2).gets_all();
  EXPECT_EQ(late.found(), "") << "it listens since after the feed was opened";
  FeedWriter back = lost;
  back.history().clients[1].events.push_back({kBegin, JoinRequested{"g", false}});
  EXPECT_EQ(back.found(), "") << "it was away meanwhile";
  FeedWriter slow;
  slow.history().is_undisturbed = true;
  slow.at(1).misses(0, 1, Cause::slow).gets_all(1).at(2).gets_all();
  EXPECT_EQ(slow.found(), "");
  FeedWriter end;
  end.history().is_undisturbed = true;
  end.at(1).gets(0, 100).at(2).gets_all();
  EXPECT_FINDS(end, "is given 1 messages of 10");
}

TEST(FeedChecker, LetsWhoGoesLeaveBehindWhatHasYetToLeave) {
  FeedWriter w;
  w.history().is_undisturbed = true;
  w.at(1).gets(0, 100).at(2).gets_all();
  FeedWriter late = w;
  w.at(0).waits(5s).closes().at(1).ends(Why::closed).at(2).ends(Why::closed);
  EXPECT_EQ(w.found(), "");
  late.at(0).waits(20s).closes().at(1).ends(Why::closed).at(2).ends(Why::closed);
  EXPECT_FINDS(late, "is given 1 messages of 10");
}

TEST(FeedChecker, LetsAFeedEndWithinAMessageOfWhichTheRestIsThrownAway) {
  FeedWriter w;
  w.history().is_undisturbed = true;
  w.at(1).gets(0, 100).at(2).gets(0, 100).at_once();
  FeedWriter given_up = w, gone = w;
  w.at(0).says(OwnFeedOver{1}).at(1).misses(1).ends(Why::closed).at(2).misses(1).ends(Why::closed);
  EXPECT_EQ(w.found(), "");
  gone.at(0).closes().at(1).misses(1).ends(Why::closed).at(2).misses(1).ends(Why::closed);
  EXPECT_EQ(gone.found(), "");
  given_up.at(0).says(FeedGivenUp{1}).at(1).misses(1).ends(Why::closed).at(2).misses(1).ends(Why::closed);
  EXPECT_FINDS(given_up, "misses packet 1 of #s#a, and nothing was lost");
  FeedWriter within;
  within.history().is_undisturbed = true;
  within.at(1).gets(0, 100).misses(1).gets(2, 101).at(2).gets_all().at(0).says(OwnFeedOver{1}).at(1).ends(Why::closed);
  EXPECT_FINDS(within, "misses packet 1 of #s#a, and nothing was lost");
}

TEST(FeedChecker, LetsWhoLeavesMissWhatWasOvertakenByWhatItHeldBack) {
  FeedWriter w;
  w.history().is_undisturbed = true;
  w.at(2).gets_all().at(1).gets(0, 100);
  FeedWriter before = w;
  EXPECT_EQ(w.at_once().misses(1).gets(2, 102).ends(Why::left).found(false), "");
  EXPECT_FINDS(before.misses(1).gets(2, 102).ends(Why::left), "misses packet 1 of #s#a, and nothing was lost");
  FeedWriter closed;
  closed.history().is_undisturbed = true;
  closed.at(2).gets_all().at(0).says(FeedGivenUp{1}).at(1).gets(0, 100).at_once().misses(1).gets_all(2);
  EXPECT_FINDS(closed.ends(Why::closed), "misses packet 1 of #s#a, and nothing was lost");
}

TEST(FeedChecker, FindsAViewThatChangesThoughNothingElseHappens) {
  FeedWriter w = all_got();
  w.history().is_undisturbed = true;
  w.history().daemons.resize(2);
  const auto members = [](std::size_t count) {
    return std::make_shared<const std::vector<DaemonId>>(count, DaemonId{"d", 1});
  };
  for (DaemonHistory& daemon : w.history().daemons) {
    daemon.id.name = "b";
    for (const std::size_t count : {1u, 2u})
      daemon.events.push_back({kBegin - 1s, ViewInstalled{{}, members(count), {}}});
  }
  EXPECT_EQ(w.found(), "");
  w.history().daemons[0].events.push_back({kBegin - 1s, ViewInstalled{{}, members(1), {}}});
  EXPECT_FINDS(w, "b installs another view though all were in one");
}

TEST(FeedChecker, FindsATailThatNobodyTellsOf) {
  FeedWriter w;
  w.at(1).gets(0, 100).gets(1, 101).at(2).gets_all();
  w.history().daemons.resize(1);
  w.history().daemons[0].id.name = "b";
  w.at(0).says(FeedGivenUp{1}).at(2).ends(Why::closed);
  FeedWriter told = w;
  EXPECT_FINDS(w.at(1).ends(Why::closed), "is given 2 messages of 10");
  EXPECT_EQ(told.at(1).misses(2, 8).ends(Why::closed).found(), "");
}

TEST(FeedChecker, LetsDaemonsThrowAwayWhatIsSentToAFeedThatTheyHaveEnded) {
  FeedWriter w;
  w.at(1).gets(0, 100).gets(1, 101).at(2).gets_all();
  w.history().daemons.resize(1);
  w.history().daemons[0].id.name = "b";
  w.at(0).says(OwnFeedOver{1}).at(1).ends(Why::closed).at(2).ends(Why::closed);
  EXPECT_EQ(w.found(), "");
  w.history().is_undisturbed = true;
  EXPECT_EQ(w.found(), "");
}

TEST(FeedChecker, LetsListenersHearOfAFeedThatADaemonEndsBeforeItsSourceDoes) {
  FeedWriter w = all_got();
  w.at(1).ends(Why::closed).at(2).ends(Why::closed);
  EXPECT_FINDS(w, "is closed, and it is not");
  EXPECT_EQ(FeedWriter(w).at(0).says(OwnFeedOver{1}).found(), "");
  EXPECT_FINDS(FeedWriter(w).at(0).waits(1min).says(OwnFeedOver{1}), "is closed, and it is not");
}

TEST(FeedChecker, LetsDaemonsThrowAwayWhatMayNotBeSentAlthoughItsClientHasClosedTheFeed) {
  FeedWriter w;
  w.at(1).gets(0, 100).gets(1, 101).at(2).gets_all();
  w.history().daemons.resize(1);
  w.history().daemons[0].id.name = "b";
  w.at(0).says(FeedGivenUp{1});
  FeedWriter open = w;
  w.says(OwnFeedDenied{}).at(1).ends(Why::closed).at(2).ends(Why::closed);
  EXPECT_EQ(w.found(), "");
  EXPECT_FINDS(open.at(1).ends(Why::closed), "is given 2 messages of 10");
}

TEST(FeedChecker, FindsFramesThatBreakPromises) {
  namespace protocol = spindle::protocol;
  FeedFramesCheck check;
  const std::uint8_t byte = 1;
  const auto packet = [&](std::uint64_t sequence) { return protocol::FeedPacket{7, sequence, 3, {&byte, 1}}; };
  EXPECT_EQ(check.take(packet(0)), "something of feed 7, which was not opened");
  EXPECT_FALSE(check.take(protocol::FeedOpened{7, 0, "g", "#s#a"}));
  EXPECT_FALSE(check.take(packet(3)));
  EXPECT_FALSE(check.take(packet(1)));
  EXPECT_EQ(check.take(packet(3)), "twice of packet 3 of feed 7");
  EXPECT_FALSE(check.take(protocol::FeedGap{7, 4, 2}));
  EXPECT_EQ(check.take(packet(5)), "twice of packet 5 of feed 7");
  EXPECT_EQ(check.take(protocol::FeedGap{7, 0, 2}), "twice of packet 1 of feed 7");
  EXPECT_FALSE(check.take(protocol::FeedEnded{7}));
  EXPECT_EQ(check.take(packet(9)), "something of feed 7, which is over");
  EXPECT_EQ(check.take(protocol::FeedEnded{7}), "twice of the end of feed 7");
  EXPECT_FALSE(check.take(protocol::FeedReady{1, 8, 100}));
  EXPECT_FALSE(check.take(protocol::FeedOpened{8, 0, "g", "#s#a"}));
  EXPECT_FALSE(check.take(protocol::FeedEnded{8}));
  EXPECT_FALSE(check.take(protocol::FeedEnded{8})) << "as a listener, and as its source";
  EXPECT_FALSE(check.take(protocol::FeedOpened{7, 0, "g", "#s#a"})) << "the client has joined again";
  EXPECT_FALSE(check.take(packet(3)));
  EXPECT_EQ(check.take(protocol::FeedEnded{9, protocol::FeedEnd::left}),
            "that it has left feed 9, which was not opened");
  EXPECT_FINDS(FeedWriter().at(1).says(FeedFrameWrong{"twice of packet 3 of feed 7"}), "is told twice of packet 3");
}

TEST(FeedChecker, FindsASourceThatWasEnded) {
  FeedWriter w = all_got();
  w.at(1).ends(Why::lost).at(2).ends(Why::lost).at(0).closes(Errc::flow_exceeded);
  EXPECT_FINDS(w, "#s#a was ended for what it has sent to a feed");
}

}  // namespace
}  // namespace spindled::checkers
