// Named groups: takes the requests of local clients into the order, and brings what comes out of it to the local
// members.
//
// A newcomer reads this class first. GroupTable is what all daemons agree on, Subscriptions what this daemon does for
// its clients' joins, operations.h what travels.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/base/steps.h"
#include "daemon/group/client_send.h"
#include "daemon/group/early_messages.h"
#include "daemon/group/entering_messages.h"
#include "daemon/group/group_table.h"
#include "daemon/group/local_clients.h"
#include "daemon/group/local_route.h"
#include "daemon/group/partial_messages.h"
#include "daemon/group/request_line.h"
#include "daemon/group/subscriptions.h"
#include "daemon/group/table_exchange.h"
#include "daemon/group/told_groups.h"
#include "daemon/order/order.h"
#include "libclient/protocol/member_list.h"

namespace spindled {

/// A set of destinations as a client defined it, resolved against the group table; kept by the session and brought up
/// to date by Groups when the table has changed.
struct DestinationSet {
  std::vector<std::string> names;     // groups, and private names of clients
  std::uint64_t table_version = 0;    // 0: never resolved
  MemberSet daemons;                  // that the message has to reach
  std::vector<std::uint8_t> targets;  // encoded for the envelope
};

/// A local client as the sender of messages.
struct Sender {
  SessionId session = 0;
  std::string client;
  SenderOrder order;
  std::size_t open_requests = 0;  // to join and to leave, which are not done yet; Groups keeps the count
};

/// Of what `sender` sends, but for the targets.
Envelope envelope_of(const Sender& sender, const ClientSend& message);

class Groups final : public OrderedMessages {
 public:
  /// So many pieces of a large message are a unit of TurnWork, for each receiver.
  static constexpr std::size_t kPiecesOfAUnit = 8;

  explicit Groups(Context& context)
      : context_(context), log_(context.log_sink, "group"), steps_(context.turn), early_(context) {}
  /// Before anything else: the layers below and above. Both outlive this one's last call.
  void attach(Order& order, LocalClients& clients);

  /// Whether messages may be sent: the view is open and its group table complete.
  bool is_ready() const { return ready_ && is_current() && order_->is_open(); }

  // Requests of local sessions. Those that change membership may come at any time; they wait for the next view where
  // one is being agreed on, and for those of the same session before them.

  /// `sender` stays where it is until the session is closed.
  void open_session(Sender& sender);
  /// The session is gone: it leaves all its groups, and what it asked for and has not entered the order is forgotten.
  void close_session(Time now, SessionId session);
  /// Nothing on success: the group view that follows shows it done. LocalClients::requests_done tells when.
  std::optional<Errc> join(Time now, SessionId session, const std::string& group);
  std::optional<Errc> leave(Time now, SessionId session, const std::string& group);
  /// Where `is_ready`.
  void send(Time now, Sender& sender, DestinationSet& to, const ClientSend& message);
  /// Of a message that may be large (parts.cpp): the next bytes of its payload that can go ahead of it, up to the end
  /// of a chunk; 0: the rest has to go with the message. `entering` is what it is known by, 0 at first.
  std::size_t next_part(std::uint64_t entering, const ClientSend& message) const;
  /// What has gone ahead of it.
  std::size_t sent_ahead(std::uint64_t entering) const {
    const EnteringMessages::Entering* found = entering == 0 ? nullptr : entering_.find(entering);
    return found == nullptr ? 0 : found->ahead;
  }
  /// Sends that much of it ahead, at most `next_part`; where `is_ready`. What it is known by from then on.
  std::uint64_t send_part(Time now, const Sender& sender, DestinationSet& to, const ClientSend& message,
                          std::uint64_t entering, std::size_t bytes);
  /// As `send`: the message, with what has not gone ahead.
  void send_rest(Time now, Sender& sender, DestinationSet& to, const ClientSend& message, std::uint64_t entering);
  /// Of payload of others' messages, and its own, that are entering.
  std::size_t partial_bytes() const { return partial_.bytes(); }
  /// Delivers all members of `group`, as the session was last told of them, to it; nothing on success.
  std::optional<Errc> request_view(SessionId session, const std::string& group);
  /// Brings `set` up to date with the table. Most of the time it is: this is asked about every message.
  void resolve(DestinationSet& set) const {
    if (!ready_ || !is_current() || set.table_version != table_.version()) resolve_anew(set);
  }

  /// Whether the session has joined `group`, or asked to, and not asked to leave it.
  bool is_member(SessionId session, std::string_view group) const;
  /// Whether a request of the session to join or to leave `group` is not done yet.
  bool has_open_request(SessionId session, std::string_view group) const;

  const GroupTable& table() const { return table_; }
  /// Contents of messages that wait for the table of their view.
  std::size_t early_bytes() const { return early_.bytes(); }
  /// The view that the table is of. The order layer may be ahead.
  const View& view() const { return view_; }

