// What a client gets of feeds that it does not keep up with.
#include "daemon/session/feed_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <string>

#include "libclient/common/framing.h"

namespace spindled {
namespace {

namespace protocol = spindle::protocol;
using protocol::FeedNews;

constexpr std::size_t kEnough = 1u << 30;

std::vector<std::uint8_t> frame_of(const FeedNews& news) {
  std::vector<std::uint8_t> frame;
  protocol::write_feed_news(frame, news);
  return frame;
}

class FeedQueueTest : public testing::Test {
 protected:
  void describe(std::uint32_t feed) {
    waiting_.describe(feed, frame_of(protocol::FeedOpened{feed, 0, "news", "#ann#alpha"}));
  }
  void deliver(std::uint32_t feed, std::uint64_t sequence, std::size_t bytes = 10) {
    const std::vector<std::uint8_t> payload(bytes, 'x');
    waiting_.deliver(feed, sequence, frame_of(protocol::FeedPacket{feed, sequence, 3, payload}));
  }
  /// "o4" opened, "p4.7" packet 7, "g4.7+2" lost, "s4.7+2" slow, "e4" ended.
  std::string moved(std::size_t limit = kEnough) {
    waiting_.move_to(queue_, limit);
    std::string written;
    std::array<ByteView, 16> buffers;
    while (!queue_.empty()) {
      const std::size_t count = queue_.gather(buffers);
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < count; ++i) {
        written += spindle::as_text(buffers[i]);
        bytes += buffers[i].size();
      }
      queue_.consume(bytes);
    }
    std::string text;
    for (ByteView left = spindle::as_bytes(written); !left.empty();) {
      const auto head = *spindle::read_frame_head(left);
      const auto news = protocol::read_feed_news(static_cast<protocol::ClientFrame>(head.type),
                                                 left.subspan(spindle::kFrameHeadBytes, head.length));
      EXPECT_TRUE(news);
      if (!text.empty()) text += ' ';
      if (const auto* opened = std::get_if<protocol::FeedOpened>(&*news)) text += 'o' + std::to_string(opened->feed);
      if (const auto* packet = std::get_if<protocol::FeedPacket>(&*news)) {
        text += 'p' + std::to_string(packet->feed) + '.' + std::to_string(packet->sequence);
      }
      if (const auto* gap = std::get_if<protocol::FeedGap>(&*news)) {
        text += (gap->cause == protocol::FeedGapCause::slow ? 's' : 'g') + std::to_string(gap->feed) + '.' +
                std::to_string(gap->first) + '+' + std::to_string(gap->count);
      }
      if (const auto* end = std::get_if<protocol::FeedEnded>(&*news)) text += 'e' + std::to_string(end->feed);
      left = left.subspan(spindle::kFrameHeadBytes + head.length);
    }
    EXPECT_EQ(queue_.bytes_without_feeds(), 0u);
    return text;
  }

