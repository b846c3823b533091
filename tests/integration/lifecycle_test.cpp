// How spindled starts, refuses to start, and stops; and what it does when the system has nothing left to give.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/integration/clients.h"
#include "tests/integration/identities.h"
#include "tests/integration/namespaces.h"
#include "tests/integration/needs.h"
#include "tests/integration/raw_socket.h"

namespace spindle::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The exit codes that `spindled --help` tells.
constexpr int kBadConfiguration = 1;
constexpr int kBadCommandLine = 2;
constexpr int kCannotStart = 3;

Finished run_spindled(std::vector<std::string> arguments) {
  ProcessOptions options;
  options.arguments = std::move(arguments);
  return run(SPINDLED_PATH, options);
}

/// A socket file that nobody listens on any more.
void leave_stale_socket(const std::string& path) {
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(socket.get(), 1), 0);
}

TEST(CommandLine, HelpAndVersion) {
  const Finished version = run_spindled({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out.substr(0, 9), "spindled ");
  const Finished help = run_spindled({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* word : {"--config", "--check", "--name", "--listen", "--neighbour", "--bundle", "--insecure",
                           "--log-level", "Exit codes"}) {
    EXPECT_NE(help.out.find(word), std::string::npos) << word;
  }
}

TEST(CommandLine, WhatIsWrongIsNamed) {
  const std::pair<std::vector<std::string>, const char*> lines[] = {
      {{"--no-such-option"}, "--no-such-option"}, {{"--name", "two words"}, "--name"},
      {{"--listen", "nowhere"}, "--listen"},      {{"--neighbour", "nobody"}, "--neighbour"},
      {{"--log-level", "loud"}, "--log-level"},   {{"--config", ""}, "--config"},
  };
  for (const auto& [arguments, named] : lines) {
    const Finished finished = run_spindled(arguments);
    EXPECT_EQ(finished.code, kBadCommandLine) << named;
    EXPECT_NE(finished.error.find(named), std::string::npos) << finished.error;
  }
}

TEST(CommandLine, WhatItExposesIsNamed) {
  const std::pair<std::string, const char*> options[] = {{"--listen", "0.0.0.0:4804"}, {"--neighbour", "beta:4804"}};
  for (const auto& [option, address] : options) {
    const Finished refused = run_spindled({"--check", option, address});
    EXPECT_EQ(refused.code, kBadCommandLine);
    EXPECT_THAT(refused.error, AllOf(StartsWith("spindled: " + option + ": \"" + address + "\""), HasSubstr("--bundle"),
                                     HasSubstr("--insecure")));
    const Finished allowed = run_spindled({"--check", "--insecure", option, address});
    EXPECT_EQ(allowed.code, 0) << allowed.error;
  }
}

TEST(CommandLine, ABundleIsNamedFromWhereTheDaemonStarts) {
  const Finished printed = run_spindled({"--print-config", "--bundle", "alpha.pem", "--neighbour", "beta:4804"});
  EXPECT_EQ(printed.code, 0) << printed.error;
  EXPECT_THAT(printed.out, HasSubstr("\nbundle = \"" + std::filesystem::current_path().string() + "/alpha.pem\"\n"));
  EXPECT_THAT(printed.out, HasSubstr("\nlinks = [\"0.0.0.0:4804\"]\n"));
  const Finished checked = run_spindled({"--check", "--bundle", "/no/such/bundle"});
  EXPECT_EQ(checked.code, kBadConfiguration);
  EXPECT_EQ(checked.error, "spindled: tls.bundle: /no/such/bundle cannot be read: No such file or directory\n");
}

TEST(Check, AcceptsAGoodFileInSilence) {
  TemporaryDirectory directory;
  const std::string file = directory.path("good.toml");
  write_file(file, "[daemon]\nname = \"alpha\"\n\n[link]\nheartbeat_interval_ms = 100\n");
  const Finished finished = run_spindled({"--check", "--config", file});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.out + finished.error, "");
}

TEST(Check, NamesFileLineAndKeyOfEveryError) {
  TemporaryDirectory directory;
  const std::string file = directory.path("bad.toml");
  write_file(file, "[daemon]\nname = \"two words\"\n\n[link]\nheartbeat_interval_ms = 1\nhallo = 2\n");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--check", "--config", file}, {"--config", file}}) {
    const Finished finished = run_spindled(arguments);
    EXPECT_EQ(finished.code, kBadConfiguration);
    EXPECT_EQ(finished.out, "");
    for (const char* place : {":2: daemon.name: ", ":5: link.heartbeat_interval_ms: ", ":6: link.hallo: "}) {
      EXPECT_NE(finished.error.find(file + place), std::string::npos) << finished.error;
    }
  }
  const std::string missing = directory.path("missing.toml");
  const Finished finished = run_spindled({"--check", "--config", missing});
  EXPECT_EQ(finished.code, kBadConfiguration);
  EXPECT_NE(finished.error.find(missing), std::string::npos) << finished.error;
}

