// Replies as text for people.
#pragma once

#include <string>

#include "daemon/admin/admin.pb.h"

namespace spmonitor {

/// Lines, the last one ended. `all`: also what is zero.
std::string render(const spindle::admin::Reply& reply, bool all);
/// The same as JSON with the names of admin.proto: on one line, or indented.
std::string render_json(const spindle::admin::Reply& reply, bool one_line);

}  // namespace spmonitor
