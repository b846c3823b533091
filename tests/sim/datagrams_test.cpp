// Datagrams beside the links of whole daemons.
#include "daemon/link/links.h"
#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

class DatagramLinks : public Scenario {
 protected:
  /// h0 to the last, each of which dials the one before, with datagrams between them.
  void start_line(std::uint64_t seed, std::size_t count, const DatagramPath& path = {}, bool protect = false) {
    simulate(seed);
    datagrams().turn_on();
    datagrams().set_default_path(path);
    if (protect) datagrams().protect();
    for (std::size_t i = 0; i < count; ++i) add_host(i);
    for (SimHost* host : sim().hosts()) host->start();
    await([this] { return have_one_view(sim().hosts()); }, 10s, "one view");
  }
  SimHost& add_host(std::size_t index) {
    NodeConfig config;
    config.name = fmt::format("h{}", index);
    if (index > 0) config.link.neighbours.push_back({.address = Simulator::address_of(fmt::format("h{}", index - 1))});
    return sim().add_host(config);
  }
  DatagramNetwork& datagrams() { return sim().network().datagrams(); }
  DatagramInfo way(std::size_t from, std::size_t to) {
    const std::optional<LinkInfo> link = sim().host(from).node().link_to(sim().host(to).name());
    return link ? link->datagrams : DatagramInfo();
  }
  bool is_open(std::size_t a, std::size_t b) { return way(a, b).is_open && way(b, a).is_open; }
  std::uint64_t counted(std::size_t host, Counter counter) { return sim().host(host).node().counters().value(counter); }
};

TEST_F(DatagramLinks, OpenWithTheLink) {
  for (const bool protect : {false, true}) {
    start_line(1, 2, {}, protect);
    await([this] { return is_open(0, 1); }, 1s, "an open way");
    EXPECT_EQ(way(0, 1).is_sealed, protect);
    EXPECT_GT(way(0, 1).round_trip, Duration::zero());
    EXPECT_EQ(counted(0, Counter::datagram_ways_opened), 1u);
    check();
  }
}

TEST_F(DatagramLinks, AreSilentWhenNobodySends) {
  start_line(2, 2);
  await([this] { return is_open(0, 1); }, 1s, "an open way");
  sim().run_for(1s);
  const std::uint64_t before = counted(0, Counter::datagrams_out);
  sim().run_for(300s);
  EXPECT_EQ(counted(0, Counter::datagrams_out), before);
}

TEST_F(DatagramLinks, SayThatTheyAreBlockedAndTryAgain) {
  start_line(3, 2, {.blocked = true});
  await([this] { return counted(0, Counter::datagram_ways_closed) == 1; }, 10s, "a closed way");
  EXPECT_FALSE(way(0, 1).why_not.empty());
  datagrams().set_path(0, 1, {});
  await([this] { return is_open(0, 1); }, 65s, "an open way");
}

TEST_F(DatagramLinks, AreClosedWhereOnlyOneDirectionPasses) {
  start_line(4, 2);
  await([this] { return is_open(0, 1); }, 1s, "an open way");
  datagrams().path(0, 1).blocked = true;
  sim().host(1).crash();
  sim().host(1).start();
  await([this] { return have_one_view(sim().hosts()); }, 10s, "one view");
  await([this] { return way(0, 1).why_not.find("not answered") != std::string::npos; }, 10s, "a closed way");
  EXPECT_FALSE(way(1, 0).is_open) << "answers do not pass either";
}

TEST_F(DatagramLinks, AreClosedWhereTheyWouldHaveToBeFragmented) {
  start_line(5, 2, {.bytes_max = 1300});
  await([this] { return counted(0, Counter::datagram_ways_closed) == 1; }, 10s, "a closed way");
  EXPECT_EQ(way(0, 1).why_not, "questions of 1400 bytes are not answered");
}

