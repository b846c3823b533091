// Bulk channels and hops, for the administrator.
#pragma once

#include <string>

#include "daemon/admin/admin.h"
#include "daemon/base/result.h"
#include "daemon/base/time.h"

namespace spindle::admin {
class BulkReply;
}  // namespace spindle::admin

namespace spindled {

/// Fills in a reply of at most kAdminReplyBytesMax.
void report_bulk(Time now, const AdminSubjects& subjects, spindle::admin::BulkReply& out);

/// What the source itself can ask for, at its daemon. `id` is "number@daemon".
Result<void> cancel_channel(Time now, const AdminSubjects& subjects, const std::string& id);
Result<void> set_channel_rate(Time now, const AdminSubjects& subjects, const std::string& id,
                              std::uint64_t bytes_per_second);

}  // namespace spindled
