// The queue of a session, against a dumb model.
#include "daemon/session/session_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string>

#include "daemon/base/random.h"
#include "tests/support/payload_frames.h"

namespace spindled {
namespace {

namespace protocol = spindle::protocol;
using protocol::ClientFrame;
using Bytes = std::vector<std::uint8_t>;

struct ReadFrame {
  ClientFrame type;
  Bytes body;
};

/// A queue, and a client that cuts what it reads into frames.
class SessionQueueTest : public testing::Test {
 protected:
  void append_message(std::size_t size, std::vector<std::string_view> groups = {"g"}) {
    const Bytes payload(size, 'x');
    protocol::MessageHead head{4, 0, "#a#d", std::move(groups), static_cast<std::uint32_t>(size), {}};
    head.chunk = ByteView(payload).first(std::min(size, spindle::kChunkBytesMax));
    Bytes bytes(protocol::message_head_size(head));
    spindle::Writer writer(bytes.data());
    protocol::write_message_head(writer, head);
    const Slice first[] = {arena_.copy(bytes), arena_.copy(head.chunk)};
    queue_.append_frame(first, FrameKind::message);
    for (std::size_t at = head.chunk.size(); at < size; at += spindle::kChunkBytesMax) {
      const std::size_t count = std::min(size - at, spindle::kChunkBytesMax);
      Bytes more(spindle::kFrameHeadBytes);
      spindle::Writer more_writer(more.data());
      spindle::write_frame_head(more_writer, static_cast<std::uint8_t>(ClientFrame::message_more), count);
      const Slice pieces[] = {arena_.copy(more), arena_.copy(ByteView(payload).subspan(at, count))};
      queue_.append_frame(pieces, FrameKind::message_more);
    }
  }
  /// Small messages with payloads of these sizes, in one piece.
  void append_messages(const std::vector<std::size_t>& sizes) {
    const Bytes payload(*std::max_element(sizes.begin(), sizes.end()), 'x');
    Bytes frames;
    std::vector<std::uint32_t> frame_sizes;
    for (const std::size_t size : sizes) {
      const std::size_t before = frames.size();
      spindle::test::append_message_frame(
          frames, {4, 0, "#a#d", {"g"}, static_cast<std::uint32_t>(size), ByteView(payload).first(size)});
      frame_sizes.push_back(static_cast<std::uint32_t>(frames.size() - before));
    }
    std::copy(frames.begin(), frames.end(), queue_.append_message_space(frame_sizes));
  }
  void append_pong(std::uint64_t token) {
    Bytes bytes;
    protocol::write_ping(bytes, ClientFrame::pong, token);
    queue_.append_frame(bytes);
  }
  void push_warning(std::uint8_t percent = 50) {
    Bytes bytes;
    protocol::write_warning(bytes, {percent, 1, 2});
    queue_.push_urgent(bytes);
  }

  /// Reads up to `limit` bytes as a socket takes them.
  std::size_t read(std::size_t limit) {
    std::size_t sum = 0;
    while (sum < limit && !queue_.empty()) {
      std::array<ByteView, 3> buffers;
      const std::size_t before = queue_.bytes();
      const std::size_t count = queue_.gather(buffers);
      EXPECT_GT(count, 0u);
      EXPECT_EQ(queue_.bytes(), before);
      std::size_t taken = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const ByteView part = buffers[i].first(std::min(buffers[i].size(), limit - sum - taken));
        received_.insert(received_.end(), part.begin(), part.end());
        taken += part.size();
      }
      queue_.consume(taken);
      EXPECT_EQ(queue_.bytes(), before - taken);
      sum += taken;
    }
    return sum;
  }
  /// The whole frames read so far, and no others.
  std::vector<ReadFrame> frames() {
    std::vector<ReadFrame> frames;
    std::size_t at = 0;
    while (const auto head = spindle::read_frame_head(ByteView(received_).subspan(at))) {
      if (received_.size() - at < spindle::kFrameHeadBytes + head->length) break;
      const ByteView body = ByteView(received_).subspan(at + spindle::kFrameHeadBytes, head->length);
      frames.push_back({static_cast<ClientFrame>(head->type), Bytes(body.begin(), body.end())});
      at += spindle::kFrameHeadBytes + head->length;
    }
    received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(at));
    return frames;
  }
  std::vector<ReadFrame> read_all() {
    read(SIZE_MAX);
    EXPECT_TRUE(queue_.empty());
    return frames();
  }
  /// The types of frames, a letter each.
  static std::string types(const std::vector<ReadFrame>& frames) {
    std::string text;
    for (const ReadFrame& frame : frames) {
      text += frame.type == ClientFrame::message        ? 'm'
              : frame.type == ClientFrame::message_more ? '+'
              : frame.type == ClientFrame::gap          ? 'g'
              : frame.type == ClientFrame::warning      ? 'w'
              : frame.type == ClientFrame::pong         ? 'p'
                                                        : '?';
    }
    return text;
  }