  // OrderedMessages
  void deliver(Time now, const Delivery& message) override;
  void horizon_advanced(Time now, std::uint64_t position) override;
  void transitional(Time now, const MemberSet& transitional) override;
  void furthest_reached(Time now) override;
  void view_installed(Time now, const View& view, const MemberSet& came_along) override;
  bool is_busy() const override { return !steps_.empty() || context_.turn.is_over(); }
  bool is_behind() const override { return is_busy() || early_.is_full(); }
  void go_on(Time now) override { steps_.go_on(now); }

 private:
  struct LocalSession {
    Sender* sender = nullptr;
    RequestLine requests;
    std::size_t groups = 0;  // how many it has joined or asked to join, and not asked to leave
  };
  using Cause = spindle::ViewCause;
  using Names = std::vector<std::string_view>;
  /// What a view has to say beside who the members are.
  struct Change {
    Cause cause{};
    Names joined, left, apart;  // as protocol::GroupViewFrame
  };

  /// Whether the order layer is in the view of the table still.
  bool is_current() const { return views_ == order_->epoch(); }
  void resolve_anew(DestinationSet& set) const;

  // Into the order.
  /// To everybody, or to `destinations`.
  void originate(Time now, const GroupOperation& operation);
  void originate(Time now, const GroupOperation& operation, const MemberSet& destinations);
  void originate(Time now, Sender& sender, const ClientSend& message, const Envelope& envelope,
                 const DestinationSet& to, const MemberSet& daemons);
  void originate_part(Time now, const MemberSet& daemons, ByteView head, std::span<const Slice> payload);
  /// The session's messages that are entering never come.
  void give_up_entering(Time now, SessionId session);
  void take(Time now, Subscriptions::Step step, const std::string& group);
  std::size_t local_members_of(const std::string& group) const;

  // Into the order: what local sessions ask for (requests.cpp).
  void request(Time now, LocalSession& local, RequestLine::Kind kind, const std::string& group);
  /// Orders the subscription that a join needs, where there is none.
  void want(Time now, const LocalSession& local, const std::string& group);
  /// Lets requests of the session enter until one has to wait.
  void let_enter(Time now, LocalSession& local);
  bool may_enter(const RequestLine::Request& request);
  void enter(Time now, const Sender& sender, const RequestLine::Request& request);
  void horizon_reached(Time now, std::uint64_t position);
  /// The first request of the session that has entered is done.
  void request_done(Time now, SessionId session);
  /// A new view, whose group table is there.
  void resume_requests(Time now);
  void resume_requests(Time now, SessionId session);

  // Out of the order: messages.
  void deliver_client_message(const Delivery& message);
  /// False for a malformed envelope.
  bool resolve_route(const Delivery& message);
  /// Whether the target is one client.
  bool add_target(const Envelope::Target& target);
  /// Nothing where the target is no group with members.
  const Group* find(const Envelope::Target& target) const;
  void add_local_members(const Group& group, std::vector<SessionId>& to) const;
  bool has_local_members(const Group& group) const { return !group.members_of(view_.self).empty(); }
  std::vector<SessionId> local_members(const Group& group) const;
  /// The payload of a message alone; false where it is not as the envelope says.
  bool collect_chunks(const Delivery& message);
  /// Puts what went ahead in front of `chunks_`; false where it is not there (parts.cpp).
  bool put_together(MemberIndex origin);
  void take_part(const Delivery& message);
  bool open_bundle(const Delivery& message);
  /// As work of the turn: a message of so many pieces, for all receivers.
  void count_delivery(std::size_t pieces) {
    context_.turn.count_step(route_.receivers.size() * (1 + pieces / kPiecesOfAUnit));
  }

  // Out of the order: operations (membership.cpp).
  void apply(Time now, const Delivery& message);
  void apply(Time now, const Delivery& message, const Subscribe& operation);
  void apply(Time now, const Delivery& message, const Unsubscribe& operation);
  void apply(Time now, const Delivery& message, const JoinGroup& operation);
  void apply(Time now, const Delivery& message, const LeaveGroup& operation);
  void apply(Time now, const Delivery& message, const Disconnect& operation);
  void apply(Time now, const Delivery& message, const TableState& operation);
  void apply(Time now, const Delivery& message, const Announce& operation);
  void remove_member(Time now, MemberIndex daemon, SessionId session, GroupId group, Cause cause);

  // Out of the order: group views (group_views.cpp).
  void tell_join(const Group& group, std::string_view joined, std::optional<SessionId> local);
  void tell_removal(const Group& group, Cause cause, std::string_view left);
  void tell_farewell(const Group& group, SessionId session, std::string_view name);
  /// `before`: the group in the last view; null where it was not there.
  void tell_network_change(const Group& group, const Group* before);
  /// To the local members that have had no view of it, or none since they left: for them all others are new or apart.
  void tell_newcomers(const Group& group, const Change& change, const ToldGroup& before);
  /// Whether there is nothing to tell: the members are those of `before`, and all have come along.
  bool is_as_before(const Group& group, const Group& before) const;
  /// Whether what the local members of the group were told last is in `told_`.
  bool is_told_later(std::string_view group) const;
  /// A new view for all local members: `told` have been told of the one before, `first` of none.
  void tell(const Group& group, const Change& change, std::span<const SessionId> told,
            std::span<const SessionId> first);
  void deliver_full(const Group& group, const Change& change, std::span<const SessionId> to);
  void deliver_change(const Group& group, const Change& change, std::span<const SessionId> to);
  spindle::protocol::GroupViewFrame head_of(const Group& group, const Change& change) const;
  spindle::GroupViewId view_id() const {
    return {view_.id.number, view_.id.coordinator, view_.id.incarnation, changes_};
  }
  void note_told(const Group& group, Cause cause) { table_.set_last_view(group, {shared_view_id_, changes_, cause}); }
  bool is_large(const Group& group) const { return group.members.size() > context_.config.session.full_view_members; }

