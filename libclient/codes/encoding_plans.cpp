#include "libclient/codes/encoding_plans.h"

#include <algorithm>

namespace spindle::codes {

EncodingPlan EncodingPlans::of(std::uint32_t source_symbols) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(plans_.begin(), plans_.end(), [&](const EncodingPlan& plan) {
      return plan.code().source_symbols == source_symbols;
    });
    if (found != plans_.end()) {
      plans_.splice(plans_.begin(), plans_, found);
      return plans_.front();
    }
  }
  EncodingPlan plan(source_symbols);
  const std::lock_guard lock(mutex_);
  plans_.push_front(plan);
  if (plans_.size() > kept_) plans_.pop_back();
  return plan;
}

}  // namespace spindle::codes