  SlabPool slabs_;
  SlabWriter arena_{slabs_};
  SessionQueue queue_{slabs_};
  Bytes received_;
};

TEST_F(SessionQueueTest, WhatIsDroppedIsReplacedByOneGap) {
  for (int i = 0; i < 10; ++i) append_message(1000);
  const SessionQueue::Dropped dropped = queue_.drop_oldest(5500);
  EXPECT_EQ(dropped.messages, 5u);
  EXPECT_EQ(dropped.bytes, 5000u);
  EXPECT_LE(queue_.bytes(), 5500u);
  const auto frames = read_all();
  EXPECT_EQ(types(frames), "gmmmmm");
  const auto gap = protocol::read_gap(frames.at(0).body);
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->messages, 5u);
  EXPECT_EQ(gap->bytes, 5000u);
  EXPECT_EQ(gap->names, (std::vector<protocol::Gap::Name>{{"g", 5}}));
}

TEST_F(SessionQueueTest, OnlyMessagesAreDroppedAndTheRestKeepsItsPlace) {
  append_pong(1);
  append_message(1000);
  append_message(1000);
  append_pong(2);
  append_message(1000);
  append_pong(3);
  EXPECT_EQ(queue_.drop_oldest(0).messages, 3u);
  EXPECT_EQ(types(read_all()), "pgpgp");
}

