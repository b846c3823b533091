// Groups: what happens to the table, and what local members are told, around a view change.
#include <algorithm>
#include <unordered_set>

#include "daemon/group/groups.h"

namespace spindled {

namespace {
/// Groups and members in one part of an announcement, at most.
constexpr std::size_t kAnnouncedMax = 1000;
/// Groups that are taken out of a table that is not needed any more for the work of one unit.
constexpr int kDiscardedAtOnce = 4;
}  // namespace

// --- The end of a view ---

void Groups::transitional(Time now, const MemberSet& transitional) {
  together_ = transitional;
  if (ready_) signal_split(now);
}

void Groups::signal_split(Time now) {
  steps_.add(now, [this, at = std::optional<GroupTable::Place>()](Time) mutable {
    if (!at) at = table_.begin();
    if (*at == table_.end()) return true;
    const Group& group = *(*at)++;
    context_.turn.count(1 + group.members.size());
    if (is_split(group)) signal(group, local_members(group));
    return *at == table_.end();
  });
}

/// Not at the signal: a daemon that nothing held up has told its members of changes up to here, before its own signal.
/// Those who move together are told of the same changes.
void Groups::furthest_reached(Time) {
  furthest_reached_ = true;
  if (!told_) told_.emplace();
}

bool Groups::is_split(const Group& group) const {
  return std::any_of(group.members.begin(), group.members.end(),
                     [&](const GroupMember& member) { return !together_.contains(member.daemon()); });
}

void Groups::signal(const Group& group, std::span<const SessionId> to) {
  if (to.empty()) return;
  context_.turn.count(to.size());
  clients_->deliver_transitional(to, group.name);
  signalled_.insert(group.name);
}

/// A join told behind the signal: a first member elsewhere splits the group; who joins a split group has no signal yet.
void Groups::signal_join(const Group& group, MemberIndex daemon, SessionId session) {
  if (!signalled_.contains(group.name)) {
    if (is_split(group)) signal(group, local_members(group));
  } else if (daemon == view_.self) {
    signal(group, std::span(&session, 1));
  }
}

/// A safe message behind the signal is one that only those who move together are known to have. Where somebody of them
/// is cut off before the next view, it keeps less than the others have delivered by then: a group gets the message
/// without a signal only where nothing can be lost any more, whether the group is split or not.
void Groups::signal_targets() {
  std::vector<SessionId> members;
  for (const Envelope::Target& target : route_.envelope().targets) {
    const Group* group = find(target);
    if (group == nullptr || signalled_.contains(group->name)) continue;
    members.clear();
    add_local_members(*group, members);
    signal(*group, members);
  }
}

// --- The beginning of the next ---

void Groups::view_installed(Time now, const View& view, const MemberSet& came_along) {
  if (!told_) told_.emplace();
  if (!ready_ && !together_.empty()) signal_parted(now);
  steps_.add(now, [this, view, came_along](Time later) {
    start_view(later, view, came_along);
    return true;
  });
}

void Groups::start_view(Time now, const View& view, const MemberSet& came_along) {
  ++views_;
  entering_.clear();
  partial_.clear();
  subscriptions_.restart();
  came_along_ = along_since_told(view, came_along);
  together_ = MemberSet();
  furthest_reached_ = false;
  if (ready_) owed_ = std::move(signalled_);
  const std::uint64_t version = table_.version();
  if (told_->table() != nullptr) {  // another one was being built
    discard(now, std::exchange(table_, told_->take_table()));
  }
  GroupTable::Renumbering to(view_.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto next = view.index_of(view_.members[i].name);
    if (next && came_along_.contains(*next)) to[i] = next;
  }
  signalled_.clear();
  signals_to_end_.clear();
  view_ = view;
  shared_view_id_ = std::make_shared<const ViewId>(view.id);
  route_.forget();
  exchange_ = TableExchange();
  early_.clear();
  untold_.clear();
  to_resume_.clear();
  ready_ = false;
  table_.carry_over(view.self, to, version);
  carry_over(now);
  say_state(now);
}

void Groups::carry_over(Time now) {
  steps_.add(now, [this, started = false, at = GroupTable::Place()](Time) mutable {
    if (!std::exchange(started, true)) at = table_.begin();
    if (at == table_.end()) return true;
    const Group& group = *at;
    context_.turn.count(1);
    if (GroupTable::is_losing(group)) {
      context_.turn.count(group.members.size());
      const bool is_told = std::any_of(group.members.begin(), group.members.end(),
                                       [this](const GroupMember& member) { return member.is_of(view_.self); });
      if (is_told) told_->keep(group, view_.self);
    }
    at = table_.carry_over(at);
    return at == table_.end();
  });
}

/// The view that ends was too short for its members to be told: who is lost with it was lost from the last view told.
void Groups::signal_parted(Time now) {
  steps_.add(now, [this, at = kept().begin()](Time) mutable {
    if (at == kept().end()) return true;
    const Group& group = *at++;
    context_.turn.count(1);
    if (has_local_members(group) && !owed_.contains(group.name)) signal_parted(group);
    return at == kept().end();
  });
}

void Groups::signal_parted(const Group& group) {
  const auto is_lost = [this](std::string_view member) {
    const auto index = view_.index_of(spindle::parse_private_name(member)->daemon);
    return index && came_along_.contains(*index) && !together_.contains(*index);
  };
  const ToldGroup told = as_told(group);
  const std::vector<std::string>& members = told.members.names();
  context_.turn.count(members.size() + told.sessions.size());
  if (told.sessions.empty() || std::none_of(members.begin(), members.end(), is_lost)) return;
  const std::vector<SessionId> sessions(told.sessions.begin(), told.sessions.end());
  clients_->deliver_transitional(sessions, group.name);
  owed_.insert(group.name);
}

ToldGroup Groups::as_told(const Group& group) const {
  const ToldGroup* changed = told_->changed(group.name);
  return changed != nullptr ? *changed : ToldGroup::of(group, view_.self);
}

MemberSet Groups::along_since_told(const View& next, const MemberSet& came_along) const {
  if (ready_ || view_.members.empty()) return came_along;
  // The view that ends was too short for its members to be told. Who did not come along into it has delivered other
  // messages since, even if all are in the next one.
  MemberSet along;
  came_along.for_each([&](MemberIndex member) {
    const auto before = view_.index_of(next.members[member].name);
    if (before && came_along_.contains(*before)) along.insert(member);
  });
  return along;
}

/// Where the order has gone on to another view there is nobody to say it to, and this one will not be complete either.
void Groups::say_state(Time now) {
  const std::size_t part_max = std::min(kAnnouncedMax, context_.turn.max());
  steps_.add(now, [this, part_max, at = owed_.begin(), part = TableState()](Time later) mutable {
    if (!is_current() || !order_->is_open()) return true;
    if (at != owed_.end()) {
      context_.turn.count(1);
      if (!is_missed(*at)) part.signalled.push_back(*at);
      if (++at != owed_.end() && part.signalled.size() < part_max) return false;
    }
    part.more = at != owed_.end();
    part.groups = table_.size();
    part.next_id = table_.next_id();
    part.digest = table_.digest();
    originate(later, std::exchange(part, {}));
    return at == owed_.end();
  });
}

bool Groups::is_missed(const std::string& name) const {
  const Group* group = table_.find(name);
  const ToldGroup* told = told_->changed(name);
  if (group == nullptr || told == nullptr) return false;
  const std::vector<std::string>& known = told->members.names();
  context_.turn.count(known.size());
  std::unordered_set<std::string_view> names;
  for (const GroupMember& member : group->members) names.insert(member.name());
  return std::any_of(known.begin(), known.end(), [&](const std::string& each) { return !names.contains(each); });
}

/// All have said what their table is.
void Groups::start_second_round(Time now) {
  if (exchange_.is_same_everywhere()) {
    tell_changed(now);
    steps_.add(now, [this](Time later) {
      complete_view(later);
      return true;
    });
    return;
  }
  if (!exchange_.keepers().contains(view_.self)) {
    const std::uint64_t version = table_.version();
    told_->keep(std::exchange(table_, GroupTable(view_.self, version)));
  }
  announce(now);
}

/// A keeper's announcements are for those who build the table anew.
void Groups::announce(Time now) {
  struct Announcing {
    GroupTable::Place at;
    std::size_t member = 0;  // of that group: the next one
    Announce part;
    std::size_t units = 0;  // of the part
  };
  const std::size_t part_max = std::min(kAnnouncedMax, context_.turn.max());
  const bool keeps = exchange_.keepers().contains(view_.self);
  MemberSet to = MemberSet::first(view_.size());
  if (keeps) to -= exchange_.keepers();
  steps_.add(now, [this, part_max, keeps, to, next = Announcing{kept().begin(), 0, {}, 0}](Time later) mutable {
    if (!is_current() || !order_->is_open()) return true;
    const GroupTable::Place end = kept().end();
    if (next.at != end) {
      next.units += announce(*next.at, next.member, part_max - next.units, next.part);
      if (next.member == 0) ++next.at;
      if (next.at != end && next.units < part_max) return false;
    }
    next.part.more = !keeps || next.at != end;
    next.units = 0;
    originate(later, std::exchange(next.part, {}), to);
    if (next.at != end) return false;
    if (!keeps) exchange_.set_announced();
    conclude(later);
    return true;
  });
}

void Groups::conclude(Time now) {
  if (!is_current() || !order_->is_open() || !exchange_.take_conclusion()) return;
  originate(now, Announce{});
}

/// Adds at most `units_max` of groups and members to the part, from member `next` on, which is 0 again behind the last.
std::size_t Groups::announce(const Group& group, std::size_t& next, std::size_t units_max, Announce& part) const {
  context_.turn.count(1);
  if (!has_local_members(group)) return 0;
  Announce::Group mine{group.name, exchange_.keepers().contains(view_.self) ? group.id : 0, {}};
  const std::size_t members_max = std::max<std::size_t>(2, units_max) - 1;
  for (; next < group.members.size() && mine.members.size() < members_max; ++next) {
    const GroupMember& member = group.members[next];
    context_.turn.count(1);
    if (member.daemon() != view_.self) continue;
    mine.members.push_back({member.session(), std::string(spindle::parse_private_name(member.name())->client)});
  }
  if (next == group.members.size()) next = 0;
  if (mine.members.empty()) return 0;
  part.groups.push_back(std::move(mine));
  return 1 + part.groups.back().members.size();
}

void Groups::build_table(Time now) {
  const bool keeps = told_->table() == nullptr;
  steps_.add(now, [this, keeps, parts = exchange_.take_parts(), next = std::size_t{0}](Time) mutable {
    if (next == parts.size()) return true;
    const auto& [daemon, part] = parts[next++];
    // Groups that are new get their numbers behind those that the table had at the keepers.
    if (!keeps && !exchange_.keepers().contains(daemon)) table_.set_next_id(exchange_.next_id());
    add_announced(daemon, part);
    return next == parts.size();
  });
  steps_.add(now, [this, keeps](Time later) {
    table_.set_next_id(exchange_.next_id());
    if (keeps) {
      tell_changed(later);
    } else {
      tell_all(later);
    }
    steps_.add(later, [this](Time latest) {
      complete_view(latest);
      return true;
    });
    return true;
  });
}

void Groups::add_announced(MemberIndex daemon, const Delivery& part) {
  std::vector<std::uint8_t> joined;
  std::optional<GroupOperation> operation = read_operation(part.contiguous(joined));
  for (Announce::Group& group : std::get<Announce>(*operation).groups) {
    context_.turn.count(1 + group.members.size());
    if (told_->table() == nullptr) {
      const Group* known = table_.find(group.name);
      if (known != nullptr && has_local_members(*known)) told_->keep(*known, view_.self);
    }
    std::vector<NewMember> members;
    members.reserve(group.members.size());
    for (const Announce::Member& member : group.members) {
      members.push_back({daemon, member.session, private_name(daemon, member.client)});
    }
    table_.announce(group.name, group.id, daemon, members);
  }
}

/// The table has been kept: whatever else there is, its members know already.
void Groups::tell_changed(Time now) {
  steps_.add(now, [this, to_end = std::optional<std::set<std::string, std::less<>>::iterator>()](Time) mutable {
    if (!to_end) {
      changes_ = 1;
      to_end = signals_to_end_.begin();
    }
    context_.turn.count(1);
    if (*to_end != signals_to_end_.end()) {
      const Group* group = table_.find(*(*to_end)++);
      if (group != nullptr && has_local_members(*group)) told_->keep(*group, view_.self);
      return false;
    }
    const std::optional<std::string> name = told_->first_changed();
    if (!name) return true;
    const Group* group = table_.find(*name);
    if (group != nullptr && has_local_members(*group)) {
      context_.turn.count(group->members.size());
      tell_network_change(*group, nullptr);
    }
    told_->forget(*name);
    return false;
  });
}

void Groups::tell_all(Time now) {
  steps_.add(now, [this, started = false, before = GroupTable::Place(), at = GroupTable::Place()](Time) mutable {
    if (!std::exchange(started, true)) {
      changes_ = 1;
      before = told_->table()->begin();
      at = table_.begin();
    }
    const GroupTable::Place end = told_->table()->end();
    if (at != table_.end()) {
      context_.turn.count(1);
      if (before != end && before->name < at->name) {
        ++before;
        return false;
      }
      const Group& group = *at++;
      const bool was_there = before != end && before->name == group.name;
      context_.turn.count(group.members.size());
      if (has_local_members(group)) tell_network_change(group, was_there ? &*before : nullptr);
      told_->forget(group.name);
    }
    telling_ = true;
    told_next_ = at == table_.end() ? nullptr : &*at;
    return told_next_ == nullptr;
  });
}

void Groups::complete_view(Time now) {
  std::optional<GroupTable> former;
  if (told_->table() != nullptr) former = told_->take_table();
  told_.reset();
  telling_ = false;
  owed_.clear();
  signals_to_end_.clear();
  exchange_ = TableExchange();
  table_.renew();
  ready_ = true;
  // A view that ends before its table is complete can be completed by what closing it delivers. Its groups were not
  // known when the signal came, and behind the point that others had reached nobody tells changes one by one.
  if (!together_.empty()) signal_split(now);
  steps_.add(now, [this](Time) {
    if (furthest_reached_) told_.emplace();
    return true;
  });
  steps_.add(now, [this](Time later) {
    if (!early_.empty()) {
      deliver_client_message(early_.take_first());
      return false;
    }
    if (is_ready()) resume_requests(later);
    return true;
  });
  if (former) discard(now, std::move(*former));
}

/// A large table is not gone at once.
void Groups::discard(Time now, GroupTable table) {
  steps_.add(now, [this, former = std::make_shared<GroupTable>(std::move(table))](Time) {
    context_.turn.count(1);
    for (int i = 0; i < kDiscardedAtOnce && former->size() != 0; ++i) former->discard_first();
    return former->size() == 0;
  });
}

}  // namespace spindled
