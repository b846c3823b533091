#include "tools/spmonitor/partition.h"

#include <gtest/gtest.h>

namespace spmonitor {
namespace {

using Sides = std::vector<std::vector<std::string>>;
using namespace std::chrono_literals;

TEST(SpmonitorPartition, WordsMakeSides) {
  EXPECT_EQ(parse_sides({"a,b", "/", "c"}), (Sides{{"a", "b"}, {"c"}}));
  EXPECT_EQ(parse_sides({"a,", "b", ",c", "/", "d"}), (Sides{{"a", "b", "c"}, {"d"}}));
  EXPECT_EQ(parse_sides({"a", "b"}), (Sides{{"a", "b"}}));
  EXPECT_EQ(parse_sides({"a/b"}), (Sides{{"a/b"}})) << "a name may contain a slash";
  EXPECT_EQ(parse_sides({"a", "/"}), (Sides{{"a"}, {}})) << "for the daemon to complain of";
  EXPECT_EQ(parse_sides({}), (Sides{{}}));
}

TEST(SpmonitorPartition, DurationsHaveUnits) {
  EXPECT_EQ(parse_duration("90"), 90s);
  EXPECT_EQ(parse_duration("90s"), 90s);
  EXPECT_EQ(parse_duration("1500ms"), 1500ms);
  EXPECT_EQ(parse_duration("5m"), 5min);
  EXPECT_EQ(parse_duration("1h"), 1h);
  for (const char* text : {"", "s", "0", "-1s", "1.5s", "1d", "5 m", "99999999999999999999s", "9000000000000h"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace spmonitor
