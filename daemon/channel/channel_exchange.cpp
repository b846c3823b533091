#include "daemon/channel/channel_exchange.h"

#include <algorithm>
#include <set>

namespace spindled {

namespace {

/// Copies what is between two places of several lists, one behind the other.
class Cut {
 public:
  Cut(std::size_t first, std::size_t end) : first_(first), end_(end) {}
  template <typename Each>
  void copy(const std::vector<Each>& from, std::vector<Each>& to) {
    to.assign(place(from, first_), place(from, end_));
    behind_ += from.size();
  }

 private:
  template <typename Each>
  auto place(const std::vector<Each>& from, std::size_t at) const {
    return from.begin() + static_cast<std::ptrdiff_t>(std::clamp(at, behind_, behind_ + from.size()) - behind_);
  }

  std::size_t first_, end_;
  std::size_t behind_ = 0;  // how many the lists before have
};

}  // namespace

ChannelsKnown KnownChannels::next_part() {
  ChannelsKnown part;
  part.side = side_;
  units_ = 0;
  while (at_ != table_.end() && units_ < part_max_) {
    const Channel& channel = at_->second;
    const std::size_t end = std::min(channel.size(), receiver_ + part_max_ - units_);
    Channel& said = part.channels.emplace_back(channel.without_receivers());
    Cut cut(receiver_, end);
    cut.copy(channel.audience, said.audience);
    cut.copy(channel.others, said.others);
    cut.copy(channel.gone.missing, said.gone.missing);
    units_ += 1 + end - receiver_;
    receiver_ = end;
    if (end < channel.size()) continue;
    ++at_;
    receiver_ = 0;
  }
  part.more = at_ != table_.end();
  return part;
}

bool ChannelExchange::add(ChannelReceivers& to, const ChannelReceivers& more, const MemberSet& side) {
  for (const ChannelReceiver& each : more) {
    const bool is_behind =
        to.empty() || std::pair(to.back().daemon, to.back().session) < std::pair(each.daemon, each.session);
    if (!is_behind || !side.contains(each.daemon)) return false;
    to.push_back(each);
  }
  return true;
}

bool ChannelExchange::add(std::vector<MissingReceiver>& to, std::vector<MissingReceiver> more) {
  for (MissingReceiver& each : more) {
    if (!to.empty() && each <= to.back()) return false;
    to.push_back(std::move(each));
  }
  return true;
}

bool ChannelExchange::add(MemberIndex origin, ChannelsKnown part, const View& view) {
  if (part.side.front() != origin || !part.side.is_subset_of(MemberSet::first(view.size()))) return false;
  for (const auto& [representative, side] : sides_) {
    if (representative != origin && side.daemons.intersects(part.side)) return false;
  }
  Side& side = sides_.try_emplace(origin, Side{part.side, {}}).first->second;
  if (side.daemons != part.side) return false;
  for (Channel& channel : part.channels) {
    ChannelReceivers audience, others;
    audience.swap(channel.audience);
    others.swap(channel.others);
    std::vector<MissingReceiver> missing;
    missing.swap(channel.gone.missing);
    const BulkChannelId id = channel.id;
    Channel& known = side.channels.try_emplace(id, std::move(channel)).first->second;
    if (!add(known.audience, audience, side.daemons) || !add(known.others, others, side.daemons)) return false;
    if (!add(known.gone.missing, std::move(missing))) return false;
  }
  return true;
}

std::vector<BulkChannelId> ChannelExchange::ids() const {
  std::set<BulkChannelId> all;
  for (const auto& [representative, side] : sides_) {
    for (const auto& [id, channel] : side.channels) all.insert(id);
  }
  return {all.begin(), all.end()};
}

const Channel* ChannelExchange::decisive(const BulkChannelId& id, const View& view) const {
  const auto owner = index_in(view.members, {id.daemon, id.incarnation});
  for (const auto& [representative, side] : sides_) {
    const auto known = side.channels.find(id);
    if (owner && !side.daemons.contains(*owner)) continue;
    if (known != side.channels.end()) return &known->second;
    if (owner) return nullptr;
  }
  return nullptr;
}

std::optional<Channel> ChannelExchange::unite(const BulkChannelId& id, const View& view) const {
  const Channel* base = decisive(id, view);
  if (base == nullptr) return std::nullopt;
  Channel channel = *base;
  for (const auto& [representative, side] : sides_) {
    const auto known = side.channels.find(id);
    if (known == side.channels.end() || &known->second == base) continue;
    const Channel& other = known->second;
    channel.source_is_gone = channel.source_is_gone || other.source_is_gone;
    if (!channel.root && other.root) {
      channel.root = other.root;
      channel.terms.layout = other.terms.layout;
    }
    other.for_each_receiver([&](const ChannelReceiver& each) {
      if (each.outcome == BulkOutcome::none || channel.find(each.daemon, each.session) != nullptr) return;
      channel.others.insert(place_of(channel.others, each.daemon, each.session), each);
    });
  }
  channel.settle_returned(view.members);
  return channel;
}

}  // namespace spindled
