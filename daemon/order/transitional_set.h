// Who of an old view go on together, and what each of them has of its streams.
#pragma once

#include <optional>
#include <vector>

#include "daemon/order/records.h"
#include "daemon/overlay/view.h"

namespace spindled {

/// A transitional set in terms of the old view.
class TransitionalSet {
 public:
  /// `members_of_next` are those of the view that `transition` leads to. Nothing where the transition does not fit the
  /// old view.
  static std::optional<TransitionalSet> make(const View& old_view, const Transition& transition,
                                             const std::vector<DaemonId>& members_of_next);

  /// By old index.
  const MemberSet& members() const { return members_; }
  bool contains(MemberIndex old_index) const { return members_.contains(old_index); }
  /// Whether all of the old view move on together.
  bool is_whole(const View& old_view) const { return members_.count() == old_view.size(); }

  /// The highest number of `origin`'s stream that `member` of this set has.
  std::uint64_t high(MemberIndex member, MemberIndex origin) const { return high_[member][origin]; }
  MemberIndex next_index(MemberIndex member) const { return next_index_[member]; }

  /// How many of the first messages of `run` are not lost: their origin is in this set, or some member that needs them
  /// has them, or none needs them.
  std::uint64_t recoverable(const Run& run) const;

 private:
  MemberSet members_;
  std::vector<std::vector<std::uint64_t>> high_;  // by old index; empty for those outside
  std::vector<MemberIndex> next_index_;           // by old index
};

}  // namespace spindled
