// Which frames the inputs of a fuzz run have brought to a node, and which of them it took.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "daemon/base/driver.h"
#include "libclient/protocol/bytes.h"

namespace spindle_fuzz {

/// Counts over all inputs of the process, and writes a table to standard error when the process ends. Every frame type
/// has a row, so that one that no input ever gets to is seen.
class FrameCoverage {
 public:
  static FrameCoverage& of_process();

  /// A frame with this body arrived. `taken`: it did not cost its connection.
  void note(spindled::Port port, std::uint8_t type, spindled::ByteView body, bool taken);
  ~FrameCoverage();

 private:
  struct Count {
    std::uint64_t arrived = 0, taken = 0;
  };

  FrameCoverage();

  std::map<std::string, Count> counts_;
};

}  // namespace spindle_fuzz
