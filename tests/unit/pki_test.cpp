// The files that `spmonitor pki` makes, as the functions behind it make them, at a time of the test's own.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "tests/support/files.h"
#include "tools/spmonitor/pki/authority_file.h"
#include "tools/spmonitor/pki/issue.h"
#include "tools/spmonitor/pki/issued_log.h"
#include "tools/spmonitor/pki/revocation_list.h"
#include "tools/spmonitor/pki/revoke.h"
#include "tools/spmonitor/pki/show.h"
#include "tools/spmonitor/pki/trust.h"

namespace spmonitor::pki {
namespace {

using spindle::CertificateBundle;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Kind = CertificateName::Kind;

using std::chrono::days;
using std::chrono::minutes;

constexpr Time kNow = std::chrono::sys_days(std::chrono::year(2027) / 3 / 1) + minutes(90);

/// A folder with the CA of the cluster "trading" in it.
class Pki : public testing::Test {
 protected:
  void SetUp() override { make_ca("trading.ca"); }

  std::string path(const std::string& file) const { return folder_.path(file); }
  void make_ca(const std::string& file, const std::string& cluster = "trading", Time at = kNow) {
    const Result<std::string> made = init({cluster, path(file)}, at);
    ASSERT_TRUE(made) << made.error();
  }
  IssueOptions request(const std::string& name, Kind kind = Kind::daemon) const {
    IssueOptions options;
    options.authority_path = path("trading.ca");
    options.kind = kind;
    options.name = name;
    options.output = path(name + ".pem");
    return options;
  }
  void issue_to(const std::string& name, Kind kind = Kind::daemon) {
    const Result<std::string> issued = issue(request(name, kind), kNow);
    ASSERT_TRUE(issued) << issued.error();
  }
  CertificateBundle load(const std::string& file) { return load_bundle(path(file)).value(); }
  std::string text(const std::string& file) { return spindle::test::read_file(path(file)); }
  void write(const std::string& file, const std::string& text) { spindle::test::write_file(path(file), text); }
  Result<std::string> revoke_in(const std::string& authority, const std::string& target,
                                std::optional<Kind> kind = std::nullopt) {
    return revoke({path(authority), kind, target}, kNow);
  }
  mode_t mode(const std::string& file) {
    struct stat status {};
    EXPECT_EQ(::stat(path(file).c_str(), &status), 0);
    return status.st_mode & 0777;
  }

