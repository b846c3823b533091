#include "daemon/view/collecting.h"

#include <algorithm>

namespace spindled {

Result<void> Collecting::accept(const std::vector<DaemonId>& members, const Done& done) {
  const Result<MemberIndex> index = find(members, done.member);
  if (!index) return tl::unexpected<Error>(index.error());
  const auto is_member = [&](const Done::Count& count) { return count.to < members.size(); };
  if (!std::all_of(done.pushed.begin(), done.pushed.end(), is_member)) {
    return fail(Errc::bad_argument, "it counts messages to somebody who is not a member");
  }
  for (const Done::Count& count : done.pushed) pushed_to_[count.to] += count.messages;
  answered(*index);
  return {};
}

}  // namespace spindled
