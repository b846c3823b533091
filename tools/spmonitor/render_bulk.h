// Bulk channels and hops as text.
#pragma once

#include <string>

#include "daemon/admin/admin.pb.h"

namespace spmonitor {

std::string render_bulk(const spindle::admin::BulkReply& reply);

}  // namespace spmonitor
