// Daemons and links that come and go wait before the view changes for them: how long, and where that can be seen.
#include "daemon/link/links.h"
#include "tests/sim/ask_admin.h"
#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

namespace proto = spindle::admin;

class HoldDown : public Scenario {
 protected:
  double held_down_at(std::size_t host, const std::string& peer) {
    proto::Request request;
    request.mutable_links();
    const proto::Reply reply = ask_admin(sim(), host, request);
    for (const proto::Link& link : reply.links().links()) {
      if (link.peer() == peer) return link.held_down_seconds();
    }
    return -1;
  }
  proto::StatusReply status_of(std::size_t host) {
    proto::Request request;
    request.mutable_status();
    return ask_admin(sim(), host, request).status();
  }
  Duration time_to_full_view() {
    const Time began = sim().now();
    await([this] { return have_one_view(sim().hosts()); }, 30s, "a full view");
    return sim().now() - began;
  }
  bool is_linked(std::size_t from, const std::string& to) { return sim().host(from).node().link_to(to).has_value(); }
};

TEST_F(HoldDown, AfterManyChangesIsHalfOfItsMaximumAndDecays) {
  simulate_cluster(91, Shape::line, 3);
  EXPECT_EQ(held_down_at(0, "d001"), 0) << "it is in the view";
  for (int flap = 0; flap < 12; ++flap) {
    sim().host(2).crash();
    sim().run_for(50ms);
    sim().host(2).start();
    await([this] { return is_linked(1, "d002"); }, 5s, "the link");
    if (HasFatalFailure()) return;
    sim().run_for(300ms);
  }
  EXPECT_GT(held_down_at(1, "d002"), 3.0);
  EXPECT_LT(held_down_at(1, "d002"), 5.1);
  const proto::StatusReply status = status_of(0);
  ASSERT_EQ(status.held_down_size(), 2) << "the daemon and its link";
  EXPECT_EQ(status.held_down(0).name(), "d002");
  EXPECT_EQ(status.held_down(1).name(), "d001");
  EXPECT_EQ(status.held_down(1).other_end(), "d002");
  EXPECT_LT(time_to_full_view(), 5s);
  if (HasFatalFailure()) return;
  EXPECT_EQ(status_of(0).held_down_size(), 0);
  EXPECT_EQ(held_down_at(1, "d002"), 0);

  sim().run_for(35s);
  sim().host(2).crash();
  sim().run_for(1s);
  sim().host(2).start();
  EXPECT_LT(time_to_full_view(), 1500ms) << "it was calm for so long that the past no longer counts";
}

}  // namespace
}  // namespace spindled::sim
