#include "daemon/net/certificate_end.h"

#include <gmock/gmock.h>

#include "tests/unit/tls_pair.h"

namespace spindled {
namespace {

using namespace std::chrono_literals;
using spindle::CertificateBundle;
using spindle::WallTime;
using spindle::test::CertificateContents;
using spindle::test::daemon_contents;
using spindle::test::kDay;
using spindle::test::kToday;
using spindle::test::make_bundle;
using spindle::test::TestAuthority;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr WallTime kEnd = kToday + 100 * kDay;

/// Warnings of one certificate that ends at kEnd.
std::vector<std::string> warn(std::optional<WallTime> before, WallTime now) {
  return warn_of_ends({{"it", "do something", kEnd}}, before, now);
}

TEST(CertificateEnd, AFirstLookTellsOfWhatIsClose) {
  EXPECT_THAT(warn({}, kEnd - 30 * kDay - 1s), IsEmpty());
  const auto at_first = [](auto left) { return warn({}, kEnd - left); };
  EXPECT_THAT(at_first(30 * kDay), ElementsAre("it ends at 2026-06-09T00:00:00Z, 30 days left: do something"));
  EXPECT_THAT(at_first(5 * kDay + 1h), ElementsAre("it ends at 2026-06-09T00:00:00Z, 5 days left: do something"));
  EXPECT_THAT(at_first(kDay), ElementsAre("it ends at 2026-06-09T00:00:00Z, 1 day left: do something"));
  EXPECT_THAT(at_first(1s), ElementsAre("it ends at 2026-06-09T00:00:00Z, less than a day left: do something"));
  EXPECT_THAT(at_first(0s), ElementsAre("it has ended at 2026-06-09T00:00:00Z, and nobody accepts it: do something"));
  EXPECT_EQ(at_first(-400 * kDay).size(), 1u);
}

TEST(CertificateEnd, ThresholdsAreToldOnceEach) {
  std::vector<std::chrono::hours> told;
  WallTime before = kToday;
  for (WallTime now = kToday; now < kEnd + 10 * kDay; before = now, now += 1h) {
    const std::size_t warnings = warn(before, now).size();
    for (std::size_t i = 0; i < warnings; ++i) told.push_back(std::chrono::floor<std::chrono::hours>(kEnd - now));
  }
  EXPECT_THAT(told, ElementsAre(30 * kDay, 7 * kDay, 1 * kDay, 0h));
}

TEST(CertificateEnd, SeveralThresholdsAtOnceAreOneWarning) {
  EXPECT_THAT(warn(kToday, kEnd - 1h), ElementsAre(HasSubstr("less than a day left")));
}

TEST(CertificateEnd, AClockThatWasAheadIsForgiven) {
  EXPECT_THAT(warn(kEnd + kDay, kEnd - 20 * kDay), IsEmpty());
  EXPECT_THAT(warn(kEnd - 20 * kDay, kEnd - 7 * kDay), ElementsAre(HasSubstr("7 days left")));
}

CertificateBundle parse(const std::string& pem) {
  std::string error;
  std::optional<CertificateBundle> bundle = spindle::parse_bundle(pem, error);
  EXPECT_TRUE(bundle) << error;
  return std::move(*bundle);
}

TEST(CertificateEnd, OfTheHolderAndAllAuthorities) {
  const TestAuthority old("the old CA"), next("the next CA");
  CertificateContents contents = daemon_contents("alpha");
  contents.until = kEnd;
  const auto ends = read_ends(parse(make_bundle(old, contents) + next.certificate()));
  ASSERT_EQ(ends.size(), 3u);
  EXPECT_EQ(ends[0].what, "the certificate of daemon:alpha");
  EXPECT_THAT(ends[0].remedy, HasSubstr("`spmonitor pki issue trading.ca alpha`"));
  EXPECT_EQ(ends[0].time, kEnd);
  EXPECT_EQ(ends[1].what, "the CA certificate CN = the old CA");
  EXPECT_EQ(ends[2].what, "the CA certificate CN = the next CA");
  EXPECT_EQ(ends[2].time, kToday + std::chrono::days(3652));
  EXPECT_THAT(ends[2].remedy, AllOf(HasSubstr("spmonitor pki init"), HasSubstr("spmonitor pki issue --trust")));
}

TEST(CertificateEnd, OfACertificateForAnyDaemon) {
  const TestAuthority authority;
  const auto ends = read_ends(parse(make_bundle(authority, daemon_contents("*"))));
  EXPECT_EQ(ends.front().what, "the certificate of daemon:*");
  EXPECT_THAT(ends.front().remedy, HasSubstr("`spmonitor pki issue trading.ca --any-daemon`"));
}

}  // namespace
}  // namespace spindled
