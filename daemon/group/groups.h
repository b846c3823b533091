// Named groups: takes the requests of local clients into the order, and brings what comes out of it to the local
// members.
//
// A newcomer reads this class first, and then its parts: MessageSender and MembershipRequests for what goes into the
// order; MessageDelivery and GroupViews for what comes out of it; Flushes for the views of synchronous groups;
// TransitionalSignals and TableRebuild for a change of the view. GroupTable is what all daemons agree on, operations.h
// what travels.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "daemon/group/flushes.h"
#include "daemon/group/group_state.h"
#include "daemon/group/group_views.h"
#include "daemon/group/membership_requests.h"
#include "daemon/group/message_delivery.h"
#include "daemon/group/message_sender.h"
#include "daemon/group/table_rebuild.h"
#include "daemon/group/transitional_signals.h"

namespace spindled {

/// Owns the parts of the layer. Messages of clients come out of the order to MessageDelivery; what else does comes
/// here: operations, for the group table and whoever they concern, and each view, for a TableRebuild of its own.
class Groups final : public OrderedMessages {
 public:
  explicit Groups(Context& context) : state_(context) {}
  /// Before anything else: the layers below and above. MessageDelivery handles messages of clients, and their parts.
  /// Both outlive this one's last call.
  void attach(Order& order, LocalClients& clients);
  /// Likewise: who is told of members, behind those that were before. It outlives this one's last call, too.
  void observe(MembershipObserver& observer) { state_.observers.add(observer); }

  /// Whether messages may be sent: the view is open and its group table complete.
  bool is_ready() const { return state_.is_ready(); }
  const GroupTable& table() const { return state_.table; }
  bool has_members(std::string_view group) const {
    const Group* found = state_.kept().find(group);
    return found != nullptr && !found->members.empty();
  }
  /// The name of a group of the table that is kept through a change of the view; its numbers hold as long as this does
  /// not grow.
  std::string_view name_of(GroupId group) const { return state_.kept().name_of(group); }
  std::uint64_t tables_completed() const { return state_.tables_completed; }
  /// The view that the table is of. The order layer may be ahead.
  const View& view() const { return state_.view; }

  MessageSender& sender() { return sender_; }
  const MessageSender& sender() const { return sender_; }
  MembershipRequests& requests() { return requests_; }
  const MembershipRequests& requests() const { return requests_; }
  GroupViews& views() { return views_; }
  Flushes& flushes() { return flushes_; }
  const Flushes& flushes() const { return flushes_; }
  /// Whether the session has joined the group, and that is synchronous.
  bool is_in_synchronous(SessionId session, std::string_view group) const;
  /// The first of these names that is of a synchronous group which the session has joined; empty: none.
  std::string_view synchronous_group_of(SessionId session, const std::vector<std::string>& names) const;
  const MessageDelivery& delivery() const { return delivery_; }

  // Operations of channels beside the groups: ordered with those of the groups, at all daemons.

  /// `content` is what follows its number. False where it makes no sense.
  using OperationHandler = std::function<bool(Time now, const Delivery& message, ByteView content)>;
  /// Before anything is sent: whom operations of that number go to, from kChannelOperationMin on. Each has one handler.
  void handle(std::uint8_t operation, OperationHandler handler);
  /// Where `is_ready`.
  void originate(Time now, std::uint8_t operation, ByteView content);
  /// The same in front of what this daemon says of its table, where `is_open` (MembershipObserver::view_began).
  void originate_at_once(Time now, std::uint8_t operation, ByteView content);
  /// Whether the view is open, be its table complete or not.
  bool is_open() const { return state_.is_open(); }
  /// Whether the view ends, and what changes in it is told with the next one.
  bool tells_changes_later() const { return state_.told.has_value(); }
  /// Adds the local members of the group that get its messages: those that have been told of a view of it.
  void add_told_members(const Group& group, std::vector<SessionId>& to) const { state_.add_local_members(group, to); }
  /// Has the task done in steps; nothing that is ordered later is delivered before.
  void do_in_steps(Time now, Steps::Task task) { state_.steps.add(now, std::move(task)); }

  /// A client is here, and from now on gets what is for it alone.
  void open_session(Sender& sender) {
    delivery_.forget_route();
    requests_.open_session(sender);
  }
  /// The session is gone: what it sends and is not complete never comes, and it leaves all its groups.
  void close_session(Time now, SessionId session);

  // OrderedMessages
  /// An operation.
  void deliver(Time now, const Delivery& message) override;
  void horizon_advanced(Time now, std::uint64_t position) override;
  void transitional(Time now, const MemberSet& transitional) override;
  void furthest_reached(Time now) override;
  void view_installed(Time now, const View& view, const MemberSet& came_along) override;
  bool is_busy() const override { return !state_.steps.empty() || state_.context.turn.is_over(); }
  bool is_behind() const override { return is_busy() || delivery_.is_full(); }
  void go_on(Time now) override { state_.steps.go_on(now); }

 private:
  // Operations.
  /// Whether the content is of a channel, whose it is then.
  bool apply_of_channel(Time now, const Delivery& message, ByteView content);
  void drop_malformed(const Delivery& message);
  void apply(Time now, const Delivery& message, const Subscribe& operation);
  void apply(Time now, const Delivery& message, const Unsubscribe& operation);
  void apply(Time now, const Delivery& message, const JoinGroup& operation);
  void apply(Time now, const Delivery& message, const LeaveGroup& operation);
  void apply(Time now, const Delivery& message, const Disconnect& operation);
  void apply(Time now, const Delivery& message, const Flushed& operation) { flushes_.flushed(now, message, operation); }
  void apply(Time now, const Delivery& message, const TableState& operation);
  void apply(Time now, const Delivery& message, const Announce& operation);
  void refuse_join(Time now, const JoinGroup& operation);
  /// Before the members of the group change, which is synchronous or not from then on.
  void keep_told(const Group& group, bool synchronous);
  /// `position` is that of the operation.
  void remove_member(Time now, MemberIndex daemon, SessionId session, GroupId group, spindle::ViewCause cause,
                     std::uint64_t position);

  // Views, in steps.
  void start_view(Time now, const View& view, const MemberSet& came_along);
  void complete_view(Time now);

  GroupState state_;
  GroupViews views_{state_};
  TransitionalSignals signals_{state_};
  MessageSender sender_{state_};
  MembershipRequests requests_{state_};
  Flushes flushes_{state_, views_, signals_, requests_};
  MessageDelivery delivery_{state_, signals_, flushes_};
  std::map<std::uint8_t, OperationHandler> channels_;  // by the number of an operation
  std::optional<TableRebuild> rebuild_;                // from the installation of a view until its table is complete
  bool furthest_reached_ = false;  // from OrderedMessages::furthest_reached to the installation of the next view
};

}  // namespace spindled
