// The one member of a view that decides the order.
#pragma once

#include <optional>
#include <vector>

#include "daemon/order/records.h"

namespace spindled {

/// Collects the runs that origins report, in the order of arrival, and turns what came in a turn into one order record.
/// Agreement on what was ordered needs nothing more: records are messages of the sequencer's stream.
class Sequencer {
 public:
  /// The first message gets the position behind `start`.
  explicit Sequencer(std::size_t members, std::uint64_t start = 0);

  /// From `origin`, which may be the sequencer itself. A report without runs asks for the horizon to be told.
  void take(MemberIndex origin, RunReport report);
  /// `from` could deliver everything up to `line`; the sequencer's own readiness counts too.
  void ready(MemberIndex from, std::uint64_t line);

  /// The next record, at most kRunsPerRecordMax runs long, if there is anything to tell.
  std::optional<OrderRecord> next_record();

  std::uint64_t horizon() const { return horizon_; }

 private:
  static constexpr std::size_t kRunsPerRecordMax = 4096;

  std::vector<std::uint64_t> processed_;  // per member, as last reported
  std::vector<std::uint64_t> ready_;      // per member
  std::vector<Run> pending_;
  std::size_t taken_ = 0;  // of `pending_`, by records
  std::uint64_t end_;      // position of the last message ordered
  std::uint64_t horizon_;
  std::uint64_t told_horizon_;
  std::uint64_t told_safe_line_;
  bool horizon_wanted_ = false;
};

}  // namespace spindled
