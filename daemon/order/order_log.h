// The order of a view as far as the sequencer has told it and this daemon has not yet been through it.
#pragma once

#include "daemon/base/ring.h"
#include "daemon/order/records.h"

namespace spindled {

class OrderLog {
 public:
  /// The first message has the position behind `start`.
  explicit OrderLog(std::uint64_t start = 0) : processed_(start), end_(start) {}

  /// The runs of the next record; false where it does not start where the last one ended.
  bool append(const OrderRecord& record);

  bool empty() const { return runs_.empty(); }
  /// What is left of the first run: `first` is the stream number of the message at position `processed() + 1`.
  const Run& front() const { return runs_.front(); }
  const Ring<Run>& runs() const { return runs_; }

  /// The first `count` messages of `front()` are through.
  void advance(std::uint64_t count);

  /// Runs that are no longer in `runs`.
  std::uint64_t passed_runs() const { return passed_runs_; }
  /// Position up to which this daemon has been through the order.
  std::uint64_t processed() const { return processed_; }
  /// Position of the last message ordered.
  std::uint64_t end() const { return end_; }
  /// Position of the last safe message ordered; 0: none.
  std::uint64_t last_safe() const { return last_safe_; }

 private:
  Ring<Run> runs_;
  std::uint64_t passed_runs_ = 0;
  std::uint64_t processed_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t last_safe_ = 0;
};

}  // namespace spindled
