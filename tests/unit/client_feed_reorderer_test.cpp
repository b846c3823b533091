// What listeners get of a feed, whatever the network does to its packets.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "libclient/protocol/feed_reorderer.h"

namespace spindle::protocol {
namespace {

using namespace std::chrono_literals;

constexpr std::uint8_t kWhole = FeedPacket::kFirst | FeedPacket::kLast;
constexpr auto kDeadline = 50ms;

/// "1:text" for a message, "-2+3" for packets 2 to 4 that are lost, "~2+3" where the client was slow.
std::string shown(FeedReorderer& feed) {
  std::string text;
  for (const FeedReorderer::Output& output : feed.take_output()) {
    if (!text.empty()) text += ' ';
    if (output.gap) {
      text += (*output.gap == FeedGapCause::slow ? '~' : '-') + std::to_string(output.first) + '+' +
              std::to_string(output.count);
    } else {
      text += std::to_string(output.first) + ':' + std::string(as_text(output.payload));
    }
  }
  return text;
}

class OrderedFeed : public testing::Test {
 protected:
  explicit OrderedFeed(bool is_new = true) : feed_(true, kDeadline, is_new) {}
  void whole(std::uint64_t sequence) { part(sequence, kWhole); }
  void part(std::uint64_t sequence, std::uint8_t flags) {
    feed_.packet(now_, sequence, flags, as_bytes(std::string(1, static_cast<char>('a' + sequence % 26))));
  }
  std::string at(Instant now) {
    now_ = now;
    feed_.handle_time(now_);
    return shown(feed_);
  }
  Instant now_ = 1s;
  FeedReorderer feed_;
};

TEST_F(OrderedFeed, GivesWhatComesInOrder) {
  for (std::uint64_t i = 0; i < 3; ++i) whole(i);
  EXPECT_EQ(shown(feed_), "0:a 1:b 2:c");
  EXPECT_EQ(feed_.next_deadline(), kNeverAgain);
  EXPECT_EQ(feed_.bytes(), 0u);
}

TEST_F(OrderedFeed, WaitsForWhatIsMissingFromWhenTheNextCame) {
  whole(0);
  whole(2);
  EXPECT_EQ(shown(feed_), "0:a");
  EXPECT_EQ(feed_.next_deadline(), 1s + kDeadline);
  EXPECT_EQ(at(1s + kDeadline - 1ns), "");
  whole(3);  // has come later, and waits behind the same gap no longer than that
  EXPECT_EQ(at(1s + kDeadline), "-1+1 2:c 3:d");
  EXPECT_EQ(feed_.next_deadline(), kNeverAgain);
  whole(1);
  EXPECT_EQ(shown(feed_), "") << "it was in a gap";
}

TEST_F(OrderedFeed, EachPacketHasADeadlineOfItsOwn) {
  whole(0);
  whole(2);
  now_ = 1s + 40ms;
  whole(4);
  EXPECT_EQ(at(1s + kDeadline), "0:a -1+1 2:c");
  EXPECT_EQ(feed_.next_deadline(), 1s + 40ms + kDeadline);
  EXPECT_EQ(at(1s + 40ms + kDeadline), "-3+1 4:e");
}

TEST_F(OrderedFeed, WhatComesInTimeFillsTheGap) {
  whole(0);
  whole(3);
  whole(1);
  EXPECT_EQ(shown(feed_), "0:a 1:b");
  whole(2);
  EXPECT_EQ(shown(feed_), "2:c 3:d");
}

TEST_F(OrderedFeed, WaitsNoLongerForWhatIsKnownToBeLost) {
  whole(0);
  whole(3);
  feed_.gap(1, 1, FeedGapCause::lost);
  EXPECT_EQ(shown(feed_), "0:a -1+1");
  feed_.gap(2, 1, FeedGapCause::slow);
  EXPECT_EQ(shown(feed_), "~2+1 3:d");
  feed_.gap(1, 3, FeedGapCause::lost);
  EXPECT_EQ(shown(feed_), "") << "it is over";
  feed_.gap(4, 2, FeedGapCause::lost);
  EXPECT_EQ(shown(feed_), "-4+2");
}

TEST_F(OrderedFeed, AGapTakesNothingThatIsHere) {
  whole(0);
  whole(2);
  feed_.gap(1, 3, FeedGapCause::lost);
  EXPECT_EQ(shown(feed_), "0:a -1+1 2:c -3+1");
}

TEST_F(OrderedFeed, PutsMessagesTogether) {
  part(0, FeedPacket::kFirst);
  part(1, 0);
  EXPECT_EQ(shown(feed_), "");
  EXPECT_EQ(feed_.next_deadline(), kNeverAgain) << "nothing is missing: the rest has yet to be sent";
  part(2, FeedPacket::kLast);
  whole(3);
  EXPECT_EQ(shown(feed_), "0:abc 3:d");
}

TEST_F(OrderedFeed, AMessageOfWhichAPacketIsLostIsLost) {
  whole(0);
  part(1, FeedPacket::kFirst);
  part(3, 0);
  part(4, FeedPacket::kLast);
  whole(5);
  EXPECT_EQ(shown(feed_), "0:a");
  EXPECT_EQ(at(2s), "-1+4 5:f");
}

TEST_F(OrderedFeed, TheRestOfALostMessageIsAGapWhenItComes) {
  whole(0);
  part(1, FeedPacket::kFirst);
  feed_.gap(2, 1, FeedGapCause::slow);
  EXPECT_EQ(shown(feed_), "0:a ~1+2");
  part(3, FeedPacket::kLast);
  whole(4);
  EXPECT_EQ(shown(feed_), "~3+1 4:e") << "for the reason that the rest of its message is missing";
}

TEST_F(OrderedFeed, ThatIsNewBeginsWithItsFirstPacket) {
  whole(100);
  EXPECT_EQ(shown(feed_), "");
  whole(0);
  whole(1);
  EXPECT_EQ(shown(feed_), "0:a 1:b");
  EXPECT_EQ(at(2s), "-2+98 100:w");
}

class AFeedThatIsOpen : public OrderedFeed {
 protected:
  AFeedThatIsOpen() : OrderedFeed(false) {}
};

TEST_F(AFeedThatIsOpen, BeginsWithAMessageThatBegins) {
  part(1000, 0);
  part(1001, FeedPacket::kLast);
  whole(1002);
  whole(999);
  EXPECT_EQ(shown(feed_), "1002:o");
  feed_.gap(1000, 2, FeedGapCause::lost);
  EXPECT_EQ(shown(feed_), "");
}

TEST_F(AFeedThatIsOpen, WaitsForNothingBeforeItsFirstPacket) {
  whole(2);
  EXPECT_EQ(shown(feed_), "2:c");
  whole(1);
  whole(4);
  EXPECT_EQ(shown(feed_), "");
  EXPECT_EQ(at(2s), "-3+1 4:e");
}

TEST_F(AFeedThatIsOpen, MayBeginWithAGap) {
  feed_.gap(7, 2, FeedGapCause::slow);
  whole(9);
  EXPECT_EQ(shown(feed_), "~7+2 9:j");
}

TEST_F(AFeedThatIsOpen, BeginsBehindWhatItHasPassedOver) {
  for (const bool is_ordered : {true, false}) {
    FeedReorderer feed(is_ordered, kDeadline, false);
    const auto part = [&](std::uint64_t sequence, std::uint8_t flags) {
      feed.packet(now_, sequence, flags, as_bytes(std::string(1, 'a')));
    };
    part(1, 0);
    part(3, 0);
    part(4, FeedPacket::kLast);
    part(2, FeedPacket::kFirst);
    feed.gap(2, 1, FeedGapCause::lost);
    EXPECT_EQ(shown(feed), "");
    part(5, kWhole);
    EXPECT_EQ(shown(feed), "5:a");
    feed.gap(6, 1, FeedGapCause::lost);
    EXPECT_EQ(shown(feed), "-6+1");
  }
}

TEST_F(OrderedFeed, TheEndWaitsForNothing) {
  whole(0);
  whole(2);
  part(3, FeedPacket::kFirst);
  feed_.end();
  EXPECT_EQ(shown(feed_), "0:a -1+1 2:c -3+1");
  EXPECT_EQ(feed_.next_deadline(), kNeverAgain);
  EXPECT_EQ(feed_.bytes(), 0u);
}

TEST_F(OrderedFeed, AMessageWithoutAnEndIsNone) {
  part(0, FeedPacket::kFirst);
  whole(1);
  EXPECT_EQ(shown(feed_), "-0+1 1:b");
  const std::string large(30'000, 'x');
  feed_.packet(now_, 2, FeedPacket::kFirst, as_bytes(large));
  feed_.packet(now_, 3, 0, as_bytes(large));
  feed_.packet(now_, 4, FeedPacket::kLast, as_bytes(large));
  whole(5);
  EXPECT_EQ(shown(feed_), "-2+3 5:f");
}

TEST_F(OrderedFeed, HoldsNoMoreThanItMay) {
  whole(0);
  const std::string large(30'000, 'x');
  std::uint64_t sequence = 2;
  std::size_t most = 0;
  for (; sequence < 2 + 2 * FeedReorderer::kBytesMax / large.size(); ++sequence) {
    feed_.packet(now_, sequence, kWhole, as_bytes(large));
    most = std::max(most, feed_.bytes());
  }
  EXPECT_LE(most, FeedReorderer::kBytesMax + large.size());
  const auto outputs = feed_.take_output();
  ASSERT_GT(outputs.size(), 2u);
  EXPECT_TRUE(outputs[1].gap);
  EXPECT_EQ(outputs[1].count, 1u);
}

class FeedAsItComes : public OrderedFeed {
 protected:
  FeedAsItComes() : as_it_comes_(false, kDeadline, true) {}
  void whole(std::uint64_t sequence) { part(sequence, kWhole); }
  void part(std::uint64_t sequence, std::uint8_t flags) {
    as_it_comes_.packet(now_, sequence, flags, as_bytes(std::string(1, static_cast<char>('a' + sequence % 26))));
  }
  FeedReorderer as_it_comes_;
};

TEST_F(FeedAsItComes, GivesMessagesOnArrival) {
  whole(0);
  whole(2);
  whole(1);
  whole(1);
  EXPECT_EQ(shown(as_it_comes_), "0:a 2:c 1:b");
  EXPECT_EQ(as_it_comes_.next_deadline(), kNeverAgain);
}

TEST_F(FeedAsItComes, ToldGapsComeOnce) {
  whole(0);
  whole(3);
  as_it_comes_.gap(1, 2, FeedGapCause::lost);
  as_it_comes_.gap(1, 3, FeedGapCause::lost);
  whole(2);
  whole(4);
  EXPECT_EQ(shown(as_it_comes_), "0:a 3:d -1+2 4:e");
}

TEST_F(FeedAsItComes, PutsMessagesTogetherInAnyOrder) {
  part(2, FeedPacket::kLast);
  whole(3);
  part(0, FeedPacket::kFirst);
  EXPECT_EQ(shown(as_it_comes_), "3:d");
  part(1, 0);
  EXPECT_EQ(shown(as_it_comes_), "0:abc");
  EXPECT_EQ(as_it_comes_.bytes(), 0u);
}

TEST_F(FeedAsItComes, ALostPacketTakesItsMessageAlong) {
  part(0, FeedPacket::kFirst);
  part(2, 0);
  as_it_comes_.gap(1, 1, FeedGapCause::lost);
  EXPECT_EQ(shown(as_it_comes_), "-1+1 -0+1 -2+1");
  part(3, FeedPacket::kLast);
  whole(4);
  EXPECT_EQ(shown(as_it_comes_), "-3+1 4:e");
  EXPECT_EQ(as_it_comes_.bytes(), 0u);
}

TEST_F(FeedAsItComes, TheRestOfALostMessageIsMissingForTheSameReason) {
  whole(0);
  part(1, FeedPacket::kFirst);
  as_it_comes_.gap(2, 1, FeedGapCause::slow);
  EXPECT_EQ(shown(as_it_comes_), "0:a ~2+1 ~1+1");
  part(3, 0);
  EXPECT_EQ(shown(as_it_comes_), "~3+1");
  part(4, FeedPacket::kLast);
  whole(5);
  EXPECT_EQ(shown(as_it_comes_), "~4+1 5:f");
}

TEST_F(FeedAsItComes, GivesUpTheOldestOfTooManyHoles) {
  for (std::uint64_t i = 0; i <= 2 * FeedReorderer::kHolesMax + 2; i += 2) whole(i);
  const std::string text = shown(as_it_comes_);
  EXPECT_NE(text.find(" -1+1"), std::string::npos);
  EXPECT_EQ(text.find(" -5+1"), std::string::npos);
}

// --- Random networks ---

struct Sent {
  std::uint64_t first = 0, count = 0;
  std::string payload;
};

struct Network {
  double lost = 0, told = 0, twice = 0;
  std::chrono::microseconds jitter{};
};

/// Sends messages over a network that loses, repeats and reorders packets, and tells of some losses late; checks what
/// each listener is promised.
void try_network(unsigned seed, bool is_ordered, const Network& network) {
  std::mt19937 random(seed);
  const auto chance = [&](double probability) { return std::bernoulli_distribution(probability)(random); };
  const auto up_to = [&](std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>(0, most)(random); };
  struct Arrival {
    Instant at{};
    std::uint64_t order = 0;
    std::uint64_t sequence = 0;
    std::uint8_t flags = 0;
    std::string payload;
    std::uint64_t gap = 0;  // so many packets are lost, if any
  };
  std::vector<Arrival> arrivals;
  std::map<std::uint64_t, Sent> messages;
  std::map<std::uint64_t, bool> told;
  std::uint64_t sequence = 0, order = 0;
  Instant now = 1s;
  while (sequence < 400) {
    Sent message{sequence, chance(0.7) ? 1 : 1 + up_to(6), {}};
    for (std::uint64_t i = 0; i < message.count; ++i, ++sequence) {
      now += std::chrono::microseconds(up_to(2000));
      const std::string payload = std::to_string(sequence) + ",";
      message.payload += payload;
      const auto flags = static_cast<std::uint8_t>((i == 0 ? 1 : 0) | (i + 1 == message.count ? 2 : 0));
      const auto arrive = [&] {
        return now + std::chrono::microseconds(up_to(static_cast<std::uint64_t>(network.jitter.count())));
      };
      if (!chance(network.lost)) {
        arrivals.push_back({arrive(), ++order, sequence, flags, payload, 0});
        if (chance(network.twice)) arrivals.push_back({arrive(), ++order, sequence, flags, payload, 0});
      } else if (chance(network.told)) {
        told[sequence] = true;
        arrivals.push_back({arrive() + 30ms, ++order, sequence, 0, {}, 1});
      }
    }
    messages[message.first] = message;
  }
  std::sort(arrivals.begin(), arrivals.end(),
            [](const Arrival& a, const Arrival& b) { return a.at != b.at ? a.at < b.at : a.order < b.order; });

  FeedReorderer feed(is_ordered, kDeadline, true);
  std::map<std::uint64_t, Instant> came;  // first copies
  std::vector<bool> had(sequence);
  std::uint64_t last = 0;
  Instant time{};
  bool is_over = false;
  const auto look = [&] {
    for (const FeedReorderer::Output& output : feed.take_output()) {
      if (is_ordered) {
        ASSERT_GE(output.first, last);
      }
      last = output.first + output.count;
      for (std::uint64_t i = output.first; i < last; ++i) {
        ASSERT_LT(i, sequence);
        ASSERT_FALSE(had[i]) << i << " comes twice";
        had[i] = true;
      }
      if (!output.gap) {
        ASSERT_TRUE(messages.contains(output.first));
        ASSERT_EQ(messages[output.first].count, output.count);
        ASSERT_EQ(as_text(output.payload), messages[output.first].payload);
      } else if (is_ordered && !is_over) {
        // Some packet behind, or in it, has waited its time, or the daemon has told of a packet in it.
        bool is_due = false;
        for (const auto& [number, at] : came) is_due = is_due || (number >= output.first && at + kDeadline <= time);
        for (std::uint64_t i = output.first; i < last; ++i) is_due = is_due || told.contains(i);
        // The rest of a message that was lost before.
        const auto after = messages.upper_bound(output.first);
        const Sent& of = std::prev(after)->second;
        for (std::uint64_t i = of.first; i < output.first; ++i) is_due = is_due || had[i];
        ASSERT_TRUE(is_due) << "a gap before its time at " << output.first;
      } else if (!is_over) {
        const auto after = messages.upper_bound(last - 1);
        bool is_told = false;
        for (std::uint64_t i = output.first; i < std::prev(after)->second.first + std::prev(after)->second.count; ++i) {
          is_told = is_told || told.contains(i);
        }
        const auto of = std::prev(messages.upper_bound(output.first));
        for (std::uint64_t i = of->first; i < output.first; ++i) is_told = is_told || told.contains(i);
        ASSERT_TRUE(is_told) << "a gap that nobody told of at " << output.first;
      }
    }
  };
  for (const Arrival& arrival : arrivals) {
    while (feed.next_deadline() <= arrival.at) {
      time = feed.next_deadline();
      feed.handle_time(time);
      ASSERT_NO_FATAL_FAILURE(look());
      ASSERT_GT(feed.next_deadline(), time);
    }
    time = arrival.at;
    if (arrival.gap != 0) {
      feed.gap(arrival.sequence, arrival.gap, FeedGapCause::lost);
    } else {
      came.try_emplace(arrival.sequence, arrival.at);
      feed.packet(arrival.at, arrival.sequence, arrival.flags, as_bytes(arrival.payload));
    }
    ASSERT_NO_FATAL_FAILURE(look());
  }
  is_over = true;
  feed.end();
  ASSERT_NO_FATAL_FAILURE(look());
  EXPECT_EQ(feed.bytes(), 0u);
  const std::uint64_t end =
      arrivals.empty() ? 0 : std::max_element(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) {
                               return a.sequence < b.sequence;
                             })->sequence;
  for (std::uint64_t i = 0; i <= end; ++i) EXPECT_TRUE(had[i]) << i << " is in no message and in no gap";
}

TEST(FeedReordererInNetworks, EachSequenceIsInOneMessageOrOneGap) {
  const Network networks[] = {{},
                              {.jitter = 20ms},
                              {.lost = 0.1, .told = 1},
                              {.lost = 0.1, .told = 0.5, .twice = 0.1, .jitter = 20ms},
                              {.lost = 0.4, .told = 0.5, .twice = 0.3, .jitter = 200ms},
                              {.lost = 0.9, .told = 0.1, .twice = 0.5, .jitter = 100ms}};
  for (const bool is_ordered : {true, false}) {
    for (std::size_t network = 0; network < std::size(networks); ++network) {
      for (unsigned seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(testing::Message() << "ordered " << is_ordered << ", network " << network << ", seed " << seed);
        try_network(seed, is_ordered, networks[network]);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(FeedReordererInNetworks, NothingIsMissingWhereNothingIsLost) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    FeedReorderer feed(true, kDeadline, true);
    std::mt19937 random(seed);
    std::vector<std::uint64_t> sequences(64);
    for (std::size_t i = 0; i < sequences.size(); ++i) sequences[i] = i;
    std::shuffle(sequences.begin(), sequences.end(), random);
    for (const std::uint64_t sequence : sequences) feed.packet(1s, sequence, kWhole, as_bytes("x"));
    const auto outputs = feed.take_output();
    ASSERT_EQ(outputs.size(), sequences.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) EXPECT_EQ(outputs[i].first, i);
  }
}

// --- Ranges ---

TEST(SequenceRanges, AreTheSameAsASet) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    SequenceRanges ranges;
    std::map<std::uint64_t, bool> set;
    for (int i = 0; i < 30; ++i) {
      const std::uint64_t first = random() % 100, last = first + random() % 5;
      ranges.add(first, last, random() % 4 == 0 ? FeedGapCause::slow : FeedGapCause::lost);
      for (std::uint64_t at = first; at <= last; ++at) set[at] = true;
      if (i % 10 == 9) {
        const std::uint64_t before = random() % 50;
        ranges.forget_before(before);
        set.erase(set.begin(), set.lower_bound(before));
      }
    }
    std::uint64_t behind = 0;
    bool is_first = true;
    ranges.for_each([&](const SequenceRanges::Range& range) {
      EXPECT_TRUE(is_first || range.first > behind) << "they do not touch";
      is_first = false;
      behind = range.last + 1;
    });
    std::map<std::uint64_t, bool> missing;
    ranges.for_each_missing(0, 120, [&](std::uint64_t from, std::uint64_t to) {
      for (std::uint64_t at = from; at <= to; ++at) missing[at] = true;
    });
    for (std::uint64_t at = 0; at <= 120; ++at) {
      EXPECT_EQ(ranges.contains(at), set.contains(at));
      EXPECT_EQ(missing.contains(at), !set.contains(at));
    }
  }
}

TEST(SequenceRanges, AreSlowWhereAPartIs) {
  SequenceRanges ranges;
  ranges.add(1, 2, FeedGapCause::lost);
  ranges.add(5, 6, FeedGapCause::lost);
  ranges.add(3, 3, FeedGapCause::slow);
  EXPECT_EQ(ranges.front(), (SequenceRanges::Range{1, 3, FeedGapCause::slow}));
  EXPECT_EQ(ranges.find(6), (SequenceRanges::Range{5, 6, FeedGapCause::lost}));
}

}  // namespace
}  // namespace spindle::protocol
