// Bulk content with the mesh beside the tree: what links between daemons that are not parent and child are good for.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "daemon/admin/admin.pb.h"
#include "tests/checkers/checkers.h"
#include "tests/sim/ask_admin.h"
#include "tests/sim/bulk_client.h"
#include "tests/sim/scenario.h"
#include "tests/support/known_content.h"

namespace spindled::sim {
namespace {

struct Path {
  HostIndex a = 0, b = 0;
  std::uint64_t bytes_per_second = 0;
};

class BulkMesh : public Scenario {
 protected:
  static constexpr std::uint64_t kRate = 2'500'000;  // bytes a second, of a path where nothing else is said

  NodeConfig config(bool has_mesh) const {
    NodeConfig node;
    node.bulk.mesh = has_mesh;
    if (are_dialable_) node.bulk.address = "its own";
    return node;
  }
  static PathProperties path_of(std::uint64_t bytes_per_second) {
    PathProperties path;
    path.bytes_per_second = bytes_per_second;
    path.delay = 1ms;
    path.send_buffer = 16u << 10;
    return path;
  }
  void TearDown() override {
    EXPECT_EQ(checkers::to_text(checkers::check_peers(sim().history())), "");
    Scenario::TearDown();
  }
  /// A ring, and a member at each daemon; contents without bytes where they are hollow. Some daemons may differ.
  void begin(std::uint64_t seed, std::size_t daemons, bool has_mesh, bool is_hollow,
             const std::vector<Path>& paths = {}, Shape shape = Shape::ring) {
    members_.clear();
    bulk_.clear();
    hosts_ = daemons;
    simulate_cluster(seed, shape, daemons, config(has_mesh));
    for (HostIndex a = 0; a < daemons; ++a) {
      for (HostIndex b = 0; b < a; ++b) sim().network().set_path(a, b, path_of(kRate));
    }
    for (const Path& path : paths) sim().network().set_path(path.a, path.b, path_of(path.bytes_per_second));
    disk_kind_ = is_hollow ? ContentDisk::Kind::hollow : ContentDisk::Kind::bytes;
    for (std::size_t i = 0; i < daemons; ++i) add(i);
    await_group_view(members_, "g");
  }
  void add(std::size_t host) {
    members_.push_back(
        &sim().add_client(sim().host(host), "c" + std::to_string(members_.size()), {.wants_channels = true}));
    members_.back()->join("g");
    bulk_.push_back(std::make_unique<BulkClient>(
        sim().world(), *members_.back(), BulkClient::Options{.disk = std::make_shared<ContentDisk>(disk_kind_)}));
  }
  /// The content of the first member is offered; which channel that is.
  template <typename Content>
  BulkChannelId offer(Content content) {
    bulk_[0]->offer("g", content);
    await([&] { return members_[0]->channels().size() > 0; }, 10s, "the offer");
    return members_[0]->channels().ids().back();
  }
  bool all_have(const BulkChannelId& id, const std::set<std::size_t>& but = {}) const {
    for (std::size_t i = 1; i < bulk_.size(); ++i) {
      if (but.count(i) == 0 && !bulk_[i]->is_done(id)) return false;
    }
    return true;
  }
  /// How long it takes until all have a content of so many bytes.
  Duration time_of(std::uint64_t bytes) {
    const Time start = sim().now();
    id_ = offer(bytes);
    await([&] { return all_have(id_); }, 300s, "the content at all members");
    return sim().now() - start;
  }
  std::uint64_t counter(std::size_t host, Counter which) { return sim().host(host).node().counters().value(which); }
  std::uint64_t sum_of(Counter which) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < hosts_; ++i) sum += counter(i, which);
    return sum;
  }
  std::uint64_t of_peers() { return sum_of(Counter::bulk_symbols_of_peers); }
  /// Of what came of them, what was here already.
  std::uint64_t of_no_use() { return sum_of(Counter::bulk_symbols_of_peers_useless); }
  /// Streams keep to TCP, and all that goes to a receiver shares its cable.
  void limit_cables(std::uint64_t bytes_per_second) {
    PathProperties path = path_of(bytes_per_second);
    path.delay = 100us;
    path.congestion_control = CongestionControl::cubic;
    path.queue_bytes = bytes_per_second / 20;
    for (HostIndex to = 1; to < hosts_; ++to) {
      sim().network().set_path(0, to, path);
      for (HostIndex from = 1; from < hosts_; ++from) {
        if (from != to) sim().network().share_way(0, to, from, to);
      }
    }
  }