  SlabPool pool_;
  FeedQueue waiting_{pool_};
  SessionQueue queue_{pool_};
};

TEST_F(FeedQueueTest, KeepsTheOrder) {
  describe(4);
  deliver(4, 0);
  waiting_.lose({4, 1, 2, protocol::FeedGapCause::lost});
  deliver(4, 3);
  waiting_.end({4, protocol::FeedEnd::closed});
  EXPECT_FALSE(waiting_.empty());
  EXPECT_EQ(moved(), "o4 p4.0 g4.1+2 p4.3 e4");
  EXPECT_TRUE(waiting_.empty());
  EXPECT_EQ(waiting_.bytes(), 0u);
}

TEST_F(FeedQueueTest, MovesNoMoreThanMayStandInTheOtherQueue) {
  for (std::uint64_t i = 0; i < 10; ++i) deliver(4, i, 1000);
  EXPECT_EQ(moved(2500), "p4.0 p4.1 p4.2");
  EXPECT_EQ(moved(1), "p4.3");
}

TEST_F(FeedQueueTest, TheOldestGoAndAGapTakesTheirPlace) {
  describe(4);
  for (std::uint64_t i = 0; i < 10; ++i) {
    deliver(4, i, 1000);
    deliver(5, i, 1000);
  }
  const std::size_t all = waiting_.bytes();
  const std::size_t dropped = waiting_.drop_oldest(all / 2);
  EXPECT_LE(waiting_.bytes(), all / 2);
  EXPECT_GE(dropped, 10u);
  const std::string text = moved();
  EXPECT_TRUE(text.starts_with("o4 s4.0+" + std::to_string((dropped + 1) / 2) + " s5.0+" + std::to_string(dropped / 2)))
      << text;
  EXPECT_TRUE(text.ends_with("p4.9 p5.9")) << text;
}

TEST_F(FeedQueueTest, AGapThatTouchesOneIsOne) {
  deliver(4, 0);
  waiting_.lose({4, 1, 2, protocol::FeedGapCause::lost});
  deliver(4, 3);
  deliver(4, 5);
  waiting_.drop_oldest(0);
  EXPECT_EQ(moved(), "s4.0+4 s4.5+1");
}

TEST_F(FeedQueueTest, WhatIsLostAloneIsLost) {
  waiting_.lose({4, 1, 2, protocol::FeedGapCause::lost});
  waiting_.end({4, protocol::FeedEnd::lost});
  waiting_.drop_oldest(0);
  EXPECT_EQ(moved(), "g4.1+2 e4");
}

TEST_F(FeedQueueTest, OfAFeedThatCameAndWentNothingIsTold) {
  describe(4);
  deliver(4, 0);
  waiting_.end({4, protocol::FeedEnd::closed});
  deliver(5, 0);
  waiting_.drop_oldest(0);
  EXPECT_EQ(moved(), "s5.0+1");
  EXPECT_EQ(waiting_.bytes(), 0u);
}

TEST_F(FeedQueueTest, AFeedThatIsDescribedAgainBeginsAnew) {
  deliver(4, 0);
  describe(4);
  deliver(4, 9);
  waiting_.drop_oldest(0);
  EXPECT_EQ(moved(), "o4 s4.9+1");
}

TEST_F(FeedQueueTest, OfAFeedThatWasToldTheEndIsToldHoweverOftenItCameBack) {
  waiting_.end({4, protocol::FeedEnd::left});
  describe(4);
  deliver(4, 0);
  waiting_.end({4, protocol::FeedEnd::left});
  describe(4);
  waiting_.end({4, protocol::FeedEnd::closed});
  waiting_.drop_oldest(0);
  EXPECT_EQ(moved(), "e4");
  EXPECT_EQ(waiting_.bytes(), 0u);
}

// Whatever is dropped when: each packet is written, or in one gap, and memory stays within its limit.
TEST_F(FeedQueueTest, LosesNothingWithoutSayingSo) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    std::map<std::string, int> told;
    const auto take = [&](const std::string& text) {
      std::size_t at = 0;
      while (at < text.size()) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        at = end + 1;
        const std::size_t dot = word.find('.'), plus = word.find('+');
        if (dot == std::string::npos) continue;
        const std::string feed = word.substr(1, dot - 1);
        const std::uint64_t first = std::stoull(word.substr(dot + 1));
        const std::uint64_t count = plus == std::string::npos ? 1 : std::stoull(word.substr(plus + 1));
        for (std::uint64_t i = first; i < first + count; ++i) ++told[feed + '.' + std::to_string(i)];
      }
    };
    std::map<std::uint32_t, std::uint64_t> next;
    for (int i = 0; i < 2000; ++i) {
      const auto feed = static_cast<std::uint32_t>(1 + random() % 3);
      if (random() % 10 == 0) {
        waiting_.lose({feed, next[feed], 2, protocol::FeedGapCause::lost});
        next[feed] += 2;
      } else {
        deliver(feed, next[feed]++, 1 + random() % 1000);
      }
      waiting_.drop_oldest(16u << 10);
      ASSERT_LE(waiting_.bytes(), 16u << 10);
      if (random() % 100 == 0) take(moved(random() % (20u << 10)));
    }
    take(moved());
    std::size_t all = 0;
    for (const auto& [feed, count] : next) all += count;
    ASSERT_EQ(told.size(), all);
    for (const auto& [packet, count] : told) ASSERT_EQ(count, 1) << packet;
  }
}

}  // namespace
}  // namespace spindled
