#include "libclient/protocol/untaken_messages.h"

#include <algorithm>

namespace spindle::protocol {

void UntakenMessages::taken(std::uint64_t messages) {
  std::deque<Sent>& line = lines_[0];
  const auto count = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(messages, line.size()));
  line.erase(line.begin(), line.begin() + count);
}

void UntakenMessages::entered(std::uint64_t first) {
  for (auto& [handle, line] : lines_) {
    while (!line.empty() && line.front().number <= first) line.pop_front();
  }
}

void UntakenMessages::admitted(std::uint32_t handle, std::size_t bytes) {
  const auto found = lines_.find(handle);
  if (found == lines_.end()) return;
  std::deque<Sent>& line = found->second;
  while (!line.empty() && line.front().bytes <= bytes) {
    bytes -= line.front().bytes;
    line.pop_front();
  }
  if (line.empty()) {
    lines_.erase(found);
  } else {
    line.front().bytes -= bytes;
  }
}

std::vector<std::uint64_t> UntakenMessages::take_all_but(std::span<const std::uint32_t> unsent) {
  std::map<std::uint32_t, std::size_t> staying;
  for (const std::uint32_t handle : unsent) ++staying[handle];
  std::vector<std::uint64_t> tickets;
  for (auto& [handle, line] : lines_) {
    const std::size_t count = line.size() - std::min(line.size(), staying[handle]);
    for (std::size_t i = 0; i < count; ++i) tickets.push_back(line[i].ticket);
    line.erase(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(count));
  }
  std::sort(tickets.begin(), tickets.end());
  return tickets;
}

std::vector<std::uint64_t> UntakenMessages::tickets() const {
  std::vector<std::uint64_t> tickets;
  for (const auto& [handle, line] : lines_) {
    for (const Sent& sent : line) tickets.push_back(sent.ticket);
  }
  std::sort(tickets.begin(), tickets.end());
  return tickets;
}

}  // namespace spindle::protocol