  std::vector<SimClient*> members_;
  std::vector<std::unique_ptr<BulkClient>> bulk_;
  ContentDisk::Kind disk_kind_ = ContentDisk::Kind::bytes;
  BulkChannelId id_;
  std::size_t hosts_ = 0;
  bool are_dialable_ = false;
};

/// Of the source to all others: slower than those between them.
std::vector<Path> slow_source(std::size_t daemons, std::uint64_t bytes_per_second) {
  std::vector<Path> paths;
  for (HostIndex host = 1; host < daemons; ++host) paths.push_back({0, host, bytes_per_second});
  return paths;
}

constexpr std::uint64_t kBytes = 60'000'000;

TEST_F(BulkMesh, TwoChildrenGiveEachOtherWhatEachIsGiven) {
  begin(1, 3, false, true);
  const Duration tree = time_of(kBytes);
  begin(1, 3, true, true);
  const Duration mesh = time_of(kBytes);
  RecordProperty("tree_ms", static_cast<int>(to_seconds(tree) * 1e3));
  RecordProperty("mesh_ms", static_cast<int>(to_seconds(mesh) * 1e3));
  EXPECT_LE(to_seconds(mesh), 0.65 * to_seconds(tree));
}

TEST_F(BulkMesh, WhatFourNeighboursHaveOfASlowSourceTheyShare) {
  const std::vector<Path> slow{{0, 1, kRate / 2}, {0, 2, kRate / 2}, {0, 3, kRate / 2}, {0, 4, kRate / 2}};
  begin(2, 5, false, true, slow, Shape::full);
  const Duration tree = time_of(kBytes / 2);
  begin(2, 5, true, true, slow, Shape::full);
  const Duration mesh = time_of(kBytes / 2);
  RecordProperty("tree_ms", static_cast<int>(to_seconds(tree) * 1e3));
  RecordProperty("mesh_ms", static_cast<int>(to_seconds(mesh) * 1e3));
  EXPECT_LE(to_seconds(mesh), 0.5 * to_seconds(tree));
}

TEST_F(BulkMesh, CostsNothingWhereTheTreeIsNotTheBottleneck) {
  for (const bool is_capped : {true, false}) {
    SCOPED_TRACE(is_capped);
    Duration time[2];
    for (const bool has_mesh : {false, true}) {
      // Either the source is slower than all paths, or there is hardly anything beside the tree.
      const std::vector<Path> paths = is_capped ? std::vector<Path>{} : std::vector<Path>{{1, 2, kRate / 500}};
      begin(3, 3, has_mesh, true, paths);
      if (is_capped) bulk_[0]->set_cap(kRate / 2);
      time[has_mesh ? 1 : 0] = time_of(kBytes / 2);
    }
    RecordProperty(is_capped ? "capped_tree_ms" : "tree_ms", static_cast<int>(to_seconds(time[0]) * 1e3));
    RecordProperty(is_capped ? "capped_mesh_ms" : "mesh_ms", static_cast<int>(to_seconds(time[1]) * 1e3));
    EXPECT_LE(to_seconds(time[1]), 1.02 * to_seconds(time[0]));
  }
}