 private:
  spindle::test::TemporaryDirectory folder_;
};

/// The failure of what should not have worked.
template <typename T>
std::string failure(const Result<T>& result) {
  return result ? "it worked" : result.error();
}

TEST_F(Pki, IssuesUnderItsCa) {
  issue_to("alpha");
  const CertificateBundle ca = load("trading.ca"), alpha = load("alpha.pem");
  EXPECT_EQ(spindle::name_of(*alpha.certificate), (CertificateName{"trading", Kind::daemon, "alpha"}));
  EXPECT_EQ(X509_check_private_key(alpha.certificate.get(), alpha.key.get()), 1);
  EXPECT_TRUE(is_issued_by(*alpha.certificate, *ca.authorities.at(0)));
  EXPECT_EQ(X509_check_issued(ca.authorities[0].get(), alpha.certificate.get()), X509_V_OK);
  EXPECT_EQ(X509_cmp(alpha.authorities.at(0).get(), ca.authorities[0].get()), 0);
  EXPECT_EQ(serial_of(*alpha.certificate).size(), 32u);
  EXPECT_EQ(from_asn_time(X509_get0_notBefore(alpha.certificate.get())), kNow - minutes(5));
  EXPECT_EQ(from_asn_time(X509_get0_notAfter(alpha.certificate.get())), kNow + days(365));
  EXPECT_EQ(from_asn_time(X509_get0_notAfter(ca.authorities[0].get())), kNow + days(3652));
  for (const char* file : {"trading.ca", "alpha.pem", "trading.issued"}) EXPECT_EQ(mode(file), 0600u) << file;
  EXPECT_EQ(text("trading.issued"),
            serial_of(*alpha.certificate) + " spindle://trading/daemon/alpha 2028-02-29T01:30:00Z\n");
}

TEST_F(Pki, ACertificateEndsWithItsCa) {
  const Result<std::string> issued = issue(request("alpha"), kNow + days(3600));
  ASSERT_TRUE(issued) << issued.error();
  EXPECT_EQ(from_asn_time(X509_get0_notAfter(load("alpha.pem").certificate.get())), kNow + days(3652));
  EXPECT_THAT(failure(issue(request("beta"), kNow + days(3652))), HasSubstr("trading.ca: expired at"));
}

TEST_F(Pki, RefusesNamesThatAreNone) {
  for (const char* name : {"", "al pha", "al#pha", "alph\xc3\xa4", "al\npha"}) {
    EXPECT_THAT(failure(issue(request(name), kNow)), HasSubstr("is no name")) << name;
    EXPECT_THAT(failure(init({name, path("x.ca")}, kNow)), HasSubstr("is no name")) << name;
  }
  EXPECT_THAT(failure(issue(request(std::string(65, 'x')), kNow)), HasSubstr("is no name"));
  EXPECT_THAT(failure(issue(request("*", Kind::client), kNow)), HasSubstr("stands for any daemon"));
  IssueOptions slash = request("a/b");
  slash.output.clear();
  EXPECT_THAT(failure(issue(slash, kNow)), HasSubstr("give --output FILE"));
  IssueOptions host = request("alpha");
  host.dns_names = {"a,IP:192.0.2.1"};
  EXPECT_THAT(failure(issue(host, kNow)), HasSubstr("is no host name"));
  host.dns_names = {};
  host.addresses = {"192.0.2"};
  EXPECT_THAT(failure(issue(host, kNow)), HasSubstr("192.0.2 is no IP address"));
  EXPECT_FALSE(std::filesystem::exists(path("trading.issued"))) << text("trading.issued");
}

TEST_F(Pki, AnyNameFitsIntoACertificate) {
  const std::string longest(64, 'x');
  make_ca("long.ca", longest);
  IssueOptions options = request("a,b=c/d\"+;\\");
  options.authority_path = path("long.ca");
  options.output = path("odd.pem");
  ASSERT_TRUE(issue(options, kNow));
  EXPECT_EQ(spindle::name_of(*load("odd.pem").certificate), (CertificateName{longest, Kind::daemon, options.name}));
}

TEST_F(Pki, ReplacesCertificatesOnlyWhenForcedAndCasNever) {
  issue_to("alpha");
  const std::string before = text("alpha.pem"), ca = text("trading.ca");
  EXPECT_THAT(failure(issue(request("alpha"), kNow)), HasSubstr("--force replaces it"));
  EXPECT_EQ(text("alpha.pem"), before);
  IssueOptions forced = request("alpha");
  forced.force = true;
  ASSERT_TRUE(issue(forced, kNow));
  EXPECT_NE(text("alpha.pem"), before);

  write("notes", "do not lose this\n");
  for (const char* file : {"trading.ca", "notes"}) {
    forced.output = path(file);
    EXPECT_THAT(failure(issue(forced, kNow)), HasSubstr("is not replaced")) << file;
  }
  EXPECT_THAT(failure(init({"trading", path("trading.ca")}, kNow)), HasSubstr("a CA is never replaced"));
  EXPECT_EQ(text("trading.ca"), ca);
  EXPECT_THAT(failure(init({"trading", path("trading")}, kNow)), HasSubstr("trading.issued: is there already"));
}

TEST_F(Pki, RefusesWhatIsNoCa) {
  issue_to("alpha");
  make_ca("other.ca");
  IssueOptions options = request("beta");
  const auto refusal = [&](const std::string& file) {
    options.authority_path = path(file);
    return failure(issue(options, kNow));
  };
  EXPECT_THAT(refusal("nothing"), HasSubstr("No such file"));
  EXPECT_THAT(refusal("alpha.pem"), HasSubstr("is not of a CA but of daemon:alpha"));
  write("text", "hello\n");
  EXPECT_THAT(refusal("text"), HasSubstr("holds no key, certificate or list"));
  const std::string good = text("trading.ca"), other = text("other.ca");
  const std::size_t end_of_key = good.find("-----BEGIN CERTIFICATE");
  write("cut.ca", good.substr(0, good.size() - 100));
  EXPECT_THAT(refusal("cut.ca"), HasSubstr("cut.ca: a block is damaged or cut short"));
  write("half.ca", good.substr(0, end_of_key));
  EXPECT_THAT(refusal("half.ca"), HasSubstr("does not hold the key and the certificate of a CA"));
  write("mixed.ca", good.substr(0, end_of_key) + other.substr(other.find("-----BEGIN CERTIFICATE")));
  EXPECT_THAT(refusal("mixed.ca"), HasSubstr("the key is not that of the certificate"));
}

TEST_F(Pki, TrustsAnotherCaOfTheClusterOnly) {
  make_ca("next.ca");
  make_ca("elsewhere.ca", "elsewhere");
  IssueOptions options = request("alpha");
  options.trusted_paths = {path("next.ca"), path("trading.ca")};
  ASSERT_TRUE(issue(options, kNow));
  EXPECT_EQ(load("alpha.pem").authorities.size(), 2u);
  options = request("beta");
  options.trusted_paths = {path("elsewhere.ca")};
  EXPECT_THAT(failure(issue(options, kNow)), HasSubstr("is of another cluster"));
}

TEST_F(Pki, ManyIssueAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, i] { EXPECT_TRUE(issue(request("daemon" + std::to_string(i)), kNow)); });
  }
  for (std::thread& thread : threads) thread.join();
  const Result<std::vector<Issued>> issued = parse_issued(text("trading.issued"));
  ASSERT_TRUE(issued) << issued.error();
  EXPECT_EQ(issued->size(), 8u);
}