TEST(Check, RefusesAFileThatExposesTheDaemonUnlessTold) {
  TemporaryDirectory directory;
  Identities identities;
  const std::string file = directory.path("exposed.toml"), bundle = identities.bundle("daemon/*");
  write_file(file, "[listen]\nlinks = [\"0.0.0.0:4804\"]\n\n[[neighbour]]\naddress = \"beta.example.org:4804\"\n");
  const Finished refused = run_spindled({"--check", "--config", file});
  EXPECT_EQ(refused.code, kBadConfiguration);
  EXPECT_THAT(refused.error, StartsWith(file + ":2: listen.links: \"0.0.0.0:4804\""));
  EXPECT_THAT(refused.error, HasSubstr("\n" + file + ":5: neighbour.address: \"beta.example.org:4804\""));
  for (const std::vector<std::string>& way_out : {std::vector<std::string>{"--insecure"}, {"--bundle", bundle}}) {
    std::vector<std::string> arguments{"--check", "--config", file};
    arguments.insert(arguments.end(), way_out.begin(), way_out.end());
    const Finished accepted = run_spindled(arguments);
    EXPECT_EQ(accepted.code, 0) << accepted.error;
  }
  const Finished partly = run_spindled({"--check", "--config", file, "--listen", "127.0.0.1:4804"});
  EXPECT_EQ(partly.code, kBadConfiguration);
  EXPECT_THAT(partly.error, StartsWith(file + ":5: neighbour.address: ")) << "what the command line replaces is gone";
}

TEST(Check, OutputThatCannotBeWrittenChangesNoOtherCode) {
  const auto run_in_shell = [](const std::string& arguments) {
    ProcessOptions options;
    options.arguments = {"-c", SPINDLED_PATH + std::string(" ") + arguments};
    return run("/bin/sh", options).code;
  };
  EXPECT_EQ(run_in_shell("--check --config /no/such/file 2>/dev/full"), kBadConfiguration);
  EXPECT_EQ(run_in_shell("--check --config /no/such/file 2>&-"), kBadConfiguration);
  EXPECT_EQ(run_in_shell("--name 'two words' 2>/dev/full"), kBadCommandLine);
  EXPECT_EQ(run_in_shell("--print-config >/dev/full"), kCannotStart);
}

TEST(Tools, AnAnswerThatCannotBeWrittenIsAFailure) {
  Daemon daemon({});
  ProcessOptions options;
  options.arguments = {
      "-c", SPMONITOR_PATH + std::string(" status --json --socket ") + daemon.admin_socket() + " >/dev/full"};
  const Finished status = run("/bin/sh", options);
  EXPECT_EQ(status.code, 1);
  EXPECT_EQ(status.error, "spmonitor: cannot write to standard output: No space left on device\n");
}

