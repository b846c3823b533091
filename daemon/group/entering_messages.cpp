#include "daemon/group/entering_messages.h"

#include "daemon/base/check.h"

namespace spindled {

std::uint64_t EnteringMessages::begin(Entering entering) {
  bytes_ += entering.total;
  entering_.emplace(++last_number_, std::move(entering));
  return last_number_;
}

EnteringMessages::Entering* EnteringMessages::find(std::uint64_t number) {
  const auto at = entering_.find(number);
  return at == entering_.end() ? nullptr : &at->second;
}

void EnteringMessages::end(std::uint64_t number) {
  const auto at = entering_.find(number);
  if (at == entering_.end()) return;
  bytes_ -= at->second.total;
  entering_.erase(at);
}

void EnteringMessages::clear() {
  entering_.clear();
  bytes_ = 0;
}

}  // namespace spindled
