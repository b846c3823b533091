// How many groups there may be.
#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

class FullTable : public Scenario {};

TEST_F(FullTable, RefusesFurtherGroupsUntilOneIsEmpty) {
  NodeConfig config;
  config.session.groups_max = 5;
  simulate_cluster(820, Shape::line, 2, config);
  if (HasFatalFailure()) return;
  SimClient& first = sim().add_client(sim().host(0), "first");
  SimClient& second = sim().add_client(sim().host(1), "second");
  for (int i = 0; i < 8; ++i) first.join(fmt::format("g{}", i));
  await_rest();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(first.view(fmt::format("g{}", i)) != nullptr, i < 5) << i;
  const auto refusals = [](const SimClient& client) {
    std::vector<std::string> groups;
    for (const Refused* refused : events_of<Refused>(client.history())) {
      EXPECT_EQ(static_cast<Errc>(refused->code), Errc::group_table_full);
      groups.push_back(refused->group);
    }
    return groups;
  };
  EXPECT_EQ(refusals(first), (std::vector<std::string>{"g5", "g6", "g7"}));

  second.join("g1");
  second.join("h");
  await_rest();
  EXPECT_NE(second.view("g1"), nullptr) << "it is there";
  EXPECT_EQ(refusals(second), (std::vector<std::string>{"h"}));

  first.leave("g0");
  await_rest();
  second.join("h");
  await([&] { return second.view("h") != nullptr; }, 5s, "a view");
  sim().network().partition({{0}, {1}});
  await([&] { return sim().host(1).node().view().size() == 1; }, 5s, "a view of one");
  await_rest();
  second.join("i");
  await([&] { return second.view("i") != nullptr; }, 5s, "a view, for on this side there are only two");
  sim().network().heal();
  await([&] { return have_one_view(sim().hosts()); }, 20s, "one view");
  await_rest();
  second.join("k");
  await_rest();
  EXPECT_EQ(second.view("k"), nullptr) << "there are six already";
  check();
}

}  // namespace
}  // namespace spindled::sim
