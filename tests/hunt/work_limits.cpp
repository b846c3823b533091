#include "tests/hunt/work_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/group/groups.h"

namespace spindled::hunt {

namespace {
/// A part of an announcement, at most.
constexpr std::size_t kAnnouncedMax = 1000;
/// What is counted beside members: an operation, its group, a group that is gone.
constexpr std::size_t kBeside = 4;
/// Each member of a group is looked at, told, named to who is told first, and looked for among those of before; as a
/// listener of a feed likewise.
constexpr std::size_t kTimesEachMember = 4;
/// What a daemon that was busy finds waiting.
constexpr std::size_t kPacketsAtOnce = 64;
/// Bytes of a large message for which a receiver counts once more, at least: its pieces are as frames on links cut it.
/// Input has half of a turn, and goes beyond it by what one frame costs of a client that has just come and of one that
/// waited: the names of a set, several times, and the parts in which a large message goes.
constexpr std::size_t kInputPart = 2;
constexpr std::size_t kFrameUnits = 200;
constexpr std::size_t kBytesOfAPart = 1'000;
constexpr std::size_t kBytesOfAUnit = MessageDelivery::kPiecesOfAUnit * (16u << 10);
}  // namespace

// The step that makes a turn too long is the last one.
void WorkLimits::check(const std::string& name, std::size_t max, const NodeWork& work) {
  const std::size_t delivered = clients_ * (1 + message_bytes_ / kBytesOfAUnit);
  // Who comes or goes is told of all feeds of a group. Else they are gone through one by one: listeners of each are
  // looked for, among those that have been told of it, and told of it, or of its end.
  const std::size_t step =
      std::max({std::min(largest_turn_, kAnnouncedMax), kTimesEachMember * clients_ + 2 * feeds_, delivered}) + kBeside;
  hold(name, "step", work.largest_step, step);
  // Packets of feeds that come at once are given to their listeners at once, and of feeds that are over one is ended.
  const std::size_t given = feeds_ == 0 ? 0 : (kPacketsAtOnce + 1) * clients_;
  hold(name, "turn", work.largest_turn, max - 1 + step + given);
  const std::size_t frame = kFrameUnits + message_bytes_ / kBytesOfAPart;
  hold(name, "turn's input", work.largest_input, max / kInputPart + 2 * frame);
  most_.largest_input = std::max(most_.largest_input, work.largest_input);
  most_.largest_turn = std::max(most_.largest_turn, work.largest_turn);
  most_.largest_step = std::max(most_.largest_step, work.largest_step);
}

void WorkLimits::hold(const std::string& name, const char* what, std::size_t units, std::size_t limit) {
  if (units <= limit || !found_.emplace(name, what).second) return;
  findings_.push_back({fmt::format("work: of a {}", what),
                       fmt::format("work: {} did {} units in one {}, at most {} are due", name, units, what, limit)});
}

}  // namespace spindled::hunt
