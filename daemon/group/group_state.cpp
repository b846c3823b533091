#include "daemon/group/group_state.h"

namespace spindled {

namespace {
/// Groups that are taken out of a table that is not needed any more for the work of one unit.
constexpr int kDiscardedAtOnce = 4;
constexpr int kNamesDiscardedAtOnce = 16;
}  // namespace

void GroupState::add_local_members(const Group& group, std::vector<SessionId>& to) const {
  for (const GroupMember& member : group.members_of(view.self)) {
    const bool is_told = untold.empty() || !untold.contains({group.id, member.session()});
    if (is_told && group.has_view(member)) to.push_back(member.session());
  }
}

std::vector<SessionId> GroupState::local_members(const Group& group) const {
  std::vector<SessionId> sessions;
  for (const GroupMember& member : group.members_of(view.self)) sessions.push_back(member.session());
  return sessions;
}

std::string GroupState::private_name(MemberIndex daemon, std::string_view client) const {
  return spindle::make_private_name(client, view.members[daemon].name);
}

void GroupState::originate(Time now, const GroupOperation& operation) const {
  originate(now, operation, MemberSet::first(view.size()));
}

void GroupState::originate(Time now, const GroupOperation& operation, const MemberSet& destinations) const {
  originate(now, write_operation(operation), destinations);
}

void GroupState::originate(Time now, ByteView operation, const MemberSet& destinations) const {
  OutgoingMessage message;
  message.message_class = MessageClass::group;
  message.service = Service::agreed;
  message.destinations = &destinations;
  message.envelope = operation;
  order->originate(now, message);
}

void GroupState::discard(Time now, GroupTable former) {
  steps.add(now, [this, rest = std::make_shared<GroupTable>(std::move(former))](Time) {
    context.turn.count(1);
    for (int i = 0; i < kDiscardedAtOnce && rest->size() != 0; ++i) rest->discard_first();
    return rest->size() == 0;
  });
}

void GroupState::discard(Time now, std::set<std::string, std::less<>> names) {
  steps.add(now, [this, rest = std::make_shared<std::set<std::string, std::less<>>>(std::move(names))](Time) {
    context.turn.count(1);
    for (int i = 0; i < kNamesDiscardedAtOnce && !rest->empty(); ++i) rest->erase(rest->begin());
    return rest->empty();
  });
}

}  // namespace spindled
