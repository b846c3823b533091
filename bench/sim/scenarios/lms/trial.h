// One graph, on which packets are lost one at a time.
#pragma once

#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "tests/sim/feed_net.h"

namespace spindled::scenarios::lms {

/// Who keeps packets, and what relays go by.
enum class Mode : std::uint8_t {
  paper,    // receivers; relays go by links alone, as the paper's routers
  members,  // receivers; relays know what they have passed on
  all,      // all daemons
};
std::string_view to_string(Mode mode);

/// What is seen of a number of losses.
struct Measured {
  std::uint64_t losses = 0;

  // The time from when a receiver sees that a packet is missing until it has it, over its round trip to the source.
  std::uint64_t recoveries = 0;
  double latency_sum = 0;
  double latency_min = 0;
  double latency_max = 0;

  double exposure_sum = 0;           // repairs that came to a receiver that lacked nothing, over all receivers
  std::uint64_t duplicates = 0;      // repairs that came to one that had been repaired
  std::uint64_t unrepaired = 0;      // packets that did not come at all
  std::uint64_t naks_at_source = 0;  // at most, of one loss; those that say served are others
  std::uint64_t naks_up_max = 0;     // of one loss and try, upstream on one link
  std::uint64_t naks_max = 0;        // the same in any direction

  double latency() const { return recoveries == 0 ? 0 : latency_sum / static_cast<double>(recoveries); }
  double exposure() const { return losses == 0 ? 0 : exposure_sum / static_cast<double>(losses); }
  void add(const Measured& other);
};

/// Losses follow each other in one run, far enough apart that each is over before the next. Repairs and NAKs are not
/// lost, as in the paper.
class Trial {
 public:
  Trial(const sim::Graph& graph, Mode mode, unsigned later_packets = 1);

  /// A link of the tree that packets take, the way that they take it.
  struct TreeLink {
    MemberIndex from = 0;
    MemberIndex to = 0;
    sim::EdgeKind kind{};
  };
  const std::vector<TreeLink>& tree() const { return tree_; }

  /// A packet is lost on all links from the source,
  void lose_at_source(Measured& measured);
  /// or on that link.
  void lose_on(const TreeLink& link, Measured& measured);

 private:
  using Loses = std::function<bool(MemberIndex from, MemberIndex to)>;
  void lose(Measured& measured, const Loses& loses);
  void recoveries(std::uint64_t sequence, Measured& measured) const;

  const sim::Graph graph_;
  std::map<MemberIndex, Duration> round_trips_;  // of receivers
  std::vector<TreeLink> tree_;
  std::map<MemberIndex, MemberIndex> parents_;
  Duration quiet_{};  // in which a loss is over
  sim::FeedNet net_;
};

}  // namespace spindled::scenarios::lms
