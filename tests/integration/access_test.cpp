// Rules of access with real accounts and certificates, and what clients and programs are told.
#include <gmock/gmock.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/integration/clients.h"
#include "tests/integration/identities.h"

namespace spindle::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// One section, with one identity and one pattern.
std::string rule(const std::string& who, const std::string& groups, const std::string& allow) {
  return "[[access]]\nwho = [\"" + who + "\"]\ngroups = [\"" + groups + "\"]\nallow = [" + allow + "]\n";
}
constexpr const char* kEverything = R"("send", "join", "create")";

/// As rules write it: the account that this test runs as.
std::string own_user() {
  const passwd* const user = ::getpwuid(::geteuid());
  return user == nullptr ? "uid:" + std::to_string(::geteuid()) : std::string("user:") + user->pw_name;
}
std::string own_group() {
  const group* const found = ::getgrgid(::getegid());
  return found == nullptr ? "gid:" + std::to_string(::getegid()) : std::string("group:") + found->gr_name;
}

Daemon with_rules(const std::string& configuration) {
  DaemonOptions options;
  options.configuration = configuration;
  return Daemon(options);
}

ConnectOptions by_tcp(const Daemon& daemon, const std::string& name) {
  ConnectOptions options;
  options.address = daemon.client_address();
  options.name = name;
  options.connect_timeout = kPatience;
  options.reconnect_timeout = {};  // tests look at the end of a connection
  return options;
}

RequestFailed next_failure(Connection& client) {
  for (;;) {
    Event event = next_event(client);
    if (auto* failed = event.get_if<RequestFailed>()) return std::move(*failed);
    if (event.is<Disconnected>()) throw std::runtime_error("the connection has ended");
  }
}

Finished run_spuser(const Daemon& daemon, std::vector<std::string> arguments) {
  ProcessOptions options;
  options.arguments = {"--connect", daemon.client_address()};
  options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
  return run(SPUSER_PATH, options);
}

TEST(Access, AccountsOfTheHostAndThoseWithoutOne) {
  for (const std::string& account : {own_user(), own_group()}) {
    Daemon daemon = with_rules(rule(account, "*", kEverything) + rule("local", "lobby", "\"join\", \"send\""));
    Connection own = daemon.connect("own");
    EXPECT_FALSE(own.join("lobby"));
    wait_for_members(own, "lobby", {"#own#alpha"});
    Connection guest = Connection::connect(by_tcp(daemon, "guest")).value();
    EXPECT_FALSE(guest.join("private"));
    const RequestFailed failed = next_failure(guest);
    EXPECT_EQ(failed.request, RequestFailed::Request::join);
    EXPECT_EQ(failed.group, "private");
    EXPECT_EQ(failed.error, Errc::access_denied);
    EXPECT_FALSE(guest.join("lobby"));
    wait_for_members(own, "lobby", {"#own#alpha", "#guest#alpha"});
    EXPECT_FALSE(guest.multicast(Service::agreed, "private", "lost"));
    EXPECT_EQ(next_failure(guest).request, RequestFailed::Request::send);
    EXPECT_FALSE(guest.multicast(Service::agreed, "lobby", "hello"));
    EXPECT_EQ(next_message(own).text(), "hello");
  }
}

