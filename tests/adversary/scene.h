// Where an attack takes place: three daemons in a line, a pair of innocent clients at two of them, and what is watched.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/adversary/hostile_client.h"
#include "tests/adversary/pair.h"
#include "tests/adversary/slow_line.h"
#include "tests/adversary/stream.h"

namespace spindle::test {

struct SceneOptions {
  std::string configuration;     // of every daemon; empty: the defaults
  std::size_t line_rate = 0;     // bytes/s from beta to gamma; 0: as fast as loopback is
  bool pair_at_gamma = true;     // alpha and gamma; false: alpha and beta
  bool unread_log = false;       // nobody reads what the daemons log
  bool stream = false;           // one more pair, from alpha to gamma, that does not wait for each other
  std::size_t memory_limit = 0;  // bytes that the configuration gives a daemon; 0: the default
  int liveness_timeout_ms = 0;   // of the links of every daemon; 0: the default
};

/// alpha - beta - gamma. The pair talks from construction to destruction.
class Scene {
 public:
  explicit Scene(const SceneOptions& options);
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene();

  Daemon& alpha() { return *daemons_[1]; }
  Daemon& beta() { return *daemons_[0]; }
  Daemon& gamma() { return *daemons_[2]; }
  Pair& pair() { return *pair_; }

  /// `count` innocent members of `group` at `daemon`, who read what comes.
  void add_crowd(Daemon& daemon, std::size_t count, const std::string& group);
  /// One more daemon of this name, beyond `beta`; the caller decides what becomes of it.
  std::unique_ptr<Daemon> make_daemon(const std::string& name, const ProcessOptions& process = {});
  /// Keeps a hostile client until the scene ends.
  HostileClient& keep(HostileClient client);
  /// Those clients hang up.
  void let_go() { hostile_.clear(); }

  /// Waits until alpha, beta, gamma are in one quiet view of `daemons` daemons.
  void wait_for_view(std::size_t daemons);

  /// From here on, what follows counts.
  void start_watching();
  struct Damage {
    std::uint64_t views = 0;              // that the daemon with the most installed
    std::size_t cut_off = 0;              // of the crowd
    std::size_t memory_growth_bytes = 0;  // resident, of the daemon that grew most, at its highest
    std::size_t memory_most_bytes = 0;    // likewise, of the one that had most, in all
    double stream_share = 1;              // of what was due, of the stream
    std::string trouble;                  // of the pair, and daemons that ended
  };
  Damage stop_watching();

 private:
  void watch_memory(const std::stop_token& stop);
  std::uint64_t views_installed(Daemon& daemon);

  const int liveness_timeout_ms_;
  std::unique_ptr<SlowLine> line_;
  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::deque<HostileClient> hostile_;
  std::vector<std::unique_ptr<Crowd>> crowds_;
  std::unique_ptr<Pair> pair_;
  std::unique_ptr<Stream> stream_;  // where there is one
  std::vector<std::uint64_t> views_before_;
  std::vector<std::size_t> memory_before_, memory_most_;
  std::jthread watching_;
};

/// The value of one of a daemon's counters.
std::uint64_t counter(Daemon& daemon, const std::string& name);

}  // namespace spindle::test
