#include "daemon/admission/membership_rate.h"

#include <gtest/gtest.h>

namespace spindled {
namespace {

class MembershipRateTest : public testing::Test {
 protected:
  MembershipRateTest() {
    config_.membership_rate_bytes = 1'000'000;
    config_.membership_burst_bytes = 10'000;
  }
  /// Changes of so many bytes that enter until one has to wait, over as many turns as it takes.
  std::size_t burst(MembershipBudget& client, double bytes) {
    std::size_t count = 0;
    for (;;) {
      rate_.start_turn();
      std::optional<Time> until;
      while (!(until = rate_.wait_until(now_, client))) {
        rate_.pay(client, bytes);
        ++count;
      }
      if (*until > now_) return count;
    }
  }

  SessionConfig config_;
  MembershipRate rate_{config_};
  Time now_{1s};
};

TEST_F(MembershipRateTest, AClientHasABurstAndThenARate) {
  MembershipBudget client;
  EXPECT_EQ(burst(client, 1000), 10u);
  const std::optional<Time> until = rate_.wait_until(now_, client);
  ASSERT_TRUE(until);
  now_ += 4ms;
  EXPECT_EQ(burst(client, 1000), 0u) << "not one by one";
  now_ = *until;
  EXPECT_EQ(burst(client, 1000), 6u) << "what comes in within 5 ms, and the last may overdraw it";
  now_ += 6ms;
  EXPECT_EQ(burst(client, 1000), 6u);
  now_ += 10s;
  EXPECT_EQ(burst(client, 1000), 10u) << "no more is saved up";
}

TEST_F(MembershipRateTest, OneChangeMayCostMoreThanThereIs) {
  MembershipBudget client;
  EXPECT_EQ(burst(client, 500'000), 1u);
  EXPECT_NEAR(to_seconds(*rate_.wait_until(now_, client) - now_), 0.495, 1e-3);
  MembershipBudget dear;
  now_ += 10s;
  EXPECT_EQ(burst(dear, 1e12), 1u);
  EXPECT_LE(to_seconds(*rate_.wait_until(now_, dear) - now_), MembershipRate::kCostMaxS) << "however dear";
}

TEST_F(MembershipRateTest, ABurstThatIsLessThanWhatComesInMeanwhileIsEnough) {
  config_.membership_burst_bytes = 2000;
  MembershipBudget client;
  EXPECT_EQ(burst(client, 1000), 2u);
  for (int i = 0; i < 3; ++i) {
    now_ = *rate_.wait_until(now_, client);
    EXPECT_EQ(burst(client, 1000), 2u);
  }
}

TEST_F(MembershipRateTest, AllClientsTogetherHaveTwiceAsMuch) {
  std::vector<MembershipBudget> clients(5);
  std::size_t count = 0;
  for (MembershipBudget& client : clients) count += burst(client, 1000);
  EXPECT_EQ(count, 20u);
  now_ += 5ms;
  EXPECT_EQ(burst(clients[4], 1000), 10u);
}

TEST_F(MembershipRateTest, InOneTurnOnlySoMuchEnters) {
  config_.membership_burst_bytes = 10'000'000;
  MembershipBudget clients[6];
  rate_.start_turn();
  std::size_t total = 0;
  for (MembershipBudget& client : clients) {
    std::size_t count = 0;
    for (; !rate_.wait_until(now_, client); ++count) rate_.pay(client, 1024);
    EXPECT_LE(count, 64u);
    EXPECT_EQ(rate_.wait_until(now_, client), now_) << "in the next turn";
    total += count;
  }
  EXPECT_EQ(total, 256u);
  rate_.start_turn();
  EXPECT_FALSE(rate_.wait_until(now_, clients[5]));
}

}  // namespace
}  // namespace spindled
