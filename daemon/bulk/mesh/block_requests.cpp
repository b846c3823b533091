#include "daemon/bulk/mesh/block_requests.h"

#include <algorithm>

namespace spindled::mesh {

using spindle::bulk::BlockSet;

namespace {

/// The block that so many others of the set are below.
std::uint32_t block_at(const BlockSet& set, std::uint32_t below) {
  for (const BlockSet::Run& run : set.runs()) {
    if (below < run.end - run.first) return run.first + below;
    below -= run.end - run.first;
  }
  return spindle::bulk::kBlocksMax;
}

}  // namespace

void BlockRequests::holding_received(Time now, MemberIndex from, const Holding& holding) {
  Sender& sender = senders_[from];
  if (now - sender.told_at >= kTreeDelay) sender.held = sender.told;
  sender.told = holding.complete_blocks();
  sender.told_at = now;
}

void BlockRequests::symbol_received(Time now, MemberIndex from, std::uint32_t block) {
  const auto sender = senders_.find(from);
  if (sender == senders_.end()) return;
  const auto& asked = sender->second.asked;
  const bool is_asked =
      std::any_of(asked.begin(), asked.end(), [&](const Request& each) { return each.block == block; });
  if (is_asked) sender->second.heard_at = now;
}

void BlockRequests::clear(Time now, const BlockSet& lacked, Sender& sender) {
  const std::size_t before = sender.asked.size();
  for (const Request& each : sender.asked) {
    if (lacked.contains(each.block)) continue;
    sender.of_block = now - std::max(each.since, sender.gave_at);
    sender.gave_at = now;
  }
  std::erase_if(sender.asked, [&](const Request& each) { return !lacked.contains(each.block); });
  if (!sender.asked.empty() && now - sender.heard_at >= kPatience) {
    sender.asked.clear();
    sender.asked_from = now + kPatience;
  }
  if (sender.asked.size() != before) sender.is_told = false;
}

std::size_t BlockRequests::window(const Sender& sender) {
  const auto ahead = static_cast<std::size_t>(kAhead / std::max(sender.of_block, Duration(1ms)));
  return std::min(1 + ahead, kOfSenderMax);
}

std::optional<std::uint32_t> BlockRequests::pick(const Sender& sender, const BlockSet& free) {
  const BlockSet may_give = intersection(free, sender.held);
  if (may_give.empty()) return std::nullopt;
  if (sender.last && *sender.last > 0 && may_give.contains(*sender.last - 1)) return *sender.last - 1;
  // The parent is on its way from the other end.
  const std::uint32_t half = may_give.count() / 2;
  return block_at(may_give, half + static_cast<std::uint32_t>(random_.below(may_give.count() - half)));
}

void BlockRequests::renew(Time now, const BlockSet& lacked) {
  const bool was_idle = is_idle();
  BlockSet free = lacked, given;
  for (auto& [member, sender] : senders_) {
    if (now - sender.told_at >= kTreeDelay) sender.held = sender.told;
    clear(now, lacked, sender);
    for (const Request& each : sender.asked) free.remove(each.block);
    given = united(given, intersection(lacked, sender.held));
  }
  if (was_idle && given.count() < kLeast) return;
  for (bool is_going_on = true; is_going_on;) {
    is_going_on = false;
    for (auto& [member, sender] : senders_) {
      if (now < sender.asked_from || sender.asked.size() >= window(sender)) continue;
      const std::optional<std::uint32_t> block = pick(sender, free);
      if (!block) continue;
      if (sender.asked.empty()) sender.heard_at = now;
      sender.asked.push_back({*block, now});
      sender.last = block;
      sender.is_told = false;
      free.remove(*block);
      is_going_on = true;
    }
  }
  is_all_asked_ = free.empty();
}

std::vector<MemberIndex> BlockRequests::untold(Time now, bool is_behind) const {
  std::vector<MemberIndex> members;
  const bool is_asking = is_behind || !is_idle();
  for (const auto& [member, sender] : senders_) {
    const bool is_old = now - std::max(sender.told_at, sender.asked_at) >= kHoldingAge;
    if (!sender.is_told || (is_asking && is_old)) members.push_back(member);
  }
  return members;
}

void BlockRequests::note_told(Time now, MemberIndex member) {
  const auto sender = senders_.find(member);
  if (sender == senders_.end()) return;
  sender->second.is_told = true;
  sender->second.asked_at = now;
}

std::vector<std::uint32_t> BlockRequests::asked_of(MemberIndex member) const {
  std::vector<std::uint32_t> blocks;
  const auto sender = senders_.find(member);
  if (sender == senders_.end()) return blocks;
  for (const Request& each : sender->second.asked) blocks.push_back(each.block);
  return blocks;
}

BlockSet BlockRequests::asked(Time now) const {
  BlockSet blocks;
  for (const auto& [member, sender] : senders_) {
    for (const Request& each : sender.asked) {
      if (!is_all_asked_ || now - each.since < kEnd) blocks.add(each.block);
    }
  }
  return blocks;
}

bool BlockRequests::is_idle() const {
  return std::all_of(senders_.begin(), senders_.end(), [](const auto& each) { return each.second.asked.empty(); });
}

}  // namespace spindled::mesh