/// What senders have on their way when a block is complete, or when peers begin, takes the room of what is lacking.
TEST_F(BulkMesh, CostsLittleWhereTheCablesOfReceiversAreTheSlowest) {
  constexpr std::size_t kDaemons = 9;
  constexpr std::uint64_t kCable = 1'250'000, kSize = 10'000'000;
  are_dialable_ = true;
  Duration time[2];
  for (const bool has_mesh : {false, true}) {
    begin(17, kDaemons, has_mesh, true, {}, Shape::star);
    limit_cables(kCable);
    // Hops are opened, and are on those paths, when there is content.
    time[has_mesh ? 1 : 0] = time_of(kSize);
  }
  RecordProperty("tree_ms", static_cast<int>(to_seconds(time[0]) * 1e3));
  RecordProperty("mesh_ms", static_cast<int>(to_seconds(time[1]) * 1e3));
  RecordProperty("of_peers", static_cast<int>(of_peers()));
  RecordProperty("of_no_use", static_cast<int>(of_no_use()));
  EXPECT_LE(to_seconds(time[1]), 1.05 * to_seconds(time[0]));
  const std::uint64_t symbols = (kDaemons - 1) * kSize / 8'192;
  EXPECT_GT(of_peers(), symbols / 10);
  EXPECT_LE(of_no_use(), symbols / 40);
}

/// In a star no two receivers are neighbours.
TEST_F(BulkMesh, StrangersGiveEachOtherWhatASlowSourceGives) {
  constexpr std::size_t kDaemons = 8;
  const std::vector<Path> slow = slow_source(kDaemons, kRate / 4);
  begin(12, kDaemons, true, true, slow, Shape::star);
  const Duration tree = time_of(kBytes / 4);
  EXPECT_EQ(of_peers(), 0u) << "nobody has told an address";
  are_dialable_ = true;
  begin(12, kDaemons, true, true, slow, Shape::star);
  const Duration mesh = time_of(kBytes / 4);
  RecordProperty("tree_ms", static_cast<int>(to_seconds(tree) * 1e3));
  RecordProperty("mesh_ms", static_cast<int>(to_seconds(mesh) * 1e3));
  EXPECT_LE(to_seconds(mesh), 0.5 * to_seconds(tree));
  for (std::size_t i = 1; i < kDaemons; ++i) {
    EXPECT_LE(counter(i, Counter::bulk_hops_opened), kDaemons) << "a hop to each, and no more";
  }
}

/// Whoever has it gives whole blocks to who comes when all is over, from the other end than the source does.
TEST_F(BulkMesh, WhoComesLateIsGivenWholeBlocksByAll) {
  constexpr std::size_t kDaemons = 6, kLate = kDaemons - 1;
  are_dialable_ = true;
  Duration time[2];
  std::uint64_t of_source[2];
  for (const bool has_mesh : {false, true}) {
    begin(18, kDaemons, has_mesh, true, slow_source(kDaemons, kRate / 4), Shape::star);
    members_[kLate]->leave("g");
    id_ = offer(kBytes / 2);
    await([&] { return all_have(id_, {kLate}); }, 120s, "the content at all members but one");
    const Time start = sim().now();
    const std::uint64_t before = counter(0, Counter::bulk_symbols_relayed);
    add(kLate);
    await([&] { return bulk_.back()->is_done(id_); }, 120s, "the content at the late one");
    time[has_mesh ? 1 : 0] = sim().now() - start;
    of_source[has_mesh ? 1 : 0] = counter(0, Counter::bulk_symbols_relayed) - before;
  }
  RecordProperty("tree_ms", static_cast<int>(to_seconds(time[0]) * 1e3));
  RecordProperty("mesh_ms", static_cast<int>(to_seconds(time[1]) * 1e3));
  RecordProperty("tree_symbols", static_cast<int>(of_source[0]));
  RecordProperty("mesh_symbols", static_cast<int>(of_source[1]));
  RecordProperty("of_no_use", static_cast<int>(of_no_use()));
  EXPECT_LE(to_seconds(time[1]), 0.4 * to_seconds(time[0]));
  EXPECT_LE(of_source[1], of_source[0] / 2);
}

