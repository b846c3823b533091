// Bulk channels, as far as daemons agree on them: takes what local clients ask into the order, and tells them what
// comes out of it. The content itself goes elsewhere (ChannelEvents).
//
// A newcomer reads this class first, and then its parts: Channel and ChannelTable for what all daemons know;
// channel_operations.h for what travels; ProgressBatch for what goes into the order; ToldChannels for what clients are
// told; ChannelEnds for when channels end; KnownChannels and ChannelExchange for sides that meet.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/base/timers.h"
#include "daemon/channel/channel_clients.h"
#include "daemon/channel/channel_ends.h"
#include "daemon/channel/channel_events.h"
#include "daemon/channel/channel_exchange.h"
#include "daemon/channel/channel_operations.h"
#include "daemon/channel/channel_table.h"
#include "daemon/channel/progress_batch.h"
#include "daemon/channel/told_channels.h"
#include "daemon/group/groups.h"
#include "daemon/group/membership_observer.h"

namespace spindled {

/// A client of this daemon that asks for something.
struct ChannelClient {
  SessionId session = 0;
  std::string_view name;
};

/// What a local client is to a channel.
enum class ChannelRole : std::uint8_t { source, receiver, holder };
struct LocalChannelClient {
  SessionId session = 0;
  ChannelRole role{};
  bool operator==(const LocalChannelClient&) const = default;
};

/// The table changes at places of the order: where operations are delivered, where members leave, and where a view is
/// complete. Whether a channel is complete is looked at there; behind the point in a view that ends up to which others
/// may have come first (Groups::tells_changes_later) it waits for the next view, so that all who are told it at one
/// place are told the same; what is offered there is told then, too.
///
/// Of the audience those who do not want to hear of channels cannot say that they refuse: their daemons do.
///
/// A view that brings sides together begins with what each side knows (ChannelExchange). It is complete with the table
/// of the groups, and until then nothing of clients is originated.
class Channels final : public MembershipObserver {
 public:
  /// Both outlive this one, which observes the groups from here on.
  Channels(Context& context, Groups& groups);
  /// Before anything else.
  void attach(ChannelClients& clients) { clients_ = &clients, told_.attach(clients); }
  void attach(ChannelEvents& events) { events_ = &events; }

  static constexpr std::size_t kOffersMax = 64;  // of one client, that have not ended
  /// What receivers say goes at once, but for those of this daemon that say something with them, and not more often
  /// than that: a content begins when the first has accepted it.
  static constexpr Duration kProgressDelay = 5ms;
  static constexpr Duration kProgressPeriod = 100ms;

  const ChannelTable& table() const { return table_; }

  // Requests of local clients, where Groups::is_ready. The client has asked for what it may. Nothing on success: what
  // comes out of the order shows it done.

  using Refusal = std::optional<Errc>;
  Refusal ask(Time now, const ChannelClient& client, const spindle::protocol::BulkOffer& offer);
  Refusal ask(Time now, const ChannelClient& client, const spindle::protocol::BulkSeal& seal);
  Refusal ask(Time now, const ChannelClient& client, const spindle::protocol::BulkCancel& cancel);
  Refusal ask(Time now, const ChannelClient& client, const spindle::protocol::BulkSetRate& rate);
  /// At any time.
  Refusal ask(Time now, const ChannelClient& client, const spindle::protocol::BulkOutcomeSaid& said);
  /// The session is gone, and is about to leave its groups.
  void close_session(Time now, SessionId session);

  // For who relays the content.

  /// The daemon of the source, where the source is there.
  std::optional<MemberIndex> source_daemon(const Channel& channel) const {
    return channel.source_daemon(groups_.view().members);
  }
  /// Whether the daemons of its receivers have their numbers of the installed view. A new view renumbers one channel
  /// after the other, and tells of the receivers of each when all have theirs.
  bool is_renumbered(const Channel& channel) const { return !former_numbers_ || channel.id < former_numbers_->next; }
  /// What local clients are to the channel: its source, receivers that have accepted, and those that are done.
  std::vector<LocalChannelClient> local_clients(const Channel& channel) const;
  std::optional<ChannelRole> role_of(const Channel& channel, SessionId session) const;
  /// Something of the content has come to this daemon of late. Receivers that have different parts of it can put it
  /// together though nobody has all: then it is not abandoned.
  void note_coming(Time now, const BulkChannelId& id);

  void handle_time(Time now);
  Time next_deadline() const { return std::min(timers_.next(), ends_.next_deadline()); }

