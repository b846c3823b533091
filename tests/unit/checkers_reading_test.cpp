// The checker of who reads and is nevertheless cut off, on histories that are right and on ones that are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/base/result.h"
#include "tests/unit/checkers_writer.h"

namespace spindled::checkers {
namespace {

using testing::HasSubstr;

/// All that is written is of one client, at times in seconds.
class Writer : public HistoryWriter<Writer> {
 public:
  explicit Writer(SlowPolicy policy = SlowPolicy::price) {
    at('a');
    current().policy = policy;
  }
  Writer& is_slow_from(int second) {
    current().slow_since = time(second);
    return *this;
  }
  Writer& is_closed(int second, Errc code) {
    current().events.push_back({time(second), Closed{static_cast<std::uint16_t>(code), "why"}});
    return *this;
  }
  Writer& has_scarce_memory() {
    history().is_memory_scarce = true;
    return *this;
  }
  Writer& is_closed_beyond_memory(int second) {
    const std::string text =
        "it holds 1 bytes of the daemon's memory; more than all memory is used: limits.memory_bytes is 1";
    current().events.push_back({time(second), Closed{static_cast<std::uint16_t>(Errc::slow_receiver), text}});
    return *this;
  }
  Writer& loses_connection(int second) {
    current().ends_untold.push_back(time(second));
    return *this;
  }
  Writer& has_untaken(std::uint64_t messages, std::uint64_t bytes_unsent) {
    current().messages_untaken = messages;
    current().bytes_unsent = bytes_unsent;
    return *this;
  }
  Violations violations(bool at_rest = false) const { return check_reading(history(), at_rest); }

 private:
  static Time time(int second) { return Time(std::chrono::seconds(second)); }
};

TEST(CheckReading, WhoReadsAllIsNoSlowReceiver) {
  const Violations found = Writer().is_closed(5, Errc::slow_receiver).violations();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0], HasSubstr("reading: #a#d reads all that comes, and was cut off: why"));
  EXPECT_TRUE(Writer().violations().empty());
  EXPECT_TRUE(Writer().is_closed(5, Errc::daemon_stopping).violations().empty()) << "for another reason";
  EXPECT_TRUE(Writer().is_closed(5, Errc::connection_lost).violations().empty()) << "its daemon may be gone";
}

TEST(CheckReading, BeyondAllMemoryWhoHoldsMostIsCutOff) {
  EXPECT_TRUE(Writer().has_scarce_memory().is_closed_beyond_memory(5).violations().empty());
  EXPECT_EQ(Writer().has_scarce_memory().is_closed(5, Errc::slow_receiver).violations().size(), 1u) << "there is some";
  EXPECT_EQ(Writer().is_closed_beyond_memory(5).violations().size(), 1u) << "a daemon with enough is not to say so";
}

TEST(CheckReading, WhoDoesNotReadAllMayBeCutOffFromThenOn) {
  EXPECT_TRUE(Writer().is_slow_from(3).is_closed(5, Errc::slow_receiver).violations().empty());
  EXPECT_EQ(Writer().is_slow_from(6).is_closed(5, Errc::slow_receiver).violations().size(), 1u);
}

/// There messages for a client that is fast enough may be too many, too.
TEST(CheckReading, WithOtherPoliciesWhoReadsMayBeCutOff) {
  for (const SlowPolicy each : {SlowPolicy::drop, SlowPolicy::disconnect, SlowPolicy::daemon_default}) {
    EXPECT_TRUE(Writer(each).is_closed(5, Errc::slow_receiver).violations().empty());
  }
}

TEST(CheckReading, ADaemonThatGoesOnSaysWhyItEndsAConnection) {
  for (const SlowPolicy each : {SlowPolicy::price, SlowPolicy::drop, SlowPolicy::disconnect}) {
    const Violations found = Writer(each).loses_connection(4).loses_connection(7).violations();
    ASSERT_EQ(found.size(), 2u);
    EXPECT_THAT(found[1], HasSubstr("ended its connection at 7.000000 s and not said why"));
    EXPECT_EQ(Writer(each).is_slow_from(5).loses_connection(4).loses_connection(7).violations().size(), 1u);
  }
}

TEST(CheckReading, AtRestEverythingIsTaken) {
  EXPECT_EQ(Writer().has_untaken(2, 0).violations(true).size(), 1u);
  EXPECT_EQ(Writer().has_untaken(0, 30).violations(true).size(), 1u);
  EXPECT_EQ(Writer(SlowPolicy::drop).is_slow_from(1).has_untaken(2, 30).violations(true).size(), 1u)
      << "by then all have read all";
  EXPECT_TRUE(Writer().has_untaken(2, 30).violations().empty()) << "it may still be on its way";
  EXPECT_TRUE(Writer().violations(true).empty());
  EXPECT_TRUE(Writer().has_untaken(2, 30).is_closed(5, Errc::closed_by_client).violations(true).empty());
}

TEST(CheckReading, IsOneOfAllCheckers) {
  EXPECT_EQ(check_all(Writer().is_closed(5, Errc::slow_receiver).history(), false).size(), 1u);
  EXPECT_EQ(check_all(Writer().has_untaken(2, 0).history(), true).size(), 1u);
}

}  // namespace
}  // namespace spindled::checkers
