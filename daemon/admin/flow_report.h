// Who is held back by what: links, prices and flows, for the administrator.
#pragma once

#include "daemon/admin/admin.h"
#include "daemon/base/node_config.h"
#include "daemon/base/time.h"

namespace spindle::admin {
class FlowReply;
class FlowRequest;
}  // namespace spindle::admin

namespace spindled {

/// Fills in a reply of at most kAdminReplyBytesMax.
void report_flow(Time now, const AdmissionConfig& config, const AdminSubjects& subjects,
                 const spindle::admin::FlowRequest& request, spindle::admin::FlowReply& out);

}  // namespace spindled
