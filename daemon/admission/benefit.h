// What admission seeks the most of.
#pragma once

#include <memory>

#include "daemon/base/node_config.h"

namespace spindled {

/// What there is to know of a packet when its worth is asked.
struct PacketFacts {
  double receivers = 1;  // daemons that it goes to, other than this one
  double rate = 0;       // packets per second that its flow has sent lately
};

/// How much a packet is worth, compared with one that is worth what it costs: a flow pays the price of the links
/// divided by this. The fee is the same for all. Section IV-A of the paper leaves the choice to the user: the functions
/// answer the question what the sum of all worth is, which the network then has the most of.
class Benefit {
 public:
  virtual ~Benefit() = default;
  /// Positive.
  virtual double of(const PacketFacts& packet) const = 0;
};

/// - sending: every packet is worth the same, and the network carries the most packets, wherever they go;
/// - receiving: a packet is worth as much as the daemons that receive it, so that large groups get more;
/// - fair: the worth of a flow is the square root of its rate, so that packets of slow flows are worth more, and a flow
///   over many congested links keeps more of its share.
std::unique_ptr<const Benefit> make_benefit(BenefitKind kind);

}  // namespace spindled