/// What they were asked for the source gives then.
TEST_F(BulkMesh, WhoComesLateGoesOnWhereThoseItAskedAreGone) {
  constexpr std::size_t kDaemons = 6, kLate = kDaemons - 1;
  are_dialable_ = true;
  for (const bool loses_power : {false, true}) {
    SCOPED_TRACE(loses_power);
    begin(19, kDaemons, true, false, slow_source(kDaemons, kRate / 2), Shape::star);
    members_[kLate]->leave("g");
    const std::vector<std::uint8_t> content = spindle::test::content_of(19, 40'000'000);
    id_ = offer(content);
    await([&] { return all_have(id_, {kLate}); }, 120s, "the content at all members but one");
    add(kLate);
    await([&] { return counter(kLate, Counter::bulk_symbols_of_peers) > 500; }, 30s, "something of peers");
    for (const std::size_t host : {1u, 2u, 3u, 4u}) sim().host(host).crash(loses_power);
    await([&] { return bulk_.back()->is_done(id_); }, 120s, "the content at the late one");
    EXPECT_EQ(*bulk_.back()->received(id_), content);
    EXPECT_EQ(bulk_.back()->counters(id_)->corrupt, 0u);
  }
}

/// One address of two is enough.
TEST_F(BulkMesh, StrangersWithoutAnAddressDialThoseThatHaveOne) {
  begin(13, 6, true, true, slow_source(6, kRate / 4), Shape::star);
  for (const std::size_t host : {1u, 4u}) {
    sim().host(host).crash();
    sim().host(host).config().bulk.address = Simulator::address_of(sim().host(host).config().name);
    sim().host(host).start();
    add(host);
  }
  sim().run_for(5s);
  id_ = offer(kBytes / 4);
  await([&] { return all_have(id_, {1, 4}); }, 120s, "the content at all members");
  for (const std::size_t host : {1u, 2u, 3u, 4u, 5u}) {
    EXPECT_GT(counter(host, Counter::bulk_symbols_of_peers), 100u) << host;
  }
}

TEST_F(BulkMesh, GoesOnWhereAStrangerIsLost) {
  are_dialable_ = true;
  for (const bool loses_power : {false, true}) {
    begin(14, 6, true, false, slow_source(6, kRate / 4), Shape::star);
    const std::vector<std::uint8_t> content = spindle::test::content_of(14, 4'000'000);
    id_ = offer(content);
    await([&] { return of_peers() > 200; }, 30s, "something of peers");
    sim().host(2).crash(loses_power);
    sim().run_for(2s);
    sim().host(2).start();
    add(2);
    await([&] { return all_have(id_, {2}); }, 120s, "the content at all members");
    for (const std::size_t i : {1u, 3u, 4u, 5u, 6u}) EXPECT_EQ(*bulk_[i]->received(id_), content) << i;
  }
}

TEST_F(BulkMesh, GoesOnWhereHopsOfStrangersAreLost) {
  are_dialable_ = true;
  begin(15, 6, true, false, slow_source(6, kRate / 4), Shape::star);
  const std::vector<std::uint8_t> content = spindle::test::content_of(15, 6'000'000);
  id_ = offer(content);
  for (int i = 0; i < 8; ++i) {
    sim().run_for(400ms);
    sim().network().reset_between(static_cast<HostIndex>(1 + i % 5), static_cast<HostIndex>(1 + (2 + i) % 5));
  }
  await([&] { return all_have(id_); }, 120s, "the content at all members");
  for (std::size_t i = 1; i < 6; ++i) EXPECT_EQ(*bulk_[i]->received(id_), content) << i;
  EXPECT_GT(of_peers(), 200u);
}

