// spindled: parses the command line and the configuration, and runs one Node on the Asio driver.
#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <random>
#include <sstream>

#include "daemon/base/check.h"
#include "daemon/config/accounts.h"
#include "daemon/config/exposure.h"
#include "daemon/config/find_unusable.h"
#include "daemon/config/host_memory.h"
#include "daemon/config/parse_config.h"
#include "daemon/config/print_config.h"
#include "daemon/config/reload.h"
#include "daemon/config/wrong_values.h"
#include "daemon/net/asio_driver.h"
#include "daemon/net/certificate_files.h"
#include "daemon/net/daemon_log.h"
#include "daemon/net/log_file.h"
#include "daemon/node/node.h"
#include "libclient/io/default_socket.h"

namespace spindled {
namespace {

enum ExitCode { kExitStopped = 0, kExitBadConfiguration = 1, kExitBadCommandLine = 2, kExitCannotStart = 3 };

constexpr const char* kVersion = "spindled " SPINDLE_VERSION;

constexpr const char* kFooter =
    "Without a configuration file the daemon runs alone: docs/configuration.md has the defaults.\n"
    "SIGTERM and SIGINT stop it; SIGHUP opens its log file again, and reads its configuration again.\n"
    "A line that starts with \"ready\" on standard output says that it serves.\n\n"
    "Exit codes:\n"
    "  0  stopped by a signal, or --check found nothing wrong\n"
    "  1  the configuration is not valid, or names what is not there (--check)\n"
    "  2  the command line is not valid\n"
    "  3  the daemon cannot start: an address is in use, the log cannot be opened; or --print-config cannot write\n";

struct CommandLine {
  std::string config_file;
  bool check = false;
  bool print = false;
  std::string name;
  std::vector<std::string> link_addresses;
  std::vector<std::string> neighbours;
  std::string bundle;  // an absolute path
  bool insecure = false;
  std::string log_level;
};

/// Why there is no configuration to run with: lines to print, and the exit code.
struct Refusal {
  ExitCode code;
  std::vector<std::string> lines;
};

/// Where standard error is full or closed the text is lost, and the exit code stays.
void print_error(std::string_view text) { std::fputs(fmt::format("spindled: {}\n", text).c_str(), stderr); }

Refusal bad_configuration(const std::vector<ConfigError>& errors) {
  Refusal refusal{kExitBadConfiguration, {}};
  for (const ConfigError& error : errors) refusal.lines.push_back(to_string(error));
  return refusal;
}

int refuse(const Refusal& refusal) {
  for (const std::string& line : refusal.lines) std::fputs((line + '\n').c_str(), stderr);
  return refusal.code;
}

int print(const DaemonConfig& config) {
  if (std::fputs(print_config(config).c_str(), stdout) != EOF && std::fflush(stdout) == 0) return kExitStopped;
  print_error(fmt::format("cannot write the configuration: {}", std::strerror(errno)));
  return kExitCannotStart;
}

/// Nothing where the program has to go on; else its exit code.
std::optional<int> parse_command_line(int argc, char** argv, CommandLine& line) {
  CLI::App app("The daemon of Spindle, a group communication toolkit.", "spindled");
  app.footer(kFooter);
  app.set_version_flag("--version", kVersion);
  app.add_option("--config", line.config_file, "Configuration file (TOML)")
      ->type_name("FILE")
      ->check([](const std::string& file) { return std::string(file.empty() ? "names no file" : ""); });
  app.add_flag("--check", line.check, "Check the configuration and what it names, print what is wrong, and exit");
  app.add_flag("--print-config", line.print, "Print the configuration with all defaults, as TOML, and exit");
  app.add_option("--name", line.name, "Name of this daemon, unique in its cluster; default: the name of the host")
      ->type_name("NAME");
  app.add_option("--listen", line.link_addresses, "Listen for other daemons here instead of where the file says")
      ->type_name("ADDRESS:PORT")
      ->allow_extra_args(false);
  app.add_option("--neighbour", line.neighbours, "Dial this daemon besides those in the file")
      ->type_name("HOST:PORT")
      ->allow_extra_args(false);
  app.add_option("--bundle", line.bundle,
                 "PEM file with key, certificate and CA, to protect links and clients with TLS (tls.bundle)")
      ->type_name("FILE");
  app.add_flag("--insecure", line.insecure, "Allow unprotected connections beyond this host (tls.insecure)");
  app.add_option("--log-level", line.log_level, "debug, info, warning or error")->type_name("LEVEL");
  try {
    app.parse(argc, argv);
    if (!line.bundle.empty()) line.bundle = std::filesystem::absolute(line.bundle).string();
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    // Help and version come as "errors", too, of code 0.
    return app.exit(error) == 0 ? 0 : kExitBadCommandLine;
  }
}

std::string wrong_option(std::string_view option, std::string_view text) {
  return fmt::format("spindled: {}: {}", option, text);
}

/// Puts the command line over the configuration; returns what is wrong with it.
std::vector<std::string> apply(const CommandLine& line, DaemonConfig& config) {
  std::vector<std::string> wrong;
  const auto check = [&](std::string_view option, const std::string& text) {
    if (!text.empty()) wrong.push_back(wrong_option(option, text));
  };
  if (!line.name.empty()) {
    check("--name", wrong_name(line.name));
    config.node.name = line.name;
  }
  for (const std::string& address : line.link_addresses) check("--listen", wrong_link_address(address));
  if (!line.link_addresses.empty()) config.listen.links = line.link_addresses;
  std::vector<NeighbourConfig>& neighbours = config.node.link.neighbours;
  for (const std::string& address : line.neighbours) {
    check("--neighbour", wrong_neighbour_address(address));
    const bool known = std::any_of(neighbours.begin(), neighbours.end(),
                                   [&](const NeighbourConfig& other) { return other.address == address; });
    if (known) check("--neighbour", fmt::format("\"{}\" is configured twice", address));
    neighbours.push_back({address, 0});
  }
  if (!line.bundle.empty()) config.tls.bundle = line.bundle;
  if (line.insecure) config.tls.insecure = true;
  if (!line.log_level.empty()) {
    const std::optional<LogLevel> level = parse_log_level(line.log_level);
    if (!level) check("--log-level", "must be debug, info, warning or error");
    config.log.level = level.value_or(config.log.level);
  }
  return wrong;
}

/// No two lives have the same; no clock takes part, for that may be set back.
std::uint64_t draw_incarnation(std::random_device& random) { return std::uint64_t{random()} << 32 | random(); }

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

/// A daemon with thousands of clients needs more descriptors than the usual soft limit of 1,024.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

// What plain functions that libraries call can reach.
const Node* dumped_node = nullptr;
DaemonLog* open_log = nullptr;

/// For the state of a daemon that is about to abort to be written.
constexpr std::chrono::seconds kDumpPatience{3};

/// The hook on failed checks.
void dump_state(std::string_view failed) {
  open_log->lift_bounds();
  open_log->write(LogLevel::error, "check", failed);
  if (const Node* node = std::exchange(dumped_node, nullptr)) {  // nothing where the dump itself fails
    std::istringstream lines(node->dump());
    for (std::string line; std::getline(lines, line);) open_log->write(LogLevel::error, "dump", line);
  }
  open_log->drain(kDumpPatience);
}

/// Protocol Buffers would write to standard error, and wait for whoever reads it, about text of a peer that is not
/// UTF-8.
void log_for_protobuf(google::protobuf::LogLevel level, const char*, int, const std::string& text) {
  const bool is_grave = level >= google::protobuf::LOGLEVEL_ERROR;
  Log(*open_log, "protobuf").warning("{}{}", is_grave ? "error: " : "", text);
}

void announce(const DaemonConfig& config, const AsioDriver& driver, LogSink& sink) {
  const auto or_none = [](const std::string& text) { return text.empty() ? "none" : text; };
  const std::string line =
      fmt::format("ready: daemon {} of cluster {}; clients at {}; links at {}; administration at {}", config.node.name,
                  config.node.cluster, or_none(driver.addresses(Port::client)), or_none(driver.addresses(Port::link)),
                  or_none(driver.addresses(Port::admin)));
  const bool is_written = write_at_once(STDOUT_FILENO, line + '\n');
  if (!config.log.file.empty() || !is_written) Log(sink, "net").info("{}", line);
}

/// What is exposed although the file has been accepted: the options for addresses did it.
std::vector<std::string> exposed_by_options(const DaemonConfig& config) {
  std::vector<std::string> wrong;
  for (const Exposure& exposure : find_exposed(config)) {
    wrong.push_back(wrong_option(exposure.key == "listen.links" ? "--listen" : "--neighbour", exposure.text));
  }
  return wrong;
}

/// SIGHUP ends a program that has not said what else it is to do. While it is blocked one that comes is kept.
void block_sighup(bool is_blocked) {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGHUP);
  ::pthread_sigmask(is_blocked ? SIG_BLOCK : SIG_UNBLOCK, &signals, nullptr);
}

/// What the configuration leaves to this host. An account that it does not have is an error.
UnresolvedAccounts settle(DaemonConfig& config, std::string_view file) {
  const auto settle_socket = [](std::string& path, std::string_view name) {
    if (path == kAutoSocket) path = spindle::default_socket_to_make(name);
  };
  settle_socket(config.listen.client_socket, spindle::kClientSocketName);
  settle_socket(config.listen.admin_socket, spindle::kAdminSocketName);
  config.node.admin.owner = fmt::format("uid:{}", ::geteuid());
  // The default is for hosts that have twice as much.
  if (const std::size_t half = host_memory() / 2; half != 0 && config.node.memory_bytes_max == kMemoryBytesDefault) {
    config.node.memory_bytes_max = std::clamp(half, kMemoryBytesLeast, kMemoryBytesDefault);
  }
  if (config.node.name.empty()) config.node.name = default_daemon_name(host_name());
  config.node.access.digest = rules_digest(config.node.access);
  return resolve_accounts(config, file);
}

using Loaded = tl::expected<DaemonConfig, Refusal>;

/// The configuration that file and command line come to.
Loaded load(const CommandLine& line) {
  std::vector<std::string> wrong;
  const ConfigOverlay overlay = [&](DaemonConfig& config) { wrong = apply(line, config); };
  ConfigResult config;
  if (line.config_file.empty()) {
    overlay(*config);
  } else {
    config = load_config(line.config_file, overlay);
  }
  if (!config) return tl::unexpected(bad_configuration(config.error()));
  if (wrong.empty()) wrong = exposed_by_options(*config);
  if (!wrong.empty()) return tl::unexpected(Refusal{kExitBadCommandLine, std::move(wrong)});
  const UnresolvedAccounts unresolved = settle(*config, line.config_file);
  if (!unresolved.errors.empty()) {
    Refusal refusal = bad_configuration(unresolved.errors);
    if (unresolved.may_exist) refusal.code = kExitCannotStart;
    return tl::unexpected(std::move(refusal));
  }
  return std::move(*config);
}

/// Has the daemon go by its certificates as they are now, where their files have changed.
void look_at_certificates(const DaemonConfig& running, AsioDriver& driver, CertificateFiles& certificates) {
  std::optional<Protection> changed = certificates.look(running, spindle::wall_time());
  if (changed) driver.protect(std::move(*changed));
}

/// Has the daemon go by its files as they are now, as far as it can without a restart. An error changes nothing.
class Reloader {
 public:
  /// All outlive this one.
  Reloader(const CommandLine& line, DaemonConfig& running, CertificateFiles& certificates, DaemonLog& sink)
      : line_(line), running_(running), certificates_(certificates), sink_(sink), log_(sink, "config") {}