TEST(Tools, WhatIsPublishedIsSentThoughNobodyReadsTheOutput) {
  TemporaryDirectory directory;
  Daemon daemon({});
  Connection reader = daemon.connect("reader");
  ASSERT_FALSE(reader.join("news"));
  wait_for_members(reader, "news", {"#reader#alpha"});
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ::close(ends[0]);
  const Descriptor without_reader(ends[1]);
  std::string lines;
  for (int i = 0; i < 1'000; ++i) lines += std::to_string(i) + "\n";
  const std::string file = directory.path("lines");
  write_file(file, lines);
  ProcessOptions options;
  options.arguments = {"publish", "news", "--connect", "unix:" + daemon.socket(), "--file", file};
  options.output = without_reader.get();
  Process publisher(SPUSER_PATH, options);
  EXPECT_EQ(publisher.wait(), 0);
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(next_message(reader).text(), std::to_string(i));
}

TEST(Start, WithoutAnyConfigurationOrEnvironment) {
  SPINDLE_TEST_NEEDS(Namespaces::unavailable());
  // A host of its own, where nobody has the default addresses.
  Namespaces hosts({"alone"});
  ProcessOptions options;
  options.network_namespace = hosts.name("alone");
  options.private_tmp = true;
  Process daemon(SPINDLED_PATH, options);
  const std::string ready = daemon.wait_for_line("ready: ").text;
  EXPECT_NE(ready.find("clients at /tmp/spindle.4803 127.0.0.1:4803; links at none; "
                       "administration at /tmp/spindle.4803.admin"),
            std::string::npos)
      << ready;
  // Its /tmp, seen from here.
  const std::string socket = "/proc/" + std::to_string(daemon.id()) + "/root/tmp/spindle.4803";
  hosts.run_inside("alone", [&] {
    for (const std::string& address : {std::string("127.0.0.1"), socket}) {
      ConnectOptions connect;
      connect.address = address;
      Connection client = Connection::connect(connect).value();
      EXPECT_FALSE(client.multicast(Service::safe, client.private_name(), "to myself"));
      EXPECT_EQ(next_message(client).text(), "to myself");
    }
  });
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0);
}

TEST(Start, WhatIsUnprotectedIsWarnedOf) {
  DaemonOptions options;
  options.link_address = "0.0.0.0:0";
  options.insecure = true;
  Daemon daemon(options);
  daemon.process().wait_for_line("whoever is on the network can read and forge what goes over listen.links 0.0.0.0:0");
  daemon.expect_serving();
  Daemon alone({});
  EXPECT_EQ(alone.stop(), 0);
  EXPECT_THAT(alone.process().output(Process::Stream::error), Not(HasSubstr("tls.insecure")));
}

TEST(Start, AnAddressInUseIsNamed) {
  Daemon first({});
  TemporaryDirectory directory;
  const std::string file = directory.path("second.toml");
  write_file(file,
             "[listen]\nclients = [\"" + first.client_address() + "\"]\nclient_socket = \"\"\nadmin_socket = \"\"\n");
  const Finished second = run_spindled({"--config", file});
  EXPECT_EQ(second.code, kCannotStart);
  EXPECT_NE(second.error.find(first.client_address()), std::string::npos) << second.error;
  first.expect_serving();
}

TEST(Start, TwoDaemonsDoNotShareASocket) {
  Daemon first({});
  TemporaryDirectory directory;
  const std::string file = directory.path("second.toml");
  for (const std::string& taken : {first.socket(), first.admin_socket()}) {
    const std::string other = directory.path("other");
    write_file(file, "[listen]\nclients = []\nclient_socket = \"" + (taken == first.socket() ? taken : other) +
                         "\"\nadmin_socket = \"" + (taken == first.socket() ? other : taken) + "\"\n");
    const Finished second = run_spindled({"--config", file});
    EXPECT_EQ(second.code, kCannotStart);
    EXPECT_NE(second.error.find(taken + ": "), std::string::npos) << second.error;
    EXPECT_NE(::access(other.c_str(), F_OK), 0) << "it left a socket behind";
    first.expect_serving();
  }
}

