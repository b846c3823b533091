#include "daemon/session/outgoing_flows.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "libclient/protocol/client_frames.h"
#include "tests/support/nobody.h"

namespace spindled {
namespace {

using spindle::kChunkBytesMax;
using spindle::protocol::flow_bytes;
using spindle::protocol::kFlowToldBytes;
using spindle::protocol::kFlowWindowBytes;

/// Keeps the flows out that a test closes, and writes down what enters.
class FakeGate final : public FlowGate {
 public:
  Verdict try_admit(Time, std::uint32_t handle, const ClientSend& message) override {
    ++asked;
    if (closed.contains(handle) || room == 0) {
      const auto at = retry.find(handle);
      return {0, AdmissionWait::dollars, at == retry.end() ? kNever : at->second};
    }
    expected = {handle, message.total};
    return {message.total};
  }
  void enter(Time, std::uint32_t handle, const ClientSend& message) override {
    EXPECT_EQ(expected, (std::pair<std::uint32_t, std::size_t>{handle, message.total})) << "nobody was asked";
    expected = {};
    --room;
    if (turn != nullptr) turn->count_input(names);
    std::string payload(spindle::as_text(message.bundle));
    for (const Slice& chunk : message.chunks) payload += spindle::as_text(chunk.view());
    if (message.messages == 1) {
      EXPECT_EQ(payload.size(), message.total);
    }
    entered.push_back({handle, std::move(payload)});
    types.push_back(message.type);
  }
  void tell_admitted(std::uint32_t handle, std::size_t bytes) override { told[handle] += bytes; }

  using Entered = std::vector<std::pair<std::uint32_t, std::string>>;

  std::set<std::uint32_t> closed;
  std::map<std::uint32_t, Time> retry;
  std::size_t room = SIZE_MAX;  // messages
  std::size_t asked = 0;
  std::pair<std::uint32_t, std::size_t> expected;
  Entered entered;
  std::vector<std::uint16_t> types;
  std::map<std::uint32_t, std::size_t> told;
  TurnWork* turn = nullptr;
  std::size_t names = 0;  // that the turn counts for each that enters
};

class OutgoingFlowsTest : public testing::Test {
 protected:
  /// Sends a message in chunks, as a session does; false where it was refused. The flow of a handle has its number, but
  /// for those in `flow_of_`.
  bool send(std::uint32_t handle, const std::string& payload, std::uint16_t type = 0) {
    std::vector<Slice> chunks;
    for (std::size_t at = 0; at < payload.size(); at += kChunkBytesMax) {
      chunks.push_back(context_.arena.copy(spindle::as_bytes(payload.substr(at, kChunkBytesMax))));
    }
    ClientSend message;
    message.type = type;
    message.total = static_cast<std::uint32_t>(payload.size());
    message.chunks = chunks;
    const std::optional<Error> error =
        flows_.send(Time{}, handle, flow_of_.try_emplace(handle, handle).first->second, message);
    EXPECT_EQ(error.value_or(Error{Errc::limit_exceeded, {}}).code, Errc::limit_exceeded);
    return !error;
  }
  void release() { flows_.release(Time{}, true); }