/// It gives every other symbol with wrong bytes, and the rest under wrong numbers, and the content arrives all the
/// same.
TEST_F(BulkMesh, WhoLiesIsFoundOut) {
  for (const bool are_strangers : {false, true}) {
    SCOPED_TRACE(are_strangers);
    are_dialable_ = are_strangers;
    begin(16, 5, true, false, slow_source(5, kRate / 4), are_strangers ? Shape::star : Shape::full);
    sim().host(2).lie_to_peers();
    const std::vector<std::uint8_t> content = spindle::test::content_of(16, 6'000'000);
    id_ = offer(content);
    await([&] { return all_have(id_); }, 120s, "the content at all members");
    for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(*bulk_[i]->received(id_), content) << i;
    spindle::admin::Request request;
    request.mutable_bulk();
    std::size_t found_out = 0;
    for (const HostIndex host : {1u, 3u, 4u}) {
      const spindle::admin::BulkReply reply = ask_admin(sim(), host, request).bulk();
      found_out += reply.channels(0).mesh().left_wrong();
    }
    EXPECT_EQ(found_out, 3u);
  }
}

/// Where the tree brings everything peers are tried now and then, one at a time.
TEST_F(BulkMesh, SleepsWhereTheTreeBringsEverything) {
  begin(10, 5, true, true, {}, Shape::full);
  bulk_[0]->set_cap(kRate / 5);
  time_of(kBytes / 4);
  const std::uint64_t symbols = 4 * kBytes / 4 / 8'192;
  RecordProperty("of_peers", static_cast<int>(of_peers()));
  RecordProperty("symbols", static_cast<int>(symbols));
  EXPECT_GT(of_peers(), 0u);
  EXPECT_LE(of_peers(), symbols / 10);
}

/// Who is done, or leaves, does not have the others begin anew.
TEST_F(BulkMesh, IsKeptWhereAReceiverLeaves) {
  begin(11, 4, true, true, {}, Shape::full);
  id_ = offer(kBytes);
  sim().run_for(5s);
  const std::uint64_t plans = counter(0, Counter::bulk_plans_made);
  members_[2]->leave("g");
  await([&] { return all_have(id_, {2}); }, 60s, "the content at all members that are left");
  EXPECT_EQ(counter(0, Counter::bulk_plans_made), plans);
}

