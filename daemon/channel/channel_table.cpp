#include "daemon/channel/channel_table.h"

#include <algorithm>

#include "daemon/base/check.h"

namespace spindled {

using spindle::protocol::is_final;

const Channel* ChannelTable::find(const BulkChannelId& id) const {
  const auto found = channels_.find(id);
  return found == channels_.end() ? nullptr : &found->second;
}

Channel* ChannelTable::find_mutable(const BulkChannelId& id) { return const_cast<Channel*>(find(id)); }

std::vector<BulkChannelId> ChannelTable::of_group(std::string_view group) const {
  const auto found = by_group_.find(group);
  if (found == by_group_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

const Channel& ChannelTable::add(Channel channel) {
  receivers_ += channel.size();
  by_group_[channel.group].insert(channel.id);
  const auto [at, is_new] = channels_.try_emplace(channel.id, std::move(channel));
  SPINDLE_CHECK(is_new);
  return at->second;
}

bool ChannelTable::seal(const ChannelSealed& sealed) {
  Channel* channel = find_mutable(sealed.id);
  if (channel == nullptr || channel->is_sealed()) return false;
  const std::optional<ContentLayout> layout = channel->terms.layout.sealed(sealed.size);
  if (!layout) return false;
  channel->terms.layout = *layout;
  channel->root = sealed.root;
  return true;
}

bool ChannelTable::set_rate(const BulkChannelId& id, std::uint64_t bytes_per_second) {
  Channel* channel = find_mutable(id);
  if (channel == nullptr || channel->terms.bytes_per_second == bytes_per_second) return false;
  channel->terms.bytes_per_second = bytes_per_second;
  return true;
}

bool ChannelTable::note(const BulkChannelId& id, MemberIndex daemon, const ChannelProgress::Said& said,
                        bool is_member) {
  Channel* channel = find_mutable(id);
  if (channel == nullptr) return false;
  auto* receiver = const_cast<ChannelReceiver*>(channel->find(daemon, said.session));
  const bool is_of_audience = receiver != nullptr && find_receiver(channel->audience, daemon, said.session) == receiver;
  if (receiver == nullptr) {
    if (!is_member || receivers_ >= kReceiversMax) return false;
    receiver = &*channel->others.insert(place_of(channel->others, daemon, said.session), {daemon, said.session});
    ++receivers_;
  }
  if (!may_follow(receiver->outcome, said.outcome)) return false;
  receiver->outcome = said.outcome;
  receiver->code = said.code;
  if (!is_of_audience && channel->settle_returned(members_.at(daemon), said.session, said.outcome)) --receivers_;
  return true;
}

std::optional<ChannelReceiver> ChannelTable::take(ChannelReceivers& from, MemberIndex daemon, SessionId session) {
  const auto at = place_of(from, daemon, session);
  if (at == from.end() || at->daemon != daemon || at->session != session) return std::nullopt;
  const ChannelReceiver taken = *at;
  from.erase(at);
  return taken;
}

bool ChannelTable::leave(const BulkChannelId& id, MemberIndex daemon, SessionId session) {
  Channel* channel = find_mutable(id);
  if (channel == nullptr) return false;
  receivers_ -= channel->size();
  const std::optional<ChannelReceiver> gone = take(channel->audience, daemon, session);
  if (gone) channel->note_gone(members_.at(daemon), *gone);
  const bool was_there = take(channel->others, daemon, session) || gone;
  receivers_ += channel->size();
  return was_there;
}

bool ChannelTable::lose_source(const BulkChannelId& id) {
  Channel* channel = find_mutable(id);
  return channel != nullptr && !std::exchange(channel->source_is_gone, true);
}

bool ChannelTable::end(const BulkChannelId& id) {
  const auto found = channels_.find(id);
  if (found == channels_.end()) return false;
  const Channel& channel = found->second;
  receivers_ -= channel.size();
  const auto group = by_group_.find(channel.group);
  group->second.erase(id);
  if (group->second.empty()) by_group_.erase(group);
  channels_.erase(found);
  return true;
}

bool ChannelTable::complete(const BulkChannelId& id) {
  Channel* channel = find_mutable(id);
  if (channel == nullptr || channel->is_complete || !channel->is_sealed()) return false;
  channel->is_complete = std::all_of(channel->audience.begin(), channel->audience.end(),
                                     [](const ChannelReceiver& each) { return is_final(each.outcome); });
  return channel->is_complete;
}

void ChannelTable::carry_over(const BulkChannelId& id, const GroupTable::Renumbering& to) {
  Channel* channel = find_mutable(id);
  if (channel == nullptr) return;
  receivers_ -= channel->size();
  for (const ChannelReceiver& each : channel->audience) {
    if (!to[each.daemon]) channel->note_gone(members_.at(each.daemon), each);
  }
  for (ChannelReceivers* receivers : {&channel->audience, &channel->others}) {
    std::erase_if(*receivers, [&](const ChannelReceiver& each) { return !to[each.daemon]; });
    // Members of a view are sorted by their names: so the order stays.
    for (ChannelReceiver& each : *receivers) each.daemon = *to[each.daemon];
  }
  receivers_ += channel->size();
}

void ChannelTable::clear() {
  channels_.clear();
  by_group_.clear();
  receivers_ = 0;
}

}  // namespace spindled
