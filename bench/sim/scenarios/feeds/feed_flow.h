// A feed on paths that carry packets: the source's rate control, and just enough around it to hear of losses.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "daemon/feed/mean_round_trip.h"
#include "daemon/feed/pacer.h"
#include "daemon/feed/rate.h"
#include "tests/sim/packet_path.h"

namespace spindled::scenarios::feeds {

struct FeedFlowProperties {
  FeedRateConfig rate;
  std::size_t nak_bytes = 40;
  /// Of what daemons ask each other to measure round trips: less than theirs, to measure and not to fill paths.
  std::size_t question_bytes = 40;
  /// Whether nodes pass on the first NAK for a packet only, as the routers of PGM do.
  bool aggregates = true;
};

/// A source and a tree of nodes, some of which are receivers. A receiver asks for a packet as soon as a later one has
/// come, once; the NAK goes up the tree, and the source sends the packet again, in front of new ones and within its
/// rate, to whoever has asked. Where the rate is to be like TCP's the paths are measured all the while, as daemons do.
/// A flow outlives the events of its queue.
class FeedFlow {
 public:
  using Node = std::uint32_t;

  FeedFlow(sim::EventQueue& events, const FeedFlowProperties& properties, std::uint64_t seed);
  FeedFlow(const FeedFlow&) = delete;
  FeedFlow& operator=(const FeedFlow&) = delete;

  /// Below the source, which is node 0. The paths outlive the flow.
  Node add_node(Node parent, sim::PacketRoute down, sim::PacketRoute up);
  void add_receiver(Node node) { nodes_[node].is_receiver = true; }
  /// From now on the source always has something to send.
  void start();

  const FeedRate& rate() const { return rate_; }
  /// Packets that have come to a receiver, without those that were sent again.
  std::uint64_t delivered(Node node) const { return nodes_[node].delivered; }
  std::uint64_t sent() const { return next_; }
  std::uint64_t repairs() const { return repairs_; }
  /// When the rate was reduced.
  const std::vector<Time>& reductions() const { return reductions_; }

 private:
  struct Asked {
    Node reporter = 0;
    std::uint64_t sequence = 0;
    std::uint64_t heard = 0;
    Duration way{};  // mean round trips of the paths that it has come by; zero, from any but the reporter: not known
  };
  struct NodeState {
    Node parent = 0;
    sim::PacketRoute down, up;  // from and to the parent
    std::vector<Node> children{};
    bool is_receiver = false;
    std::uint64_t expected = 0;
    std::uint64_t delivered = 0;
    Duration round_trip{};  // to the parent, smoothed
    MeanRoundTrip mean{};
    /// Who has asked for a packet, until it comes again: children, or the node itself.
    std::map<std::uint64_t, std::set<Node>> asked{};
  };

  static constexpr Duration kQuestionInterval = 250ms;

  void send();
  /// Each node is asked by its parent.
  void measure();
  void answered(Node node, Time asked);
  void send_down(Node child, std::uint64_t sequence, bool is_repair);
  void arrived(Node at, std::uint64_t sequence, bool is_repair);
  void ask(Node at, Node from, const Asked& asked);
  void repair(Node at, std::uint64_t sequence);

  sim::EventQueue* events_;
  FeedFlowProperties properties_;
  FeedRate rate_;
  FeedPacer pacer_;
  std::deque<NodeState> nodes_;
  std::uint64_t next_ = 0;
  std::set<std::uint64_t> to_repair_;
  std::uint64_t repairs_ = 0;
  std::vector<Time> reductions_;
};

}  // namespace spindled::scenarios::feeds
