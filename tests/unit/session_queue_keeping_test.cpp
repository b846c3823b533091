// The queue of a session whose client comes back on other connections, against a dumb model.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "daemon/base/random.h"
#include "daemon/session/session_queue.h"
#include "libclient/protocol/client_frames.h"

namespace spindled {
namespace {

namespace protocol = spindle::protocol;
using protocol::ClientFrame;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kPreface = 1'000'000;

/// Frames are pongs, or longer ones with a number at their beginning.
Bytes numbered(std::uint64_t number, std::size_t more, ClientFrame type = ClientFrame::pong) {
  Bytes frame(spindle::kFrameHeadBytes + 8 + more);
  spindle::Writer writer(frame.data());
  spindle::write_frame_head(writer, static_cast<std::uint8_t>(type), 8 + more);
  writer.u64(number);
  return frame;
}

/// A queue, and a client that counts the frames which it has got.
class SessionQueueKeeping : public testing::Test {
 protected:
  SessionQueueKeeping() { queue_->start_keeping(); }

  void append(std::size_t more = 0) { queue_->append_frame(numbered(++appended_, more)); }
  void read(std::size_t limit) {
    std::array<ByteView, 3> buffers;
    const std::size_t count = queue_->gather(buffers);
    std::size_t taken = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const ByteView part = buffers[i].first(std::min(buffers[i].size(), limit - taken));
      stream_.insert(stream_.end(), part.begin(), part.end());
      taken += part.size();
    }
    queue_->consume(taken);
    take_frames();
  }
  void take_frames() {
    std::size_t at = 0;
    while (const auto head = spindle::read_frame_head(ByteView(stream_).subspan(at))) {
      const std::size_t size = spindle::kFrameHeadBytes + head->length;
      if (stream_.size() - at < size) break;
      spindle::Reader reader(ByteView(stream_).subspan(at + spindle::kFrameHeadBytes, head->length));
      const std::uint64_t number = reader.u64();
      if (number >= kPreface) {
        EXPECT_TRUE(awaits_preface_) << "in front of everything";
        awaits_preface_ = false;
      } else {
        EXPECT_FALSE(awaits_preface_) << number;
        got_.push_back(number);
      }
      at += size;
    }
    stream_.erase(stream_.begin(), stream_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  /// The connection is lost, and the client comes back with what it has got.
  void come_back() {
    stream_.clear();
    EXPECT_TRUE(queue_->acknowledge(got_.size()));
    queue_->rewind();
    queue_->push_preface(numbered(kPreface, 5));
    awaits_preface_ = true;
  }
  void expect_all_in_order() {
    while (!queue_->empty()) read(SIZE_MAX);
    ASSERT_EQ(got_.size(), appended_);
    for (std::size_t i = 0; i < got_.size(); ++i) ASSERT_EQ(got_[i], i + 1);
  }

  SlabPool slabs_;
  std::unique_ptr<SessionQueue> queue_ = std::make_unique<SessionQueue>(slabs_);
  Bytes stream_;
  std::vector<std::uint64_t> got_;
  std::uint64_t appended_ = 0;
  bool awaits_preface_ = false;
};

TEST_F(SessionQueueKeeping, WritesAgainWhatIsNotAcknowledged) {
  for (int i = 0; i < 3; ++i) append();
  read(SIZE_MAX);
  EXPECT_TRUE(queue_->empty());
  EXPECT_EQ(queue_->kept_bytes(), 3 * 12u);
  EXPECT_TRUE(queue_->acknowledge(2));
  got_.pop_back();  // the last one was lost with the connection
  come_back();
  expect_all_in_order();
}

TEST_F(SessionQueueKeeping, LetsGoOfWhatIsAcknowledgedSomeThousandBytesAtATime) {
  constexpr std::size_t kFrame = 1'012, kCount = 200, kMore = 20'000;
  for (std::size_t i = 0; i < kCount; ++i) append(1'000);
  while (!queue_->empty()) read(3'000);
  EXPECT_EQ(queue_->kept_bytes(), kCount * kFrame);
  for (std::size_t got = 0; got < kCount; got += 7) {
    ASSERT_TRUE(queue_->acknowledge(got));
    ASSERT_GE(queue_->kept_bytes(), (kCount - got) * kFrame);
    ASSERT_LE(queue_->kept_bytes(), (kCount - got) * kFrame + kMore);
  }
  ASSERT_TRUE(queue_->acknowledge(kCount));
  EXPECT_EQ(queue_->kept_bytes(), 0u);
}

TEST_F(SessionQueueKeeping, RefusesWhatTheClientCannotHave) {
  append();
  append();
  read(12 + 5);
  EXPECT_FALSE(queue_->acknowledge(2)) << "of the second one something is missing";
  EXPECT_TRUE(queue_->acknowledge(1));
  EXPECT_TRUE(queue_->acknowledge(0)) << "old news";
  EXPECT_FALSE(queue_->may_go_on_behind(0)) << "it had more before";
  EXPECT_TRUE(queue_->may_go_on_behind(1));
}

TEST_F(SessionQueueKeeping, KnowsWhatIsOfFeedsWhereverAFrameIsCutWithinItsHead) {
  for (std::size_t cut = 1; cut < spindle::kFrameHeadBytes; ++cut) {
    SCOPED_TRACE(cut);
    queue_ = std::make_unique<SessionQueue>(slabs_);
    queue_->start_keeping();
    appended_ = 0;
    queue_->append_feed_frame(numbered(++appended_, 0, ClientFrame::feed_packet));
    append();
    append();
    read(SIZE_MAX);
    got_.clear();  // all of it was lost with the connection
    come_back();
    read(numbered(kPreface, 5).size());
    read(12 + cut);
    queue_->push_urgent(numbered(7, 0));
    EXPECT_EQ(queue_->bytes_without_feeds(), queue_->bytes()) << "the frame of a feed has been written";
  }
}

TEST_F(SessionQueueKeeping, LosesAndDoublesNothingWhereverItIsCut) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    queue_ = std::make_unique<SessionQueue>(slabs_);
    queue_->start_keeping();
    stream_.clear();
    got_.clear();
    appended_ = 0;
    awaits_preface_ = false;
    for (int step = 0; step < 2'000; ++step) {
      switch (random.below(6)) {
        case 0:
        case 1:
          append(random.chance(0.1) ? random.below(60'000) : random.below(200));
          break;
        case 2:
        case 3:
          read(1 + random.below(random.chance(0.1) ? 200'000 : 300));
          break;
        case 4:
          EXPECT_TRUE(queue_->acknowledge(got_.size()));
          break;
        default:
          if (random.chance(0.2)) come_back();
      }
    }
    expect_all_in_order();
    if (HasFatalFailure()) return;
    EXPECT_TRUE(queue_->acknowledge(got_.size()));
    EXPECT_EQ(queue_->kept_bytes(), 0u);
  }
}

TEST_F(SessionQueueKeeping, FramesOfFeedsThatAreWrittenAgainAreOfFeedsStill) {
  append();
  queue_->append_frame(numbered(++appended_, 0, ClientFrame::feed_ready));  // an answer, as all requests have
  for (const ClientFrame type :
       {ClientFrame::feed_opened, ClientFrame::feed_packet, ClientFrame::feed_gap, ClientFrame::feed_end}) {
    queue_->append_feed_frame(numbered(++appended_, 1'000, type));
  }
  append();
  EXPECT_EQ(queue_->bytes_without_feeds(), 3 * 12u);
  read(12 + 12 + 1'012 + 100);  // the second one of a feed is partly written
  got_.clear();
  come_back();
  EXPECT_EQ(queue_->bytes(), 3 * 12u + 4 * 1'012u + 17u);
  EXPECT_EQ(queue_->bytes_without_feeds(), 3 * 12u + 17u);
  expect_all_in_order();
  EXPECT_EQ(queue_->bytes_without_feeds(), 0u);
}

TEST_F(SessionQueueKeeping, WhatIsWrittenAgainIsNotMovedFrameByFrame) {
  constexpr int kCount = 100'000, kWaiting = 1'000;
  for (int i = 0; i < kCount; ++i) append();
  const auto place = [this](std::size_t buffer) {
    std::array<ByteView, 2> buffers;
    EXPECT_GE(queue_->gather(std::span(buffers).first(buffer)), buffer);
    return buffers[buffer - 1].data();
  };
  const std::uint8_t* const written = place(1);
  while (!queue_->empty()) {
    std::array<ByteView, 1> first;
    queue_->gather(first);
    queue_->consume(first[0].size());
  }
  for (int i = 0; i < kWaiting; ++i) append();
  for (int time = 0; time < 3; ++time) {
    queue_->rewind();
    queue_->push_preface(numbered(kPreface, 5));
    EXPECT_EQ(place(2), written) << "it stands where it stood, behind the preface";
    EXPECT_EQ(queue_->frames(), kCount + kWaiting) << "a preface is none of them";
    // What is written this time, the next one begins with again.
    queue_->consume(numbered(kPreface, 5).size() + 1'000 * 12u + 3);
  }
  queue_->rewind();
  queue_->push_urgent(numbered(7, 0));
  EXPECT_EQ(place(2), written) << "nor is it for an urgent one";
  read(12);
  ASSERT_EQ(got_, (std::vector<std::uint64_t>{7}));
  got_.clear();
  expect_all_in_order();
}

TEST_F(SessionQueueKeeping, AnUrgentFrameDoesNotCutOneThatIsWrittenAgain) {
  for (int i = 0; i < 3; ++i) append(100);
  read(SIZE_MAX);
  for (const std::size_t begun : {2u, 4u, 50u, 111u}) {
    SCOPED_TRACE(begun);
    got_.clear();
    come_back();
    const std::size_t preface = numbered(kPreface, 5).size();
    read(preface);
    read(112 + begun);
    queue_->push_urgent(numbered(7, 0));
    while (!queue_->empty()) read(SIZE_MAX);
    EXPECT_EQ(got_, (std::vector<std::uint64_t>{1, 2, 7, 3}));
    // The urgent one is among those that count: the next time begins anew.
    queue_ = std::make_unique<SessionQueue>(slabs_);
    queue_->start_keeping();
    appended_ = 0;
    for (int i = 0; i < 3; ++i) append(100);
    read(SIZE_MAX);
  }
}

TEST_F(SessionQueueKeeping, OfWhatIsWrittenAgainTheRestOfTheFirstStays) {
  for (int i = 0; i < 3; ++i) append(100);
  read(SIZE_MAX);
  got_.clear();
  come_back();
  read(numbered(kPreface, 5).size());
  read(112 + 50);
  queue_->drop_unwritten();
  EXPECT_EQ(queue_->bytes(), 112u - 50u);
  append();
  while (!queue_->empty()) read(SIZE_MAX);
  EXPECT_EQ(got_, (std::vector<std::uint64_t>{1, 2, 4}));
  got_.resize(1);
  come_back();
  EXPECT_EQ(queue_->frames(), 3u) << "the second one, and the fourth";
}

TEST_F(SessionQueueKeeping, GoesOnWithWhatIsWrittenAgainWithoutKeepingIt) {
  for (int i = 0; i < 3; ++i) append(100);
  read(SIZE_MAX);
  got_.clear();
  come_back();
  read(numbered(kPreface, 5).size());
  read(112 + 2);
  queue_->stop_keeping();
  queue_->push_urgent(numbered(7, 0));
  while (!queue_->empty()) read(SIZE_MAX);
  EXPECT_EQ(got_, (std::vector<std::uint64_t>{1, 2, 7, 3}));
}

TEST_F(SessionQueueKeeping, AnUrgentFrameStaysBehindThePreface) {
  append();
  read(3);
  come_back();
  queue_->push_urgent(numbered(7, 0));
  read(SIZE_MAX);
  EXPECT_EQ(got_, (std::vector<std::uint64_t>{7, 1}));
}

TEST_F(SessionQueueKeeping, DropsMessagesBehindWhatIsWrittenAgain) {
  append();
  append();
  read(12);
  got_.clear();
  come_back();
  queue_->drop_unwritten();
  EXPECT_TRUE(queue_->empty());
}

}  // namespace
}  // namespace spindled
