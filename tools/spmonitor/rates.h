// What two samples of links tell.
#pragma once

#include "daemon/admin/admin.pb.h"

namespace spmonitor {

/// Gives each link of `now` its rates since `before`, which was `seconds` earlier. One that has come up in between has
/// none.
void add_rates(const spindle::admin::LinksReply& before, double seconds, spindle::admin::LinksReply& now);

}  // namespace spmonitor
