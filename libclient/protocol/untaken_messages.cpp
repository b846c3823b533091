#include "libclient/protocol/untaken_messages.h"

#include <algorithm>

namespace spindle::protocol {

bool UntakenMessages::Run::add(std::uint64_t next) {
  if (count == 1 && next - ticket <= 1) {
    step = next - ticket;
  } else if (count == 1 || next - ticket != step * count) {
    return false;
  }
  ++count;
  return true;
}

void UntakenMessages::Run::remove(std::uint64_t messages) {
  ticket += step * messages;
  count -= messages;
}

void UntakenMessages::taken(std::uint64_t messages) {
  std::uint64_t left = std::min(messages, waiting_);
  waiting_ -= left;
  while (left != 0) {
    const std::uint64_t count = std::min(left, runs_.front().count);
    runs_.front().remove(count);
    if (runs_.front().count == 0) runs_.pop_front();
    left -= count;
  }
}

void UntakenMessages::entered(std::uint64_t first) {
  const std::uint64_t known = sent_ - waiting_;
  if (first > known) taken(first - known);
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
  for (std::uint64_t left = waiting_ - std::min<std::uint64_t>(waiting_, staying[0]); left != 0; --left) {
    tickets.push_back(runs_.front().ticket);
    taken(1);
  }
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
  for (const Run& run : runs_) {
    for (std::uint64_t i = 0; i < run.count; ++i) tickets.push_back(run.ticket + run.step * i);
  }
  for (const auto& [handle, line] : lines_) {
    for (const Sent& sent : line) tickets.push_back(sent.ticket);
  }
  std::sort(tickets.begin(), tickets.end());
  return tickets;
}

std::uint64_t UntakenMessages::waiting_among(std::uint64_t first) const {
  const std::uint64_t known = sent_ - waiting_;
  std::uint64_t count = first - std::min(first, known);
  for (const auto& [handle, line] : lines_) {
    const auto is_one = [first](const Sent& sent) { return sent.number <= first; };
    count += static_cast<std::uint64_t>(std::partition_point(line.begin(), line.end(), is_one) - line.begin());
  }
  return count;
}

}  // namespace spindle::protocol
