#include "daemon/net/certificate_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "libclient/tls/certificate_text.h"
#include "tests/support/files.h"
#include "tests/unit/tls_pair.h"

namespace spindled {
namespace {

using spindle::WallTime;
using spindle::test::daemon_contents;
using spindle::test::kDay;
using spindle::test::kToday;
using spindle::test::make_bundle;
using spindle::test::TestAuthority;
using spindle::test::TestCertificate;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Lines final : public LogSink {
 public:
  bool wants(LogLevel) const override { return true; }
  void write(LogLevel level, std::string_view, std::string_view line) override {
    constexpr const char* kNames[] = {"debug", "info", "warning", "error"};
    lines_.push_back(std::string(kNames[static_cast<int>(level)]) + ": " + std::string(line));
  }
  /// Those since the last call.
  std::vector<std::string> take() { return std::exchange(lines_, {}); }

 private:
  std::vector<std::string> lines_;
};

class CertificateFilesTest : public testing::Test {
 protected:
  CertificateFilesTest() {
    config_.node.name = "alpha";
    config_.node.cluster = "trading";
    config_.tls.bundle = folder_.path("alpha.pem");
  }

  /// In place, at a time that no other call has.
  void write(const std::string& path, const std::string& text) {
    spindle::test::write_file(path, text);
    const timespec time{++writes_, 0}, times[] = {time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  /// The serial of a new certificate that the bundle has now.
  std::string issue(WallTime until = kToday + 300 * kDay, const std::string& name = "alpha") {
    spindle::test::CertificateContents contents = daemon_contents(name);
    contents.until = until;
    const TestCertificate issued = authority_.issue(contents);
    write(config_.tls.bundle, make_bundle(authority_, issued));
    return issued.serial;
  }
  void start() {
    const Result<CertificateFiles::Taken> taken = files_.take(config_, kToday);
    ASSERT_TRUE(taken) << taken.error().message();
  }
  std::string news() {
    const Result<CertificateFiles::Taken> taken = files_.take(config_, kToday);
    return taken ? taken->news : "error: " + std::string(taken.error().message());
  }
  static std::string serial_of(const Protection& protection) {
    return spindle::show_serial(protection.accepted_link->certificate()->serial);
  }

  spindle::test::TemporaryDirectory folder_;
  TestAuthority authority_;
  DaemonConfig config_;
  Lines log_;
  CertificateFiles files_{log_};
  std::time_t writes_ = 1'000'000'000;
};

TEST_F(CertificateFilesTest, AFileThatHasChangedIsTakenOnce) {
  issue();
  start();
  EXPECT_FALSE(files_.look(config_, kToday));
  EXPECT_THAT(log_.take(), IsEmpty());
  const std::string serial = issue();
  const std::optional<Protection> taken = files_.look(config_, kToday);
  ASSERT_TRUE(taken);
  EXPECT_EQ(serial_of(*taken), serial);
  EXPECT_THAT(log_.take(),
              ElementsAre("info: the certificates of " + config_.tls.bundle + " are taken: daemon:alpha, serial " +
                          serial + ", valid until 2026-12-26T00:00:00Z"));
  EXPECT_FALSE(files_.look(config_, kToday));
  EXPECT_THAT(log_.take(), IsEmpty());
}

TEST_F(CertificateFilesTest, ListsOfRevokedOnesAreLookedAtToo) {
  issue();
  config_.tls.revocation_lists = folder_.path("lists.crl");
  write(config_.tls.revocation_lists, authority_.revoke({}));
  start();
  const TestCertificate beta = authority_.issue(daemon_contents("beta"));
  write(config_.tls.revocation_lists, authority_.revoke({beta.serial}));
  const std::optional<Protection> taken = files_.look(config_, kToday);
  ASSERT_TRUE(taken);
  const auto context = spindle::test::make_context(spindle::test::kLinkDialling, make_bundle(authority_, beta));
  EXPECT_TRUE(taken->accepted_link->has_revoked(*context->certificate()));
  EXPECT_THAT(log_.take(), ElementsAre(HasSubstr("; those revoked by " + config_.tls.revocation_lists)));
}

TEST_F(CertificateFilesTest, AFileOfNoUseIsToldOnceForEachChange) {
  const std::string first = issue();
  start();
  write(config_.tls.bundle, "half of a f");
  EXPECT_FALSE(files_.look(config_, kToday));
  EXPECT_THAT(log_.take(), ElementsAre(AllOf(HasSubstr("error: tls.bundle = "), HasSubstr("there is nothing in it")),
                                       HasSubstr("nothing is taken: the certificates stay as they are")));
  EXPECT_FALSE(files_.look(config_, kToday));
  EXPECT_THAT(log_.take(), IsEmpty());
  write(config_.tls.bundle, "half of a fi");
  EXPECT_FALSE(files_.look(config_, kToday));
  EXPECT_EQ(log_.take().size(), 2u);
  issue(kToday + 300 * kDay, "beta");
  EXPECT_FALSE(files_.look(config_, kToday));
  EXPECT_THAT(log_.take().front(), HasSubstr("that of the daemon beta"));
  const std::string second = issue();
  const std::optional<Protection> taken = files_.look(config_, kToday);
  ASSERT_TRUE(taken);
  EXPECT_EQ(serial_of(*taken), second);
}

TEST_F(CertificateFilesTest, AFileThatIsGoneForAWhile) {
  issue();
  start();
  std::filesystem::remove(config_.tls.bundle);
  EXPECT_FALSE(files_.look(config_, kToday));
  EXPECT_THAT(log_.take().front(), HasSubstr("No such file"));
  EXPECT_FALSE(files_.look(config_, kToday));
  EXPECT_THAT(log_.take(), IsEmpty());
  issue();
  EXPECT_TRUE(files_.look(config_, kToday));
}

TEST_F(CertificateFilesTest, WhatIsOfNoUseYetIsTriedAgain) {
  issue();
  start();
  spindle::test::CertificateContents contents = daemon_contents("alpha");
  contents.from = kToday + std::chrono::hours(1);
  contents.until = kToday + 300 * kDay;
  write(config_.tls.bundle, make_bundle(authority_, contents));
  EXPECT_FALSE(files_.look(config_, kToday));
  EXPECT_THAT(log_.take().front(), HasSubstr("not valid yet"));
  EXPECT_FALSE(files_.look(config_, kToday + std::chrono::minutes(59)));
  EXPECT_THAT(log_.take(), IsEmpty());
  EXPECT_TRUE(files_.look(config_, kToday + std::chrono::hours(1)));
  EXPECT_THAT(log_.take(), ElementsAre(HasSubstr("are taken")));
}

TEST_F(CertificateFilesTest, WhatSighupHasTakenIsNotTakenAgain) {
  issue();
  start();
  EXPECT_EQ(news(), "");
  EXPECT_THAT(issue(), testing::Not(IsEmpty()));
  EXPECT_THAT(news(), HasSubstr("are taken: daemon:alpha"));
  EXPECT_EQ(news(), "");
  EXPECT_FALSE(files_.look(config_, kToday));
  EXPECT_THAT(log_.take(), IsEmpty());
}

TEST_F(CertificateFilesTest, WhatSighupHasRefusedIsNotToldAgain) {
  issue();
  start();
  write(config_.tls.bundle, "nothing");
  EXPECT_THAT(news(), HasSubstr("error: tls.bundle"));
  EXPECT_FALSE(files_.look(config_, kToday));
  EXPECT_THAT(log_.take(), IsEmpty());
}

TEST_F(CertificateFilesTest, AFileThatWasOnlyTriedIsNotLookedAfter) {
  issue();
  start();
  const DaemonConfig running = config_;
  config_.tls.bundle = folder_.path("other.pem");
  EXPECT_THAT(news(), HasSubstr("error: tls.bundle"));
  EXPECT_FALSE(files_.look(running, kToday));
  EXPECT_THAT(log_.take(), IsEmpty());
  issue();
  EXPECT_THAT(news(), HasSubstr("other.pem are taken"));
  EXPECT_FALSE(files_.look(config_, kToday));
}

TEST_F(CertificateFilesTest, WarnsOnceForEachThresholdAndAfterEachTake) {
  issue(kToday + 40 * kDay);
  start();
  files_.warn(kToday);
  EXPECT_THAT(log_.take(), IsEmpty());
  EXPECT_FALSE(files_.look(config_, kToday + 10 * kDay));
  EXPECT_THAT(log_.take(), ElementsAre(AllOf(StartsWith("warning: " + config_.tls.bundle + ": "),
                                             HasSubstr("daemon:alpha ends at 2026-04-10T00:00:00Z, 30 days left"))));
  EXPECT_FALSE(files_.look(config_, kToday + 11 * kDay));
  EXPECT_THAT(log_.take(), IsEmpty());
  EXPECT_EQ(news(), "");  // SIGHUP
  files_.warn(kToday + 12 * kDay);
  EXPECT_THAT(log_.take(), ElementsAre(HasSubstr("28 days left")));
  issue(kToday + 14 * kDay);
  EXPECT_TRUE(files_.look(config_, kToday + 12 * kDay));
  EXPECT_THAT(log_.take(), ElementsAre(HasSubstr("are taken"), HasSubstr("2 days left")));
}

TEST_F(CertificateFilesTest, WhatIsInForceIsWarnedOfWhileTheFileIsOfNoUse) {
  issue(kToday + 31 * kDay);
  start();
  files_.warn(kToday);
  write(config_.tls.bundle, "nothing");
  EXPECT_FALSE(files_.look(config_, kToday + 2 * kDay));
  EXPECT_EQ(log_.take().size(), 3u);
  EXPECT_FALSE(files_.look(config_, kToday + 30 * kDay));
  EXPECT_THAT(log_.take(), ElementsAre(HasSubstr("1 day left")));
}

TEST_F(CertificateFilesTest, WithoutABundleThereIsNothingToTake) {
  config_.tls.bundle.clear();
  EXPECT_EQ(news(), "");
  EXPECT_FALSE(files_.look(config_, kToday));
}

}  // namespace
}  // namespace spindled
