// One run of one way to disseminate content on one network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/underlay/epidemics.h"
#include "tests/sim/underlay/mesh_dissemination.h"
#include "tests/sim/underlay/trees.h"

namespace spindled::scenarios::mesh {

namespace underlay = sim::underlay;

inline constexpr double kSymbolBytes = 2'048;

/// What is seen of a run, in kb/s of each receiver in the mean.
struct Course {
  struct Second {
    double useful = 0;
    double deviation = 0;  // standard, of receivers
    double raw = 0;
    double from_parents = 0;
  };
  std::vector<Second> seconds;
  std::vector<std::vector<double>> receivers;  // useful, by second and receiver

  // Of all of the run.
  double control_mean_kbps = 0;  // of a member
  double control_most_kbps = 0;
  double stress_mean = 0;
  double stress_most = 0;
  double stress_of_blocks = 0;

  /// What the daemon's code for the mesh costs, of a member in the mean.
  double processor_us_per_s = 0;  // as the wall clock has it; 0: not measured
  double processor_ns_per_symbol = 0;
  double heap_bytes = 0;  // at the end; 0: not measured

  /// Means over these seconds.
  double useful(double from_s, double to_s) const;
  double raw(double from_s, double to_s) const;
  /// Of these receivers alone.
  double useful_of(const std::vector<underlay::Participant>& some, double from_s, double to_s) const;
};

/// Bytes that this thread has taken of the heap and not given back; null where the program does not count them.
extern std::int64_t (*heap_bytes_of_thread)();

class Trial {
 public:
  Trial(const underlay::Topology& topology, underlay::Transport transport, double rate_kbps, std::uint64_t seed);

  Course tree(const underlay::Tree& tree, double seconds);
  Course gossip(double seconds);
  Course anti_entropy(const underlay::Tree& tree, double seconds);
  struct Failure {
    underlay::Participant participant = 0;
    double at_s = 0;
  };
  Course mesh(const underlay::Tree& tree, double seconds, spindled::mesh::MeshOptions options = {},
              std::optional<Failure> failure = {});
  /// The same, and what it costs.
  Course measured_mesh(const underlay::Tree& tree, double seconds);

 private:
  Course measured(underlay::OverlayNet& net, double seconds) const;
  underlay::MeshSettings settings_of(const spindled::mesh::MeshOptions& options) const;

  const underlay::Topology& topology_;
  const underlay::Transport transport_;
  const double symbols_per_s_;
  const std::uint64_t seed_;
};

}  // namespace spindled::scenarios::mesh
