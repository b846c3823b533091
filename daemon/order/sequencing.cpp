#include "daemon/order/sequencing.h"

#include <algorithm>

namespace spindled {

void Sequencing::restart() {
  const View& view = state_.view;
  const std::uint64_t start = state_.context.config.first_number;
  sequencer_.reset();
  if (view.sequencer == view.self) sequencer_.emplace(view.size(), start);
  destinations_ = sequencer_ ? MemberSet::first(view.size()) : MemberSet::of(view.sequencer);
  unreported_.clear();
  progress_wanted_ = false;
  horizon_ = handed_up_horizon_ = safe_line_ = told_ready_ = start;
  ready_line_ = ReadyLine();
}

// --- What comes in ---

void Sequencing::take(const Delivery& message) {
  std::vector<std::uint8_t> joined;
  const ByteView content = message.contiguous(joined);
  const View& view = state_.view;
  const std::optional<OrderOperation> operation = order_operation(content);
  if (operation == OrderOperation::run_report && sequencer_) {
    // Once frozen nothing more is ordered: what stays unordered is delivered at the end of the view.
    if (!state_.is_open()) return;
    if (auto report = read_run_report(content, message.origin, view.size())) {
      sequencer_->take(message.origin, std::move(*report));
      return;
    }
  } else if (operation == OrderOperation::order_record && message.origin == view.sequencer) {
    const auto record = read_order_record(content, view.size());
    if (record && state_.order.append(*record)) {
      horizon_ = std::max(horizon_, record->horizon);
      safe_line_ = std::max(safe_line_, record->safe_line);
      return;
    }
  }
  state_.log.error("an order message of {} makes no sense and was dropped", view.members[message.origin].name);
}

void Sequencing::take_ready(const Ready& ready) {
  if (sequencer_ && ready.from < state_.view.size()) sequencer_->ready(ready.from, ready.line);
}

// --- What is to be sent ---

void Sequencing::begin_round() {
  if (!sequencer_) return;
  if (!unreported_.empty() || progress_wanted_) {
    progress_wanted_ = false;
    sequencer_->take(state_.view.self, {state_.order.processed(), std::exchange(unreported_, {})});
  }
  if (state_.order.last_safe() > safe_line_) sequencer_->ready(state_.view.self, ready_line());
}

std::optional<std::vector<std::uint8_t>> Sequencing::next_message() {
  if (sequencer_) {
    const std::optional<OrderRecord> record = sequencer_->next_record();
    if (!record) return std::nullopt;
    state_.context.counters.add(Counter::order_records_sent);
    state_.context.counters.add(Counter::order_runs, record->runs.size());
    return write_order_record(*record);
  }
  if (unreported_.empty() && !progress_wanted_) return std::nullopt;
  progress_wanted_ = false;
  return write_run_report({state_.order.processed(), std::exchange(unreported_, {})});
}

void Sequencing::send_ready_line() {
  if (sequencer_ || state_.order.last_safe() <= safe_line_) return;
  const std::uint64_t line = ready_line();
  if (line <= told_ready_) return;
  told_ready_ = line;
  state_.send<write_ready>(LinkFrame::ready, destinations_, Ready{state_.view.self, line});
}

std::uint64_t Sequencing::ready_line() { return ready_line_.advance(state_.order, state_.incoming, state_.view.self); }

}  // namespace spindled
