// What a file of certificates holds, as text for people.
#pragma once

#include <string>

#include "tools/spmonitor/pki/times.h"
#include "tools/spmonitor/result.h"

namespace spmonitor::pki {

struct Shown {
  std::string text;  // lines
  /// Of what would keep a daemon or a client from using the file; each has a line in the text.
  std::size_t problems = 0;
};
Result<Shown> show(const std::string& path, Time now);

}  // namespace spmonitor::pki