TEST_F(Pki, ALineThatWasCutShortIsOverwritten) {
  issue_to("alpha");
  const std::string whole = text("trading.issued");
  write("trading.issued", whole + "0123ABCD spindle://tra");
  issue_to("beta");
  const std::string after = text("trading.issued");
  EXPECT_TRUE(after.starts_with(whole));
  EXPECT_EQ(parse_issued(after)->size(), 2u) << after;
  write("trading.issued", whole + "what is this\n");
  EXPECT_THAT(failure(issue(request("gamma"), kNow)), HasSubstr("trading.issued:2: is no line"));
  EXPECT_FALSE(std::filesystem::exists(path("gamma.pem")));
}

TEST_F(Pki, RevokesByFileAndByName) {
  issue_to("alpha");
  issue_to("feed", Kind::client);
  issue_to("anna", Kind::administrator);
  ASSERT_TRUE(revoke_in("trading.ca", path("alpha.pem")));
  ASSERT_TRUE(revoke_in("trading.ca", "feed", Kind::client));
  EXPECT_EQ(mode("trading.crl"), 0644u);
  const CertificateBundle crl = load("trading.crl");
  X509_CRL& list = *crl.revocation_lists.at(0);
  EXPECT_TRUE(is_revoked(list, serial_of(*load("alpha.pem").certificate)));
  EXPECT_TRUE(is_revoked(list, serial_of(*load("feed.pem").certificate)));
  EXPECT_FALSE(is_revoked(list, serial_of(*load("anna.pem").certificate)));
  EXPECT_EQ(from_asn_time(X509_CRL_get0_nextUpdate(&list)), kNow + days(3652));
}

TEST_F(Pki, RevokingTwiceIsNoError) {
  issue_to("alpha");
  EXPECT_THAT(revoke_in("trading.ca", "alpha").value(), HasSubstr("of daemon:alpha: is revoked"));
  EXPECT_THAT(revoke_in("trading.ca", path("alpha.pem")).value(), HasSubstr("of daemon:alpha: was revoked before"));
  const CertificateBundle crl = load("trading.crl");
  EXPECT_EQ(sk_X509_REVOKED_num(X509_CRL_get_REVOKED(crl.revocation_lists.at(0).get())), 1);
}

TEST_F(Pki, ANameIsRevokedWithAllItsCertificates) {
  issue_to("alpha");
  const std::string first = serial_of(*load("alpha.pem").certificate);
  IssueOptions renewed = request("alpha");
  renewed.force = true;
  ASSERT_TRUE(issue(renewed, kNow));
  const std::string second = serial_of(*load("alpha.pem").certificate);
  EXPECT_THAT(revoke_in("trading.ca", "alpha").value(), AllOf(HasSubstr(first), HasSubstr(second)));
}

TEST_F(Pki, RevokesOnlyWhatItsCaHasIssued) {
  issue_to("alpha");
  make_ca("other.ca");
  EXPECT_THAT(failure(revoke_in("other.ca", path("alpha.pem"))), HasSubstr("was not issued by"));
  EXPECT_THAT(failure(revoke_in("other.ca", "alpha")), HasSubstr("names no certificate of daemon:alpha"));
  EXPECT_THAT(failure(revoke_in("trading.ca", "alpha", Kind::client)), HasSubstr("names no certificate of cert:alpha"));
  EXPECT_THAT(failure(revoke_in("trading.ca", path("trading.ca"))), HasSubstr("holds no certificate to revoke"));
  ASSERT_TRUE(revoke_in("trading.ca", "alpha"));
  write("other.crl", text("trading.crl"));
  write("other.issued", text("trading.issued"));
  EXPECT_THAT(failure(revoke_in("other.ca", "alpha")), HasSubstr("is not the list of this CA"));
}

