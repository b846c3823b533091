#include "daemon/group/told_groups.h"

namespace spindled {

ToldGroup ToldGroup::of(const Group& group, MemberIndex self) {
  ToldGroup told;
  for (const GroupMember& member : group.members) {
    if (member.is_of(self) && group.has_view(member)) told.sessions.insert(member.session());
  }
  if (told.sessions.empty()) return told;
  std::vector<std::string> names;
  names.reserve(group.members.size());
  for (const GroupMember& member : group.members) names.push_back(member.name());
  told.members = spindle::protocol::MemberList(std::move(names));
  told.last_view = group.last_view;
  return told;
}

}  // namespace spindled