TEST(Access, CertificatesAreIdentities) {
  Identities identities;
  DaemonOptions options =
      identities.daemon("alpha", rule("cert:feed", "*", kEverything) + rule("operator:*", "*", "\"join\"") +
                                     "[[names]]\npattern = \"feed\"\nwho = [\"cert:feed\"]\n");
  options.client_address = "tls:127.0.0.1:0";
  Daemon daemon(options);
  const auto connect = [&](const std::string& holder, const std::string& name) {
    ConnectOptions by_tls = by_tcp(daemon, name);
    by_tls.tls_bundle = identities.bundle(holder);
    return Connection::connect(by_tls);
  };
  EXPECT_EQ(connect("operator/anna", "feed").error(), Errc::access_denied);
  Connection feed = connect("client/feed", "feed").value();
  Connection anna = connect("operator/anna", "anna").value();
  EXPECT_FALSE(feed.join("news"));
  wait_for_members(feed, "news", {"#feed#alpha"});
  EXPECT_FALSE(anna.join("news"));
  wait_for_members(anna, "news", {"#feed#alpha", "#anna#alpha"});
  EXPECT_FALSE(anna.multicast(Service::agreed, "news", "not hers"));
  EXPECT_EQ(next_failure(anna).messages, 1u);
  EXPECT_FALSE(feed.multicast(Service::agreed, "news", "first"));
  EXPECT_EQ(next_message(anna).text(), "first");
}

TEST(Access, RulesThatChangeTakeMembersOut) {
  Daemon daemon = with_rules("");
  Connection guest = Connection::connect(by_tcp(daemon, "guest")).value();
  Connection own = daemon.connect("own");
  for (Connection* client : {&own, &guest}) EXPECT_FALSE(client->join("news"));
  wait_for_members(guest, "news", {"#own#alpha", "#guest#alpha"});
  daemon.reload(rule(own_user(), "*", kEverything));
  const RequestFailed failed = next_failure(guest);
  EXPECT_EQ(failed.request, RequestFailed::Request::membership);
  EXPECT_EQ(failed.group, "news");
  wait_for_members(own, "news", {"#own#alpha"});
  daemon.process().wait_for_line("from now on entries: [[access]] 1, [[names]] 0, [[quota]] 0");
  EXPECT_EQ(daemon.count("access_denied"), 1u);
}

TEST(Access, AccountsThatTheHostDoesNotHave) {
  Identities files;
  const std::string file =
      files.file("spindle.toml", rule("user:no-such-account", "*", "\"join\"") +
                                     "[[names]]\npattern = \"a\"\nwho = [\"group:no-such-group\"]\n");
  ProcessOptions options;
  options.arguments = {"--config", file, "--check"};
  const Finished refused = run(SPINDLED_PATH, options);
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.error, file + ": access.who: this host has no user:no-such-account\n" + file +
                               ": names.who: this host has no group:no-such-group\n");

  Daemon daemon = with_rules("");
  daemon.reload(rule("user:no-such-account", "*", "\"join\""));
  daemon.process().wait_for_line("this host has no user:no-such-account");
  daemon.expect_serving();
}

TEST(Access, NobodyWaitsForAnAccountThatIsLookedUp) {
  Identities files;
  const std::string gate = files.file("not-yet", "") + ".open";
  DaemonOptions options;
  options.process.environment = {std::string("LD_PRELOAD=") + SLOW_ACCOUNTS_PATH, "SLOW_ACCOUNTS_GATE=" + gate};
  Daemon daemon(options);
  daemon.reload(rule("user:slow", "*", kEverything) + rule("anyone", "*", kEverything));
  daemon.expect_serving();
  daemon.reload(rule("anyone", "*", kEverything));
  daemon.expect_serving();
  std::ofstream(gate) << "open";
  daemon.process().wait_for_line("from now on entries: [[access]] 1");
  daemon.expect_serving();
}

TEST(Access, AnAccountThatCannotBeLookedUpMayExist) {
  Identities files;
  const std::string file = files.file("spindle.toml", rule("user:unreachable", "*", "\"join\""));
  ProcessOptions options;
  options.arguments = {"--config", file, "--check"};
  options.environment = {std::string("LD_PRELOAD=") + SLOW_ACCOUNTS_PATH};
  const Finished refused = run(SPINDLED_PATH, options);
  EXPECT_EQ(refused.code, 3) << "who starts it is to try again";
  EXPECT_EQ(refused.error, file + ": access.who: user:unreachable cannot be looked up: Input/output error\n");
}

