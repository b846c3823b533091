// All bulk channels: the same table at every daemon, changed only at places in the order.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/channel/channel.h"
#include "daemon/channel/channel_operations.h"
#include "daemon/group/group_table.h"

namespace spindled {

/// Each change says whether it changed anything; what makes no sense (a second seal, an outcome behind another one that
/// is final) changes nothing.
///
/// A channel is complete where the last of its audience is done, has failed or has refused, and it is sealed: from
/// there on for good. Whoever changes it asks `complete` when it is time to look.
class ChannelTable {
 public:
  static constexpr std::size_t kChannelsMax = 1024;
  /// Of all channels, with those that are missing; a channel whose audience would exceed it is not added.
  static constexpr std::size_t kReceiversMax = 1u << 20;

  const Channel* find(const BulkChannelId& id) const;
  std::size_t size() const { return channels_.size(); }
  bool empty() const { return channels_.empty(); }
  std::size_t receivers() const { return receivers_; }
  /// In the order of their ids. Places hold as long as their channel is there.
  using Channels = std::map<BulkChannelId, Channel>;
  Channels::const_iterator begin() const { return channels_.begin(); }
  Channels::const_iterator end() const { return channels_.end(); }
  /// Those that were offered to the group, in the order of their ids.
  std::vector<BulkChannelId> of_group(std::string_view group) const;
  bool has_group(std::string_view group) const { return by_group_.contains(group); }

  /// Whether one with an audience of that size may be added.
  bool has_room(std::size_t audience) const {
    return channels_.size() < kChannelsMax && receivers_ + audience <= kReceiversMax;
  }
  /// None of that id is there. It may exceed what there is room for: two tables that meet are both kept.
  const Channel& add(Channel channel);
  bool seal(const ChannelSealed& sealed);
  bool set_rate(const BulkChannelId& id, std::uint64_t bytes_per_second);
  /// What a receiver of `daemon` says. One that is none of the audience is a member of the group: `is_member`.
  bool note(const BulkChannelId& id, MemberIndex daemon, const ChannelProgress::Said& said, bool is_member);
  /// The receiver is no member any more.
  bool leave(const BulkChannelId& id, MemberIndex daemon, SessionId session);
  bool lose_source(const BulkChannelId& id);
  bool end(const BulkChannelId& id);
  /// Whether the channel is complete from now on, and has not been before.
  bool complete(const BulkChannelId& id);

  /// A view begins: receivers whose daemons have not come along are gone, the others have these indices.
  void carry_over(const BulkChannelId& id, const GroupTable::Renumbering& to);
  /// All channels are carried over: indices are of these daemons from now on.
  void begin_view(std::vector<DaemonId> members) { members_ = std::move(members); }
  const std::vector<DaemonId>& members() const { return members_; }
  void clear();

 private:
  Channel* find_mutable(const BulkChannelId& id);
  /// Nothing where it is not among them.
  std::optional<ChannelReceiver> take(ChannelReceivers& from, MemberIndex daemon, SessionId session);

  Channels channels_;
  std::map<std::string, std::set<BulkChannelId>, std::less<>> by_group_;
  std::size_t receivers_ = 0;
  std::vector<DaemonId> members_;  // of the view that indices are of
};

}  // namespace spindled
