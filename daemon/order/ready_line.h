// Up to where a daemon has all that it needs of the order.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/order/incoming_stream.h"
#include "daemon/order/order_log.h"

namespace spindled {

/// Goes through the runs of the order ahead of delivery, and goes on where it stopped: each run is looked at once, and
/// the one that it waits for once more each time, however many there are.
class ReadyLine {
 public:
  /// The position up to which every message that is addressed to `self` has arrived; at least `order.processed()`.
  /// `incoming` has the streams of all members. Call with the order, the streams and the member of one view only.
  std::uint64_t advance(const OrderLog& order, const std::vector<IncomingStream>& incoming, MemberIndex self);

 private:
  void restart(const OrderLog& order, const std::vector<IncomingStream>& incoming);

  std::uint64_t line_ = 0;
  std::uint64_t next_run_ = 0;  // the one that `line_` stands in or before, counted as in OrderLog::passed_runs
  bool in_run_ = false;         // `run_end_` is that of the next run
  std::uint64_t run_end_ = 0;   // its last position
  /// Per origin: its ordered messages up to `line_` that are addressed to this daemon.
  std::vector<std::uint64_t> counted_;
};

}  // namespace spindled
