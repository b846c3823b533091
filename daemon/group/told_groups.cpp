#include "daemon/group/told_groups.h"

namespace spindled {

ToldGroup ToldGroup::of(const Group& group) {
  ToldGroup told;
  if (group.local.empty()) return told;
  std::vector<std::string> names;
  names.reserve(group.members.size());
  for (const GroupMember& member : group.members) names.push_back(member.name);
  told.members = spindle::protocol::MemberList(std::move(names));
  told.sessions.insert(group.local.begin(), group.local.end());
  told.last_view = group.last_view;
  return told;
}

}  // namespace spindled