TEST(Access, AHangUpWhileItStartsIsNotItsEnd) {
  Identities files;
  const std::string gate = files.file("not-yet", "") + ".open";
  const std::string file =
      files.file("spindle.toml", "[listen]\nclients = []\nclient_socket = \"" + files.file("socket", "") + "s\"\n" +
                                     "admin_socket = \"" + files.file("admin", "") + "s\"\n" +
                                     rule("user:slow", "*", kEverything));
  ProcessOptions options;
  options.arguments = {"--config", file};
  options.environment = {std::string("LD_PRELOAD=") + SLOW_ACCOUNTS_PATH, "SLOW_ACCOUNTS_GATE=" + gate};
  Process daemon(SPINDLED_PATH, options);
  daemon.wait_for_line("looks up an account");
  daemon.signal(SIGHUP);
  std::ofstream(gate) << "open";
  daemon.wait_for_line("ready: daemon");
  daemon.wait_for_line("says nothing new");
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0);
}

TEST(Access, ADaemonStopsThoughAnAccountIsLookedUp) {
  Identities files;
  DaemonOptions options;
  options.process.environment = {std::string("LD_PRELOAD=") + SLOW_ACCOUNTS_PATH,
                                 "SLOW_ACCOUNTS_GATE=" + files.file("not-yet", "") + ".open"};
  Daemon daemon(options);
  daemon.reload(rule("user:slow", "*", kEverything));
  daemon.expect_serving();
  EXPECT_EQ(daemon.stop(), 0);
}

TEST(Access, DaemonsWithOtherRulesAreAnAlarm) {
  LineOfThree line;
  wait_for_one_view(line.all());
  EXPECT_THAT(run_spmonitor(line.alpha, {"status"}).out, Not(HasSubstr("alarm")));
  const std::string rules = rule("anyone", "*", kEverything);
  line.alpha.reload(rules);
  line.gamma.process().wait_for_line("warning overlay: alpha has other rules of access than this daemon");
  line.alpha.process().wait_for_line("warning overlay: gamma has other rules of access than this daemon");
  EXPECT_THAT(run_spmonitor(line.alpha, {"status"}).out, HasSubstr("([[access]], [[names]]) at beta gamma\n"));
  line.beta.reload(rules);
  line.gamma.reload(rules);
  line.alpha.process().wait_for_line("info overlay: gamma has the same rules of access as this daemon");
  line.gamma.process().wait_for_line("info overlay: beta has the same rules of access as this daemon");
  EXPECT_THAT(run_spmonitor(line.gamma, {"status"}).out, Not(HasSubstr("alarm")));
}

TEST(Access, TheAdministrationSocketIsForItsGroup) {
  Daemon daemon = with_rules("");
  struct stat found {};
  ASSERT_EQ(::stat(daemon.admin_socket().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0660u);
  EXPECT_EQ(run_spmonitor(daemon, {"admission", "off"}).code, 0);
  daemon.process().wait_for_line("info audit: uid:" + std::to_string(::geteuid()) + " from pid");
}

TEST(Access, SpuserTellsWhatIsRefused) {
  Daemon daemon =
      with_rules(rule("local", "lobby", "\"join\", \"create\"") + "[[names]]\npattern = \"root\"\nwho = []\n");
  const Finished subscribe = run_spuser(daemon, {"subscribe", "news"});
  EXPECT_EQ(subscribe.code, 4);
  EXPECT_THAT(subscribe.error, HasSubstr("the daemon refused to join news: "));
  Identities files;
  const Finished publish = run_spuser(daemon, {"publish", "lobby", "--file", files.file("lines", "one\ntwo\n")});
  EXPECT_EQ(publish.code, 4);
  EXPECT_THAT(publish.error, AllOf(HasSubstr("the daemon refused "), HasSubstr(" to lobby: ")));
  const Finished name = run_spuser(daemon, {"--name", "root", "subscribe", "lobby"});
  EXPECT_NE(name.code, 0);
  EXPECT_THAT(name.error, HasSubstr("access"));
}

}  // namespace
}  // namespace spindle::test
