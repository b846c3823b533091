#include "tests/hunt/memory_limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace spindled::hunt {

namespace {
/// Joins, leaves, reports and records wait for no window; the head of a message comes on top of its payload.
constexpr std::size_t kControlBytes = 64u << 10;
}  // namespace

// A message enters while there is room, so that one may exceed the window. Others keep it until they are told that it
// is stable, which they are each time that so many bytes have become so. A word of that which is on its way when the
// view ends they do not hear: all that it speaks of is kept, beside all that the origin had room for behind it.
MemoryLimits::MemoryLimits(const NodeConfig& config, std::size_t message_bytes)
    : own_limit_(std::min(config.session.send_window_bytes, config.order.retention_bytes_max) + message_bytes +
                 kControlBytes),
      foreign_limit_(own_limit_ + config.order.report_bytes),
      queue_limit_(config.session.queue_hard_bytes),
      clients_limit_(config.session.memory_bytes_max) {}

void MemoryLimits::check(const std::string& name, const NodeMemory& memory) {
  hold(name, "its own messages", memory.own_stream, own_limit_);
  hold(name, "another daemon's messages", memory.foreign_stream, foreign_limit_ + (memory.view_ends ? own_limit_ : 0));
  hold(name, "what waits for a client", memory.session_queue, queue_limit_);
  const std::size_t clients =
      std::min(memory.sessions_unfinished + memory.sessions_held + memory.sessions_queued, memory.slabs) +
      memory.sessions_definitions;
  hold(name, "what all clients hold", clients, clients_limit_);
  most_.own_stream = std::max(most_.own_stream, memory.own_stream);
  most_.foreign_stream = std::max(most_.foreign_stream, memory.foreign_stream);
  most_.retained = std::max(most_.retained, memory.retained);
  most_.unordered = std::max(most_.unordered, memory.unordered);
  most_.held_up = std::max(most_.held_up, memory.held_up);
  most_.session_queue = std::max(most_.session_queue, memory.session_queue);
}

void MemoryLimits::hold(const std::string& name, const char* what, std::size_t bytes, std::size_t limit) {
  if (bytes <= limit) return;
  Excess& excess = excesses_[{name, what}];
  excess = {std::max(excess.bytes, bytes), limit};
}

std::vector<Finding> MemoryLimits::findings() const {
  std::vector<Finding> findings;
  for (const auto& [key, excess] : excesses_) {
    const auto& [name, what] = key;
    findings.push_back(
        {fmt::format("memory: {}", what),
         fmt::format("memory: {} kept {} bytes of {}, at most {} are due", name, excess.bytes, what, excess.limit)});
  }
  return findings;
}

}  // namespace spindled::hunt
