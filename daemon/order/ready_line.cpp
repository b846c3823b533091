#include "daemon/order/ready_line.h"

#include <algorithm>

namespace spindled {

/// Delivery has gone past the line: it goes on from there.
void ReadyLine::restart(const OrderLog& order, const std::vector<IncomingStream>& incoming) {
  line_ = order.processed();
  next_run_ = order.passed_runs();
  in_run_ = false;
  counted_.resize(incoming.size());
  for (std::size_t i = 0; i < incoming.size(); ++i) counted_[i] = incoming[i].ordered_passed();
}

std::uint64_t ReadyLine::advance(const OrderLog& order, const std::vector<IncomingStream>& incoming, MemberIndex self) {
  if (counted_.empty() || line_ < order.processed()) restart(order, incoming);
  for (; next_run_ - order.passed_runs() < order.runs().size(); ++next_run_) {
    const Run& run = order.runs()[static_cast<std::size_t>(next_run_ - order.passed_runs())];
    // Of a run that delivery has gone into, the rest is what `count` says, and the line stands where that begins.
    if (!in_run_) run_end_ = line_ + run.count;
    in_run_ = true;
    std::uint64_t count = run_end_ - line_;
    if (run.destinations.contains(self)) {
      const IncomingStream& stream = incoming[run.origin];
      const std::uint64_t arrived = stream.ordered_passed() + stream.ordered().size();
      count = std::min(count, arrived - std::min(arrived, counted_[run.origin]));
      counted_[run.origin] += count;
    }
    line_ += count;
    if (line_ < run_end_) break;
    in_run_ = false;
  }
  return line_;
}

}  // namespace spindled
