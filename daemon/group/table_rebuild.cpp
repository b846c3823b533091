#include "daemon/group/table_rebuild.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace spindled {

void TableRebuild::start(Time now) {
  carry_over(now);
  say_state(now);
}

MemberSet TableRebuild::along_into(const View& next, const MemberSet& came_along) const {
  MemberSet along;
  came_along.for_each([&](MemberIndex member) {
    const auto before = state_.view.index_of(next.members[member].name);
    if (before && came_along_.contains(*before)) along.insert(member);
  });
  return along;
}

std::vector<std::set<std::string, std::less<>>> TableRebuild::take_names() {
  std::vector<std::set<std::string, std::less<>>> names;
  names.push_back(std::exchange(signals_to_end_, {}));
  names.push_back(std::exchange(signalled_, {}));
  return names;
}

std::size_t TableRebuild::part_max() const {
  constexpr std::size_t kAnnouncedMax = 1000;
  return std::min(kAnnouncedMax, state_.context.turn.max());
}

// --- The first round: what is left of the table ---

void TableRebuild::carry_over(Time now) {
  state_.steps.add(now, [this, started = false, at = GroupTable::Place()](Time) mutable {
    if (!std::exchange(started, true)) at = state_.table.begin();
    if (at == state_.table.end()) return true;
    const Group& group = *at;
    state_.context.turn.count(1);
    if (GroupTable::is_losing(group)) {
      state_.context.turn.count(group.members.size());
      const bool is_told = std::any_of(group.members.begin(), group.members.end(),
                                       [this](const GroupMember& member) { return member.is_of(state_.view.self); });
      if (is_told && group.is_synchronous()) {
        flushes_.keep(group);
      } else if (is_told) {
        state_.told->keep(group, state_.view.self);
      }
    }
    at = state_.table.carry_over(at);
    return at == state_.table.end();
  });
}

void TableRebuild::say_state(Time now) {
  const std::size_t part_max = this->part_max();
  state_.steps.add(now, [this, part_max, at = signals_.owed().begin(), part = TableState()](Time later) mutable {
    if (!state_.is_open()) return true;
    if (at != signals_.owed().end()) {
      state_.context.turn.count(1);
      if (!is_missed(*at)) part.signalled.push_back(*at);
      if (++at != signals_.owed().end() && part.signalled.size() < part_max) return false;
    }
    part.more = at != signals_.owed().end();
    part.groups = state_.table.size();
    part.next_id = state_.table.next_id();
    part.digest = state_.table.digest();
    state_.originate(later, std::exchange(part, {}));
    return at == signals_.owed().end();
  });
}

bool TableRebuild::is_missed(const std::string& name) const {
  const Group* group = state_.table.find(name);
  const ToldGroup* told = state_.told->changed(name);
  if (group == nullptr || told == nullptr) return false;
  const std::vector<std::string>& known = told->members.names();
  state_.context.turn.count(known.size());
  std::unordered_set<std::string_view> names;
  for (const GroupMember& member : group->members) names.insert(member.name());
  return std::any_of(known.begin(), known.end(), [&](const std::string& each) { return !names.contains(each); });
}

bool TableRebuild::take(Time now, MemberIndex origin, const TableState& said) {
  if (exchange_.has_state_of(origin)) return false;
  state_.context.turn.count(said.signalled.size());
  // The signal may have come to some of those who move together only, and the one for whom it came be gone: the view
  // that ends it all of them get.
  if (came_along_.contains(origin)) signals_to_end_.insert(said.signalled.begin(), said.signalled.end());
  signalled_.insert(said.signalled.begin(), said.signalled.end());
  exchange_.add(origin, said);
  if (!exchange_.has_states_of(state_.view.size())) return false;
  if (exchange_.is_same_everywhere()) {
    tell_changed(now);
    flushes_.settle(now, signalled_);
    return true;
  }
  if (!exchange_.keepers().contains(state_.view.self)) {
    const std::uint64_t version = state_.table.version();
    state_.told->keep(std::exchange(state_.table, GroupTable(state_.view.self, version)));
  }
  announce(now);
  return false;
}

