// Feeds and their repair, for the administrator.
#pragma once

#include "daemon/admin/admin.h"
#include "daemon/base/time.h"

namespace spindle::admin {
class FeedsReply;
class FeedsRequest;
}  // namespace spindle::admin

namespace spindled {

/// Fills in a reply of at most kAdminReplyBytesMax.
void report_feeds(Time now, const AdminSubjects& subjects, const spindle::admin::FeedsRequest& request,
                  spindle::admin::FeedsReply& out);

}  // namespace spindled