TEST_F(Pki, ShowsWhatAFileHolds) {
  IssueOptions options = request("alpha");
  options.dns_names = {"alpha.example.org"};
  options.addresses = {"192.0.2.1", "2001:db8::1"};
  ASSERT_TRUE(issue(options, kNow));
  const Result<Shown> shown = show(path("alpha.pem"), kNow);
  ASSERT_TRUE(shown) << shown.error();
  EXPECT_EQ(shown->problems, 0u) << shown->text;
  const std::string serial = serial_of(*load("alpha.pem").certificate);
  for (const std::string& part :
       {std::string("daemon:alpha of cluster trading"), std::string("spindle://trading/daemon/alpha"), serial,
        std::string("alpha.example.org 192.0.2.1 2001:db8::1"), std::string("2027-03-01T01:25:00Z"),
        std::string("2028-02-29T01:30:00Z, 365 days left"), std::string("EC prime256v1"),
        std::string("O = trading, CN = alpha"), std::string("CA            of cluster trading")}) {
    EXPECT_THAT(shown->text, HasSubstr(part));
  }
  ASSERT_TRUE(revoke_in("trading.ca", "alpha"));
  EXPECT_THAT(show(path("trading.crl"), kNow)->text, HasSubstr(serial + " since 2027-03-01T01:25:00Z, daemon:alpha"));
  std::filesystem::rename(path("trading.issued"), path("elsewhere"));
  EXPECT_THAT(show(path("trading.crl"), kNow)->text, AllOf(HasSubstr(serial), Not(HasSubstr("daemon:alpha"))));
}

TEST_F(Pki, WritesWhatIsTrustedAlone) {
  issue_to("alpha");
  const std::string ca = text("trading.ca");
  const std::string certificate = ca.substr(ca.find("-----BEGIN CERTIFICATE"));
  for (const char* from : {"trading.ca", "alpha.pem"}) {
    const std::string to = std::string(from) + ".crt";
    const Result<std::string> made = trust({path(from), path(to)});
    ASSERT_TRUE(made) << made.error();
    EXPECT_EQ(text(to), certificate) << "and no key";
    EXPECT_EQ(mode(to), 0644u);
  }
  make_ca("next.ca");
  write("both.pem", certificate + text("next.ca"));
  EXPECT_THAT(failure(trust({path("both.pem"), path("alpha.pem.crt")})), HasSubstr("--force replaces it"));
  const Result<std::string> both = trust({path("both.pem"), path("alpha.pem.crt"), true});
  ASSERT_TRUE(both) << both.error();
  EXPECT_THAT(*both, HasSubstr("2 CA certificates"));
  EXPECT_EQ(load("alpha.pem.crt").authorities.size(), 2u);
  EXPECT_FALSE(load("alpha.pem.crt").key);
}

TEST_F(Pki, WhatIsTrustedReplacesNothingElse) {
  issue_to("alpha");
  write("notes", "do not lose this\n");
  for (const char* file : {"trading.ca", "alpha.pem", "notes"}) {
    const std::string before = text(file);
    EXPECT_THAT(failure(trust({path("trading.ca"), path(file), true})), HasSubstr("move it away"));
    EXPECT_EQ(text(file), before);
  }
  EXPECT_THAT(failure(trust({path("notes"), path("x.crt")})), HasSubstr("notes: holds no key, certificate"));
  ASSERT_TRUE(revoke_in("trading.ca", path("alpha.pem")));
  EXPECT_THAT(failure(trust({path("trading.crl"), path("x.crt")})), HasSubstr("holds no certificate of a CA"));
}

TEST_F(Pki, ShowsWhatIsWrong) {
  issue_to("alpha");
  issue_to("beta");
  const auto problems = [&](const std::string& file, Time now) {
    const Result<Shown> shown = show(path(file), now);
    return shown ? std::to_string(shown->problems) + " problems: " + shown->text : shown.error();
  };
  EXPECT_THAT(problems("alpha.pem", kNow + days(365)), AllOf(HasSubstr("1 problems"), HasSubstr("it has expired")));
  EXPECT_THAT(problems("alpha.pem", kNow - days(1)), AllOf(HasSubstr("2 problems"), HasSubstr("it is not valid yet")));
  const std::string alpha = text("alpha.pem"), beta = text("beta.pem");
  const std::string certificates_of_beta = beta.substr(beta.find("-----BEGIN CERTIFICATE"));
  write("mixed.pem", alpha.substr(0, alpha.find("-----BEGIN CERTIFICATE")) + certificates_of_beta);
  EXPECT_THAT(problems("mixed.pem", kNow),
              AllOf(HasSubstr("2 problems"), HasSubstr("it does not match the certificate"), HasSubstr("chmod 600")));
  write("alone.pem", alpha.substr(0, alpha.rfind("-----BEGIN CERTIFICATE")));
  std::filesystem::permissions(path("alone.pem"), std::filesystem::perms::owner_read);
  EXPECT_THAT(problems("alone.pem", kNow),
              AllOf(HasSubstr("1 problems"), HasSubstr("the CA that has issued it is not in the file")));
  for (const std::string& secret : {text("trading.ca"), alpha}) {
    const std::string body = secret.substr(secret.find('\n') + 1, 64);
    EXPECT_THAT(problems("trading.ca", kNow) + problems("alpha.pem", kNow), Not(HasSubstr(body)));
  }
}

}  // namespace
}  // namespace spmonitor::pki