// --- The second round: who is in which group ---

/// A keeper's announcements are for those who build the table anew.
void TableRebuild::announce(Time now) {
  struct Announcing {
    GroupTable::Place at;
    std::size_t member = 0;  // of that group: the next one
    Announce part;
    std::size_t units = 0;  // of the part
  };
  const std::size_t part_max = this->part_max();
  const bool keeps = exchange_.keepers().contains(state_.view.self);
  MemberSet to = MemberSet::first(state_.view.size());
  if (keeps) to -= exchange_.keepers();
  state_.steps.add(now,
                   [this, part_max, keeps, to, next = Announcing{state_.kept().begin(), 0, {}, 0}](Time later) mutable {
                     if (!state_.is_open()) return true;
                     const GroupTable::Place end = state_.kept().end();
                     if (next.at != end) {
                       next.units += announce(*next.at, next.member, part_max - next.units, next.part);
                       if (next.member == 0) ++next.at;
                       if (next.at != end && next.units < part_max) return false;
                     }
                     next.part.more = !keeps || next.at != end;
                     next.units = 0;
                     state_.originate(later, std::exchange(next.part, {}), to);
                     if (next.at != end) return false;
                     if (!keeps) exchange_.set_announced();
                     conclude(later);
                     return true;
                   });
}

void TableRebuild::conclude(Time now) {
  if (!state_.is_open() || !exchange_.take_conclusion()) return;
  state_.originate(now, Announce{});
}

/// Adds at most `units_max` of groups and members to the part, from member `next` on, which is 0 again behind the last.
std::size_t TableRebuild::announce(const Group& group, std::size_t& next, std::size_t units_max, Announce& part) const {
  state_.context.turn.count(1);
  if (!state_.has_local_members(group)) return 0;
  Announce::Group mine;
  mine.name = group.name;
  if (exchange_.keepers().contains(state_.view.self)) mine.id = group.id;
  mine.synchronous = group.is_synchronous();
  mine.is_pending = group.is_pending();
  const std::size_t members_max = std::max<std::size_t>(2, units_max) - 1;
  for (; next < group.members.size() && mine.members.size() < members_max; ++next) {
    const GroupMember& member = group.members[next];
    state_.context.turn.count(1);
    if (member.daemon() != state_.view.self) continue;
    mine.members.push_back(
        {member.session(), std::string(spindle::parse_private_name(member.name())->client), !group.has_view(member)});
  }
  if (next == group.members.size()) next = 0;
  if (mine.members.empty()) return 0;
  part.groups.push_back(std::move(mine));
  return 1 + part.groups.back().members.size();
}

/// What the table needs is kept until all is there: it goes in by origin, so that ids and members agree everywhere,
/// also where the order of this view is known in part only.
bool TableRebuild::take(Time now, const Delivery& message, const Announce& said) {
  if (!exchange_.has_states_of(state_.view.size()) || exchange_.has_announced(message.origin)) return false;
  state_.context.turn.count(said.groups.size());
  exchange_.keep_part(message.origin, message);
  exchange_.add_part(message.origin, !said.more);
  conclude(now);
  if (!exchange_.is_complete(state_.view.size())) return false;
  build_table(now);
  return true;
}

void TableRebuild::build_table(Time now) {
  const bool keeps = state_.told->table() == nullptr;
  state_.steps.add(now, [this, keeps, parts = exchange_.take_parts(), next = std::size_t{0}](Time) mutable {
    if (next == parts.size()) return true;
    const auto& [daemon, part] = parts[next++];
    // Groups that are new get their numbers behind those that the table had at the keepers.
    if (!keeps && !exchange_.keepers().contains(daemon)) state_.table.set_next_id(exchange_.next_id());
    add_announced(daemon, part);
    return next == parts.size();
  });
  state_.steps.add(now, [this](Time) {
    state_.table.set_next_id(exchange_.next_id());
    return true;
  });
  if (keeps) {
    tell_changed(now);
  } else {
    tell_all(now);
  }
  flushes_.settle(now, signalled_);
}