TEST_F(SessionQueueTest, AMessageIsDroppedWithAllItsFramesOrNotAtAll) {
  append_message(100'000);
  append_message(100'000);
  read(10);
  EXPECT_EQ(queue_.drop_oldest(0).messages, 1u) << "the first is partly written";
  EXPECT_EQ(types(read_all()), "m+++g");
  append_message(100'000);
  append_message(10);
  read(50'000);  // in the middle of its second frame
  EXPECT_EQ(queue_.drop_oldest(0).messages, 1u);
  EXPECT_EQ(types(read_all()), "m+++g");
  append_message(100'000);
  append_message(10);
  read(4 + 1 + 2 + 3 + 1 + 5 + 2 + spindle::kChunkBytesMax);
  ASSERT_EQ(types(frames()), "m") << "the first frame is written, nothing of the second";
  EXPECT_EQ(queue_.drop_oldest(0).messages, 1u);
  EXPECT_EQ(types(read_all()), "+++g");
}

TEST_F(SessionQueueTest, MessagesAppendedInOnePieceAreDroppedOneByOne) {
  append_messages({100, 0, 300, 400});
  append_pong(1);
  append_messages(std::vector<std::size_t>(500, 1));
  const std::size_t before = queue_.bytes();
  const SessionQueue::Dropped dropped = queue_.drop_oldest(before - 117);
  EXPECT_EQ(dropped.messages, 2u);
  EXPECT_EQ(dropped.bytes, 100u);
  read(60);  // the gap, and some of the third
  EXPECT_EQ(queue_.drop_oldest(0).messages, 1u + 500u);
  EXPECT_EQ(types(read_all()), "gmgpg");
}

TEST_F(SessionQueueTest, LossesAreAddedUpUntilTheirGapIsWritten) {
  for (int i = 0; i < 4; ++i) append_message(1000);
  EXPECT_EQ(queue_.drop_oldest(3500).messages, 1u);
  EXPECT_EQ(queue_.drop_oldest(2500).messages, 1u);
  std::array<ByteView, 8> buffers;
  queue_.gather(buffers);  // the socket takes nothing
  EXPECT_EQ(queue_.drop_oldest(1500).messages, 1u);
  read(1);  // of the gap
  EXPECT_EQ(queue_.drop_oldest(0).messages, 1u);
  const auto frames = read_all();
  EXPECT_EQ(types(frames), "gg");
  EXPECT_EQ(protocol::read_gap(frames.at(0).body)->messages, 3u);
  EXPECT_EQ(protocol::read_gap(frames.at(1).body)->messages, 1u);
}

TEST_F(SessionQueueTest, AnUrgentFrameOvertakesAllButWhatIsPartlyWritten) {
  append_message(1000);
  append_pong(1);
  push_warning();
  EXPECT_EQ(types(read_all()), "wmp");
  append_message(1000);
  append_message(1000);
  read(1);
  push_warning(50);
  push_warning(80);
  const auto frames = read_all();
  EXPECT_EQ(types(frames), "mwwm");
  EXPECT_EQ(protocol::read_warning(frames.at(1).body)->percent, 50) << "among themselves they keep their order";
  append_pong(1);
  append_message(1000);
  append_message(1000);
  queue_.drop_oldest(1500);
  push_warning();
  EXPECT_EQ(types(read_all()), "wpgm");
}

TEST_F(SessionQueueTest, AnUrgentFrameBehindAGapPartlyWrittenEndsIt) {
  append_message(1000);
  append_message(1000);
  append_message(1000);
  queue_.drop_oldest(2500);
  read(1);
  push_warning();
  queue_.drop_oldest(1500);
  EXPECT_EQ(types(read_all()), "gwgm");
}

TEST_F(SessionQueueTest, NamesOfAGapAreBounded) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < 100; ++i) names.push_back("group " + std::to_string(i));
  for (const std::string& name : names) append_message(10, {name, "all"});
  append_message(10, {names[0]});
  append_message(10, {names[99]});
  queue_.drop_oldest(0);
  const auto frames = read_all();
  ASSERT_EQ(types(frames), "g");
  const auto gap = protocol::read_gap(frames[0].body);
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->messages, 102u);
  EXPECT_EQ(gap->names.size(), protocol::kGapNamesMax);
  EXPECT_EQ(gap->unlisted, 100 - (protocol::kGapNamesMax - 1) + 1);
  std::map<std::string_view, std::uint64_t> counts;
  for (const protocol::Gap::Name& each : gap->names) counts[each.name] = each.messages;
  EXPECT_EQ(counts["all"], 100u);
  EXPECT_EQ(counts[names[0]], 2u);
}

TEST_F(SessionQueueTest, TheLastWordFollowsWhatIsPartlyWritten) {
  append_message(1000);
  append_message(1000);
  queue_.drop_unwritten();
  EXPECT_TRUE(queue_.empty());
  append_message(1000);
  append_message(1000);
  read(10);
  queue_.drop_unwritten();
  append_pong(1);
  EXPECT_EQ(types(read_all()), "mp");
  // The same with a detour: a written part, a gap that waits, and a queue behind it.
  for (const std::size_t part : {0u, 10u}) {
    append_pong(1);
    append_message(1000);
    append_message(1000);
    queue_.drop_oldest(1100);
    read(part);
    queue_.drop_unwritten();
    append_pong(2);
    EXPECT_EQ(types(read_all()), part == 0 ? "p" : "pp");
  }
}

// Whatever is appended, dropped and read: frames other than messages arrive in order, messages too, and gaps account
// for every message that does not arrive, at its place.
TEST_F(SessionQueueTest, GapsAccountForEverything) {
  Random random(3);
  std::deque<std::size_t> expected;  // sizes of messages, 0 for a pong
  std::size_t messages = 0, lost = 0, told = 0, arrived = 0, warnings = 0;
  std::uint64_t pongs = 0, next_pong = 0;
  const auto look = [&] {
    for (const ReadFrame& frame : frames()) {
      if (frame.type == ClientFrame::message_more) continue;
      if (frame.type == ClientFrame::warning) {
        ++warnings;
        continue;
      }
      if (frame.type == ClientFrame::gap) {
        const auto gap = protocol::read_gap(frame.body);
        ASSERT_TRUE(gap);
        std::uint64_t bytes = 0;
        for (std::uint64_t i = 0; i < gap->messages; ++i) {
          ASSERT_FALSE(expected.empty());
          ASSERT_NE(expected.front(), 0u) << "a gap in the wrong place";
          bytes += expected.front();
          expected.pop_front();
        }
        EXPECT_EQ(gap->bytes, bytes);
        told += gap->messages;
        continue;
      }
      ASSERT_FALSE(expected.empty());
      if (frame.type == ClientFrame::pong) {
        ASSERT_EQ(expected.front(), 0u);
        ASSERT_EQ(protocol::read_ping(frame.body), next_pong++);
      } else {
        ASSERT_EQ(protocol::read_packed_message(frame.body)->total, expected.front());
        ++arrived;
      }
      expected.pop_front();
    }
  };
  for (int step = 0; step < 20'000 && !HasFatalFailure(); ++step) {
    switch (random.below(8)) {
      case 0:
        append_pong(pongs++);
        expected.push_back(0);
        break;
      case 1:
        if (random.chance(0.1)) push_warning();
        break;
      case 2:
        lost += queue_.drop_oldest(random.below(60'000)).messages;
        break;
      case 3:
      case 4:
        read(random.below(8'000));
        look();
        break;
      default: {
        if (random.chance(0.2)) {
          std::vector<std::size_t> sizes(random.between(1, 50));
          for (std::size_t& size : sizes) size = random.between(1, 100);
          append_messages(sizes);
          expected.insert(expected.end(), sizes.begin(), sizes.end());
          messages += sizes.size();
          break;
        }
        const std::size_t size = random.chance(0.05) ? random.between(1, 100'000) : random.between(1, 3000);
        append_message(size);
        expected.push_back(size);
        ++messages;
      }
    }
  }
  read(SIZE_MAX);
  look();
  EXPECT_TRUE(queue_.empty() && expected.empty());
  EXPECT_EQ(told, lost);
  EXPECT_EQ(arrived + told, messages);
  EXPECT_GT(arrived, 100u);
  EXPECT_GT(told, 100u);
  EXPECT_GT(warnings, 100u);
}

}  // namespace
}  // namespace spindled
