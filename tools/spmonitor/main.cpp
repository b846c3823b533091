// spmonitor: shows what a daemon is doing, switches its admission, imposes partitions for field tests, and makes the
// certificates and tokens of a cluster.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <functional>
#include <thread>

#include "libclient/common/defaults.h"
#include "libclient/io/default_socket.h"
#include "tools/spmonitor/inquiry.h"
#include "tools/spmonitor/partition.h"
#include "tools/spmonitor/pki/command_line.h"
#include "tools/spmonitor/print.h"
#include "tools/spmonitor/render.h"
#include "tools/spmonitor/token/command_line.h"

namespace spmonitor {
namespace {

enum ExitCode { kExitDone = 0, kExitNoAnswer = 1, kExitBadCommandLine = 2, kExitNotFound = 3 };

constexpr const char* kFooter =
    "Exit codes:\n"
    "  0  done\n"
    "  1  no daemon answers, or not in time, or it refuses, or its answer cannot be written; standard error says why\n"
    "  2  the command line is not valid\n"
    "  3  there is no such group\n\n"
    "With --json, numbers of 64 bits are strings, as Protocol Buffers have it.";

struct CommandLine {
  Inquiry inquiry;
  bool json = false;
  bool all = false;
  double watch_seconds = 0;
  double interval_seconds = 0;
  double timeout_seconds = 5;
  std::string group;
  std::vector<std::string> sides;
  std::string duration = "60s";
  std::string setting;
  std::string channel;
  std::uint64_t rate = 0;
  std::function<int()> job;  // of a command that asks no daemon
};

void add_admission(CLI::App& app, CommandLine& line) {
  CLI::App* admission = app.add_subcommand(
      "admission", "Switch admission on or off at this daemon, while it runs; its configuration stays as it is");
  admission->add_option("setting", line.setting, "Whether messages of its clients wait for their prices")
      ->type_name("on|off")
      ->required()
      ->check(CLI::IsMember({"on", "off"}));
  admission->callback([&line] { line.inquiry.request.mutable_admission()->set_enabled(line.setting == "on"); });
}

void add_partition(CLI::App& app, CommandLine& line) {
  CLI::App* partition = app.add_subcommand(
      "partition",
      "Impose a partition on all daemons, for a field test: 'a,b / c' lets a and b, c, and all others reach each other "
      "only among themselves. It ends by itself");
  partition->add_option("sides", line.sides, "Daemons, separated by commas or blanks; '/' separates sides")
      ->type_name("SIDES")
      ->required();
  partition->add_option("--for", line.duration, "How long: a number of s, m or h, an hour at most")
      ->type_name("TIME")
      ->capture_default_str()
      ->check([](const std::string& text) {
        return parse_duration(text) ? std::string() : "must be a number of seconds, or of ms, s, m or h, such as 90s";
      });
  partition->callback([&line] {
    spindle::admin::PartitionRequest& request = *line.inquiry.request.mutable_partition();
    for (const std::vector<std::string>& side : parse_sides(line.sides)) {
      for (spindle::admin::Side& added = *request.add_sides(); const std::string& daemon : side) {
        added.add_daemons(daemon);
      }
    }
    request.set_milliseconds(static_cast<std::uint64_t>(parse_duration(line.duration)->count()));
  });
  app.add_subcommand("heal", "End an imposed partition, on all daemons")->callback([&line] {
    line.inquiry.request.mutable_heal();
  });
}

void add_bulk(CLI::App& app, CommandLine& line) {
  CLI::App* bulk = app.add_subcommand("bulk", "Bulk channels: their trees, who has how much, and what limits each");
  bulk->require_subcommand(0, 1);
  CLI::App* cancel = bulk->add_subcommand("cancel", "End a channel, at the daemon of its source");
  cancel->add_option("id", line.channel, "As 'spmonitor bulk' shows it")->type_name("ID")->required();
  CLI::App* rate = bulk->add_subcommand("rate", "Set the most that the source is to send, at its daemon");
  rate->add_option("id", line.channel, "As 'spmonitor bulk' shows it")->type_name("ID")->required();
  rate->add_option("rate", line.rate, "Bytes a second; 0: as much as goes")->type_name("BYTES/s")->required();
  bulk->callback([&line, cancel, rate] {
    spindle::admin::Request& request = line.inquiry.request;
    if (cancel->parsed()) {
      request.mutable_bulk_cancel()->set_id(line.channel);
    } else if (rate->parsed()) {
      request.mutable_bulk_rate()->set_id(line.channel);
      request.mutable_bulk_rate()->set_bytes_per_second(line.rate);
    } else {
      request.mutable_bulk();
    }
  });
}

void add_subcommands(CLI::App& app, CommandLine& line) {
  using spindle::admin::Request;
  Request& request = line.inquiry.request;
  const auto add = [&](const char* name, const char* text, auto choose) {
    CLI::App* command = app.add_subcommand(name, text);
    command->callback(choose);
    return command;
  };
  add("status", "The daemon, its view and its phase", [&] { request.mutable_status(); });
  CLI::App* links =
      add("links", "Links to other daemons, and neighbours without one", [&] { request.mutable_links(); });
  links->add_option("--interval", line.interval_seconds, "Show rates, measured over this time")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.01, 3600.0));
  add("routes", "Where frames for each member of the view go", [&] { request.mutable_routes(); });
  CLI::App* groups = add("groups", "Groups and how many members they have; of one group, its members", [&] {
    request.mutable_groups()->set_name(line.group);
    request.mutable_groups()->set_members(line.all || !line.group.empty());
  });
  groups->add_option("name", line.group, "Only this group")->type_name("GROUP");
  groups->add_flag("--members", line.all, "List the members of every group");
  CLI::App* sessions = add("sessions", "Clients of this daemon", [&] { request.mutable_sessions(); });
  CLI::App* flow = add("flow", "What senders pay, and which link or receiver limits them; the most blocked first",
                       [&] { request.mutable_flow(); });
  CLI::App* feeds = add("feeds", "Feeds: how fast each may send and what limits it, who hears it, and what is repaired",
                        [&] { request.mutable_feeds(); });
  for (CLI::App* list : {groups, sessions, flow, feeds}) {
    list->add_option("--limit", line.inquiry.limit, "Show no more than this many")
        ->default_val(10'000)
        ->check(CLI::Range(1, list == flow || list == feeds ? 10'000 : 10'000'000));
  }
  CLI::App* counters = add("counters", "Everything that the daemon counts", [&] { request.mutable_counters(); });
  counters->add_flag("--all", line.all, "Also counters that are zero");
  add_bulk(app, line);
  add_admission(app, line);
  add_partition(app, line);
  pki::add_commands(app, line.job);
  token::add_commands(app, line.job);
}

/// Nothing where the program has to go on; else its exit code.
std::optional<int> parse_command_line(int argc, char** argv, CommandLine& line) {
  CLI::App app(
      "Shows what a Spindle daemon is doing, switches its admission, imposes partitions for field tests, and makes the "
      "certificates and tokens of a cluster.",
      "spmonitor");
  app.footer(kFooter);
  app.set_version_flag("--version", "spmonitor " SPINDLE_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  CLI::Option* const socket = app.add_option("--socket", line.inquiry.target.socket_path,
                                             "The daemon's administration socket; default: " +
                                                 spindle::default_socket_places(spindle::kAdminSocketName))
                                  ->type_name("PATH");
  CLI::Option* const bundle =
      app.add_option("--bundle", line.inquiry.target.bundle,
                     "With --connect, the file with the certificate and key of an operator and the CA (spmonitor pki "
                     "issue --operator)")
          ->type_name("FILE");
  CLI::Option* const connect =
      app.add_option("--connect", line.inquiry.target.address,
                     "Ask a daemon by TLS, where it listens for administration (listen.admin); default port: " +
                         std::to_string(spindle::kDefaultAdminPort))
          ->type_name("tls:HOST:PORT")
          ->check(wrong_admin_address)
          ->excludes(socket)
          ->needs(bundle);
  bundle->needs(connect);
  app.add_option("--revocation-lists", line.inquiry.target.revocation_lists,
                 "With --connect, the file with lists of revoked certificates, which the daemon's is held to")
      ->type_name("FILE")
      ->needs(connect);
  app.add_flag("--json", line.json, "Print JSON: indented, or with --watch one line each time");
  app.add_option("--watch", line.watch_seconds, "Repeat every so many seconds until interrupted")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 86'400.0));
  app.add_option("--timeout", line.timeout_seconds, "How long to wait for the daemon")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  add_subcommands(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help comes as an "error", too, of code 0.
    return app.exit(error) == 0 ? kExitDone : kExitBadCommandLine;
  }
  const spindle::admin::Request& request = line.inquiry.request;
  const bool changes = request.has_partition() || request.has_heal() || request.has_admission() ||
                       request.has_bulk_cancel() || request.has_bulk_rate();
  if (line.watch_seconds > 0 && changes) {
    std::fputs("--watch: what changes something is done once\n", stderr);
    return kExitBadCommandLine;
  }
  line.inquiry.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(line.timeout_seconds * 1000));
  if (line.interval_seconds > 0) line.inquiry.interval = std::chrono::duration<double>(line.interval_seconds);
  return std::nullopt;
}

int look(const CommandLine& line) {
  const Result<spindle::admin::Reply> reply = inquire(line.inquiry);
  if (!reply) {
    std::fputs(fmt::format("spmonitor: {}\n", reply.error()).c_str(), stderr);
    return kExitNoAnswer;
  }
  if (!line.group.empty() && reply->groups().groups_size() == 0) {
    std::fputs(fmt::format("spmonitor: there is no group \"{}\"\n", line.group).c_str(), stderr);
    return kExitNotFound;
  }
  const bool watching = line.watch_seconds > 0;
  std::string text = line.json ? render_json(*reply, watching) : render(*reply, line.all);
  if (watching && !line.json) text = (::isatty(STDOUT_FILENO) != 0 ? "\x1b[H\x1b[2J" + text : text + '\n');
  if (text.empty()) {
    std::fputs("spmonitor: the daemon's answer cannot be written as JSON\n", stderr);
    return kExitNoAnswer;
  }
  if (const std::optional<std::string> failure = print(text)) {
    // That nobody reads any more is no failure, and no reason to go on.
    if (!failure->empty()) std::fputs(fmt::format("spmonitor: {}\n", *failure).c_str(), stderr);
    std::exit(failure->empty() ? kExitDone : kExitNoAnswer);
  }
  return kExitDone;
}

}  // namespace
}  // namespace spmonitor

int main(int argc, char** argv) {
  using namespace spmonitor;
  std::signal(SIGPIPE, SIG_IGN);
  CommandLine line;
  if (const std::optional<int> code = parse_command_line(argc, argv, line)) return *code;
  if (line.job) return line.job();
  int code = look(line);
  // A daemon that restarts while it is watched is found again.
  while (line.watch_seconds > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(line.watch_seconds));
    code = look(line);
  }
  return code;
}
