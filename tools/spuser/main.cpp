// spuser: talks to groups from a shell.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/spuser/events.h"
#include "tools/spuser/exit.h"
#include "tools/spuser/feeds.h"
#include "tools/spuser/files.h"
#include "tools/spuser/interactive.h"
#include "tools/spuser/publish.h"
#include "tools/spuser/subscribe.h"

namespace spuser {
namespace {

constexpr const char* kFooter =
    "Without a command it reads commands from standard input: type \"help\".\n\n"
    "SIGINT and SIGTERM end it, a second one at once.\n\n"
    "Exit codes:\n"
    "  0    done; of subscribe, listen and receive-file also: interrupted, or nobody reads its output any more\n"
    "  1    there is no connection: the daemon cannot be reached or refuses this client, or the connection was lost; "
    "standard error says why\n"
    "  2    the command line is not valid, or names an address, a client or groups that cannot be\n"
    "  3    something cannot be read or written, or is too large for a message; of send-file also: a member failed to "
    "receive it, or went before it had it and did not come back; of receive-file with --count or to standard output "
    "also: something could not be received\n"
    "  4    the daemon refused a join, an offer or a feed, or the channel ended before all had it\n"
    "  130  interrupted (143: terminated) before it was done\n";

struct CommandLine {
  ConnectionOptions connection;
  PublishOptions publish;
  SubscribeOptions subscribe;
  SendFileOptions send_file;
  ReceiveFileOptions receive_file;
  FeedCommandOptions feed;
  ListenCommandOptions listen;
  std::int64_t repair_for_ms = 200, deadline_ms = 50;
  std::string service = "agreed";
  std::string slow_policy;
  bool lines = false, json = false, raw = false, senders = false;
  CLI::App* publish_command = nullptr;
  CLI::App* subscribe_command = nullptr;
  CLI::App* send_file_command = nullptr;
  CLI::App* receive_file_command = nullptr;
  CLI::App* feed_command = nullptr;
  CLI::App* listen_command = nullptr;
};

/// As the command line's checks take them.
std::vector<std::string> words(std::span<const std::string_view> names) { return {names.begin(), names.end()}; }

CLI::AsNumberWithUnit rate_with_unit() {
  return CLI::AsNumberWithUnit(
      std::map<std::string, std::uint64_t>{{"k", 1'000}, {"m", 1'000'000}, {"g", 1'000'000'000}},
      CLI::AsNumberWithUnit::CASE_INSENSITIVE);
}

void add_publish(CLI::App& app, CommandLine& line) {
  PublishOptions& options = line.publish;
  CLI::App* command = line.publish_command =
      app.add_subcommand("publish", "Multicast the lines of standard input, or of files, each as a message");
  command->add_option("groups", options.groups, "Groups, or clients as #client#daemon")->type_name("GROUP")->required();
  command->add_option("--service", line.service, "unreliable, reliable, fifo, causal, agreed or safe")
      ->capture_default_str()
      ->check(CLI::IsMember(words(spindle::kServiceNames)));
  command->add_option("--type", options.type, "Tag of the messages, 0 to 65535")->capture_default_str();
  command->add_option("--file", options.files, "Read this file, and further ones, instead of standard input")
      ->type_name("FILE")
      ->allow_extra_args(false);
  CLI::Option* lines = command->add_flag("--lines", line.lines, "Each line is a message (the default)");
  command->add_flag("--whole", options.whole, "Each file is a message")->excludes(lines);
  command->add_option("--rate", options.rate, "Messages a second; default: as fast as they go")
      ->type_name("N")
      ->check(CLI::Range(0.001, 1e9));
  command->add_flag("--measure", options.measure,
                    "Join the groups, keep --window own messages on their way, and print as JSON how many passed a "
                    "second and how long they took to come back");
  command->add_option("--window", options.window, "Own messages on their way, with --measure")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--wait-members", options.wait_members, "Begin once the groups have N members besides this one")
      ->type_name("N");
  command->add_option("--ready-file", options.ready_file, "Make this file when publishing begins")->type_name("FILE");
}

spindle::SlowPolicy parse_slow_policy(std::string_view word) {
  const auto& names = spindle::kSlowPolicyNames;
  const auto* const found = std::find(std::begin(names), std::end(names), word);
  if (found == std::end(names)) return spindle::SlowPolicy::daemon_default;
  return static_cast<spindle::SlowPolicy>(1 + (found - std::begin(names)));
}

void add_subscribe(CLI::App& app, CommandLine& line) {
  SubscribeOptions& options = line.subscribe;
  CLI::App* command = line.subscribe_command =
      app.add_subcommand("subscribe", "Join groups and print their messages, each as a line");
  command->add_option("groups", options.groups, "Groups")->type_name("GROUP")->required();
  CLI::Option* json = command->add_flag("--json", line.json,
                                        "Each as a JSON object with sender, groups, service, type, and text, or "
                                        "base64 where it is no UTF-8");
  CLI::Option* raw = command->add_flag("--raw", line.raw, "Only the bytes of the messages, without an end of line");
  command->add_flag("--senders", line.senders, "The sender and a tab in front of each")->excludes(json)->excludes(raw);
  raw->excludes(json);
  command->add_flag("--views", options.views, "Print changes of membership, too");
  command->add_option("--count", options.count, "End after N messages")->type_name("N");
  command
      ->add_option("--wait-members", options.wait_members,
                   "Print nothing before the groups have N members, this one included")
      ->type_name("N");
  command->add_option("--until-members", options.until_members, "End when the groups have no more than N members again")
      ->type_name("N");
  command->add_option("--ready-file", options.ready_file, "Make this file when the groups are joined")
      ->type_name("FILE");
}

void add_send_file(CLI::App& app, CommandLine& line) {
  SendFileOptions& options = line.send_file;
  CLI::App* command = line.send_file_command =
      app.add_subcommand("send-file",
                         "Send a file of any size, or a directory with all that is in it, to the members of a group, "
                         "and end when all of them have it, have failed or have refused it; who went before it had "
                         "it may come back for it within a minute");
  command->add_option("group", options.group, "Group")->type_name("GROUP")->required();
  command->add_option("path", options.path, "File or directory, which must not change meanwhile; -: standard input")
      ->type_name("PATH")
      ->required();
  command
      ->add_option("--rate", options.rate,
                   "Bytes a second at most, such as 500k, 10M or 1G; default: as fast as it goes")
      ->type_name("RATE")
      ->transform(rate_with_unit());
  command->add_option("--as", options.as, "Send it by this name; default: its own, of standard input: stdin")
      ->type_name("NAME");
  command
      ->add_option("--spool", options.spool,
                   "Keep all of standard input in this file, which goes at the end, for members that are slow or come "
                   "later; default: only the last 64 MiB are kept")
      ->type_name("FILE");
  command->add_flag("--no-cache", options.no_cache,
                    "Hash all of it before it is complete, also what was sent before and is what it was, and keep no "
                    "hashes for the next time");
  command->add_flag("--wait", options.wait,
                    "Stay for members that come later, until the daemons end the channel a minute after the others "
                    "have it");
  command->add_option("--wait-members", options.wait_members, "Begin once the group has N members besides this one")
      ->type_name("N");
}

void add_receive_file(CLI::App& app, CommandLine& line) {
  ReceiveFileOptions& options = line.receive_file;
  CLI::App* command = line.receive_file_command = app.add_subcommand(
      "receive-file",
      "Join a group, receive the files and directories that are sent to it into a directory, and print their paths");
  command->add_option("group", options.group, "Group")->type_name("GROUP")->required();
  command
      ->add_option("directory", options.directory,
                   "Where they go, by the names that they are sent with. What is not whole yet is "
                   "NAME.spindle-part; it is gone on with when this is started again. -: the first one goes to "
                   "standard output")
      ->type_name("DIR")
      ->required();
  command->add_flag("--replace", options.replace, "Files that are there may be replaced");
  command->add_option("--count", options.count, "End after N files, or when one cannot be received")->type_name("N");
  command->add_option("--ready-file", options.ready_file, "Make this file when the group is joined")->type_name("FILE");
}

void add_feed(CLI::App& app, CommandLine& line) {
  FeedCommandOptions& options = line.feed;
  CLI::App* command = line.feed_command =
      app.add_subcommand("feed",
                         "Send the lines of standard input as a feed to those members of a group who listen, as fast "
                         "as the network carries them; on a terminal say once a second how it fares");
  command->add_option("group", options.group, "Group")->type_name("GROUP")->required();
  command->add_option("--rate", options.rate, "Messages a second; default: as fast as they go")
      ->type_name("N")
      ->check(CLI::Range(0.001, 1e9));
  command
      ->add_option("--bytes-per-second", options.bytes_per_second,
                   "Bytes a second at most, such as 500k, 10M or 1G; default: as fast as it goes")
      ->type_name("RATE")
      ->transform(rate_with_unit());
  command->add_option("--repair-for", line.repair_for_ms, "How long what is lost is worth repairing; 0: not at all")
      ->type_name("MS")
      ->check(CLI::Range(0, 60'000))
      ->capture_default_str();
  command->add_flag("--drop-oldest", options.drops_oldest,
                    "Where there is no room drop the oldest messages that wait, and do not wait");
  command->add_option("--size", options.size, "Send made-up messages of N bytes, and not standard input")
      ->type_name("N")
      ->check(CLI::Range(1, 65'536));
  command->add_option("--count", options.count, "End after N messages")->type_name("N");
  command->add_option("--wait-members", options.wait_members, "Begin once the group has N members besides this one")
      ->type_name("N");
  command->add_option("--ready-file", options.ready_file, "Make this file when the feed is open")->type_name("FILE");
}

void add_listen(CLI::App& app, CommandLine& line) {
  ListenCommandOptions& options = line.listen;
  CLI::App* command = line.listen_command =
      app.add_subcommand("listen",
                         "Join a group and print the messages of its feeds, each as a line; say on standard "
                         "error what is missing");
  command->add_option("group", options.group, "Group")->type_name("GROUP")->required();
  CLI::Option* immediate =
      command->add_flag("--immediate", options.is_immediate, "Print messages as they come, and not in order");
  command->add_option("--deadline", line.deadline_ms, "How long what comes behind a gap waits for what is missing")
      ->type_name("MS")
      ->check(CLI::Range(0, 3'600'000))
      ->capture_default_str()
      ->excludes(immediate);
  CLI::Option* stats =
      command->add_flag("--stats", options.stats, "Print no messages, but a line of figures once a second");
  command->add_flag("--json", options.json, "Messages and gaps as JSON objects")->excludes(stats);
  command->add_option("--count", options.count, "End after N messages")->type_name("N");
  command->add_flag("--until-end", options.until_end, "End when no feed is open any more");
  command->add_option("--ready-file", options.ready_file, "Make this file when the group is joined")->type_name("FILE");
}

/// Nothing where the program has to go on; else its exit code.
std::optional<int> parse_command_line(int argc, char** argv, CLI::App& app, CommandLine& line) {
  app.footer(kFooter);
  app.set_version_flag("--version", "spuser " SPINDLE_VERSION);
  app.require_subcommand(0, 1);
  app.fallthrough();
  app.add_option("--connect", line.connection.address,
                 "The daemon: a path, unix:PATH, HOST, HOST:PORT, tcp:HOST:PORT or tls:HOST:PORT; default: "
                 "SPINDLE_ADDRESS from the environment, or the socket of a daemon of this host")
      ->type_name("ADDRESS");
  app.add_option(
         "--bundle", line.connection.bundle,
         "For tls:, the file with certificate and key of this client and the CA (spmonitor pki issue --client), or "
         "with "
         "the CA alone where it has a token (spmonitor pki trust); default: SPINDLE_TLS_BUNDLE from the environment")
      ->type_name("FILE");
  app.add_option("--revocation-lists", line.connection.revocation_lists,
                 "For tls:, the file with lists of revoked certificates, which the daemon's is held to; default: "
                 "SPINDLE_REVOCATION_LISTS from the environment, or none")
      ->type_name("FILE");
  app.add_option(
         "--token-file", line.connection.token_file,
         "For tls: and unix sockets, the file with this client's token (spmonitor token new); default: SPINDLE_TOKEN "
         "from the environment")
      ->type_name("FILE");
  app.add_option("--name", line.connection.name, "Name of this client; default: one that the daemon chooses")
      ->type_name("NAME");
  app.add_flag("--independent-flows", line.connection.independent_flows,
               "Messages to a group that is held back do not hold up those to others, and may be overtaken by them");
  app.add_option(
         "--slow-policy", line.slow_policy,
         "What the daemon is to do when this client does not keep up: price (senders slow down), drop (it loses "
         "the oldest messages) or disconnect; default: what the daemon is configured for")
      ->check(CLI::IsMember(words(spindle::kSlowPolicyNames)));
  add_publish(app, line);
  add_subscribe(app, line);
  add_send_file(app, line);
  add_receive_file(app, line);
  add_feed(app, line);
  add_listen(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help comes as an "error", too, of code 0.
    return app.exit(error) == 0 ? kExitDone : kExitBadCommandLine;
  }
  line.connection.slow_policy = parse_slow_policy(line.slow_policy);
  line.feed.repair_for = std::chrono::milliseconds(line.repair_for_ms);
  line.listen.deadline = std::chrono::milliseconds(line.deadline_ms);
  line.publish.service = parse_service(line.service).value_or(spindle::Service::agreed);
  if (line.publish.measure && line.publish.service == spindle::Service::unreliable) {
    std::fputs("spuser: --measure waits for every message, and unreliable ones may not come\n", stderr);
    return kExitBadCommandLine;
  }
  line.subscribe.format = line.json      ? SubscribeOptions::Format::json
                          : line.raw     ? SubscribeOptions::Format::raw
                          : line.senders ? SubscribeOptions::Format::senders
                                         : SubscribeOptions::Format::lines;
  return std::nullopt;
}

int run(const CommandLine& line) {
  try {
    Signals signals;
    Output output;
    if (line.publish_command->parsed()) {
      publish(signals, output, line.connection, line.publish);
    } else if (line.subscribe_command->parsed()) {
      subscribe(signals, output, line.connection, line.subscribe);
    } else if (line.send_file_command->parsed()) {
      send_file(signals, output, line.connection, line.send_file);
    } else if (line.receive_file_command->parsed()) {
      receive_file(signals, output, line.connection, line.receive_file);
    } else if (line.feed_command->parsed()) {
      feed(signals, output, line.connection, line.feed);
    } else if (line.listen_command->parsed()) {
      listen(signals, output, line.connection, line.listen);
    } else {
      interact(signals, output, line.connection);
    }
    output.flush();
    return kExitDone;
  } catch (Exit& exit) {
    exit.say();
    return exit.code;
  }
}

}  // namespace
}  // namespace spuser

int main(int argc, char** argv) {
  using namespace spuser;
  CLI::App app("Talks to Spindle groups from a shell.", "spuser");
  CommandLine line;
  if (const std::optional<int> code = parse_command_line(argc, argv, app, line)) return *code;
  return run(line);
}
