#include "daemon/view/confirming.h"

#include "daemon/overlay/view.h"

namespace spindled {

Result<void> Confirming::accept(const std::vector<DaemonId>& members, const Received& received) {
  const std::optional<MemberIndex> index = index_in(members, received.member);
  if (!index) return fail(Errc::bad_argument, "it is not from a member");
  if (received_[*index]) return fail(Errc::bad_argument, "it came before");
  received_[*index] = true;
  --missing_;
  return {};
}

}  // namespace spindled
