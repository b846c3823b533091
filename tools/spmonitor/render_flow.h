// What `spmonitor flow` shows.
#pragma once

#include <string>

#include "daemon/admin/admin.pb.h"

namespace spmonitor {

std::string render_flow(const spindle::admin::FlowReply& reply);

}  // namespace spmonitor
