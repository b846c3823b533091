#include "tools/spmonitor/token/command_line.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "tools/spmonitor/token/new_token.h"

namespace spmonitor::token {

namespace {

enum ExitCode { kExitDone = 0, kExitFailed = 1 };

constexpr int kDaysMax = 36'500;
constexpr const char* kFooter =
    "The token is for the client: ConnectOptions::token, SPINDLE_TOKEN in its environment, or spuser --token-file "
    "FILE. "
    "The section is for the configuration of the daemons that are to let it in, which take it on SIGHUP.\n\n"
    "Exit codes:\n"
    "  0  done\n"
    "  1  not done, and standard error says why\n"
    "  2  the command line is not valid";

/// A token that was not printed is one that nobody has.
int finish(const Result<std::string>& told) {
  if (!told) {
    std::fputs(fmt::format("spmonitor: {}\n", told.error()).c_str(), stderr);
    return kExitFailed;
  }
  if (std::fputs(told->c_str(), stdout) != EOF && std::fflush(stdout) == 0) return kExitDone;
  std::fputs("spmonitor: standard output cannot be written: have another token made\n", stderr);
  return kExitFailed;
}

}  // namespace

void add_commands(CLI::App& app, std::function<int()>& job) {
  CLI::App* const token = app.add_subcommand("token", "Make tokens, by which clients prove who they are");
  token->footer(kFooter);
  token->require_subcommand(1);
  // The options of the others are for questions to a daemon.
  token->fallthrough(false);
  CLI::App* const command = token->add_subcommand(
      "new", "Make a token, and print it, this once, with the section that makes it known to a daemon");
  command->footer(kFooter);
  const auto options = std::make_shared<NewTokenOptions>();
  command->add_option("name", options->name, "Clients with it are token:NAME in rules, names and quotas")
      ->type_name("NAME")
      ->required();
  command->add_option("--days", options->days, "How long it counts; without: until the section is removed")
      ->type_name("DAYS")
      ->check(CLI::Range(1, kDaysMax));
  command->add_option("--output", options->output, "Write the token to this file, for its owner only, instead")
      ->type_name("FILE");
  command->callback(
      [options, &job] { job = [options] { return finish(make_token(*options, spindle::wall_time())); }; });
}

}  // namespace spmonitor::token
