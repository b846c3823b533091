// What a view change costs: time, and bytes on all links.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "daemon/base/counters.h"
#include "tests/sim/cluster.h"

namespace spindled::sim {

/// Why a view changes.
enum class Cause : std::uint8_t {
  join,         // a daemon starts
  link,         // a link is lost that no daemon depends on: the members stay
  crash,        // a daemon is killed that no other depends on; its neighbours see their connections reset
  silence,      // the same, but nobody is told: the neighbours find out for themselves
  coordinator,  // the daemon that would coordinate is killed
  merge,        // two halves, connected each, come together
};
inline constexpr Cause kCauses[] = {Cause::join,    Cause::link,        Cause::crash,
                                    Cause::silence, Cause::coordinator, Cause::merge};
std::string_view to_string(Cause cause);

/// All that is sent on links but pings, by kind.
inline constexpr Counter kByteKinds[] = {Counter::bytes_link_state, Counter::bytes_propose, Counter::bytes_member_state,
                                         Counter::bytes_commit,     Counter::bytes_push,    Counter::bytes_done,
                                         Counter::bytes_install,    Counter::bytes_data,    Counter::bytes_stability};

struct ViewChangeCost {
  std::size_t daemons = 0;   // of the new view
  std::size_t diameter = 0;  // of the new view, in hops
  Duration round_trip{};     // along the diameter

  /// From the cause to the first daemon that notices: one that takes a link for lost, or, for a gain alone, whose
  /// hold-down has ended, so that it proposes.
  Duration noticed{};
  Duration installed{};   // from there to the last daemon that has installed the view
  Duration settled{};     // from there until messages flow at all of them and all clients have the group's view
  std::size_t views = 0;  // the most views that a daemon installed

  std::array<std::uint64_t, std::size(kByteKinds)> bytes{};  // from the cause to half a second after the end

  std::uint64_t bytes_of(Counter kind) const;
  /// Messages, what brings them where they lack, and who has received what: with traffic most of it is the traffic's.
  std::uint64_t message_bytes() const;
  /// What the daemons say to agree, and which links there are.
  std::uint64_t agreement_bytes() const { return all_bytes() - message_bytes(); }
  std::uint64_t all_bytes() const;
  double round_trips() const {
    return static_cast<double>(installed.count()) / static_cast<double>(round_trip.count());
  }
};

/// Daemons on a random graph, whose links take kDelay each way, each with a client of one group. Before each change all
/// have sent to some others, so that no two daemons have received the same. With traffic the clients go on sending to
/// the group. The daemon that coordinates stands at no cut of the graph.
class ViewChanges {
 public:
  static constexpr Duration kDelay = 10ms;
  static constexpr Duration kSendInterval =
      1ms;  // between two messages, of all clients together, where there is traffic

  ViewChanges(std::uint64_t seed, std::size_t size, bool traffic);

  /// Forms a view of all daemons but one, which `join` starts; false where there is none in a minute.
  [[nodiscard]] bool form();
  /// Causes one view change and measures it, then restores all daemons and links. Nothing where it does not come to an
  /// end within a minute. `join` comes first, and once.
  std::optional<ViewChangeCost> measure(Cause cause);

  Simulator& simulator() { return simulator_; }

 private:
  using Edges = std::vector<std::pair<std::size_t, std::size_t>>;

  void draw_graph();
  void add_hosts();
  void add_client(std::size_t host);
  void send_forever();
  void scatter();

  void bring_about(Cause cause);
  void lone_link(bool cut);
  [[nodiscard]] bool restore(Cause cause);

  struct Totals {
    std::array<std::uint64_t, std::size(kByteKinds)> bytes{};
    std::map<const SimHost*, std::size_t> views;
  };
  Totals totals_now();
  void account(const Totals& before, ViewChangeCost& cost);
  std::uint64_t sum(Counter counter);

  bool is_installed(const ViewId& before);
  [[nodiscard]] bool await_work(const ViewId& before);
  [[nodiscard]] bool await_groups();
  std::vector<SimClient*> clients();

  std::size_t size_;
  bool traffic_;
  bool sending_ = false;
  Simulator simulator_;
  Random random_;
  Edges edges_;
  std::vector<std::size_t> removable_;         // vertices whose loss leaves the rest connected, the coordinator's aside
  std::pair<std::size_t, std::size_t> spare_;  // an edge whose loss does
  std::vector<HostIndex> half_;
  std::vector<SimClient*> client_of_;  // by host
};

/// Hops between the farthest two of the vertices below `size` that `edges` connect, leaving out `without`.
std::size_t diameter_of(std::size_t size, const std::vector<std::pair<std::size_t, std::size_t>>& edges,
                        std::optional<std::size_t> without);

}  // namespace spindled::sim
