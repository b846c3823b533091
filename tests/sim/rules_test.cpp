// What daemons tell of each other's rules of access.
#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

class Rules : public Scenario {
 protected:
  void watch() {
    sim().log().listen([this](std::string_view host, LogLevel, std::string_view, std::string_view line) {
      if (host == "d000" && line.find("rules of access") != std::string_view::npos) told_.emplace_back(line);
    });
  }
  void give(std::size_t host, std::uint64_t digest) {
    sim().host(host).config().access.digest = digest;
    sim().host(host).reload();
    sim().run_for(2s);
  }

  std::vector<std::string> told_;  // of the log of d000
};

TEST_F(Rules, OfAFormerLifeAreNobodys) {
  simulate_cluster(31, Shape::ring, 3);
  watch();
  sim().host(1).crash();
  sim().host(1).config().access.digest = 2;
  sim().run_for(100ms);
  sim().host(1).start();
  await([this] { return have_one_view(sim().hosts()); }, 30s, "a full view");
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_TRUE(told_[0].starts_with("d001 has other rules")) << told_[0];
  give(0, 5);
  ASSERT_EQ(told_.size(), 2u);
  EXPECT_TRUE(told_[1].starts_with("d002 has other rules")) << told_[1];
  give(0, 0);  // as d001 had before
  ASSERT_EQ(told_.size(), 3u) << told_.back();
  EXPECT_TRUE(told_[2].starts_with("d002 has the same rules")) << told_[2];
  give(0, 2);
  ASSERT_EQ(told_.size(), 5u);
}

}  // namespace
}  // namespace spindled::sim
