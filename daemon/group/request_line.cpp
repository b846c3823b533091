#include "daemon/group/request_line.h"

#include "daemon/base/check.h"

namespace spindled {

void RequestLine::add(Kind kind, const std::string& group, bool synchronous) {
  const auto at = groups_.try_emplace(group).first;
  ++at->second.count;
  at->second.last = kind;
  requests_.push_back({kind, synchronous, at});
}

void RequestLine::done() {
  SPINDLE_CHECK(entered_ != 0);
  const auto at = requests_.front().group;
  requests_.pop_front();
  --entered_;
  if (--at->second.count == 0) groups_.erase(at);
}

}  // namespace spindled
