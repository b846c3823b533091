// Groups: the operations that change who is a member.
#include <algorithm>

#include "daemon/group/groups.h"

namespace spindled {

std::string Groups::private_name(MemberIndex daemon, std::string_view client) const {
  return spindle::make_private_name(client, view_.members[daemon].name);
}

// --- Operations ---

void Groups::apply(Time now, const Delivery& message) {
  std::vector<std::uint8_t> joined;
  std::optional<GroupOperation> operation = read_operation(message.contiguous(joined));
  if (!operation) {
    log_.error("a malformed group operation of {} was dropped", view_.members[message.origin].name);
    return;
  }
  context_.turn.begin_step();
  context_.turn.count(1);
  std::visit([&](auto& known) { apply(now, message, known); }, *operation);
}

void Groups::apply(Time, const Delivery& message, const Subscribe& operation) {
  table_.subscribe(operation.group, message.origin, message.position);
  order_->report_progress();
  if (message.origin != view_.self) return;
  subscriptions_.subscribed(operation.group, message.position);
}

void Groups::apply(Time now, const Delivery& message, const Unsubscribe& operation) {
  table_.unsubscribe(operation.group, message.origin);
  if (message.origin == view_.self) take(now, subscriptions_.unsubscribed(operation.group), operation.group);
}

void Groups::apply(Time now, const Delivery& message, const JoinGroup& operation) {
  const std::string name = private_name(message.origin, operation.client);
  if (const Group* group = table_.find(operation.group); group != nullptr && told_) told_->keep(*group, view_.self);
  const bool added = table_.join(operation.group, {message.origin, operation.session, name});
  const bool is_local = message.origin == view_.self;
  if (is_local) {
    subscriptions_.joined(operation.group, local_members_of(operation.group));
    request_done(now, operation.session);
  }
  if (!added) return;
  ++changes_;
  const Group& group = *table_.find(operation.group);
  if (told_ && is_local) untold_.emplace(group.id, operation.session);
  tell_join(group, name, is_local ? std::optional(operation.session) : std::nullopt);
  if (!told_ && !together_.empty()) signal_join(group, message.origin, operation.session);
}

void Groups::apply(Time now, const Delivery& message, const LeaveGroup& operation) {
  const Group* group = table_.find(operation.group);
  if (group != nullptr) remove_member(now, message.origin, operation.session, group->id, Cause::leave);
  if (message.origin == view_.self) request_done(now, operation.session);
}

void Groups::apply(Time now, const Delivery& message, const Disconnect& operation) {
  const auto leave_next = [this, daemon = message.origin, session = operation.session, left = std::size_t{0},
                           groups = table_.groups_of(message.origin, operation.session)](Time later) mutable {
    if (left < groups.size()) remove_member(later, daemon, session, groups[left++], Cause::disconnect);
    return left == groups.size();
  };
  steps_.add(now, leave_next);
}

void Groups::apply(Time now, const Delivery& message, const TableState& operation) {
  if (ready_ || exchange_.has_state_of(message.origin)) return;
  context_.turn.count(operation.signalled.size());
  // The signal may have come to some of those who move together only, and the one for whom it came be gone: the view
  // that ends it all of them get.
  if (came_along_.contains(message.origin)) {
    signals_to_end_.insert(operation.signalled.begin(), operation.signalled.end());
  }
  exchange_.add(message.origin, operation);
  if (exchange_.has_states_of(view_.size())) start_second_round(now);
}

/// What the table needs is kept until all is there: it goes in by origin, so that ids and members agree everywhere,
/// also where the order of this view is known in part only.
void Groups::apply(Time now, const Delivery& message, const Announce& operation) {
  if (ready_ || !exchange_.has_states_of(view_.size()) || exchange_.has_announced(message.origin)) return;
  context_.turn.count(operation.groups.size());
  exchange_.keep_part(message.origin, message);
  exchange_.add_part(message.origin, !operation.more);
  conclude(now);
  if (exchange_.is_complete(view_.size())) build_table(now);
}

void Groups::remove_member(Time now, MemberIndex daemon, SessionId session, GroupId id, Cause cause) {
  const Group* found = table_.find(id);
  if (found == nullptr) return;
  const Group& group = *found;
  context_.turn.count(1 + group.members.size());
  const auto member = std::find_if(group.members.begin(), group.members.end(), [&](const GroupMember& candidate) {
    return candidate.daemon() == daemon && candidate.session() == session;
  });
  if (member == group.members.end()) return;
  const std::string name = member->name();
  if (told_) told_->keep(group, view_.self);
  table_.leave(id, daemon, session);
  ++changes_;
  tell_removal(group, cause, name);
  if (told_) {
    ToldGroup& told = told_->keep(group, view_.self);
    told.left.insert(name);
    // If it joins again before the rest is told, it has to be told everything.
    if (daemon == view_.self) told.sessions.erase(session);
  }
  if (daemon != view_.self) return;
  if (cause == Cause::leave) tell_farewell(group, session, name);
  take(now, subscriptions_.left(group.name, group.members_of(view_.self).size()), group.name);
}

}  // namespace spindled
