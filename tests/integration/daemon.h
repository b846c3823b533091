// A spindled of a test's own, in a directory of its own, and ways to talk to it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/admin/admin.pb.h"
#include "spindle/connection.h"
#include "tests/integration/process.h"

namespace spindle::test {

struct DaemonOptions {
  std::string name = "alpha";
  std::vector<std::string> neighbours;         // addresses to dial
  std::string link_address = "127.0.0.1:0";    // where it listens for other daemons
  std::string client_address = "127.0.0.1:0";  // and for clients
  std::string admin_address;                   // and for operators; empty: nowhere
  bool insecure = false;                       // unprotected connections beyond its host are allowed
  std::string configuration;                   // sections of the configuration other than these, TOML
  /// Of links, where the configuration says nothing of it; 0: what a daemon has of itself, which a process that stands
  /// still on a busy machine exceeds: views change then of which the test knows nothing.
  int liveness_timeout_ms = 5000;
  ProcessOptions process;  // arguments come behind those that are made here
};

/// Runs from construction, which throws where it does not come up, to destruction. A test that fails shows its log.
class Daemon {
 public:
  explicit Daemon(const DaemonOptions& options);
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon();

  const std::string& name() const { return options_.name; }
  Process& process() { return *process_; }
  std::string socket() const { return directory_.path("clients"); }
  std::string admin_socket() const { return directory_.path("admin"); }
  /// With the port that it really has.
  const std::string& client_address() const { return client_address_; }
  const std::string& link_address() const { return link_address_; }
  /// Of DaemonOptions::admin_address; without one that of the socket.
  const std::string& admin_address() const { return admin_address_; }

  /// Has it read its configuration again, in which `text` now stands instead of what its options gave.
  void reload(const std::string& text);
  /// SIGKILL; returns when the process is gone.
  void kill();
  /// SIGTERM; the exit code.
  int stop();
  /// Another process with the same configuration, in the same place.
  void start();

  /// A client by the unix socket; throws where it is refused.
  Connection connect(const std::string& client);
  spindle::admin::Reply ask(const spindle::admin::Request& request);
  /// What it has counted, by the name of a counter.
  std::uint64_t count(const std::string& counter);
  /// A round trip of a new client's message, and a status from the administration socket: this daemon serves. Gives
  /// test failures where it does not.
  void expect_serving();

 private:
  std::string configuration() const;
  void show_log();

  DaemonOptions options_;
  TemporaryDirectory directory_;
  std::unique_ptr<Process> process_;
  std::string client_address_;
  std::string link_address_;
  std::string admin_address_;
  int probes_ = 0;
};

/// `spmonitor` with these arguments, asking `daemon`.
Finished run_spmonitor(const Daemon& daemon, const std::vector<std::string>& arguments);

/// Kills daemons when its scope ends: declared behind the tasks whose clients wait for them, it ends those, too.
class KillAtEnd {
 public:
  explicit KillAtEnd(std::vector<Daemon*> daemons) : daemons_(std::move(daemons)) {}
  KillAtEnd(const KillAtEnd&) = delete;
  KillAtEnd& operator=(const KillAtEnd&) = delete;
  ~KillAtEnd() {
    for (Daemon* daemon : daemons_) daemon->kill();
  }

 private:
  std::vector<Daemon*> daemons_;
};

/// alpha, beta and gamma on loopback; the outer two know beta only.
struct LineOfThree {
  explicit LineOfThree(const std::string& configuration = {});

  std::vector<Daemon*> all() { return {&alpha, &beta, &gamma}; }

  Daemon beta;
  Daemon alpha;
  Daemon gamma;
};

}  // namespace spindle::test