TEST(Start, ReplacesASocketThatNobodyAnswersOnAndNoOtherFile) {
  TemporaryDirectory directory;
  const std::string socket = directory.path("stale"), file = directory.path("spindle.toml");
  write_file(file, "[listen]\nclients = []\nclient_socket = \"" + socket + "\"\nadmin_socket = \"\"\n");
  leave_stale_socket(socket);
  ProcessOptions options;
  options.arguments = {"--config", file};
  {
    Process daemon(SPINDLED_PATH, options);
    daemon.wait_for_line("ready: ");
    ConnectOptions connect;
    connect.address = socket;
    EXPECT_TRUE(Connection::connect(connect));
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.wait(), 0);
  }
  EXPECT_NE(::access(socket.c_str(), F_OK), 0) << "the socket was not removed at the stop";

  write_file(socket, "somebody's file");
  const Finished refused = run(SPINDLED_PATH, options);
  EXPECT_EQ(refused.code, kCannotStart);
  EXPECT_NE(refused.error.find(socket), std::string::npos) << refused.error;
  EXPECT_EQ(read_file(socket), "somebody's file");
}

TEST(Start, AfterAKillInTheSamePlace) {
  Daemon daemon({});
  daemon.kill();
  daemon.start();
  daemon.expect_serving();
}

TEST(Stop, ClientsAndNeighboursAreTold) {
  LineOfThree line;
  Connection client = line.beta.connect("client");
  Connection by_tcp = Connection::connect({.address = line.beta.client_address(), .reconnect_timeout = {}}).value();
  RawSocket silent(line.beta.client_address());
  line.alpha.process().wait_for_line("link to beta up");
  EXPECT_EQ(line.beta.stop(), 0);
  EXPECT_EQ(wait_for_end(client).error, Errc::daemon_stopping);
  EXPECT_EQ(wait_for_end(by_tcp).error, Errc::daemon_stopping);
  EXPECT_EQ(read_client_close(silent).code, static_cast<std::uint16_t>(Errc::daemon_stopping));
  line.alpha.process().wait_for_line("daemon_stopping");
  line.alpha.expect_serving();
}

TEST(Stop, OnSigintToo) {
  Daemon daemon({});
  daemon.process().signal(SIGINT);
  EXPECT_EQ(daemon.process().wait(), 0);
}

TEST(Log, IsOpenedAgainOnSighup) {
  TemporaryDirectory directory;
  const std::string log = directory.path("log"), rotated = directory.path("log.1");
  DaemonOptions options;
  options.configuration = "[log]\nfile = \"" + log + "\"\n";
  Daemon daemon(options);
  daemon.connect("before");
  wait_until("the log", [&] { return read_file(log).find("client before from") != std::string::npos; });
  ASSERT_EQ(::rename(log.c_str(), rotated.c_str()), 0);
  daemon.process().signal(SIGHUP);
  wait_until("the new log", [&] { return read_file(log).find("opened again") != std::string::npos; });
  daemon.connect("after");
  wait_until("a line in the new log", [&] { return read_file(log).find("client after from") != std::string::npos; });
  EXPECT_EQ(read_file(rotated).find("client after from"), std::string::npos);
  EXPECT_EQ(daemon.stop(), 0);
}

TEST(Reload, TakesWhatCanChangeAndNamesTheRest) {
  Daemon daemon({});
  const auto reload = [&](const std::string& text, std::string_view line) {
    daemon.reload(text);
    daemon.process().wait_for_line(line);
  };
  const Connection first = daemon.connect("first");
  reload("[session]\nsessions_max = 1\n[view]\nlink_state_refresh_interval_ms = 2000\n",
         "view.link_state_refresh_interval_ms has changed: restart");
  EXPECT_THROW(daemon.connect("second"), std::system_error);
  reload("[session]\nsessions_max = \"many\"\n", "is not taken");
  EXPECT_THROW(daemon.connect("second"), std::system_error) << "an error changes nothing";
  reload("[session]\nsessions_max = 2\n[[neighbour]]\naddress = \"192.0.2.1:4804\"\n",
         "neighbour.address: \"192.0.2.1:4804\" is another host");
  EXPECT_THROW(daemon.connect("second"), std::system_error) << "what exposes the daemon is an error";
  reload("[session]\nsessions_max = 2\n", "from now on session.sessions_max = 2");
  daemon.connect("second");
  EXPECT_EQ(daemon.stop(), 0);
}

