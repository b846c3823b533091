// TCP connections that share the links of a topology.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tests/sim/underlay/topology.h"

namespace spindled::sim::underlay {

using FlowId = std::uint32_t;
inline constexpr FlowId kNoFlow = UINT32_MAX;

/// Max-min fair rates: each flow has as much as the pipes of its way give to each of the flows that they limit, and no
/// more than it demands. `ways[i]` are the pipes of flow i.
std::vector<double> max_min(std::span<const double> pipe_rates, std::span<const std::vector<Pipe>* const> ways,
                            std::span<const double> demands);

/// Whether what is lost on the way is sent again.
enum class Transport : std::uint8_t {
  tcp,
  tfrc,  // it is not: as the paper uses TCP-Friendly Rate Control
};

/// One direction of each connection is a flow: a rate, and a credit of bytes that grows by it. A flow's rate is
/// max-min fair, and no more than TCP's equation gives for the losses and the round trip of its way, nor than twice
/// what it carried lately, as a sender that has little to say keeps no claim to a link.
///
/// A flow that a pipe limits learns its rate by losing packets there: as many as make it that rate by the equation.
class Flows {
 public:
  Flows(const Topology& topology, Transport transport);

  FlowId open(Participant from, Participant to);
  void close(FlowId flow);
  bool is_open(FlowId flow) const { return flows_[flow].is_open; }
  std::size_t open_flows() const { return open_; }

  /// Whether the connection takes so much at once.
  bool has_room(FlowId flow, double bytes) const { return flows_[flow].credit >= bytes; }
  void sent(FlowId flow, double bytes) {
    flows_[flow].credit -= bytes;
    flows_[flow].used += bytes;
  }
  double rate(FlowId flow) const { return flows_[flow].rate; }
  /// The chance that what is sent does not arrive; zero over TCP.
  double loss(FlowId flow) const { return flows_[flow].loss; }
  const std::vector<Pipe>& way(FlowId flow) const { return flows_[flow].way; }

  /// What a participant sends and receives beside flows takes room on its own link.
  void sent_beside(Participant from, Participant to, double bytes) {
    beside_out_[from] += bytes;
    beside_in_[to] += bytes;
  }

  /// Credits of so much time; `largest` is what a flow wants to send at once, which it can always save up for.
  void advance(double seconds, double largest);
  /// New rates, by what was carried since the last time, which is so long ago.
  void share(double seconds);

 private:
  struct Flow {
    std::vector<Pipe> way;
    double round_trip_s = 0;
    double way_loss = 0;
    double equation = 0;  // bytes a second
    double demand = 0;
    double rate = 0;
    double credit = 0;
    double loss = 0;
    double used = 0;  // bytes, since `share`
    bool is_open = false;
  };

  const Topology& topology_;
  const Transport transport_;
  std::vector<Flow> flows_;
  std::vector<FlowId> free_;
  std::size_t open_ = 0;
  std::vector<double> beside_out_, beside_in_;  // bytes, since `share`
};

}  // namespace spindled::sim::underlay
