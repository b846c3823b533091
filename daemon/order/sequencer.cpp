#include "daemon/order/sequencer.h"

#include <algorithm>

namespace spindled {

Sequencer::Sequencer(std::size_t members, std::uint64_t start)
    : processed_(members, start),
      ready_(members, start),
      end_(start),
      horizon_(start),
      told_horizon_(start),
      told_safe_line_(start) {}

void Sequencer::take(MemberIndex origin, RunReport report) {
  // An origin cannot have processed what was not yet ordered.
  const std::uint64_t processed = std::min(report.processed, end_);
  if (processed > processed_[origin]) {
    processed_[origin] = processed;
    horizon_ = *std::min_element(processed_.begin(), processed_.end());
  }
  if (report.runs.empty()) horizon_wanted_ = true;
  for (Run& run : report.runs) {
    if (taken_ == pending_.size()) {
      pending_.clear();
      taken_ = 0;
    }
    append_run(pending_, std::move(run));
  }
}

void Sequencer::ready(MemberIndex from, std::uint64_t line) {
  ready_[from] = std::max(ready_[from], std::min(line, end_));
}

std::optional<OrderRecord> Sequencer::next_record() {
  const std::uint64_t safe_line = *std::min_element(ready_.begin(), ready_.end());
  const bool horizon_news = horizon_wanted_ && horizon_ > told_horizon_;
  if (taken_ == pending_.size() && !horizon_news && safe_line <= told_safe_line_) return std::nullopt;

  OrderRecord record;
  record.first = end_ + 1;
  record.horizon = told_horizon_ = horizon_;
  record.safe_line = told_safe_line_ = std::max(safe_line, told_safe_line_);
  horizon_wanted_ = horizon_wanted_ && !horizon_news;
  const std::size_t count = std::min(pending_.size() - taken_, kRunsPerRecordMax);
  record.runs.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    end_ += pending_[taken_ + i].count;
    record.runs.push_back(std::move(pending_[taken_ + i]));
  }
  taken_ += count;
  return record;
}

}  // namespace spindled
