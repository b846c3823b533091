// What daemons without a link tell each other before one dials the other for bulk content.
#include "daemon/bulk/hop_invitation.h"

#include <gtest/gtest.h>

#include <numeric>

namespace spindled {
namespace {

spindle::bulk::BulkToken some_token() {
  spindle::bulk::BulkToken token;
  std::iota(token.begin(), token.end(), std::uint8_t{1});
  return token;
}

TEST(HopInvitation, IsReadAsItWasWritten) {
  for (const HopInvitation& each : {HopInvitation{0, some_token()}, HopInvitation{299, std::nullopt}}) {
    EXPECT_EQ(read_hop_invitation(write_hop_invitation(each), 300), each);
  }
}

TEST(HopInvitation, IsOfAMemberAndHasAWholeTokenOrNone) {
  const std::vector<std::uint8_t> whole = write_hop_invitation({2, some_token()});
  EXPECT_TRUE(read_hop_invitation(whole, 3));
  EXPECT_FALSE(read_hop_invitation(whole, 2)) << "there is no such member";
  EXPECT_FALSE(read_hop_invitation(whole, 0));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    EXPECT_EQ(read_hop_invitation(ByteView(whole).first(size), 3).has_value(), size == 1);
  }
  std::vector<std::uint8_t> longer = whole;
  longer.push_back(0);
  EXPECT_FALSE(read_hop_invitation(longer, 3));
}

}  // namespace
}  // namespace spindled
