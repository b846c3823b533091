// The faults that there are, and a source of random ones.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/faults/field.h"
#include "tests/integration/raw_socket.h"

namespace spindle::test {

// X(name, text)
#define SPINDLE_FAULTS(X)                                     \
  X(kill, "kill -9, later a restart")                         \
  X(short_stop, "SIGSTOP for less than the liveness timeout") \
  X(long_stop, "SIGSTOP for longer")                          \
  X(interface_down, "interface of a host down and up")        \
  X(one_way, "all lost in one direction between two hosts")   \
  X(loss, "1 to 20 % of all frames lost")                     \
  X(partition, "partition in two")                            \
  X(full_disk, "disk of the logs full")                       \
  X(no_descriptors, "idle clients take all descriptors")      \
  X(restart_all, "all killed at once, and restarted")

enum class FaultKind : std::uint8_t {
#define SPINDLE_FAULT(name, text) name,
  SPINDLE_FAULTS(SPINDLE_FAULT)
#undef SPINDLE_FAULT
};

#define SPINDLE_FAULT(name, text) +1
inline constexpr std::size_t kFaultKinds = 0 SPINDLE_FAULTS(SPINDLE_FAULT);
#undef SPINDLE_FAULT

std::string_view to_string(FaultKind kind);

/// Connections that say nothing, as many as the daemon's host lets them be.
class IdleClients {
 public:
  IdleClients(const std::string& socket, std::size_t count);
  std::size_t count() const { return sockets_.size(); }

 private:
  std::vector<std::unique_ptr<RawSocket>> sockets_;
};

/// Injects faults one at a time, each for a while, so that several may hold at once; never all that could be said to be
/// no cluster any more: something always runs, except for a moment in `restart_all`.
class Trouble {
 public:
  Trouble(Field& field, std::uint64_t seed) : field_(field), random_(seed) {}

  /// Injects `count` of them and waits in between; ends those that are due. Those that hold at the end are left to
  /// `Field::finish`, but for what it does not know of.
  void make(std::size_t count);

  const std::map<FaultKind, std::size_t>& injected() const { return injected_; }
  /// What was done when, one line each.
  const std::string& diary() const { return diary_; }

 private:
  struct Active {
    Clock::time_point until;
    FaultKind kind{};
    std::size_t daemon = 0;
    std::vector<std::string> hosts{};
  };

  void begin();
  bool try_begin(FaultKind kind, Active& fault);
  void end_due();
  void end(const Active& fault);
  void pass(std::chrono::milliseconds time);
  void restart_all();
  void write_diary(std::string_view what, const Active& fault);
  std::size_t below(std::size_t bound) { return random_() % bound; }
  std::chrono::milliseconds between(int low, int high);
  bool is_active(FaultKind kind) const;

  Field& field_;
  std::mt19937_64 random_;
  const Clock::time_point started_ = Clock::now();
  std::vector<Active> active_;
  std::map<std::size_t, IdleClients> idle_;
  std::map<FaultKind, std::size_t> injected_;
  std::string diary_;
};

}  // namespace spindle::test
