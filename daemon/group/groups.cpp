#include "daemon/group/groups.h"

#include <algorithm>

namespace spindled {

using Cause = spindle::ViewCause;

void Groups::attach(Order& order, LocalClients& clients) {
  state_.order = &order;
  state_.clients = &clients;
  order.handle(MessageClass::client, delivery_);
  order.handle(MessageClass::part, delivery_);
}

std::string_view Groups::synchronous_group_of(SessionId session, const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    if (is_in_synchronous(session, name)) return name;
  }
  return {};
}

bool Groups::is_in_synchronous(SessionId session, std::string_view name) const {
  const Group* group = state_.kept().find(name);
  return group != nullptr && group->is_synchronous() && requests_.is_member(session, name);
}

void Groups::close_session(Time now, SessionId session) {
  delivery_.forget_route();
  sender_.give_up(now, session);
  requests_.close_session(now, session);
  flushes_.forget(session);
}

void Groups::horizon_advanced(Time now, std::uint64_t position) {
  state_.table.known_to_all(position);
  requests_.horizon_reached(now, position);
}

// --- Operations ---

void Groups::deliver(Time now, const Delivery& message) {
  std::vector<std::uint8_t> joined;
  const ByteView content = message.contiguous(joined);
  if (apply_of_channel(now, message, content)) return;
  std::optional<GroupOperation> operation = read_operation(content);
  if (!operation) return drop_malformed(message);
  delivery_.forget_route();
  state_.context.turn.begin_step();
  state_.context.turn.count(1);
  std::visit([&](auto& known) { apply(now, message, known); }, *operation);
}

bool Groups::apply_of_channel(Time now, const Delivery& message, ByteView content) {
  if (content.empty() || content[0] < kChannelOperationMin) return false;
  const auto handler = channels_.find(content[0]);
  if (handler == channels_.end() || !handler->second(now, message, content.subspan(1))) drop_malformed(message);
  return true;
}

void Groups::drop_malformed(const Delivery& message) {
  state_.log.error("a malformed group operation of {} was dropped", state_.view.members[message.origin].name);
}

void Groups::handle(std::uint8_t operation, OperationHandler handler) {
  SPINDLE_CHECK(operation >= kChannelOperationMin);
  SPINDLE_CHECK(channels_.emplace(operation, std::move(handler)).second);
}

void Groups::originate(Time now, std::uint8_t operation, ByteView content) {
  SPINDLE_CHECK(is_ready());
  originate_at_once(now, operation, content);
}

void Groups::originate_at_once(Time now, std::uint8_t operation, ByteView content) {
  SPINDLE_CHECK(is_open() && operation >= kChannelOperationMin);
  std::vector<std::uint8_t> bytes{operation};
  bytes.insert(bytes.end(), content.begin(), content.end());
  state_.originate(now, bytes, MemberSet::first(state_.view.size()));
}

void Groups::apply(Time, const Delivery& message, const Subscribe& operation) {
  state_.table.subscribe(operation.group, message.origin, message.position);
  state_.order->report_progress();
  if (message.origin != state_.view.self) return;
  requests_.subscribed(operation.group, message.position);
}

void Groups::apply(Time now, const Delivery& message, const Unsubscribe& operation) {
  state_.table.unsubscribe(operation.group, message.origin);
  if (message.origin == state_.view.self) requests_.unsubscribed(now, operation.group);
}

void Groups::apply(Time now, const Delivery& message, const JoinGroup& operation) {
  const bool is_local = message.origin == state_.view.self;
  const Group* known = state_.table.find(operation.group);
  if (known != nullptr && !known->members.empty() && known->is_synchronous() != operation.synchronous) {
    // Another one has come first, and said what the group is.
    if (is_local) refuse_join(now, operation);
    return;
  }
  const std::string name = state_.private_name(message.origin, operation.client);
  if (known != nullptr) keep_told(*known, operation.synchronous);
  const bool added = state_.table.join(
      operation.group, {message.origin, operation.session, name, operation.synchronous}, operation.synchronous);
  if (added && is_local && operation.synchronous) flushes_.joined(*known, operation.session);
  if (is_local) requests_.joined(now, operation.session, operation.group);
  if (!added) return;
  ++state_.changes;
  const Group& group = *known;
  if (group.is_synchronous()) return flushes_.changed(now, group, Cause::join, message.position);
  if (state_.told && is_local) state_.untold.emplace(group.id, operation.session);
  views_.tell_join(group, name, is_local ? std::optional(operation.session) : std::nullopt);
  if (is_local && !state_.told) state_.observers.member_came(now, group, operation.session);
  if (!state_.told && signals_.are_due()) signals_.signal_join(group, message.origin, operation.session);
}

void Groups::keep_told(const Group& group, bool synchronous) {
  if (synchronous) {
    flushes_.keep(group);
  } else if (state_.told) {
    state_.told->keep(group, state_.view.self);
  }
}

void Groups::refuse_join(Time now, const JoinGroup& operation) {
  state_.clients->refuse_join(operation.session, operation.group, Errc::mode_mismatch);
  requests_.refused(now, operation.session, operation.group);
}

void Groups::apply(Time now, const Delivery& message, const LeaveGroup& operation) {
  const Group* group = state_.table.find(operation.group);
  if (group != nullptr) {
    remove_member(now, message.origin, operation.session, group->id, Cause::leave, message.position);
  }
  if (message.origin == state_.view.self) requests_.done(now, operation.session);
}

