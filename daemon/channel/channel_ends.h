// When bulk channels end without anybody's doing.
#pragma once

#include <map>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/channel/channel_operations.h"
#include "daemon/channel/channel_table.h"
#include "daemon/overlay/view.h"

namespace spindled {

/// A channel ends once it is complete, has lingered for as long as its offer says, and nobody waits for it any more;
/// and where somebody waits in vain: the source is gone, nobody has all of it or it was not sealed, and nothing has
/// happened for a while.
///
/// Its time is kept by the daemon of its source, or by the first of the view where that is not there: it orders the
/// end.
class ChannelEnds {
 public:
  /// Both outlive this one. `view`: that the table is of.
  ChannelEnds(const View& view, const ChannelTable& table) : view_(view), table_(table) {}

  /// Where it is hopeless (Channel), so long after something was ordered for the channel, or a view began.
  static constexpr Duration kAbandonedAfter = 60s;
  /// Receivers to whom something comes all the same say so as often.
  static constexpr Duration kComingSaid = 20s;

  // What becomes of channels of the table. The first two take it up where it is new.

  /// It has become complete; or where sides met it goes on as one that is, or is not.
  void note_completion(Time now, const Channel& channel);
  /// Something was ordered for it, or a view began. One that is complete is known to be.
  void note_active(Time now, const Channel& channel);
  /// A view has begun: who keeps its time may be another one, and what was ordered may be lost.
  void begin_view(const BulkChannelId& id) { lives_[id].is_end_ordered = false; }
  void forget(const BulkChannelId& id) { lives_.erase(id); }

  MemberIndex timekeeper_of(const BulkChannelId& id) const;
  /// Whether it would be abandoned, and nothing was ordered for it of late.
  bool awaits_word(Time now, const Channel& channel) const;

  /// To look at all that are there, at once.
  void look(Time now) { look_at_ = now; }
  /// Whether it is time to look; that is taken.
  bool take_due(Time now) {
    if (look_at_ > now) return false;
    look_at_ = kNever;
    return true;
  }
  Time next_deadline() const { return look_at_; }
  /// What this daemon is to order now.
  std::vector<ChannelEnded> due(Time now);

 private:
  /// What this daemon alone knows of a channel.
  struct Life {
    Time active_at{};
    Time complete_at = kNever;
    bool is_end_ordered = false;  // in this view
  };
  Time deadline_of(const Channel& channel, const Life& life) const;

  const View& view_;
  const ChannelTable& table_;
  std::map<BulkChannelId, Life> lives_;  // of all channels
  Time look_at_ = kNever;
};

}  // namespace spindled