TEST(Log, OneThatCannotBeOpenedIsNamed) {
  TemporaryDirectory directory;
  const std::string file = directory.path("spindle.toml"), log = file + "/log";
  write_file(file,
             "[listen]\nclients = []\nclient_socket = \"\"\nadmin_socket = \"\"\n[log]\nfile = \"" + log + "\"\n");
  const Finished finished = run_spindled({"--config", file});
  EXPECT_EQ(finished.code, kCannotStart);
  EXPECT_NE(finished.error.find(log), std::string::npos) << finished.error;
}

/// Clients that come and go until the log has lost lines.
void connect_until_lines_are_lost(Daemon& daemon) {
  for (int i = 0; i < 2'000 && daemon.count("log_lines_lost") == 0; ++i) daemon.connect("visitor" + std::to_string(i));
  ASSERT_GT(daemon.count("log_lines_lost"), 0u);
}

TEST(Log, OneThatNobodyReadsStopsNobody) {
  DaemonOptions options;
  options.process.unread_error = true;
  options.configuration = "[log]\nqueue_bytes = 4096\nlines_per_minute = 0\n";
  Daemon daemon(options);
  MessageStream stream(daemon, daemon);
  connect_until_lines_are_lost(daemon);
  stream.wait_for(50);
  daemon.expect_serving();
  daemon.process().read_error();
  daemon.process().wait_for_line("lines were lost here");
  daemon.connect("reader");
  daemon.process().wait_for_line("client reader from");
  EXPECT_EQ(stream.finish(), "");
}

TEST(Log, OneThatNobodyReadsHoldsUpNoStop) {
  DaemonOptions options;
  options.process.unread_error = true;
  options.configuration = "[log]\nqueue_bytes = 4096\nlines_per_minute = 0\n";
  Daemon daemon(options);
  connect_until_lines_are_lost(daemon);
  EXPECT_EQ(daemon.stop(), 0);
}

TEST(Log, AFifoIsWrittenWhenSomebodyReadsIt) {
  TemporaryDirectory directory;
  const std::string log = directory.path("log");
  ASSERT_EQ(::mkfifo(log.c_str(), 0600), 0);
  DaemonOptions options;
  options.configuration = "[log]\nfile = \"" + log + "\"\n";
  Daemon daemon(options);
  daemon.connect("visitor");
  std::ifstream reader(log);
  for (std::string line; std::getline(reader, line);) {
    if (line.find("client visitor from") != std::string::npos) break;
  }
  EXPECT_TRUE(reader);
  EXPECT_EQ(daemon.stop(), 0);
}

TEST(Log, AStrangerWhoConnectsInALoopDoesNotFillIt) {
  DaemonOptions options;
  options.configuration = "[log]\nlines_per_minute = 5\n";
  Daemon daemon(options);
  for (int i = 0; i < 50; ++i) daemon.connect("visitor" + std::to_string(i));
  wait_until("lines that are left out", [&] { return daemon.count("log_lines_left_out") > 40; });
  EXPECT_EQ(daemon.stop(), 0);
  const std::string log = daemon.process().output(Process::Stream::error);
  EXPECT_NE(log.find("more lines of this kind within"), std::string::npos) << log;
  EXPECT_EQ(log.find("visitor40 from"), std::string::npos) << log;
}

TEST(Descriptors, ADaemonWithoutAnyLeftGoesOnAndRecovers) {
  DaemonOptions options;
  options.process.descriptors_max = 40;
  Daemon daemon(options);
  MessageStream stream(daemon, daemon);
  {
    std::vector<RawSocket> crowd;
    for (int i = 0; i < 60; ++i) crowd.emplace_back(i % 2 == 0 ? daemon.client_address() : "unix:" + daemon.socket());
    daemon.process().wait_for_line("cannot accept on");
    stream.wait_for(50);
  }
  daemon.process().wait_for_line("accepting on");
  daemon.expect_serving();
  EXPECT_EQ(stream.finish(), "");
}

}  // namespace
}  // namespace spindle::test