  // Around a view change (view_change.cpp). What takes a Time is done in steps, in the order of the calls.
  bool is_split(const Group& group) const;
  /// A transitional signal to `to`, local members of `group`.
  void signal(const Group& group, std::span<const SessionId> to);
  /// The same to all local members of the groups that are split.
  void signal_split(Time now);
  /// The same to those of the groups some of whose members were lost with a view that was never told.
  void signal_parted(Time now);
  void signal_parted(const Group& group);
  void signal_join(const Group& group, MemberIndex daemon, SessionId session);
  /// A transitional signal to the local members of the groups that `route_` names, where they have had none.
  void signal_targets();
  ToldGroup as_told(const Group& group) const;
  /// The members of `next`, by its index, that came along with this daemon through all views since the last one whose
  /// group table was completed.
  MemberSet along_since_told(const View& next, const MemberSet& came_along) const;
  void start_view(Time now, const View& view, const MemberSet& came_along);
  void carry_over(Time now);
  void say_state(Time now);
  /// Whether a view is told anyhow: somebody whom the group's local members know is gone, or has not come along.
  bool is_missed(const std::string& group) const;
  /// The first round is over.
  void start_second_round(Time now);
  void announce(Time now);
  std::size_t announce(const Group& group, std::size_t& next, std::size_t units_max, Announce& part) const;
  /// Says, in its time, that all members here have been announced.
  void conclude(Time now);
  void build_table(Time now);
  void add_announced(MemberIndex daemon, const Delivery& part);
  void tell_changed(Time now);
  void tell_all(Time now);
  void complete_view(Time now);
  void discard(Time now, GroupTable table);
  /// The table of the last view that was complete, less what was lost since.
  const GroupTable& kept() const { return told_ && told_->table() != nullptr ? *told_->table() : table_; }
  std::string private_name(MemberIndex daemon, std::string_view client) const;

  Context& context_;
  Log log_;
  Order* order_ = nullptr;
  LocalClients* clients_ = nullptr;
  Steps steps_;  // what was handed up and is not done

  View view_;
  std::uint64_t views_ = 0;                       // as Order::epoch
  std::shared_ptr<const ViewId> shared_view_id_;  // that of `view_`
  GroupTable table_;
  Subscriptions subscriptions_;
  std::map<SessionId, LocalSession> sessions_;
  std::set<SessionId> requesting_;  // those with requests that are not done

  // Counts the changes of the table in this view: with the view's id, it names a group view.
  std::uint64_t changes_ = 0;

  // From the transitional signal to the installation of the next view: the members of the old one that move on with
  // this daemon, and the groups of which local members have got the signal.
  MemberSet together_;
  std::set<std::string, std::less<>> signalled_;
  bool furthest_reached_ = false;  // from OrderedMessages::furthest_reached to the installation of the next view
  // From the point behind the transitional signal up to which others may have told changes before theirs, or from the
  // installation of a view, until all of its members have announced theirs and it is told. Changes meanwhile are told
  // with the new view.
  std::optional<ToldGroups> told_;
  /// Local sessions whose join came behind that point: members from the new view on, of which they are told, and no
  /// sooner.
  std::set<std::pair<GroupId, SessionId>> untold_;
  /// Groups of `told_` whose local members got a signal that a view has to end.
  std::set<std::string, std::less<>> owed_;
  bool ready_ = false;
  MemberSet came_along_;
  TableExchange exchange_;                             // until the table is complete
  std::set<std::string, std::less<>> signals_to_end_;  // groups in which the view does so, here or elsewhere
  // While a table that was built anew is told, in the order of names: the group that is next, or none any more.
  bool telling_ = false;
  const Group* told_next_ = nullptr;
  std::deque<SessionId> departed_;  // that closed while nothing could be sent, and were in groups
  std::set<SessionId> to_resume_;   // of `requesting_`: whose requests have yet to go on in this view
  EarlyMessages early_;

  EnteringMessages entering_;
  PartialMessages partial_;

  LocalRoute route_;  // of the last client message

  // Scratch space of one delivery, kept to save allocations.
  std::string sender_;  // private name
  std::vector<Slice> chunks_;
  std::vector<BundledMessage> bundled_;
  std::vector<std::uint8_t> encoded_;
};

}  // namespace spindled
