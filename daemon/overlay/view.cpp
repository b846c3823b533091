#include "daemon/overlay/view.h"

#include <algorithm>

namespace spindled {

namespace {

std::optional<MemberIndex> find(const std::vector<DaemonId>& members, std::string_view name) {
  const auto at =
      std::lower_bound(members.begin(), members.end(), name,
                       [](const DaemonId& member, std::string_view wanted) { return member.name < wanted; });
  if (at == members.end() || at->name != name) return std::nullopt;
  return static_cast<MemberIndex>(at - members.begin());
}

}  // namespace

std::optional<MemberIndex> View::index_of(std::string_view name) const { return find(members, name); }

std::optional<MemberIndex> index_in(const std::vector<DaemonId>& members, const DaemonId& daemon) {
  const std::optional<MemberIndex> index = find(members, daemon.name);
  if (!index || members[*index].incarnation != daemon.incarnation) return std::nullopt;
  return index;
}

View make_view(const Commit& commit, MemberIndex self) {
  return View{commit.proposal, commit.members, commit.edges, commit.sequencer, self};
}

}  // namespace spindled
