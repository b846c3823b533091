#include "daemon/bulk/relay/channel_index.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace spindled {

using spindle::bulk::kBlockHashBytes;

void ChannelIndex::seal(Time now, std::uint32_t blocks, const spindle::bulk::BlockHash& root) {
  if (root_) return;
  root_ = root;
  blocks_ = blocks;
  heard_at_ = asked_at_ = lacking_since_ = now;
  hashes_.resize(std::min(hashes_.size(), blocks_ * kBlockHashBytes));
  // A source may have given hashes of blocks that the content has not.
  for (auto& [id, side] : sides_) side.given = std::min<std::size_t>(side.given, count());
  look_at_hashes(now);
}

// Sides.

void ChannelIndex::erase_if_gone(Sides::iterator side) {
  if (side->second.is_upstream || side->second.is_child) return;
  if (asked_ && asked_->side == side->first) asked_.reset();
  if (only_giver_ == side->first) only_giver_.reset();
  sides_.erase(side);
}

void ChannelIndex::remove_upstream(ConnectionId id) {
  const auto side = sides_.find(id);
  if (side == sides_.end()) return;
  side->second.is_upstream = false;
  erase_if_gone(side);
}

void ChannelIndex::remove_child(ConnectionId id) {
  const auto side = sides_.find(id);
  if (side == sides_.end()) return;
  side->second.is_child = side->second.knows = false;
  side->second.given = 0;
  erase_if_gone(side);
}

void ChannelIndex::set_knows(ConnectionId id, bool knows) {
  if (const auto side = sides_.find(id); side != sides_.end()) side->second.knows = knows;
}

// What comes in.

bool ChannelIndex::append(std::vector<std::uint8_t>& to, std::uint32_t first, ByteView hashes) const {
  const std::size_t known = to.size() / kBlockHashBytes;
  const std::size_t end = std::min<std::size_t>(first + hashes.size() / kBlockHashBytes, blocks_);
  if (first > known || end <= known) return false;
  const ByteView news = hashes.subspan((known - first) * kBlockHashBytes, (end - known) * kBlockHashBytes);
  to.insert(to.end(), news.begin(), news.end());
  return true;
}

void ChannelIndex::received(Time now, ConnectionId from, std::uint32_t first, ByteView hashes) {
  const auto side = sides_.find(from);
  if (is_right_ || side == sides_.end() || side->second.wrong >= kWrongMax) return;
  if (asked_ && asked_->side == from) {
    if (!append(asked_->hashes, first, hashes)) return;
    heard_at_ = now;
    return look_at_answer(now);
  }
  const bool is_first = hashes_.empty();
  if (!side->second.is_upstream || !append(hashes_, first, hashes)) return;
  heard_at_ = now;
  if (is_first) only_giver_ = from;
  if (only_giver_ != from) only_giver_.reset();
  if (root_) return look_at_hashes(now);
  tell_children();
}

bool ChannelIndex::is_whole(const std::vector<std::uint8_t>& hashes) const {
  return root_ && hashes.size() == blocks_ * kBlockHashBytes;
}

bool ChannelIndex::is_proved(const std::vector<std::uint8_t>& hashes) const { return hasher_.hash(hashes) == *root_; }

void ChannelIndex::look_at_hashes(Time now) {
  if (!is_whole(hashes_)) return;
  if (is_proved(hashes_)) {
    is_right_ = true;
    asked_.reset();
    return tell_children();
  }
  if (only_giver_) blame(*only_giver_);
  ++wrong_;
  begin_anew();
  if (!asked_) ask(now);
}

void ChannelIndex::look_at_answer(Time now) {
  if (!is_whole(asked_->hashes)) return;
  Asked answer = std::move(*asked_);
  asked_.reset();
  if (!is_proved(answer.hashes)) {
    blame(answer.side);
    ++wrong_;
    return ask(now);
  }
  // Who was given some of another one gets it from the first block on.
  if (!std::equal(hashes_.begin(), hashes_.end(), answer.hashes.begin())) begin_anew();
  hashes_ = std::move(answer.hashes);
  is_right_ = true;
  tell_children();
}

void ChannelIndex::begin_anew() {
  hashes_.clear();
  only_giver_.reset();
  for (auto& [id, side] : sides_) side.given = 0;
}

void ChannelIndex::blame(ConnectionId id) {
  if (const auto side = sides_.find(id); side != sides_.end()) ++side->second.wrong;
}

void ChannelIndex::asked_for(ConnectionId by) {
  const auto found = sides_.find(by);
  if (found == sides_.end()) return;
  Side& side = found->second;
  if (side.given != 0 && side.again++ >= kAgainMax) return;
  side.given = 0;
  side.is_asking = true;
  if (is_right_) output_.may_send(by);
}

// What goes out.

ChannelIndex::Part ChannelIndex::next(ConnectionId to) {
  const auto found = sides_.find(to);
  if (found == sides_.end() || (root_ && !is_right_)) return {};
  Side& side = found->second;
  if (!side.is_child && !side.is_asking) return {};
  const std::size_t first = side.given;
  if (first >= this->count()) return {};
  const std::size_t count = std::min<std::size_t>(this->count() - first, spindle::bulk::kHashesPerIndexMax);
  side.given += count;
  return {static_cast<std::uint32_t>(first),
          ByteView(hashes_).subspan(first * kBlockHashBytes, count * kBlockHashBytes)};
}

void ChannelIndex::tell_children() {
  for (const auto& [id, side] : sides_) {
    if (side.is_child || side.is_asking) output_.may_send(id);
  }
}

void ChannelIndex::handle_time(Time now) {
  if (root_ && !is_right_ && (now - heard_at_ >= patience_ || now - asked_at_ >= kSlow)) ask(now);
}

void ChannelIndex::ask(Time now) {
  // Those that know it are asked before those that may, and each in its turn.
  const auto rank = [](const Side& side) { return std::tuple(side.asked, !side.knows); };
  auto next = sides_.end();
  for (auto side = sides_.begin(); side != sides_.end(); ++side) {
    const bool may_give = side->second.knows || side->second.is_upstream;
    if (!may_give || side->second.wrong >= kWrongMax) continue;
    if (next == sides_.end() || rank(side->second) < rank(next->second)) next = side;
  }
  asked_.reset();
  heard_at_ = asked_at_ = now;
  if (next == sides_.end()) return;
  patience_ = next->second.asked == 0 ? kPatience : std::min(2 * patience_, kPatienceMax);
  ++next->second.asked;
  asked_ = Asked{next->first, {}};
  output_.ask_index(next->first);
}

}  // namespace spindled
