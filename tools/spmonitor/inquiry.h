// One look at a daemon: what it takes to have it whole.
#pragma once

#include <optional>
#include <string>

#include "tools/spmonitor/admin_client.h"

namespace spmonitor {

struct Inquiry {
  Target target;
  std::chrono::milliseconds timeout{5'000};
  spindle::admin::Request request;
  /// Items of a list at most.
  std::size_t limit = 0;
  /// For links: the rates over this time, between two samples.
  std::optional<std::chrono::duration<double>> interval;
};

/// Asks as often as it takes: for every page of a list, or for two samples.
Result<spindle::admin::Reply> inquire(const Inquiry& inquiry);

}  // namespace spmonitor