  // MembershipObserver
  void member_came(Time now, const Group& group, SessionId session) override;
  void member_left(Time now, std::uint64_t position, const Group& group, MemberIndex daemon,
                   SessionId session) override;
  void member_leaves(Time now, SessionId session) override;
  void view_began(Time now, const GroupTable::Renumbering& to, const MemberSet& came_along) override;
  void table_completed(Time now) override;
  void opened(Time now) override;

 private:
  enum class Timer : std::uint8_t { progress, count_ };
  /// An offer of a local client that is on its way, or has come and is told later.
  struct Entering {
    SessionId session = 0;
    std::uint32_t request = 0;
  };
  /// Channels from `next` on have the numbers of the view before, in which this daemon was `self`.
  struct FormerNumbers {
    MemberIndex self = 0;
    BulkChannelId next;
  };

  // Into the order.
  void originate(Time now, const ChannelOperation& operation);
  /// Nothing: there is none, or it was taken.
  std::optional<Entering> take_entering(const BulkChannelId& id);
  /// What is known of a channel that the client is the source of; otherwise why it is refused.
  Result<const Channel*> find_own(const ChannelClient& client, const BulkChannelId& id) const;
  void flush_progress(Time now);
  void flush_progress_soon(Time now);
  void say_known(Time now, const MemberSet& side);

  // Out of the order.
  /// False where it makes no sense.
  bool deliver(Time now, const Delivery& message, std::uint8_t number, ByteView content);
  bool apply(Time now, const Delivery& message, ChannelOffered& operation);
  bool apply(Time now, const Delivery& message, const ChannelSealed& operation);
  bool apply(Time now, const Delivery& message, const ChannelProgress& operation);
  bool apply(Time now, const Delivery& message, const ChannelCancelled& operation);
  bool apply(Time now, const Delivery& message, const ChannelEnded& operation);
  bool apply(Time now, const Delivery& message, const ChannelRateSet& operation);
  bool apply(Time now, const Delivery& message, const ChannelSourceGone& operation);
  bool apply(Time now, const Delivery& message, ChannelsKnown& operation);
  void note_progress(Time now, std::uint64_t position, MemberIndex origin, const ChannelProgress::OfChannel& progress);
  /// Calls `visit(Time, const Channel&)` for those that were offered to the group, in steps.
  template <typename Visit>
  void for_each_of_group(Time now, const std::string& group, Visit visit);
  ChannelReceivers audience_of(const ChannelOffered& offered, MemberIndex origin);
  void end(Time now, const BulkChannelId& id, BulkEnd why);
  /// Looks whether the channel is complete, at that place.
  void look(Time now, std::uint64_t position, const BulkChannelId& id);
  void tell_complete(std::uint64_t position, const Channel& channel);
  /// Tells the source of those that have come back, where that is news and it may be told now.
  void tell_returned(const Channel& channel);
  void unite(Time now, const BulkChannelId& id);
  /// Tells local clients that do not know that the channel is offered.
  void tell_offered(Time now, const Channel& channel);
  /// A view is complete: tells local clients what they do not know of the channel.
  void catch_up(Time now, const Channel& channel);

  bool is_of(const BulkChannelId& id, MemberIndex daemon) const;
  bool is_own(const BulkChannelId& id) const { return is_of(id, groups_.view().self); }
  /// The number of this daemon among those of the channel's receivers.
  MemberIndex self_in(const Channel& channel) const {
    return is_renumbered(channel) ? groups_.view().self : former_numbers_->self;
  }

  Context& context_;
  Log log_;
  Groups& groups_;
  ChannelClients* clients_ = nullptr;
  NoChannelEvents nobody_;
  ChannelEvents* events_ = &nobody_;
  ChannelTable table_;
  ChannelEnds ends_{groups_.view(), table_};
  ChannelExchange exchange_;  // from the beginning of a view to the completion of its table
  ToldChannels told_;
  ProgressBatch progress_;
  Time progressed_at_{};  // when the last of it was ordered
  Timers<Timer> timers_;
  bool is_settled_ = false;                      // not in that time
  std::optional<FormerNumbers> former_numbers_;  // at the beginning of that time
  std::uint64_t last_number_ = 0;                // of an offer of this daemon
  std::map<std::uint64_t, Entering> entering_;   // by that number
  std::map<SessionId, std::size_t> offers_;      // of local clients, that have not ended
  std::deque<SessionId> departed_;               // sources that closed while nothing could be sent
};

}  // namespace spindled
