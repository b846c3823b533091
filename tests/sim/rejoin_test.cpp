// Clients that leave groups, join them, or both, while the view of the daemons ends.
#include <algorithm>

#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

class Rejoin : public Scenario {
 protected:
  /// a and b are members of g at the first of three daemons, c and d are not. From here on nothing that the clients ask
  /// for gets its place before the view ends, for the daemon has lost the sequencer. Nobody else comes or goes.
  void begin(std::uint64_t seed, const NodeConfig& node = {}) {
    simulate_cluster(seed, Shape::line, 3, node);
    for (const char* name : {"a", "b", "c", "d"}) clients_.push_back(&sim().add_client(sim().host(0), name));
    clients_[0]->join("g");
    await_group_view({clients_[0]}, "g");
    clients_[1]->join("g");
    await_group_view({clients_[0], clients_[1]}, "g");
    sim().network().partition({{0}});
  }
  const std::vector<std::string>& vs_set(std::size_t client) { return clients_[client]->view("g")->vs_set; }
  static bool has_left(const SimClient& client) {
    const std::vector<const GroupView*> views = events_of<GroupView>(client.history());
    return std::any_of(views.begin(), views.end(), [](const GroupView* view) { return view->members.empty(); });
  }

  std::vector<SimClient*> clients_;
};

using Words = std::vector<std::string>;

TEST_F(Rejoin, IsToldWithTheNextView) {
  begin(11);
  clients_[0]->leave("g");
  sim().run_for(50ms);
  clients_[0]->join("g");
  await([&] { return has_left(*clients_[0]); }, 10s, "the last view of the one who left");
  await_group_view({clients_[0], clients_[1]}, "g");
  await_rest();
  check();
  EXPECT_EQ(vs_set(0), Words{"#a#d000"}) << "nobody was with it in a view before";
  EXPECT_EQ(vs_set(1), Words{"#b#d000"});
}

TEST_F(Rejoin, InALargeGroupIsToldAllMembers) {
  NodeConfig node;
  node.session.full_view_members = 1;
  begin(12, node);
  clients_[0]->leave("g");
  clients_[0]->join("g");
  await([&] { return has_left(*clients_[0]); }, 10s, "the last view of the one who left");
  await_group_view({clients_[0], clients_[1]}, "g");
  await_rest();
  check();
  EXPECT_EQ(vs_set(0), Words{"#a#d000"});
  EXPECT_EQ(vs_set(1), Words{"#b#d000"});
}

TEST_F(Rejoin, WhoJoinsMeanwhileHasComeAlongWithItself) {
  begin(13);
  clients_[2]->join("g");
  sim().run_for(50ms);
  clients_[3]->join("g");
  await_group_view(clients_, "g");
  await_rest();
  check();
  EXPECT_EQ(clients_[2]->view("g")->cause, spindle::ViewCause::network);
  EXPECT_EQ(clients_[2]->view("g")->changed, (Words{"#c#d000", "#d#d000"}));
  EXPECT_EQ(vs_set(2), Words{"#c#d000"});
  EXPECT_EQ(vs_set(3), Words{"#d#d000"});
  EXPECT_EQ(vs_set(0), (Words{"#a#d000", "#b#d000"}));
}

TEST_F(Rejoin, WhoJoinsAndLeavesMeanwhileIsToldOfItsEndOnly) {
  begin(14);
  clients_[2]->join("g");
  clients_[2]->leave("g");
  await([&] { return has_left(*clients_[2]); }, 10s, "the farewell");
  await_rest();
  check();
  EXPECT_EQ(events_of<GroupView>(clients_[2]->history()).size(), 1u);
  EXPECT_EQ(clients_[0]->view("g")->members, (Words{"#a#d000", "#b#d000"}));
}

}  // namespace
}  // namespace spindled::sim
