#include "daemon/net/accept_pace.h"

#include <gtest/gtest.h>

namespace spindled {
namespace {

TEST(AcceptPace, RestsAfterManyAndGoesOn) {
  AcceptPace pace;
  for (int round = 0; round < 3; ++round) {
    // One by one takes no rest; where the machine pauses here for long, the count begins again.
    int accepted = 0;
    while (!pace.needs_rest()) {
      pace.accepted();
      ++accepted;
    }
    EXPECT_GE(accepted, AcceptPace::kAcceptsAtOnce);
    while (!pace.has_rested()) {
    }
    EXPECT_FALSE(pace.needs_rest());
  }
}

}  // namespace
}  // namespace spindled
