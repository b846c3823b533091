// Garbage costs whoever sends it the connection, and nobody else anything.
#include "daemon/wire/frame_traits.h"
#include "tests/sim/scenario.h"
#include "tests/sim/stranger.h"

namespace spindled::sim {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes random_bytes(Random& random, std::size_t size) {
  Bytes bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
  return bytes;
}

Bytes frame(std::uint8_t type, std::size_t claimed, std::size_t present) {
  Bytes bytes(spindle::kFrameHeadBytes + present, 0x5a);
  spindle::Writer writer(bytes.data());
  spindle::write_frame_head(writer, type, claimed);
  return bytes;
}

class Hostile : public Scenario {
 protected:
  void start_traffic() {
    simulate_cluster(81, Shape::line, 3);
    members = add_members(3, "g");
    await_group_view(members, "g");
    if (!HasFatalFailure()) view = sim().host(0).node().view().id;
  }
  /// The group is served as before: every message arrives soon, in the same view of daemons.
  void expect_service() {
    const std::size_t before = members[0]->messages();
    for (SimClient* member : members) member->multicast({"g"});
    await([&] { return members[0]->messages() == before + 3 && members[2]->messages() == before + 3; }, 200ms,
          "the others are served without a pause");
    EXPECT_EQ(sim().host(0).node().view().id, view);
    EXPECT_TRUE(have_one_view(sim().hosts()));
  }
  /// What any connection can be given that starts with a frame of type `first`.
  std::vector<Bytes> attacks(std::uint8_t first) {
    std::vector<Bytes> all = {
        frame(first, 0, 0),                           // empty
        frame(first, 40, 40),                         // nonsense inside
        frame(first, spindle::kFrameLengthMax, 100),  // larger than any limit
        frame(0, 10, 10),                             // no such type
        frame(255, 10, 10),
    };
    for (std::uint8_t type = 0; type < 32; ++type) all.push_back(frame(type, 12, 12));
    for (std::size_t i = 0; i < 20; ++i) all.push_back(random_bytes(sim().random(), 1 + sim().random().below(5000)));
    return all;
  }
  void expect_closed(Port port, const Bytes& bytes, Duration bound) {
    Stranger stranger(sim().world(), sim().host(1), port);
    stranger.send(bytes);
    await([&] { return stranger.is_closed(); }, bound, "the stranger is turned away");
  }

  std::vector<SimClient*> members;
  ViewId view;
};

TEST_F(Hostile, GarbageAtTheClientPort) {
  start_traffic();
  for (const Bytes& bytes : attacks(static_cast<std::uint8_t>(spindle::protocol::ClientFrame::hello))) {
    if (HasFatalFailure()) return;
    expect_closed(Port::client, bytes, 7s);
  }
  const Counters& counters = sim().host(1).node().counters();
  EXPECT_GT(counters.value(Counter::client_frames_bad), 0u);
  EXPECT_GE(counters.value(Counter::sessions_refused), counters.value(Counter::client_frames_bad));
  expect_service();
}

TEST_F(Hostile, GarbageAtTheLinkPort) {
  start_traffic();
  for (const Bytes& bytes : attacks(static_cast<std::uint8_t>(LinkFrame::control))) {
    if (HasFatalFailure()) return;
    expect_closed(Port::link, bytes, 5s);
  }
  expect_service();
}

TEST_F(Hostile, GarbageFromAClientThatIsWelcome) {
  start_traffic();
  for (const Bytes& bytes : attacks(static_cast<std::uint8_t>(spindle::protocol::ClientFrame::send_more))) {
    SimClient& client = sim().add_client(sim().host(1));
    client.join("g");
    await([&] { return client.view("g") != nullptr; }, 5s, "joined");
    if (HasFatalFailure()) return;
    client.send_raw(bytes);
    sim().run_for(20ms);
    // A leave or a ping that happens to be well formed is no offence, and half a frame may yet become whole.
    if (client.is_closed()) {
      EXPECT_NE(client.close_code(), Errc{});
    } else {
      client.kill();
    }
    sim().run_for(20ms);
  }
  await_group_view(members, "g");
  if (HasFatalFailure()) return;
  expect_service();
  check();
}

TEST_F(Hostile, SilentStrangersAreTurnedAway) {
  start_traffic();
  Stranger at_client(sim().world(), sim().host(1), Port::client);
  Stranger at_link(sim().world(), sim().host(1), Port::link);
  expect_service();
  await([&] { return at_client.is_closed() && at_link.is_closed(); }, 10s, "silent strangers are turned away");
  expect_service();
}

TEST_F(Hostile, HalfAFrameThenSilence) {
  start_traffic();
  Stranger at_client(sim().world(), sim().host(1), Port::client);
  Stranger at_link(sim().world(), sim().host(1), Port::link);
  at_client.send(frame(static_cast<std::uint8_t>(spindle::protocol::ClientFrame::hello), 20, 10));
  at_link.send(frame(static_cast<std::uint8_t>(LinkFrame::control), 200, 10));
  expect_service();
  await([&] { return at_client.is_closed() && at_link.is_closed(); }, 10s, "half frames are not waited for");
  expect_service();
}

TEST_F(Hostile, ALinkThatTurnsToGarbageIsReplaced) {
  start_traffic();
  std::vector<Bytes> garbage = {
      random_bytes(sim().random(), 5000),
      frame(static_cast<std::uint8_t>(LinkFrame::control), spindle::kFrameLengthMax, 100),
      frame(0, 10, 10),
      frame(255, 10, 10),
  };
  // Noise that happens to start like a long frame would be waited for.
  spindle::Writer head(garbage.front().data());
  spindle::write_frame_head(head, 0x80, 5000);
  for (const LinkFrame type : {LinkFrame::control, LinkFrame::view, LinkFrame::data, LinkFrame::acknowledgement,
                               LinkFrame::stable, LinkFrame::ready, LinkFrame::push, LinkFrame::ping}) {
    garbage.push_back(frame(static_cast<std::uint8_t>(type), 12, 12));
  }
  for (const Bytes& bytes : garbage) {
    const SimHost& victim = sim().host(1);
    const std::uint64_t bad_frames = victim.node().counters().value(Counter::link_frames_bad);
    const ViewId before = victim.node().view().id;
    for (SimClient* member : members) member->multicast({"g"});
    ASSERT_EQ(sim().network().inject(0, 1, bytes), 1u);
    await([&] { return victim.node().counters().value(Counter::link_frames_bad) == bad_frames + 1; }, 100ms,
          "the link is closed for what came over it");
    await([&] { return have_one_view(sim().hosts()) && before < victim.node().view().id; }, 30s, "one view of all");
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(sim().host(2).node().counters().value(Counter::link_frames_bad), 0u) << "garbage is not passed on";
  await_group_view(members, "g");
  if (HasFatalFailure()) return;
  await_rest();
  // What was sent while there were two views went to one side only, so the counts before may differ.
  std::vector<std::size_t> expected;
  for (const SimClient* member : members) expected.push_back(member->messages() + members.size());
  for (SimClient* member : members) member->multicast({"g"});
  await_rest();
  for (std::size_t i = 0; i < members.size(); ++i) EXPECT_EQ(members[i]->messages(), expected[i]) << "member " << i;
  check();
}

}  // namespace
}  // namespace spindled::sim