  /// Reads beside the daemon's own thread: a long file takes a while, and an account may have to be asked for over the
  /// network.
  void start(AsioDriver& driver) {
    if (line_.config_file.empty()) return look_at_certificates(running_, driver, certificates_);
    if (std::exchange(is_reading_, true)) {
      again_ = true;
      return;
    }
    driver.run_beside([this, &driver] {
      auto read = std::make_shared<Loaded>(load(line_));
      return [this, &driver, read] {
        is_reading_ = false;
        finish(driver, std::move(*read));
        if (std::exchange(again_, false)) start(driver);
      };
    });
  }

 private:
  void finish(AsioDriver& driver, Loaded next) {
    if (!next) {
      for (const std::string& text : next.error().lines) log_.error("{}", text);
      return log_.error("{} is not taken: the configuration stays as it is", line_.config_file);
    }
    next->node.incarnation = running_.node.incarnation;
    Reload result = reload(running_, std::move(*next));
    Result<CertificateFiles::Taken> taken = certificates_.take(result.config, spindle::wall_time());
    if (!taken) {
      log_.error("{}", taken.error().message());
      return log_.error("{} is not taken: the configuration stays as it is", line_.config_file);
    }
    running_ = std::move(result.config);
    sink_.set_level(running_.log.level);
    driver.protect(std::move(taken->protection));
    driver.set_tokens(running_.tokens);
    driver.reconfigure(running_.node);
    for (const std::string& changed : result.changed) log_.info("from now on {}", changed);
    for (const std::string& key : result.needs_restart) {
      log_.warning("{} has changed: restart to have it take effect", key);
    }
    if (!taken->news.empty()) log_.info("{}", taken->news);
    certificates_.warn(spindle::wall_time());
    const bool is_news = !result.changed.empty() || !result.needs_restart.empty() || !taken->news.empty();
    if (!is_news) log_.info("{} says nothing new", line_.config_file);
  }

