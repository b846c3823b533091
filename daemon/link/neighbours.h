// The configured neighbours: whom to dial, and when.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/node_config.h"
#include "daemon/base/random.h"
#include "daemon/base/result.h"

namespace spindled {

/// Each neighbour is either due at a time, in use (dialling, or a connection that it dialled exists), or parked: a link
/// to the daemon behind its address exists over another connection.
///
/// Order of calls: `start`; then whenever `next_dial` comes, `take_due` until it gives none, each followed by `retry`
/// when the connection ends, or by `park`.
class Neighbours {
 public:
  using Index = std::size_t;
  static constexpr std::size_t kToldMax = 8;

  struct Neighbour {
    NeighbourConfig config;
    std::string known_peer;         // the daemon that answered last at this address; empty: not known yet
    std::string last_error;         // empty after a success
    std::optional<Errc> warned;     // the failure that the log has seen a warning of
    std::vector<std::string> told;  // what the log was told since the last success, kToldMax at most
    Duration back_off{};            // before jitter, of the next retry
    Time next_dial = kNever;        // kNever: in use or parked
    bool parked = false;
  };

  Neighbours(const LinkConfig& config, Random random);

  /// All are due now.
  void start(Time now);
  /// None is due any more.
  void stop() { due_.clear(); }

  Time next_dial() const { return due_.empty() ? kNever : due_.begin()->first; }
  std::optional<Index> take_due(Time now);
  /// Due again after the jittered back-off, which doubles.
  void retry(Time now, Index index);
  /// Due again within `longest`, the latter half of which is drawn; the back-off starts at its least.
  void retry_within(Time now, Index index, Duration longest);
  /// Those whose last attempt failed for `failure`, and that wait for the next one, are due now.
  void retry_now(Time now, Errc failure);
  /// A link over another connection makes this one unnecessary.
  void park(Index index) { all_[index].parked = true; }
  /// The link to `peer` is gone: neighbours parked for it are due after the shortest back-off.
  void unpark(Time now, std::string_view peer);

  /// The handshake with the daemon behind the address succeeded; true when its name is news.
  bool learn(Index index, std::string_view peer);
  /// A link to `peer` came up: the next failure is told anew, the back-off starts at its least.
  void succeed(std::string_view peer);
  /// True when this failure deserves a warning: the first one, any of another kind than the one before, and any with a
  /// text that has not been told yet. A daemon that is back after a while may refuse us.
  bool note_failure(Index index, const Error& error);

  const std::vector<Neighbour>& all() const { return all_; }
  /// The weight configured for the daemon behind any of the addresses; 0 where none is known or configured.
  std::uint32_t weight_of(std::string_view peer) const;

 private:
  void schedule(Index index, Time at);

  Duration longest_back_off(const Neighbour& neighbour) const;

  Duration back_off_min_;
  Duration back_off_max_;
  Duration back_off_lost_max_;  // of a neighbour that there was a link to
  Random random_;
  std::vector<Neighbour> all_;
  std::set<std::pair<Time, Index>> due_;
};

}  // namespace spindled
