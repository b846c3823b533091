// One run of one way to disseminate content on one network.
#pragma once

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

  /// Means over these seconds.
  double useful(double from_s, double to_s) const;
  double raw(double from_s, double to_s) const;
  /// Of these receivers alone.
  double useful_of(const std::vector<underlay::Participant>& some, double from_s, double to_s) const;
};

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

 private:
  Course measured(underlay::OverlayNet& net, double seconds) const;

  const underlay::Topology& topology_;
  const underlay::Transport transport_;
  const double symbols_per_s_;
  const std::uint64_t seed_;
};

}  // namespace spindled::scenarios::mesh
