// Keeps strangers from flooding the log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/time.h"

namespace spindled {

/// Decides which refusals of connections that others opened are worth a warning: each kind once a window, and so many
/// kinds a window in all.
class RefusalLog {
 public:
  static constexpr std::size_t kWarningsMax = 16;
  static constexpr Duration kWindow = 60s;

  /// Whether to warn about `what` now; the rest goes to the debug log.
  bool admit(Time now, std::string_view what) {
    std::erase_if(recent_, [&](const Entry& entry) { return entry.at + kWindow <= now; });
    for (const Entry& entry : recent_) {
      if (entry.what == what) return false;
    }
    if (recent_.size() == kWarningsMax) return false;
    recent_.push_back({now, std::string(what)});
    return true;
  }

 private:
  struct Entry {
    Time at{};
    std::string what;
  };
  std::vector<Entry> recent_;
};

}  // namespace spindled
