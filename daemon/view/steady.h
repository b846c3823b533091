// The phase of a member whose view is installed and whose messages flow.
#pragma once

#include <optional>

#include "daemon/base/node_config.h"
#include "daemon/base/time.h"
#include "daemon/view/hold_downs.h"
#include "daemon/view/phases.h"

namespace spindled {

/// Watches whether the view still says what the overlay sees.
class Steady {
 public:
  static constexpr MemberPhase kPhase = MemberPhase::steady;

  explicit Steady(Topology view) : view_(std::move(view)) {}

  /// When the view should change, given what is reachable now: at the first sight of a loss; for a gain alone, once all
  /// that is new has been held down; for better paths alone, once they have lasted. kNever while nothing differs.
  /// `reachable` is what `hold_downs` has observed last.
  Time change_due(Time now, const Topology& reachable, const HoldDowns& hold_downs, const ViewConfig& config);

 private:
  Topology view_;
  // Since when this kind of difference has lasted.
  std::optional<Time> lost_since_;
  std::optional<Time> gained_since_;
  std::optional<Time> reweighed_since_;
};

}  // namespace spindled
