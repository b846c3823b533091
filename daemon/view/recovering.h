// The phase of a member that recovers the messages of its old view under a Commit.
#pragma once

#include <optional>
#include <utility>

#include "daemon/overlay/view.h"
#include "daemon/view/phases.h"

namespace spindled {

/// Counts what the others push, and knows when all of it is there.
class Recovering {
 public:
  static constexpr MemberPhase kPhase = MemberPhase::recovering;

  Recovering(View view, Transition transition) : view_(std::move(view)), transition_(std::move(transition)) {}

  const View& view() const { return view_; }                    // the next
  const Transition& transition() const { return transition_; }  // this daemon's own

  void count_push() { ++received_; }
  /// False, and nothing changes, where the counts are not of this view or came before.
  bool expect(const Counts& counts);
  /// Whether the counts are known and as much has arrived; without counts, whether there can be none.
  bool is_complete() const;
  /// True once: when the counts are known and as much has arrived.
  bool take_completion();

 private:
  View view_;
  Transition transition_;
  std::uint64_t received_ = 0;
  std::optional<std::uint64_t> expected_;
  bool completed_ = false;
};

}  // namespace spindled