TEST_F(DatagramLinks, OpenOnPathsThatLoseRepeatAndReorder) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    start_line(seed, 3, {.loss = 0.3, .repeated = 0.3, .late = 0.3, .late_by = 20ms}, seed % 2 == 0);
    await([this] { return is_open(0, 1) && is_open(1, 2); }, 65s, "open ways");
    if (HasFailure()) return;
  }
  std::uint64_t repeated = 0;
  for (std::size_t host = 0; host < 3; ++host) repeated += counted(host, Counter::datagrams_repeated);
  EXPECT_GT(repeated, 0u);
}

TEST_F(DatagramLinks, StayAsViewsChange) {
  start_line(7, 2);
  await([this] { return is_open(0, 1); }, 1s, "an open way");
  sim().run_for(1s);
  const std::uint64_t opened = counted(0, Counter::datagram_ways_opened);
  const std::uint64_t views = counted(0, Counter::views_installed);
  SimHost& third = add_host(2);
  third.start();
  await([this] { return have_one_view(sim().hosts()); }, 10s, "one view of three");
  EXPECT_GT(counted(0, Counter::views_installed), views);
  EXPECT_TRUE(is_open(0, 1));
  EXPECT_EQ(counted(0, Counter::datagram_ways_opened), opened);
  check();
}

TEST_F(DatagramLinks, OfAFormerLifeAreOfNoLink) {
  start_line(8, 2);
  std::vector<std::vector<std::uint8_t>> sent;
  datagrams().set_tap([&](HostIndex from, const DatagramAddress&, ByteView bytes) {
    if (from == 0) sent.emplace_back(bytes.begin(), bytes.end());
  });
  SimHost& second = sim().host(1);
  second.crash();
  second.start();
  await([this] { return have_one_view(sim().hosts()) && is_open(0, 1); }, 10s, "an open way");
  ASSERT_FALSE(sent.empty());
  const std::vector<std::uint8_t> old = sent.front();
  second.crash();
  second.start();
  await([this] { return have_one_view(sim().hosts()) && is_open(0, 1); }, 10s, "an open way in the next life");
  sim().run_for(1s);
  const std::uint64_t before = counted(1, Counter::datagrams_unknown);
  datagrams().forge(datagrams().address_of(0), 1, old);
  sim().run_for(1s);
  EXPECT_EQ(counted(1, Counter::datagrams_unknown), before + 1);
}

TEST_F(DatagramLinks, NoticeNothingOfStrangers) {
  start_line(9, 2);
  std::vector<SimClient*> clients = add_members(2, "g");
  await_group_view(clients, "g");
  await([this] { return is_open(0, 1); }, 1s, "an open way");
  sim().run_for(1s);
  const std::uint64_t before = counted(1, Counter::datagrams_out);
  const std::uint64_t unknown = counted(1, Counter::datagrams_unknown);
  Random random(9);
  for (int i = 0; i < 5000; ++i) {
    std::vector<std::uint8_t> bytes(random.below(1500));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
    datagrams().forge(DatagramNetwork::make_address(77, 1), 1, std::move(bytes));
    if (i % 50 == 0) clients[0]->multicast({"g"}, {.service = Service::agreed, .size = 100});
    if (i % 50 == 0) sim().run_for(1ms);
  }
  await_rest();
  EXPECT_EQ(counted(1, Counter::datagrams_unknown), unknown + 5000);
  EXPECT_EQ(counted(1, Counter::datagrams_out), before) << "nobody is answered";
  check();
}

TEST_F(DatagramLinks, GoTheSameWayWithTheSameSeed) {
  std::uint64_t digests[2];
  for (std::uint64_t& digest : digests) {
    start_line(10, 3, {.loss = 0.2, .repeated = 0.1, .late = 0.2});
    sim().run_for(10s);
    digest = sim().digest();
  }
  EXPECT_EQ(digests[0], digests[1]);
}

}  // namespace
}  // namespace spindled::sim
