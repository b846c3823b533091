// Runs a script on a simulation of its own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/cluster.h"
#include "tests/sim/script/arguments.h"
#include "tests/sim/script/script.h"
#include "tests/sim/script/transcript.h"

namespace spindled::sim {

/// docs/simulator.md lists the commands.
class Interpreter {
 public:
  /// `log_echo`: as in SimOptions.
  explicit Interpreter(const Script& script, bool log_echo = false) : script_(script), log_echo_(log_echo) {}

  /// Runs the blocks in turn; what each produced. Throws ScriptError for a command that is not known, makes no sense
  /// where it stands, or waits in vain.
  std::vector<std::string> run();

  /// After `run`, of all that the script did and led to.
  History history() const { return simulator_->history(); }
  std::string explain() const { return simulator_ == nullptr ? "" : simulator_->explain(); }

 private:
  using Handler = void (Interpreter::*)(Arguments&);
  struct Known {
    std::string_view usage;
    Handler handler;
    bool takes_time = false;  // cannot happen in the middle of a run
  };
  struct Trigger {
    std::string host;
    std::string text;
    Command command;
  };

  static const std::map<std::string_view, Known>& commands();

  void execute(const Command& command, bool triggered);
  void heard(std::string_view host, std::string_view line);
  void fire(const Command& command);

  // Commands.
  void cluster(Arguments& arguments);
  void connect(Arguments& arguments);
  void members(Arguments& arguments);
  void join(Arguments& arguments);
  void leave(Arguments& arguments);
  void send(Arguments& arguments);
  void bye(Arguments& arguments);
  void kill(Arguments& arguments);
  void crash(Arguments& arguments);
  void lose_power(Arguments& arguments);
  void start(Arguments& arguments);
  void stop(Arguments& arguments);
  void pause(Arguments& arguments);
  void resume(Arguments& arguments);
  void stall(Arguments& arguments);
  void unstall(Arguments& arguments);
  void cut(Arguments& arguments);
  void mend(Arguments& arguments);
  void reset(Arguments& arguments);
  void delay(Arguments& arguments);
  void partition(Arguments& arguments);
  void heal(Arguments& arguments);
  void when(Arguments& arguments);
  void run_command(Arguments& arguments);

  void connect_to(SimHost& to, const std::string& name, const Arguments& arguments);
  void run_until_rest(const Arguments& arguments);
  /// The running daemons, by who can reach whom.
  std::vector<std::vector<SimHost*>> components();

  SimHost& host(Arguments& arguments);
  SimHost& running_host(Arguments& arguments);
  SimClient& client(Arguments& arguments);
  std::pair<HostIndex, HostIndex> link(Arguments& arguments);
  /// For each of the names that are left, at least one.
  void each_running_host(Arguments& arguments, const std::function<void(SimHost&)>& action);
  void each_client(Arguments& arguments, const std::function<void(SimClient&)>& action);

  const Script& script_;
  const bool log_echo_;
  std::unique_ptr<Simulator> simulator_;
  std::optional<Transcript> transcript_;
  std::vector<std::pair<std::size_t, std::size_t>> edges_;
  std::map<std::string, SimClient*> clients_;
  std::vector<Trigger> triggers_;
  std::optional<std::pair<std::string, std::string>> awaited_;  // a host, and what it is to say
  std::optional<ScriptError> failed_;                           // in a triggered command
};

}  // namespace spindled::sim
