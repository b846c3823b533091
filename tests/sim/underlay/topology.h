// A network of routers below an overlay, as in the experiments of Bullet (Kostić et al., SOSP 2003, section 4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "daemon/base/random.h"

namespace spindled::sim::underlay {

/// Where a link is (Calvert, Doar and Zegura).
enum class LinkClass : std::uint8_t { client_stub, stub_stub, transit_stub, transit_transit };

struct Range {
  double low = 0;
  double high = 0;
};

/// kb/s, by LinkClass.
using Bandwidths = std::array<Range, 4>;

// The paper's Table 1.
inline constexpr Bandwidths kLowBandwidths{{{300, 600}, {500, 1'000}, {1'000, 2'000}, {2'000, 4'000}}};
inline constexpr Bandwidths kMediumBandwidths{{{800, 2'800}, {1'000, 4'000}, {1'000, 4'000}, {5'000, 10'000}}};
inline constexpr Bandwidths kHighBandwidths{{{1'600, 5'600}, {2'000, 8'000}, {2'000, 8'000}, {10'000, 20'000}}};

/// One of those that take part, by index.
using Participant = std::uint16_t;
/// A link in one of its directions.
using Pipe = std::uint32_t;

struct Link {
  std::uint32_t a = 0, b = 0;  // nodes: routers, and behind them participants
  LinkClass place{};
  double delay_s = 0;         // one way
  double bytes_per_s = 0;     // in each direction
  double loss = 0;            // of packets, in each direction
  double bandwidth_draw = 0;  // in [0, 1), where in the range of its class the bandwidth is
};

struct TopologyOptions {
  std::size_t routers = 20'000;
  std::size_t participants = 1'000;
};

/// Routers lie in a square and are joined one after the other, each to one, two or three of those that are there, with
/// chances that go by the links that these have (preferential attachment). Those with the most links are transit.
/// Participants are at routers with one link, no two at the same one while there are enough. Packets take the ways with
/// the least delay.
class Topology {
 public:
  Topology(std::uint64_t seed, const TopologyOptions& options);

  /// Bandwidths by class; the same link is at the same place of its range whatever the ranges.
  void set_bandwidths(const Bandwidths& bandwidths);
  /// Losses of the paper's section 4.5: up to 0.3 %, 0.1 % on transit links, and 5 to 10 % on a twentieth of all links.
  void set_losses(std::uint64_t seed);

  std::size_t participants() const { return participants_; }
  const std::vector<Link>& links() const { return links_; }
  std::size_t pipes() const { return 2 * links_.size(); }
  const Link& link_of(Pipe pipe) const { return links_[pipe / 2]; }

  /// The pipes from one to the other, in their order.
  std::vector<Pipe> path(Participant from, Participant to) const;
  double delay_s(Participant from, Participant to) const;
  /// Of packets, on the whole way.
  double loss(Participant from, Participant to) const;

 private:
  void join_routers(Random& random, std::size_t routers);
  void join_participants(Random& random, std::size_t routers);
  void route();
  template <typename Each>
  void for_path(Participant from, Participant to, Each&& each) const;

  std::size_t participants_ = 0;
  std::size_t nodes_ = 0;
  std::vector<Link> links_;
  // Of each pair of participants with from < to, one behind the other.
  std::vector<Pipe> paths_;
  std::vector<std::uint32_t> path_begins_;
};

/// Bytes a second that TCP sends at most over a way of that loss and round trip in the steady state, of packets of
/// 1,500 bytes (Padhye et al., as the paper has it); infinite where nothing is lost.
double tcp_rate(double loss, double round_trip_s);
/// The loss at which it is that rate; no more than a third.
double loss_at(double rate, double round_trip_s);

}  // namespace spindled::sim::underlay
