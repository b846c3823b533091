// Feeds as text.
#pragma once

#include <string>

#include "daemon/admin/admin.pb.h"

namespace spmonitor {

std::string render_feeds(const spindle::admin::FeedsReply& reply);

}  // namespace spmonitor