void Groups::apply(Time now, const Delivery& message, const Disconnect& operation) {
  const auto leave_next = [this, daemon = message.origin, session = operation.session, position = message.position,
                           left = std::size_t{0},
                           groups = state_.table.groups_of(message.origin, operation.session)](Time later) mutable {
    if (left < groups.size()) remove_member(later, daemon, session, groups[left++], Cause::disconnect, position);
    return left == groups.size();
  };
  state_.steps.add(now, leave_next);
}

void Groups::apply(Time now, const Delivery& message, const TableState& operation) {
  if (rebuild_ && rebuild_->take(now, message.origin, operation)) complete_view(now);
}

void Groups::apply(Time now, const Delivery& message, const Announce& operation) {
  if (rebuild_ && rebuild_->take(now, message, operation)) complete_view(now);
}

void Groups::remove_member(Time now, MemberIndex daemon, SessionId session, GroupId id, Cause cause,
                           std::uint64_t position) {
  const Group* found = state_.table.find(id);
  if (found == nullptr) return;
  const Group& group = *found;
  state_.context.turn.count(1 + group.members.size());
  const auto member = std::find_if(group.members.begin(), group.members.end(), [&](const GroupMember& candidate) {
    return candidate.daemon() == daemon && candidate.session() == session;
  });
  if (member == group.members.end()) return;
  const std::string name = member->name();
  keep_told(group, group.is_synchronous());
  state_.table.leave(id, daemon, session);
  ++state_.changes;
  if (group.is_synchronous()) {
    flushes_.left(group, daemon, session, name);
    flushes_.changed(now, group, cause, position);
  } else {
    views_.tell_removal(group, cause, name);
  }
  if (state_.told && !group.is_synchronous()) {
    ToldGroup& told = state_.told->keep(group, state_.view.self);
    told.left.insert(name);
    // If it joins again before the rest is told, it has to be told everything.
    if (daemon == state_.view.self) told.sessions.erase(session);
  }
  const bool is_local = daemon == state_.view.self;
  if (is_local && cause == Cause::leave) views_.tell_farewell(group, session, name);
  state_.observers.member_left(now, position, group, daemon, session);
  if (is_local) requests_.left(now, group);
}

// --- The end of a view ---

void Groups::transitional(Time now, const MemberSet& transitional) {
  signals_.begin(transitional);
  if (state_.is_complete) signals_.signal_split(now);
}

/// Not at the signal: a daemon that nothing held up has told its members of changes up to here, before its own signal.
/// Those who move together are told of the same changes.
void Groups::furthest_reached(Time) {
  furthest_reached_ = true;
  if (!state_.told) state_.told.emplace();
}

// --- The beginning of the next ---

void Groups::view_installed(Time now, const View& view, const MemberSet& came_along) {
  if (!state_.told) state_.told.emplace();
  // A view that was too short for its members to be told: who is lost with it was lost from the last view told.
  if (rebuild_ && signals_.are_due()) signals_.signal_parted(now, rebuild_->came_along());
  state_.steps.add(now, [this, view, came_along](Time later) {
    start_view(later, view, came_along);
    return true;
  });
}

void Groups::start_view(Time now, const View& view, const MemberSet& came_along) {
  sender_.restart();
  delivery_.restart();
  requests_.restart();
  const MemberSet along = rebuild_ ? rebuild_->along_into(view, came_along) : came_along;
  signals_.end(state_.is_complete);
  const std::uint64_t version = state_.table.version();
  if (state_.told->table() != nullptr) {  // another one was being built
    state_.discard(now, std::exchange(state_.table, state_.told->take_table()));
  }
  GroupTable::Renumbering to(state_.view.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto next = view.index_of(state_.view.members[i].name);
    if (next && along.contains(*next)) to[i] = next;
  }
  furthest_reached_ = false;
  ++state_.epoch;
  state_.view = view;
  state_.is_complete = false;
  state_.untold.clear();
  state_.table.carry_over(view.self, to, version);
  flushes_.carry_over(now, to);
  views_.begin_view();
  state_.observers.view_began(now, to, along);
  rebuild_.emplace(state_, views_, signals_, flushes_, along);
  rebuild_->start(now);
}

/// Behind the steps of the rebuilding.
void Groups::complete_view(Time now) {
  state_.steps.add(now, [this](Time later) {
    std::optional<GroupTable> former;
    if (state_.told->table() != nullptr) former = state_.told->take_table();
    state_.told.reset();
    std::vector<std::set<std::string, std::less<>>> names = rebuild_->take_names();
    names.push_back(signals_.take_owed());
    rebuild_.reset();
    ++state_.tables_completed;
    state_.table.renew();
    // A view that ends before its table is complete can be completed by what closing it delivers. Its groups were not
    // known when the signal came, and behind the point that others had reached nobody tells changes one by one.
    if (signals_.are_due()) signals_.signal_split(later);
    state_.observers.table_completed(later);
    state_.steps.add(later, [this](Time) {
      if (furthest_reached_) state_.told.emplace();
      return true;
    });
    state_.steps.add(later, [this](Time latest) {
      if (delivery_.deliver_early()) return false;
      // Not before: whatever enters from here on comes behind requests that were asked for earlier.
      state_.is_complete = true;
      if (is_ready()) {
        state_.observers.opened(latest);
        requests_.resume(latest);
        flushes_.resume(latest);
      }
      return true;
    });
    if (former) state_.discard(later, std::move(*former));
    for (auto& each : names) state_.discard(later, std::move(each));
    return true;
  });
}

}  // namespace spindled
