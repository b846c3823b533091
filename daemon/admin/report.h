// Answers administration requests from the state of the layers. It only reads it, but for the requests that impose
// and end a partition for a field test, and that switch admission.
#pragma once

#include <vector>

#include "daemon/admin/admin.h"
#include "daemon/base/result.h"

namespace spindled {

class AdminReport {
 public:
  /// For what `asker` may see and do.
  AdminReport(const Context& context, const AdminSubjects& subjects, const Peer& asker, Time started_at)
      : context_(context), subjects_(subjects), asker_(asker), started_at_(started_at) {}

  /// `request` is a spindle.admin.Request, the answer a spindle.admin.Reply of at most kAdminReplyBytesMax.
  Result<std::vector<std::uint8_t>> answer(Time now, ByteView request) const;

 private:
  const Context& context_;
  const AdminSubjects& subjects_;
  const Peer& asker_;
  Time started_at_;
};

}  // namespace spindled
