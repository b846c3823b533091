// A client that leaves a group and joins it again while the view of the daemons ends.
#include <algorithm>

#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

class Rejoin : public Scenario {};

TEST_F(Rejoin, IsToldWithTheNextView) {
  simulate_cluster(11, Shape::line, 3);
  std::vector<SimClient*> members;
  for (const char* name : {"a", "b"}) members.push_back(&sim().add_client(sim().host(0), name));
  for (SimClient* member : members) member->join("g");
  await_group_view(members, "g");

  // Without the sequencer neither request gets its place before the view ends. Nobody else comes or goes.
  sim().network().partition({{0}});
  members[0]->leave("g");
  sim().run_for(50ms);
  members[0]->join("g");
  const auto has_left = [&] {
    const std::vector<const GroupView*> views = events_of<GroupView>(members[0]->history());
    return std::any_of(views.begin(), views.end(), [](const GroupView* view) { return view->members.empty(); });
  };
  await(has_left, 10s, "the last view of the one who left");
  await_group_view(members, "g");
  await_rest();
  check();
  EXPECT_EQ(members[0]->view("g")->vs_set, std::vector<std::string>{"#b#d000"});
}

}  // namespace
}  // namespace spindled::sim
