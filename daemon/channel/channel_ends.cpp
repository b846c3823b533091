#include "daemon/channel/channel_ends.h"

#include <algorithm>

namespace spindled {

void ChannelEnds::note_completion(Time now, const Channel& channel) {
  Life& life = lives_[channel.id];
  if (channel.is_complete && life.complete_at == kNever) life.complete_at = now;
  if (!channel.is_complete) life.complete_at = kNever;
}

void ChannelEnds::note_active(Time now, const Channel& channel) {
  Life& life = lives_[channel.id];
  life.active_at = now;
  look_at_ = std::min(look_at_, deadline_of(channel, life));
}

MemberIndex ChannelEnds::timekeeper_of(const BulkChannelId& id) const {
  return index_in(view_.members, {id.daemon, id.incarnation}).value_or(MemberIndex{0});
}

bool ChannelEnds::awaits_word(Time now, const Channel& channel) const {
  const auto life = lives_.find(channel.id);
  const bool is_quiet = life != lives_.end() && now - life->second.active_at >= kComingSaid;
  return is_quiet && channel.is_hopeless(view_.members);
}

Time ChannelEnds::deadline_of(const Channel& channel, const Life& life) const {
  if (!channel.is_wanted()) return life.complete_at + std::chrono::seconds(channel.terms.linger_s);
  return channel.is_hopeless(view_.members) ? life.active_at + kAbandonedAfter : kNever;
}

std::vector<ChannelEnded> ChannelEnds::due(Time now) {
  std::vector<ChannelEnded> ended;
  for (const auto& [id, channel] : table_) {
    if (timekeeper_of(id) != view_.self) continue;
    Life& life = lives_[id];
    if (life.is_end_ordered) continue;
    const Time deadline = deadline_of(channel, life);
    if (deadline > now) {
      look_at_ = std::min(look_at_, deadline);
      continue;
    }
    life.is_end_ordered = true;
    ended.push_back({id, channel.is_wanted() ? BulkEnd::abandoned : BulkEnd::over});
  }
  return ended;
}

}  // namespace spindled
