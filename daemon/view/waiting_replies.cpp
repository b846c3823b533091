#include "daemon/view/waiting_replies.h"

#include "daemon/overlay/view.h"

namespace spindled {

Result<MemberIndex> WaitingReplies::find(const std::vector<DaemonId>& members, const DaemonId& who) const {
  const std::optional<MemberIndex> index = index_in(members, who);
  if (!index) return fail(Errc::bad_argument, "it is not from a member");
  if (answered_[*index]) return fail(Errc::bad_argument, "it came before");
  return *index;
}

}  // namespace spindled
