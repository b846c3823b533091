// How the daemons of a new view that come from different sides come to one table of channels: what a side says that it
// knows, and what becomes of that.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "daemon/channel/channel_operations.h"
#include "daemon/channel/channel_table.h"
#include "daemon/overlay/view.h"

namespace spindled {

/// A table in parts, for the other sides. It stays as it is meanwhile.
class KnownChannels {
 public:
  /// A part has so many channels and receivers at most, two or more.
  KnownChannels(const ChannelTable& table, const MemberSet& side, std::size_t part_max)
      : table_(table), side_(side), part_max_(part_max), at_(table.begin()) {}

  ChannelsKnown next_part();
  /// Of the last part.
  std::size_t channels_and_receivers() const { return units_; }

 private:
  const ChannelTable& table_;
  MemberSet side_;  // that the table is of
  std::size_t part_max_;
  ChannelTable::Channels::const_iterator at_;
  std::size_t receiver_ = 0;  // of that channel: the next one
  std::size_t units_ = 0;
};

/// Takes what each side says that it knows (ChannelsKnown); a side that has said nothing knows no channel. When all
/// have said it:
///
/// - The side of the source's daemon decides where there is one: its audience counts, and what it does not know any
///   more has ended. Members of other sides are late.
/// - Without it a channel goes on that any side knows; the audience is that of the side of the smallest daemon of
///   those.
/// - What the other sides know of receivers is kept, as of such as are not of the audience; and the seal. Who was
///   missing for the side that decides, and is among them, is so until it has said what comes of it.
class ChannelExchange {
 public:
  /// False where it makes no sense.
  bool add(MemberIndex origin, ChannelsKnown part, const View& view);
  bool empty() const { return sides_.empty(); }
  /// Those that any side knows.
  std::vector<BulkChannelId> ids() const;
  /// One of these as it goes on. Nothing: it has ended.
  std::optional<Channel> unite(const BulkChannelId& id, const View& view) const;
  void clear() { sides_.clear(); }

 private:
  struct Side {
    MemberSet daemons;
    std::map<BulkChannelId, Channel> channels;
  };

  static bool add(ChannelReceivers& to, const ChannelReceivers& more, const MemberSet& side);
  static bool add(std::vector<MissingReceiver>& to, std::vector<MissingReceiver> more);
  const Channel* decisive(const BulkChannelId& id, const View& view) const;

  std::map<MemberIndex, Side> sides_;  // by the smallest daemon of each
};

}  // namespace spindled
