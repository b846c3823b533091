// The frames of a client on their way, over connections that break.
#include "libclient/protocol/outgoing_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "tests/support/payload_frames.h"

namespace spindle::protocol {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Messages with a number each, and a daemon that counts the frames which it has got.
class OutgoingFramesTest : public testing::Test {
 protected:
  OutgoingFramesTest() {
    out_.expect_anew();
    connect();
    out_.open();
    out_.set_keeping(true);
  }
  std::size_t number(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random_);
  }
  void connect() {
    stream_.clear();
    out_.begin(Bytes{1, 2, 3});
    EXPECT_EQ(out_.next().size(), 3u);
    out_.consume(1);
    EXPECT_EQ(out_.next().size(), 2u);
    out_.consume(2);
  }
  void append(std::size_t bytes) {
    ++appended_;
    Bytes payload(std::max<std::size_t>(bytes, 8));
    Writer(payload.data()).u64(appended_);
    ByteView rest = payload;
    const ByteView first = rest.first(std::min(rest.size(), kChunkBytesMax));
    spindle::test::append_send_frame(out_.bytes(), {0, 4, false, 0, static_cast<std::uint32_t>(payload.size()), first});
    out_.note_frame(ClientFrame::send);
    for (rest = rest.subspan(first.size()); !rest.empty();) {
      const ByteView chunk = rest.first(std::min(rest.size(), kChunkBytesMax));
      rest = rest.subspan(chunk.size());
      Bytes head(kFrameHeadBytes);
      Writer writer(head.data());
      write_frame_head(writer, static_cast<std::uint8_t>(ClientFrame::send_more), chunk.size());
      out_.bytes().insert(out_.bytes().end(), head.begin(), head.end());
      out_.bytes().insert(out_.bytes().end(), chunk.begin(), chunk.end());
      out_.note_frame(ClientFrame::send_more);
    }
  }
  void define(std::uint32_t handle, std::string_view group) {
    write_define(out_.bytes(), {handle, {group}});
    out_.note_frame(ClientFrame::define);
  }
  /// The daemon reads so many bytes.
  void write(std::size_t limit) {
    const ByteView next = out_.next();
    const ByteView part = next.first(std::min(limit, next.size()));
    stream_.insert(stream_.end(), part.begin(), part.end());
    out_.consume(part.size());
    std::size_t at = 0;
    while (const auto head = read_frame_head(ByteView(stream_).subspan(at))) {
      const std::size_t size = kFrameHeadBytes + head->length;
      if (stream_.size() - at < size) break;
      take_frame(static_cast<ClientFrame>(head->type), ByteView(stream_).subspan(at + kFrameHeadBytes, head->length));
      at += size;
    }
    stream_.erase(stream_.begin(), stream_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void write_all() {
    while (out_.size() != 0) write(SIZE_MAX);
  }
  void take_frame(ClientFrame type, ByteView body) {
    ++frames_;
    if (type == ClientFrame::send) {
      ASSERT_EQ(missing_, 0u);
      const std::optional<Send> send = read_send(body);
      missing_ = send->total - send->chunk.size();
      Reader reader(send->chunk);
      current_ = reader.u64();
    } else if (type == ClientFrame::send_more) {
      ASSERT_GE(missing_, body.size());
      missing_ -= body.size();
    } else {
      return;
    }
    if (missing_ == 0) got_.push_back(current_);
  }
  void come_back() {
    out_.cut();
    connect();
    EXPECT_EQ(out_.next().size(), 0u) << "nothing before the welcome";
    ASSERT_TRUE(out_.resume(frames_));
    out_.open();
  }
  static std::uint64_t number_of(const OutgoingFrames::Unit& unit) {
    Reader reader(read_send(unit.body)->chunk);
    return reader.u64();
  }

  std::mt19937 random_{3};
  OutgoingFrames out_;
  Bytes stream_;
  std::uint64_t appended_ = 0;
  std::uint64_t frames_ = 0;
  std::uint64_t current_ = 0;
  std::size_t missing_ = 0;
  std::vector<std::uint64_t> got_;
};

TEST_F(OutgoingFramesTest, LosesAndDoublesNothingWhereverItIsCut) {
  for (int step = 0; step < 20'000; ++step) {
    const std::size_t what = number(0, 9);
    if (what < 3) append(number(0, 9) == 0 ? number(0, 200'000) : number(0, 300));
    if (what >= 3 && what < 7) write(number(1, number(0, 9) == 0 ? 300'000 : 500));
    if (what == 7) out_.acknowledge(number(0, 1) == 0 ? frames_ : frames_ / 2);
    if (what == 8 && number(0, 9) == 0) come_back();
    if (HasFatalFailure()) return;
  }
  write_all();
  ASSERT_EQ(got_.size(), appended_);
  for (std::size_t i = 0; i < got_.size(); ++i) ASSERT_EQ(got_[i], i + 1);
}

TEST_F(OutgoingFramesTest, DoesNotGoOnWhereItCannot) {
  append(10);
  append(10);
  write_all();
  append(10);
  write(5);
  out_.acknowledge(1);
  out_.cut();
  OutgoingFrames before = out_;
  EXPECT_FALSE(before.resume(0)) << "the daemon has had more";
  EXPECT_FALSE(before.resume(3)) << "it cannot have the third one";
  EXPECT_TRUE(before.resume(1));
  EXPECT_TRUE(out_.resume(2));
}

TEST_F(OutgoingFramesTest, TellsWhatMayHaveComeFromWhatCannotHave) {
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t first = appended_;
    for (std::size_t count = number(1, 20); count > 0; --count) {
      append(number(0, 4) == 0 ? number(0, 100'000) : number(0, 300));
      if (number(0, 1) == 0) write(number(1, 40'000));
      if (number(0, 9) == 0) out_.acknowledge(frames_);
      if (number(0, 9) == 0) come_back();
    }
    const std::uint64_t got = got_.size();
    missing_ = 0;
    out_.cut();
    std::uint64_t last_written = first, next_unsent = 0;
    out_.start_anew([&](const OutgoingFrames::Unit& unit) { last_written = number_of(unit); },
                    [&](const OutgoingFrames::Unit& unit) {
                      if (next_unsent == 0) next_unsent = number_of(unit);
                    });
    if (next_unsent == 0) next_unsent = appended_ + 1;
    EXPECT_GE(last_written, 0u);
    EXPECT_LE(last_written, next_unsent - 1);
    EXPECT_EQ(got, next_unsent - 1) << "what this daemon has got, and nothing else, may have come";
    got_.resize(appended_);
    frames_ = 0;
    connect();
    out_.open();
    EXPECT_EQ(out_.size(), 0u);
  }
}

// The daemon says nothing, or nobody listens.
TEST_F(OutgoingFramesTest, KeepsSoMuchAndNoMore) {
  constexpr std::size_t kBytes = 1u << 20;
  define(3, "a");
  std::size_t bytes = 0;
  while (out_.is_keeping()) {
    ASSERT_LE(bytes, OutgoingFrames::kKeptBytesMax + kBytes);
    append(kBytes);
    bytes += kBytes;
    while (out_.size() != 0) out_.consume(out_.next().size());
  }
  EXPECT_GE(bytes, OutgoingFrames::kKeptBytesMax - kBytes);
  append(10);
  out_.cut();
  std::size_t defined = 0, written = 0, unsent = 0;
  out_.start_anew([&](const OutgoingFrames::Unit& unit) { ++(unit.type == ClientFrame::define ? defined : written); },
                  [&](const OutgoingFrames::Unit&) { ++unsent; });
  EXPECT_EQ(defined, 1u);
  EXPECT_EQ(written, 0u) << "none of it is here";
  EXPECT_EQ(unsent, 1u);
}

TEST_F(OutgoingFramesTest, RemembersWhatWasDefined) {
  define(0, "a");
  define(1, "b");
  write_all();
  define(0, "c");
  write_all();
  out_.acknowledge(3);
  define(2, "d");
  write_all();
  define(3, "e");
  std::map<std::uint32_t, std::string> written, unsent;
  const auto note = [](std::map<std::uint32_t, std::string>& into) {
    return [&into](const OutgoingFrames::Unit& unit) {
      const std::optional<Define> definition = read_define(unit.body);
      into[definition->handle] = definition->groups.front();
    };
  };
  out_.cut();
  out_.start_anew(note(written), note(unsent));
  EXPECT_EQ(written, (std::map<std::uint32_t, std::string>{{0, "c"}, {1, "b"}, {2, "d"}}));
  EXPECT_EQ(unsent, (std::map<std::uint32_t, std::string>{{3, "e"}}));
}

TEST_F(OutgoingFramesTest, HoldsBackWhatComesBehind) {
  append(10);
  out_.hold();
  append(10);
  append(10);
  while (out_.next().size() != 0) write(SIZE_MAX);
  EXPECT_EQ(got_.size(), 1u);
  Bytes sign;
  write_ping(sign, ClientFrame::ping, 1);
  out_.append_ahead(sign);
  write(SIZE_MAX);
  EXPECT_EQ(frames_, 2u) << "nothing holds that back";
  EXPECT_GT(out_.size(), 0u);
  out_.release();
  write_all();
  EXPECT_EQ(got_, (std::vector<std::uint64_t>{1, 2, 3}));
}

}  // namespace
}  // namespace spindle::protocol
