#include "daemon/view/confirming.h"

namespace spindled {

Result<void> Confirming::accept(const std::vector<DaemonId>& members, const Received& received) {
  const Result<MemberIndex> index = find(members, received.member);
  if (!index) return tl::unexpected<Error>(index.error());
  answered(*index);
  return {};
}

}  // namespace spindled
