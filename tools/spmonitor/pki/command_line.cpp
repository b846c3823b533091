#include "tools/spmonitor/pki/command_line.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "tools/spmonitor/pki/issue.h"
#include "tools/spmonitor/pki/revoke.h"
#include "tools/spmonitor/pki/show.h"
#include "tools/spmonitor/pki/trust.h"
#include "tools/spmonitor/print.h"

namespace spmonitor::pki {

namespace {

using Kind = spindle::CertificateName::Kind;

enum ExitCode { kExitDone = 0, kExitFailed = 1 };

constexpr int kDaysMax = 36'500;
constexpr const char* kFooter =
    "Exit codes:\n"
    "  0  done\n"
    "  1  not done, and standard error says why; or `show` has found a problem\n"
    "  2  the command line is not valid";

int finish(const Result<std::string>& told) {
  if (!told) {
    std::fputs(fmt::format("spmonitor: {}\n", told.error()).c_str(), stderr);
    return kExitFailed;
  }
  const std::optional<std::string> failure = print(*told);
  if (!failure || failure->empty()) return kExitDone;
  std::fputs(fmt::format("spmonitor: {}\n", *failure).c_str(), stderr);
  return kExitFailed;
}

/// Who a certificate is of, as it is said on the command line: one of these.
struct Holder {
  std::string daemon, client, administrator;
  bool is_any_daemon = false;

  Kind kind() const {
    if (!client.empty()) return Kind::client;
    return administrator.empty() ? Kind::daemon : Kind::administrator;
  }
  std::string name() const {
    if (is_any_daemon) return std::string(spindle::kAnyDaemon);
    return daemon + client + administrator;
  }
};

void add_holder(CLI::App& command, Holder& holder, const char* type, const char* text) {
  CLI::Option_group* const group = command.add_option_group("Of whom");
  group->add_option("name", holder.daemon, text)->type_name(type);
  group->add_option("--client", holder.client, "A client")->type_name("NAME");
  group->add_option("--operator", holder.administrator, "An operator")->type_name("NAME");
  group->add_flag("--any-daemon", holder.is_any_daemon,
                  "All daemons of the cluster, which could then pose as each other");
  group->require_option(1);
}

void add_authority(CLI::App& command, std::string& path) {
  command.add_option("ca", path, "The CA's file, from `spmonitor pki init`")->type_name("CA")->required();
}

void add_days(CLI::App& command, int& days, const char* text) {
  command.add_option("--days", days, text)->type_name("DAYS")->check(CLI::Range(1, kDaysMax))->capture_default_str();
}

void add_output(CLI::App& command, std::string& path, const char* otherwise) {
  command.add_option("--output", path, fmt::format("The file to write, instead of {}", otherwise))->type_name("FILE");
}

void add_init(CLI::App& pki, std::function<int()>& job) {
  CLI::App* const command = pki.add_subcommand("init", "Make the CA of a cluster: its private key and certificate");
  const auto options = std::make_shared<InitOptions>();
  command->add_option("cluster", options->cluster, "The cluster's name, as daemon.cluster has it")
      ->type_name("CLUSTER")
      ->required();
  add_days(*command, options->days, "How long the CA lasts");
  add_output(*command, options->output, "CLUSTER.ca");
  command->callback([options, &job] { job = [options] { return finish(init(*options, spindle::wall_time())); }; });
}

void add_issue(CLI::App& pki, std::function<int()>& job) {
  CLI::App* const command =
      pki.add_subcommand("issue", "Issue a certificate, with a private key, to a daemon, a client or an operator");
  const auto options = std::make_shared<IssueOptions>();
  const auto holder = std::make_shared<Holder>();
  add_authority(*command, options->authority_path);
  add_holder(*command, *holder, "NAME", "A daemon");
  add_days(*command, options->days, "How long it lasts, and no longer than the CA");
  add_output(*command, options->output, "NAME.pem");
  command->add_flag("--force", options->force, "Replace a certificate that is there");
  command->add_option("--dns", options->dns_names, "Also a name of its host")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--ip", options->addresses, "Also an address of its host")
      ->type_name("ADDRESS")
      ->allow_extra_args(false);
  command
      ->add_option("--trust", options->trusted_paths, "Put the CAs of this file into it, too, to go over to another CA")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->callback([options, holder, &job] {
    options->kind = holder->kind();
    options->name = holder->name();
    job = [options] { return finish(issue(*options, spindle::wall_time())); };
  });
}

void add_trust(CLI::App& pki, std::function<int()>& job) {
  CLI::App* const command = pki.add_subcommand(
      "trust", "Write the CA certificates of a file alone: what a client needs that proves itself by a token");
  const auto options = std::make_shared<TrustOptions>();
  command->add_option("file", options->path, "Such as trading.ca or alpha.pem")->type_name("FILE")->required();
  add_output(*command, options->output, "CLUSTER.crt");
  command->add_flag("--force", options->force, "Replace such a file that is there");
  command->callback([options, &job] { job = [options] { return finish(trust(*options)); }; });
}

void add_revoke(CLI::App& pki, std::function<int()>& job) {
  CLI::App* const command = pki.add_subcommand(
      "revoke", "Revoke the certificate in a file, or all of a name, in the list beside the CA, such as trading.crl");
  const auto options = std::make_shared<RevokeOptions>();
  const auto holder = std::make_shared<Holder>();
  add_authority(*command, options->authority_path);
  add_holder(*command, *holder, "FILE|NAME", "The file of the certificate; where there is none, the name of a daemon");
  add_days(*command, options->days, "How long the list counts");
  command->callback([options, holder, &job] {
    if (holder->daemon.empty()) options->kind = holder->kind();
    options->target = holder->name();
    job = [options] { return finish(revoke(*options, spindle::wall_time())); };
  });
}

void add_show(CLI::App& pki, std::function<int()>& job) {
  CLI::App* const command =
      pki.add_subcommand("show", "What a file of a CA, of a certificate or of revoked ones holds");
  const auto path = std::make_shared<std::string>();
  command->add_option("file", *path, "Such as trading.ca, alpha.pem or trading.crl")->type_name("FILE")->required();
  command->callback([path, &job] {
    job = [path] {
      const Result<Shown> shown = show(*path, spindle::wall_time());
      const int code = finish(shown.map(&Shown::text));
      return shown && shown->problems != 0 ? kExitFailed : code;
    };
  });
}

}  // namespace

void add_commands(CLI::App& app, std::function<int()>& job) {
  CLI::App* const pki = app.add_subcommand(
      "pki", "Make the identities of a cluster: its CA, and certificates of daemons, clients and operators");
  pki->footer(kFooter);
  pki->require_subcommand(1);
  // The options of the others are for questions to a daemon.
  pki->fallthrough(false);
  add_init(*pki, job);
  add_issue(*pki, job);
  add_trust(*pki, job);
  add_revoke(*pki, job);
  add_show(*pki, job);
}

}  // namespace spmonitor::pki
