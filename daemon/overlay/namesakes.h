// Other daemons that go by this one's name: at most one of them takes part.
#pragma once

#include <optional>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/overlay/link_state_database.h"

namespace spindled {

/// A daemon that starts, or has lost all its links, stays out until a neighbour has told it all that it knows. If a
/// daemon of its name is reached then, be it a life of its own that others do not yet know to be gone or another
/// daemon, it goes on staying out. So a daemon that is configured with a name that is taken never shows itself, and
/// nobody's view changes for it. Two that have each taken part, on the two sides of a gap, meet when that closes: the
/// one with the larger incarnation stays.
class Namesakes {
 public:
  Namesakes(Context& context, LinkStateDatabase& database)
      : context_(context), log_(context.log_sink, "overlay"), database_(database) {}

  /// Decides whether this daemon takes part. `neighbours`: those that have told it all that they know.
  void look(Time now, const std::vector<DaemonId>& neighbours);
  /// Another daemon of this one's name has advertised anew that it stays out.
  void heard(Time now, const DaemonId& namesake);
  /// When the log is told next that this daemon stays out, and what it advertises is due again.
  Time next_deadline() const { return due_; }
  void remind(Time now);

 private:
  Context& context_;
  const Log log_;
  LinkStateDatabase& database_;
  std::optional<DaemonId> namesake_;  // because of whom this daemon stays out
  Time due_ = kNever;
  /// Of one that stays out because of this daemon: until when the log has heard enough of that.
  Time quiet_until_ = Time::min();
};

}  // namespace spindled