TEST_F(BulkMesh, TheAdministratorSeesWhoGivesWhat) {
  begin(9, 3, true, true);
  id_ = offer(kBytes);
  sim().run_for(5s);
  spindle::admin::Request request;
  request.mutable_bulk();
  const spindle::admin::BulkReply root = ask_admin(sim(), 0, request).bulk(),
                                  leaf = ask_admin(sim(), 1, request).bulk();
  ASSERT_EQ(root.channels_size(), 1);
  ASSERT_EQ(leaf.channels_size(), 1);
  ASSERT_TRUE(root.channels(0).has_mesh());
  EXPECT_EQ(root.channels(0).mesh().senders(), 0u) << "it has all";
  std::size_t meshed = 0;
  for (const spindle::admin::BulkChild& child : root.channels(0).children()) meshed += child.meshed() ? 1 : 0;
  EXPECT_EQ(meshed, 2u);
  const spindle::admin::BulkMesh& mesh = leaf.channels(0).mesh();
  EXPECT_EQ(mesh.senders(), 1u);
  EXPECT_EQ(mesh.receivers(), 1u);
  EXPECT_GT(mesh.symbols(), 1'000u);
  EXPECT_LE(mesh.useless(), mesh.symbols() / 10);
  EXPECT_GT(mesh.told_bytes(), 0u);
  EXPECT_LE(mesh.told_bytes(), 5u * 30'000 / 8) << "more than 30 kb/s";
  EXPECT_EQ(mesh.left_useless() + mesh.left_wrong(), 0u);
  std::size_t peers = 0;
  for (const spindle::admin::BulkChild& child : leaf.channels(0).children()) peers += child.peer() ? 1 : 0;
  EXPECT_EQ(peers, 1u);
}

TEST_F(BulkMesh, WhatArrivesIsWhatWasOffered) {
  begin(4, 4, true, false, {}, Shape::full);
  const std::vector<std::uint8_t> content = spindle::test::content_of(4, 7'000'000);
  id_ = offer(content);
  await([&] { return all_have(id_); }, 60s, "the content at all members");
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(*bulk_[i]->received(id_), content) << i;
    EXPECT_EQ(bulk_[i]->counters(id_)->corrupt, 0u);
  }
  EXPECT_GT(of_peers(), 1'000u);
}

TEST_F(BulkMesh, GoesOnWhereAPeerIsLost) {
  for (const bool loses_power : {false, true}) {
    begin(5, 5, true, false, {}, Shape::full);
    const std::vector<std::uint8_t> content = spindle::test::content_of(5, 6'000'000);
    id_ = offer(content);
    await([&] { return of_peers() > 500; }, 30s, "something of peers");
    sim().host(2).crash(loses_power);
    await([&] { return all_have(id_, {2}); }, 60s, "the content at all members that are left");
    for (const std::size_t i : {1u, 3u, 4u}) EXPECT_EQ(*bulk_[i]->received(id_), content) << i;
  }
}

TEST_F(BulkMesh, GoesOnWhereHopsAreLostAndPlansChange) {
  begin(6, 5, true, false, {}, Shape::full);
  const std::vector<std::uint8_t> content = spindle::test::content_of(6, 8'000'000);
  id_ = offer(content);
  for (int i = 0; i < 6; ++i) {
    sim().run_for(250ms);
    sim().network().reset_between(static_cast<HostIndex>(1 + i % 4), static_cast<HostIndex>((2 + i) % 5));
  }
  await([&] { return all_have(id_); }, 120s, "the content at all members");
  for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(*bulk_[i]->received(id_), content) << i;
}

TEST_F(BulkMesh, GoesOnWhenSidesMeetAgain) {
  begin(7, 4, true, false, {}, Shape::full);
  const std::vector<std::uint8_t> content = spindle::test::content_of(7, 8'000'000);
  id_ = offer(content);
  await([&] { return of_peers() > 500; }, 30s, "something of peers");
  sim().network().partition({{0, 1}, {2, 3}});
  sim().run_for(3s);
  sim().network().heal();
  await([&] { return all_have(id_); }, 120s, "the content at all members");
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(*bulk_[i]->received(id_), content) << i;
}

/// A daemon that takes no part has the tree, and so have those beside it.
TEST_F(BulkMesh, ADaemonThatHasItOffHasTheTree) {
  begin(8, 4, true, false, {}, Shape::full);
  sim().host(2).crash();
  sim().host(2).config().bulk.mesh = false;
  sim().host(2).start();
  add(2);
  sim().run_for(5s);
  const std::vector<std::uint8_t> content = spindle::test::content_of(8, 6'000'000);
  id_ = offer(content);
  await([&] { return all_have(id_, {2}); }, 60s, "the content at all members");
  for (const std::size_t i : {1u, 3u, 4u}) EXPECT_EQ(*bulk_[i]->received(id_), content) << i;
  EXPECT_EQ(counter(2, Counter::bulk_symbols_of_peers), 0u);
  EXPECT_GT(of_peers(), 500u);
}

/// Nor are they given different symbols, as nobody gives them the others.
TEST_F(BulkMesh, WhoHasNoNeighbourThatTakesPartHasTheTree) {
  begin(20, 3, true, true, slow_source(3, kRate / 4), Shape::full);
  sim().host(2).crash();
  sim().host(2).config().bulk.mesh = false;
  sim().host(2).start();
  add(2);
  sim().run_for(5s);
  id_ = offer(kBytes / 4);
  spindle::admin::Request request;
  request.mutable_bulk();
  int looks = 0, meshed = 0;
  while (!all_have(id_, {2})) {
    sim().run_for(500ms);
    const spindle::admin::BulkReply root = ask_admin(sim(), 0, request).bulk();
    for (const spindle::admin::BulkChild& child : root.channels(0).children()) meshed += child.meshed() ? 1 : 0;
    ASSERT_LE(++looks, 200);
  }
  RecordProperty("meshed", meshed);
  EXPECT_GT(looks, 20);
  EXPECT_LE(meshed, looks / 4);
}

}  // namespace
}  // namespace spindled::sim
