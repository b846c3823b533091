// What this daemon knows of all daemons and links, and tells the others.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/link/links.h"
#include "daemon/overlay/control_channel.h"
#include "daemon/overlay/link_state_database.h"
#include "daemon/overlay/link_weight.h"
#include "daemon/overlay/namesakes.h"
#include "daemon/overlay/topology.h"

namespace spindled {

/// What link state is for: implemented by the overlay.
class LinkStateEvents {
 public:
  virtual ~LinkStateEvents() = default;
  /// The answer of `LinkStateFlooding::reachable` may have changed.
  virtual void reachable_changed(Time now) = 0;
  /// Whether frames are lost to this neighbour for good, although its link may be up: it is not advertised then.
  virtual bool has_given_up(const DaemonId& neighbour) const = 0;
};

/// Every daemon advertises its links, and passes on what others advertise, so that all have one database
/// (LinkStateDatabase). A neighbour is advertised once it is *in step*: it has sent all that this daemon lacked of what
/// it knows. What is advertised by both ends of a link is the topology.
class LinkStateFlooding {
 public:
  LinkStateFlooding(Context& context, const Links& links, ControlChannel& channel, LinkStateEvents& events);

  void start(Time now);
  void handle_time(Time now);
  Time next_deadline() const {
    return std::min({database_.own().next_deadline(), sweep_at_, namesakes_.next_deadline()});
  }

  void link_up(LinkId link);
  void link_down(Time now, LinkId link);
  void round_trip_changed(Time now, LinkId link);
  void received(Time now, LinkId link, LinkState state, const Slice& encoded);
  /// False where the neighbour asks a second time: what it has been sent once, the flood keeps up to date.
  [[nodiscard]] bool received(Time now, LinkId link, const LinkStateSummary& summary);
  /// Neighbours that had been given up count again, or some are given up.
  void review_own_links(Time now);
  /// The configuration has changed: the others are told, as far as it concerns them.
  void reconsider(Time now);
  /// What the path to that neighbour carries, in bytes a second; 0: not known. The others are told where it has changed
  /// by much. Says whether they are.
  bool set_capacity(Time now, std::string_view neighbour, std::uint64_t bytes_per_second);
  /// What either end has told of the link between two daemons, the less of it where both have; 0: not known.
  std::uint64_t capacity(const DaemonId& a, const DaemonId& b) const;
  /// Of what is reachable, the daemons whose rules are others than this one's.
  std::vector<std::string> daemons_with_other_rules() const;
  /// The least MemoryBudget::limit that one of them has told, or this daemon has.
  std::size_t smallest_memory(const std::vector<DaemonId>& members) const;
  /// Where that daemon may be dialled for bulk content; empty: nowhere that is known.
  std::string_view bulk_address(const DaemonId& daemon) const;
  /// Grows where what some daemon goes by, this one included, may be something else now; at least 1.
  std::uint64_t settings_version() const { return settings_version_; }
  /// What is reachable may be something else now.
  void topology_changed(Time now);

  const Topology& reachable() const;
  Duration longest_round_trip() const;
  const LinkStateDatabase& database() const { return database_; }
  /// All that this daemon has heard of lately, itself included, by name.
  std::vector<std::string> known_daemons() const;

 private:
  struct Neighbour {
    bool up = false;
    bool in_step = false;
    bool has_asked = false;  // what this daemon knows that it does not
    DaemonId peer;
    LinkWeight weight;
    std::uint64_t bytes_per_second = 0;  // of its path; 0: not known
  };

  Neighbour& at(LinkId link) { return neighbours_[static_cast<std::size_t>(link)]; }
  /// Tells the database what this daemon's links are now, but for those that are given up.
  void update_own_links(Time now);
  /// Floods this daemon's advertisement if it is due.
  void advertise(Time now);
  void forget_reachable();
  DaemonSettings own_settings() const {
    return {context_.config.access.digest, context_.config.memory_bytes_max, context_.config.bulk.address};
  }
  /// Tells the log of one that has other rules than this daemon, and when it has the same again.
  void compare_rules(const std::string& daemon, std::uint64_t rules);
  /// Decides whether this daemon takes part; call where what it reaches may have changed.
  void look_for_namesakes(Time now);

  Context& context_;
  const Links& links_;
  ControlChannel& channel_;
  LinkStateEvents& events_;
  const Log log_;
  LinkStateDatabase database_;
  Namesakes namesakes_;
  std::vector<Neighbour> neighbours_;  // by LinkId
  // Computed when asked for.
  mutable std::optional<Topology> reachable_;
  mutable std::optional<Duration> longest_round_trip_;
  Time sweep_at_ = kNever;  // when old entries of the database are looked for
  std::uint64_t settings_version_ = 1;
  bool complained_of_size_ = false;
  std::set<std::string> other_rules_;  // daemons that the log was told of
};

}  // namespace spindled