void TableRebuild::add_announced(MemberIndex daemon, const Delivery& part) {
  std::vector<std::uint8_t> joined;
  std::optional<GroupOperation> operation = read_operation(part.contiguous(joined));
  for (const Announce::Group& group : std::get<Announce>(*operation).groups) add_announced(daemon, group);
}

void TableRebuild::add_announced(MemberIndex daemon, const Announce::Group& group) {
  state_.context.turn.count(1 + group.members.size());
  const bool keeps = state_.told->table() == nullptr;
  const Group* known = state_.table.find(group.name);
  if (keeps && known != nullptr && state_.has_local_members(*known)) {
    if (known->is_synchronous()) {
      flushes_.keep(*known);
    } else {
      state_.told->keep(*known, state_.view.self);
    }
  }
  std::vector<NewMember> members;
  members.reserve(group.members.size());
  for (const Announce::Member& member : group.members) {
    members.push_back({daemon, member.session, state_.private_name(daemon, member.client), member.is_newcomer});
  }
  const bool is_met = group.synchronous && this->is_met(daemon, group.name, keeps && known != nullptr);
  state_.table.announce(group.name, group.id, daemon, members, group.synchronous);
  if (known == nullptr) known = state_.table.find(group.name);
  if (known->is_synchronous() && (is_met || group.is_pending)) state_.table.pend(*known, spindle::ViewCause::network);
}

bool TableRebuild::is_met(MemberIndex daemon, const std::string& group, bool is_kept) {
  const std::size_t side = exchange_.side_of(daemon);
  const auto at = sides_.try_emplace(group, is_kept ? exchange_.side_of(state_.view.self) : side).first;
  return at->second != side;
}

// --- What local members are told ---

/// The table has been kept: whatever else there is, its members know already.
void TableRebuild::tell_changed(Time now) {
  state_.steps.add(now, [this, to_end = std::optional<std::set<std::string, std::less<>>::iterator>()](Time) mutable {
    if (!to_end) {
      state_.changes = 1;
      to_end = signals_to_end_.begin();
    }
    state_.context.turn.count(1);
    if (*to_end != signals_to_end_.end()) {
      const Group* group = state_.table.find(*(*to_end)++);
      const bool is_told = group != nullptr && !group->is_synchronous() && !flushes_.tells(group->name);
      if (is_told && state_.has_local_members(*group)) state_.told->keep(*group, state_.view.self);
      return false;
    }
    const std::optional<std::string> name = state_.told->first_changed();
    if (!name) return true;
    const Group* group = state_.table.find(*name);
    if (group != nullptr && !group->is_synchronous() && state_.has_local_members(*group)) {
      state_.context.turn.count(group->members.size());
      tell(*group, nullptr);
    }
    state_.told->forget(*name);
    return false;
  });
}

void TableRebuild::tell_all(Time now) {
  state_.steps.add(now, [this, started = false, before = GroupTable::Place(), at = GroupTable::Place()](Time) mutable {
    if (!std::exchange(started, true)) {
      state_.changes = 1;
      before = state_.told->table()->begin();
      at = state_.table.begin();
    }
    const GroupTable::Place end = state_.told->table()->end();
    if (at != state_.table.end()) {
      state_.context.turn.count(1);
      if (before != end && before->name < at->name) {
        ++before;
        return false;
      }
      const Group& group = *at++;
      const bool was_there = before != end && before->name == group.name;
      state_.context.turn.count(group.members.size());
      if (state_.has_local_members(group)) {
        if (was_there) flushes_.renew(group, *before);
        tell(group, was_there ? &*before : nullptr);
      }
      state_.told->forget(group.name);
    }
    const bool is_last = at == state_.table.end();
    state_.told->tell_next(is_last ? nullptr : &*at);
    return is_last;
  });
}

void TableRebuild::tell(const Group& group, const Group* former) {
  if (group.is_synchronous() || flushes_.tells(group.name)) return;
  views_.tell_network_change(group, former, came_along_, signals_to_end_.contains(group.name));
}

}  // namespace spindled