  const CommandLine& line_;
  DaemonConfig& running_;
  CertificateFiles& certificates_;
  DaemonLog& sink_;
  Log log_;
  bool is_reading_ = false;
  bool again_ = false;  // once more when it has been read
};

void warn_of_exposure(const DaemonConfig& config, LogSink& sink) {
  const std::string list = list_unprotected(config);
  if (list.empty()) return;
  Log(sink, "config")
      .warning("tls.insecure is on: whoever is on the network can read and forge what goes over {}", list);
}

void warn_of_memory(const DaemonConfig& config, LogSink& sink) {
  const std::size_t host = host_memory();
  if (host == 0 || config.node.memory_bytes_max <= host) return;
  Log(sink, "config")
      .warning("limits.memory_bytes is {}, and this host or its control group has {}", config.node.memory_bytes_max,
               host);
}

int run(const CommandLine& line, DaemonConfig config) {
  std::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  std::random_device random;
  config.node.incarnation = draw_incarnation(random);
  const std::uint64_t seed = static_cast<std::uint64_t>(random()) << 32 | random();

  Result<std::unique_ptr<DaemonLog>> opened = DaemonLog::open(config.log);
  if (!opened) {
    print_error(fmt::format("cannot open the log: {}", opened.error().message()));
    return kExitCannotStart;
  }
  DaemonLog& log = **opened;
  open_log = &log;
  google::protobuf::SetLogHandler(log_for_protobuf);
  warn_of_exposure(config, log);
  warn_of_memory(config, log);
  CertificateFiles certificates(log);
  Reloader reloader(line, config, certificates, log);
  AsioDriver driver(log, [&] {
    log.reopen();
    reloader.start(driver);
  });
  block_sighup(false);
  Result<CertificateFiles::Taken> taken = certificates.take(config, spindle::wall_time());
  if (!taken) {
    print_error(taken.error().message());
    return kExitBadConfiguration;
  }
  certificates.warn(spindle::wall_time());
  if (taken->protection) driver.watch_certificates([&] { look_at_certificates(config, driver, certificates); });
  driver.protect(std::move(taken->protection));
  driver.set_tokens(config.tokens);
  if (const Result<void> listening = driver.listen(config); !listening) {
    print_error(listening.error().message());
    return kExitCannotStart;
  }
  Node node(config.node, driver, log, seed);
  dumped_node = &node;
  set_check_hook(dump_state);
  driver.start(node);
  announce(config, driver, log);
  driver.run();
  dumped_node = nullptr;
  log.write(LogLevel::info, "net", "stopped");
  if (driver.is_held_up()) {
    // The destructor would wait for a name server, as long as that takes.
    driver.stop_listening();
    opened->reset();
    std::_Exit(kExitStopped);
  }
  return kExitStopped;
}

}  // namespace
}  // namespace spindled

// NOLINTNEXTLINE(bugprone-exception-escape): what nobody expects ends the daemon as a failed assertion does.
int main(int argc, char** argv) {
  using namespace spindled;
  // Until the daemon can do what it asks for: files and accounts may take long to read.
  block_sighup(true);
  CommandLine line;
  if (const std::optional<int> code = parse_command_line(argc, argv, line)) return *code;

  Loaded config = load(line);
  if (!config) return refuse(config.error());
  if (line.check) {
    const std::string file = line.config_file.empty() ? "spindled" : line.config_file;
    const std::vector<ConfigError> errors = find_unusable(*config, file);
    if (!errors.empty()) return refuse(bad_configuration(errors));
    if (const Result<Protection> protection = load_protection(*config, spindle::wall_time()); !protection) {
      return refuse({kExitBadConfiguration, {file + ": " + protection.error().message()}});
    }
  }
  if (line.print) return print(*config);
  if (line.check) return kExitStopped;
  return run(line, std::move(*config));
}
