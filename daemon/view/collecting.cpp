#include "daemon/view/collecting.h"

#include <algorithm>

#include "daemon/overlay/view.h"

namespace spindled {

Result<void> Collecting::accept(const std::vector<DaemonId>& members, const Done& done) {
  const std::optional<MemberIndex> index = index_in(members, done.member);
  if (!index) return fail(Errc::bad_argument, "it is not from a member");
  if (done_[*index]) return fail(Errc::bad_argument, "it came before");
  const auto is_member = [&](const Done::Count& count) { return count.to < members.size(); };
  if (!std::all_of(done.pushed.begin(), done.pushed.end(), is_member)) {
    return fail(Errc::bad_argument, "it counts messages to somebody who is not a member");
  }
  for (const Done::Count& count : done.pushed) pushed_to_[count.to] += count.messages;
  done_[*index] = true;
  ++received_;
  return {};
}

}  // namespace spindled
