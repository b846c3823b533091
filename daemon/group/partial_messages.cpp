#include "daemon/group/partial_messages.h"

#include "daemon/group/entering_messages.h"

namespace spindled {

bool PartialMessages::add(MemberIndex origin, const Part& part) {
  if (part.total == 0) return take(origin, part.number).has_value();
  auto at = messages_.find({origin, part.number});
  if (at == messages_.end()) {
    std::size_t& total = totals_[origin];
    if (total + part.total > EnteringMessages::kBytesMax) return false;
    total += part.total;
    at = messages_.try_emplace({origin, part.number}).first;
    at->second.total = part.total;
  }
  Message& message = at->second;
  if (message.total != part.total || message.payload.size() + part.payload.size() > message.total) return false;
  message.payload.insert(message.payload.end(), part.payload.begin(), part.payload.end());
  bytes_ += part.payload.size();
  return true;
}

std::optional<std::vector<std::uint8_t>> PartialMessages::take(MemberIndex origin, std::uint64_t number) {
  const auto at = messages_.find({origin, number});
  if (at == messages_.end()) return std::nullopt;
  std::vector<std::uint8_t> payload = std::move(at->second.payload);
  totals_[origin] -= at->second.total;
  messages_.erase(at);
  bytes_ -= payload.size();
  return payload;
}

void PartialMessages::clear() {
  messages_.clear();
  totals_.clear();
  bytes_ = 0;
}

}  // namespace spindled