  test::Silence log_;
  Context context_{NodeConfig{}, log_, 1};
  FakeGate gate_;
  OutgoingFlows flows_{context_, gate_};
  std::map<std::uint32_t, std::uint32_t> flow_of_;
};

using Entered = FakeGate::Entered;

TEST_F(OutgoingFlowsTest, WhatMayEnterIsNotHeld) {
  EXPECT_TRUE(send(3, "hello", 7));
  EXPECT_EQ(gate_.entered, (Entered{{3, "hello"}}));
  EXPECT_EQ(gate_.types, std::vector<std::uint16_t>{7});
  EXPECT_EQ(flows_.bytes(), 0u);
  EXPECT_FALSE(flows_.holds(3));
}

TEST_F(OutgoingFlowsTest, AFlowThatMayNotEnterHoldsUpNoOther) {
  gate_.closed = {1};
  EXPECT_TRUE(send(1, "a"));
  EXPECT_TRUE(send(2, "b"));
  EXPECT_TRUE(send(1, "c"));
  EXPECT_EQ(gate_.entered, (Entered{{2, "b"}}));
  EXPECT_TRUE(flows_.holds(1));
  EXPECT_FALSE(flows_.holds(2));
  EXPECT_EQ(flows_.bytes(), 2 * flow_bytes(1));
  release();
  EXPECT_EQ(gate_.entered.size(), 1u);
  gate_.closed = {};
  EXPECT_TRUE(send(1, "d")) << "goes behind those held, although it might enter";
  EXPECT_EQ(gate_.entered.size(), 1u);
  release();
  EXPECT_EQ(gate_.entered, (Entered{{2, "b"}, {1, "a"}, {1, "c"}, {1, "d"}}));
  EXPECT_EQ(flows_.bytes(), 0u);
}

TEST_F(OutgoingFlowsTest, HeldMessagesKeepWhatTheyReferTo) {
  gate_.closed = {1, 2, 3};
  std::string large(3 * kChunkBytesMax + 5, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 31 / 7);
  const std::string exact(2 * kChunkBytesMax, 'e');
  EXPECT_TRUE(send(1, large, 1));
  EXPECT_TRUE(send(2, "", 2));
  EXPECT_TRUE(send(3, exact, 3));
  // What was read next is where the message was.
  const std::string other(SlabPool::kLargeBytes, 'o');
  for (int i = 0; i < 4; ++i) context_.arena.copy(spindle::as_bytes(other));
  gate_.closed = {};
  release();
  EXPECT_TRUE(gate_.entered == (Entered{{1, large}, {2, ""}, {3, exact}}));
  EXPECT_EQ(gate_.types, (std::vector<std::uint16_t>{1, 2, 3}));
}

TEST_F(OutgoingFlowsTest, SmallMessagesKeepNoSlabAlive) {
  gate_.closed = {1};
  context_.read_arena.copy(spindle::as_bytes("x"));
  const std::size_t before = context_.slabs.bytes_in_use();
  for (int i = 0; i < 100; ++i) {
    const Slice read = context_.read_arena.copy(std::vector<std::uint8_t>(SlabPool::kLargeBytes - 10));
    const Slice chunk = read.part(0, 10);
    ClientSend message;
    message.total = 10;
    message.chunks = std::span(&chunk, 1);
    EXPECT_FALSE(flows_.send(Time{}, 1, 1, message));
  }
  EXPECT_LE(context_.slabs.bytes_in_use(), before + SlabPool::kLargeBytes);
}

TEST_F(OutgoingFlowsTest, ABundleIsHeldAsOneAndCountsAsItsMessages) {
  std::string bundle = "what is in it";
  ClientSend message;
  message.messages = 3;
  message.total = 5;
  message.bundle = spindle::as_bytes(bundle);
  gate_.closed = {1};
  EXPECT_FALSE(flows_.send(Time{}, 1, 1, message));
  EXPECT_EQ(flows_.bytes(), flow_bytes(5) + 2 * flow_bytes(0));
  EXPECT_TRUE(send(1, "behind"));
  bundle.assign(bundle.size(), '?');  // the session has other uses for its memory
  gate_.closed = {};
  release();
  EXPECT_EQ(gate_.entered, (Entered{{1, "what is in it"}, {1, "behind"}}));
  EXPECT_EQ(flows_.bytes(), 0u);
  EXPECT_EQ(gate_.told[1], flow_bytes(5) + 2 * flow_bytes(0) + flow_bytes(6));
}

TEST_F(OutgoingFlowsTest, WhatIsHeldIsBundledAsLongAsItFits) {
  gate_.closed = {1};
  const auto send_small = [&](std::uint16_t type, Service service, std::uint32_t weight, std::string_view payload) {
    const Slice chunk = context_.arena.copy(spindle::as_bytes(payload));
    ClientSend message;
    message.type = type;
    message.service = service;
    message.weight = weight;
    message.total = static_cast<std::uint32_t>(payload.size());
    message.chunks = std::span(&chunk, payload.empty() ? 0 : 1);
    EXPECT_FALSE(flows_.send(Time{}, 1, 1, message));
  };
  constexpr std::uint32_t kThird = kBundleWeightMax / 3;
  send_small(1, Service::fifo, kThird, "one");
  send_small(2, Service::fifo, kThird, "");
  send_small(3, Service::fifo, kThird, "three");
  send_small(4, Service::fifo, kThird, "four");
  send_small(5, Service::agreed, kThird, "five");
  EXPECT_TRUE(send(1, "six", 6)) << "by itself";
  send_small(7, Service::agreed, kThird, "seven");
  EXPECT_EQ(flows_.bytes(), 7 * flow_bytes(0) + std::string_view("onethreefourfivesixseven").size());
  gate_.closed = {};
  release();
  std::vector<std::uint8_t> bundle;
  append_bundled(bundle, {1, spindle::as_bytes("one")});
  append_bundled(bundle, {2, {}});
  append_bundled(bundle, {3, spindle::as_bytes("three")});
  const std::string first(spindle::as_text(bundle));
  EXPECT_EQ(gate_.entered, (Entered{{1, first}, {1, "four"}, {1, "five"}, {1, "six"}, {1, "seven"}}));
  EXPECT_EQ(gate_.types, (std::vector<std::uint16_t>{1, 4, 5, 6, 7}));
  EXPECT_EQ(flows_.bytes(), 0u);
}

TEST_F(OutgoingFlowsTest, TheWindowIsKept) {
  gate_.closed = {1};
  const std::string payload(kFlowWindowBytes / 4 - flow_bytes(0), 'x');
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(send(1, payload));
  EXPECT_TRUE(send(1, std::string(spindle::kMessageBytesMax, 'x'))) << "the last one may exceed it";
  EXPECT_TRUE(send(2, payload)) << "each flow has its own";
  EXPECT_FALSE(send(1, ""));
}

TEST_F(OutgoingFlowsTest, WhatTheClientWasNotToldOfCounts) {
  const std::string payload(kFlowToldBytes - flow_bytes(0) - 1, 'x');
  EXPECT_TRUE(send(1, payload));
  EXPECT_TRUE(gate_.told.empty()) << "too little to be told";
  gate_.closed = {1};
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(send(1, payload)) << i;
  EXPECT_FALSE(send(1, payload));
}

TEST_F(OutgoingFlowsTest, TheClientIsToldOfAllThatEntered) {
  const std::string small(100, 'x');
  std::size_t bytes = 0;
  while (gate_.told.empty()) {
    EXPECT_TRUE(send(1, small));
    bytes += flow_bytes(small.size());
    ASSERT_LE(bytes, kFlowToldBytes + flow_bytes(small.size())) << "it may wait for that";
  }
  EXPECT_EQ(gate_.told[1], bytes);
  EXPECT_GE(bytes, kFlowToldBytes);
  // What was held is told of to the last byte, as is what entered before.
  EXPECT_TRUE(send(1, small));
  gate_.closed = {1};
  EXPECT_TRUE(send(1, small));
  gate_.closed = {};
  release();
  EXPECT_EQ(gate_.told[1], bytes + 2 * flow_bytes(small.size()));
}

TEST_F(OutgoingFlowsTest, EachFlowIsTriedWhenItsTimeHasCome) {
  gate_.closed = {1, 2, 3};
  gate_.retry = {{1, Time{30ms}}, {2, Time{20ms}}};
  for (const std::uint32_t handle : {1u, 2u, 3u}) EXPECT_TRUE(send(handle, "x"));
  EXPECT_EQ(flows_.retry_at(), Time{20ms});
  gate_.closed = {};
  flows_.release(Time{10ms}, false);
  EXPECT_TRUE(gate_.entered.empty());
  flows_.release(Time{20ms}, false);
  EXPECT_EQ(gate_.entered, (Entered{{2, "x"}}));
  EXPECT_EQ(flows_.retry_at(), Time{30ms});
  flows_.release(Time{30ms}, false);
  EXPECT_EQ(gate_.entered, (Entered{{2, "x"}, {1, "x"}}));
  EXPECT_EQ(flows_.retry_at(), kNever);
  flows_.release(Time{31ms}, true);
  EXPECT_EQ(gate_.entered, (Entered{{2, "x"}, {1, "x"}, {3, "x"}})) << "there are news";
}

TEST_F(OutgoingFlowsTest, FlowsTakeTurnsWhereThereIsRoomForFew) {
  gate_.room = 0;
  for (const std::uint32_t handle : {5u, 1u, 3u}) {
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(send(handle, std::to_string(i)));
  }
  for (int i = 0; i < 6; ++i) {
    gate_.room = 1;
    release();
  }
  // The first in line goes behind the others once it has had what there was.
  EXPECT_EQ(gate_.entered, (Entered{{5, "0"}, {1, "0"}, {3, "0"}, {5, "1"}, {1, "1"}, {3, "1"}}));
}

TEST_F(OutgoingFlowsTest, HandlesOfOneFlowStandInOneLine) {
  flow_of_ = {{1, 0}, {2, 0}};
  gate_.closed = {1};
  for (const std::uint32_t handle : {1u, 2u, 3u, 2u, 1u}) EXPECT_TRUE(send(handle, std::to_string(handle)));
  EXPECT_EQ(gate_.entered, (Entered{{3, "3"}}))
      << "of another flow; the second might enter if it were not for the first";
  EXPECT_TRUE(flows_.holds(1));
  EXPECT_TRUE(flows_.holds(2));
  gate_.closed = {2};
  release();
  EXPECT_EQ(gate_.entered, (Entered{{3, "3"}, {1, "1"}}));
  EXPECT_TRUE(flows_.holds(1)) << "the last one";
  gate_.closed = {1};
  release();
  EXPECT_EQ(gate_.entered, (Entered{{3, "3"}, {1, "1"}, {2, "2"}, {2, "2"}}));
  EXPECT_FALSE(flows_.holds(2));
  EXPECT_EQ(gate_.told, (std::map<std::uint32_t, std::size_t>{{2, 2 * flow_bytes(1)}})) << "nothing of it is held";
  gate_.closed = {};
  release();
  EXPECT_EQ(gate_.entered.back(), (std::pair<std::uint32_t, std::string>{1, "1"}));
  EXPECT_EQ(gate_.told[1], 2 * flow_bytes(1));
  EXPECT_EQ(flows_.bytes(), 0u);
}

TEST_F(OutgoingFlowsTest, HandlesOfOneFlowHaveAWindowEach) {
  flow_of_ = {{1, 0}, {2, 0}};
  gate_.closed = {1, 2};
  const std::string payload(kFlowWindowBytes, 'x');
  EXPECT_TRUE(send(1, payload));
  EXPECT_FALSE(send(1, ""));
  EXPECT_TRUE(send(2, payload));
  EXPECT_FALSE(send(2, ""));
}

TEST_F(OutgoingFlowsTest, AFlowIsAskedOnceForAMessageThatMayNotEnter) {
  flow_of_ = {{1, 0}, {2, 0}};
  gate_.room = 0;
  for (const std::uint32_t handle : {1u, 1u, 2u, 2u}) EXPECT_TRUE(send(handle, std::to_string(handle)));
  for (std::size_t room = 1; room <= 2; ++room) {
    gate_.room = room;
    const std::size_t asked = gate_.asked;
    release();
    EXPECT_EQ(gate_.asked - asked, room + 1);
  }
  EXPECT_EQ(gate_.entered, (Entered{{1, "1"}, {1, "1"}, {2, "2"}}));
}

TEST_F(OutgoingFlowsTest, WhatIsHeldCountsAsItStandsInMemory) {
  EXPECT_EQ(flows_.heap_bytes(), 0u);
  gate_.closed = {1, 2};
  for (int i = 0; i < 100; ++i) send(1, "");
  EXPECT_GT(flows_.heap_bytes(), flows_.bytes()) << "nothing to send is no little to hold";
  for (int i = 0; i < 20; ++i) send(2, "small");
  send(2, std::string(10'000, 'x'));
  send(2, std::string(100'000, 'y'));
  EXPECT_GT(flows_.heap_bytes(), 10'000u);
  EXPECT_GT(flows_.table_bytes(), 0u);
  gate_.closed = {};
  release();
  EXPECT_EQ(gate_.entered.size(), 122u);
  EXPECT_EQ(flows_.heap_bytes(), 0u);
}

TEST_F(OutgoingFlowsTest, WhatIsLetInAtOnceIsTheShareOfATurn) {
  gate_.closed = {1, 2};
  for (int i = 0; i < 10; ++i) {
    send(1, "one");
    send(2, "two");
  }
  gate_.closed = {};
  gate_.turn = &context_.turn;
  gate_.names = 1'000;
  context_.turn.begin_client();
  release();
  EXPECT_EQ(gate_.entered.size(), 2u);
  EXPECT_EQ(flows_.retry_at(), Time{});
  for (int turn = 0; turn < 10; ++turn) {
    context_.turn.end_turn();
    flows_.release(Time{}, false);
  }
  EXPECT_EQ(gate_.entered.size(), 20u);
  EXPECT_EQ(flows_.bytes(), 0u);
}

TEST_F(OutgoingFlowsTest, SaysWhetherTheFirstOnesHaveEntered) {
  EXPECT_TRUE(send(1, "at once"));
  EXPECT_EQ(flows_.held_so_far(), 0u);
  gate_.closed = {1, 2, 3};
  EXPECT_TRUE(send(1, "first"));
  EXPECT_TRUE(send(2, std::string(kChunkBytesMax, '2')));
  const std::uint64_t mark = flows_.held_so_far();
  EXPECT_EQ(mark, 2u);
  EXPECT_TRUE(send(3, "behind the mark"));
  EXPECT_TRUE(send(1, std::string(kChunkBytesMax, '1')));
  EXPECT_FALSE(flows_.has_entered(mark));
  gate_.closed = {1};
  release();
  EXPECT_FALSE(flows_.has_entered(mark)) << "what came later has overtaken the first one";
  gate_.closed = {};
  gate_.room = 1;
  release();
  EXPECT_TRUE(flows_.has_entered(mark));
  EXPECT_FALSE(flows_.has_entered(flows_.held_so_far()));
  gate_.room = 1;
  release();
  EXPECT_TRUE(flows_.has_entered(flows_.held_so_far()));
}

}  // namespace
}  // namespace spindled
