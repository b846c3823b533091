// A short hunt; `tools/faults` has the long ones.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "tests/faults/hunt.h"
#include "tests/integration/needs.h"

namespace spindle::test {
namespace {

TEST(FaultHunt, RandomFaultsUnderLoadViolateNothing) {
  SPINDLE_TEST_NEEDS(Lan::unavailable());
  const char* given = std::getenv("SPINDLE_FAULTS_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
  std::cout << "seed " << seed << "; another by SPINDLE_FAULTS_SEED\n";
  const RoundResult result = hunt_round(seed, 15, "faults");
  EXPECT_EQ(result.failure, "") << "histories and logs are in faults/" << seed;
  EXPECT_GT(result.delivered, result.sent / 2);
}

// What is on the page of the wire format suffices for a client that is told nothing false, whatever happens.
TEST(FaultHunt, AClientWrittenFromThePageSeesNothingElse) {
  SPINDLE_TEST_NEEDS(Lan::unavailable());
  const char* given = std::getenv("SPINDLE_FAULTS_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 2;
  std::cout << "seed " << seed << "; another by SPINDLE_FAULTS_SEED\n";
  const RoundResult result = hunt_round(seed, 10, "faults/black-box", true);
  EXPECT_EQ(result.failure, "") << "histories and logs are in faults/black-box/" << seed;
  EXPECT_GT(result.delivered, result.sent / 2);
}

}  // namespace
}  // namespace spindle::test
