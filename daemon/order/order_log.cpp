#include "daemon/order/order_log.h"

namespace spindled {

bool OrderLog::append(const OrderRecord& record) {
  if (record.first != end_ + 1) return false;
  for (const Run& run : record.runs) {
    end_ += run.count;
    if (run.safe) last_safe_ = end_;
    runs_.push_back(run);
  }
  return true;
}

void OrderLog::advance(std::uint64_t count) {
  Run& run = runs_.front();
  SPINDLE_CHECK(count <= run.count);
  processed_ += count;
  run.first += count;
  run.count -= count;
  if (run.count > 0) return;
  runs_.pop_front();
  ++passed_runs_;
}

}  // namespace spindled
