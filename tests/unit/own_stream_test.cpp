#include "daemon/order/own_stream.h"

#include <gtest/gtest.h>

#include <string>

namespace spindled {
namespace {

constexpr MemberIndex kSelf = 0;
constexpr MemberIndex kOther = 1;
constexpr std::size_t kBodyBytes = 100;

class OwnStreamTest : public ::testing::Test {
 protected:
  void send(const MemberSet& destinations) {
    stream_.retain(stream_.next_number(), arena_.copy(spindle::as_bytes(std::string(kBodyBytes, '-'))), Slice(),
                   destinations);
  }

  SlabPool pool_;
  SlabWriter arena_{pool_};
  OwnStream stream_{2, kSelf};
};

TEST_F(OwnStreamTest, KeepsAMessageUntilItsDestinationsHaveReportedIt) {
  send(MemberSet::of(kOther));
  send(MemberSet::of(kOther));
  EXPECT_EQ(stream_.retained_bytes(), 2 * kBodyBytes);
  EXPECT_TRUE(stream_.acknowledge(kOther, 1));
  EXPECT_EQ(stream_.retained_bytes(), kBodyBytes);
  EXPECT_TRUE(stream_.acknowledge(kOther, 2));
  EXPECT_EQ(stream_.retained_bytes(), 0u);
}

TEST_F(OwnStreamTest, KeepsNothingOfWhatGoesToItselfOnly) {
  send(MemberSet::of(kSelf));
  EXPECT_EQ(stream_.retained_bytes(), 0u);
  EXPECT_EQ(stream_.stable_line(), 1u);
}

TEST_F(OwnStreamTest, KeepsNothingOfThatBehindWhatIsNotReportedYet) {
  send(MemberSet::of(kOther));
  for (int i = 0; i < 1'000; ++i) send(MemberSet::of(kSelf));
  EXPECT_EQ(stream_.retained_bytes(), kBodyBytes);
  EXPECT_EQ(stream_.stable_line(), 0u);
  EXPECT_TRUE(stream_.acknowledge(kOther, 1));
  EXPECT_EQ(stream_.retained_bytes(), 0u);
  EXPECT_EQ(stream_.stable_line(), 1'001u);
}

}  // namespace
}  // namespace spindled
