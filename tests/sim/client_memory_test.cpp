// What clients hold of their daemon's memory, and how long.
#include "tests/sim/scenario.h"
#include "tests/support/payload_frames.h"

namespace spindled::sim {
namespace {

namespace protocol = spindle::protocol;
using Bytes = std::vector<std::uint8_t>;

class ClientMemory : public Scenario {
 protected:
  static constexpr std::uint32_t kHandle = 9;
  static constexpr std::size_t kChunk = spindle::kChunkBytesMax;

  SimClient& add(HostIndex host) {
    SimClient& client = sim().add_client(sim().host(host));
    await([&] { return client.is_welcome(); }, 1s, "the client is welcome");
    return client;
  }
  /// The definition of "g", and the first chunk of a message of so many bytes to it.
  static Bytes beginning(std::size_t total) {
    Bytes bytes;
    protocol::write_define(bytes, {kHandle, {"g"}});
    const Bytes chunk(kChunk, 1);
    spindle::test::append_send_frame(bytes, {kHandle, static_cast<std::uint8_t>(spindle::Service::agreed), false, 0,
                                             static_cast<std::uint32_t>(total), chunk});
    return bytes;
  }
  static Bytes more(std::size_t chunks) {
    Bytes bytes;
    for (std::size_t i = 0; i < chunks; ++i) {
      Bytes head(spindle::kFrameHeadBytes);
      spindle::Writer writer(head.data());
      spindle::write_frame_head(writer, static_cast<std::uint8_t>(protocol::ClientFrame::send_more), kChunk);
      bytes.insert(bytes.end(), head.begin(), head.end());
      bytes.resize(bytes.size() + kChunk, 1);
    }
    return bytes;
  }
  std::size_t held(HostIndex host) {
    const NodeMemory memory = sim().host(host).node().memory();
    return memory.sessions_unfinished + memory.sessions_definitions + memory.sessions_held + memory.sessions_queued;
  }
};

TEST_F(ClientMemory, AMessageWhoseRestDoesNotComeEndsInTime) {
  NodeConfig node;
  node.session.message_timeout = 2s;
  simulate_cluster(701, Shape::line, 2, node);
  SimClient& member = add(0);
  member.join("g");
  await_group_view({&member}, "g");
  SimClient& idle = add(1);
  idle.multicast({"g"});
  SimClient& slow = add(1);
  SimClient& half = add(1);
  slow.send_raw(beginning(4 * kChunk));
  half.send_raw(beginning(16u << 20));
  half.send_raw(more(256));
  SimClient& partial = add(1);
  partial.send_raw(spindle::ByteView(more(1)).first(3));
  for (int i = 0; i < 3; ++i) {
    sim().run_for(1500ms);
    slow.send_raw(more(1));
  }
  await([&] { return member.messages() == 2; }, 1s, "the slow one's message is complete");
  EXPECT_EQ(half.close_code(), Errc::timed_out);
  EXPECT_EQ(partial.close_code(), Errc::timed_out);
  EXPECT_FALSE(slow.is_closed());
  EXPECT_FALSE(idle.is_closed());
  const std::size_t definitions = sim().host(1).node().memory().sessions_definitions;
  EXPECT_LT(definitions, 4u << 10) << "of the two that are left, with their tables";
  EXPECT_LT(held(1) - definitions, 1u << 10);
}

TEST_F(ClientMemory, HalfMessagesOfManyStayWithinTheBudget) {
  NodeConfig node;
  node.memory_bytes_max = 16u << 20;
  simulate_cluster(702, Shape::line, 2, node);
  SimClient& member = add(0);
  member.join("g");
  await_group_view({&member}, "g");
  std::size_t most = 0;
  std::vector<SimClient*> hoarders;
  const auto run = [&](Duration span) {
    (void)sim().run_until([&] { return most = std::max(most, held(1)), false; }, span);
  };
  for (int i = 0; i < 10; ++i) {
    hoarders.push_back(&add(1));
    hoarders.back()->send_raw(beginning(16u << 20));
    hoarders.back()->send_raw(more(256));
    run(100ms);
  }
  SimClient& sender = add(1);
  sender.multicast({"g"}, {.size = 2u << 20});
  run(1s);
  EXPECT_LE(most, (16u << 20) + (1u << 20));
  EXPECT_GT(most, 8u << 20);
  for (const SimClient* hoarder : hoarders) {
    if (!hoarder->is_closed()) continue;
    EXPECT_EQ(hoarder->close_code(), Errc::limit_exceeded);
  }
  EXPECT_FALSE(sender.is_closed());
  EXPECT_FALSE(member.is_closed());
  // Small messages enter in any case; a large one when the others' time is over.
  sender.multicast({"g"});
  await([&] { return member.messages() == 2; }, 40s, "the sender's messages");
  // What there was no room for is read when another's time is over, and has its own time from then on.
  const auto turns = static_cast<int>(hoarders.size());
  await([&] { return held(1) < (1u << 20); }, turns * node.session.message_timeout, "nothing is held");
}

TEST_F(ClientMemory, OfOneClientIsBounded) {
  NodeConfig node;
  node.session.client_memory_bytes_max = 4u << 20;
  simulate_cluster(703, Shape::line, 2, node);
  SimClient& hoarder = add(1);
  hoarder.send_raw(beginning(16u << 20));
  hoarder.send_raw(more(256));
  await([&] { return hoarder.is_closed(); }, 1s, "it is cut off");
  EXPECT_EQ(hoarder.close_code(), Errc::limit_exceeded);
  EXPECT_EQ(held(1), 0u);
}

}  // namespace
}  // namespace spindled::sim
