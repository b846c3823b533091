// How the daemons of a new view that come from different sides come to one table of channels.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "daemon/channel/channel_operations.h"
#include "daemon/overlay/view.h"

namespace spindled {

/// Takes what each side says that it knows (ChannelsKnown); a side that has said nothing knows no channel. When all
/// have said it:
///
/// - The side of the source's daemon decides where there is one: its audience counts, and what it does not know any
///   more has ended. Members of other sides are late.
/// - Without it a channel goes on that any side knows; the audience is that of the side of the smallest daemon of
/// those.
/// - What the other sides know of receivers is kept, as of such as are not of the audience; and the seal. Who was
/// missing
///   for the side that decides, and is among them, is so until it has said what comes of it.
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
