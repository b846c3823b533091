// Which frames the inputs of a fuzz run have brought to a node, and which of them it took.
#pragma once

#include <array>
#include <cstdint>

#include "daemon/base/driver.h"
#include "libclient/common/bytes.h"

namespace spindle_fuzz {

/// Counts over all inputs of the process, and writes a table to standard error when the process ends. Every frame type
/// has a row, so that one that no input ever gets to is seen.
class FrameCoverage {
 public:
  static FrameCoverage& of_process();

  /// A frame with this body arrived. `taken`: it did not cost its connection.
  void note(spindled::Port port, std::uint8_t type, spindled::ByteView body, bool taken);
  /// The same of a frame in a datagram.
  void note_datagram(std::uint8_t type, bool taken);
  ~FrameCoverage();

 private:
  struct Count {
    std::uint64_t arrived = 0, taken = 0;
  };

  FrameCoverage() = default;
  Count& count_of(spindled::Port port, std::uint8_t type, spindled::ByteView body);

  // Found by number, as every frame of every input comes here: by the type, or, of control frames, by the place of the
  // message in ControlMessage. The last of each is for what no frame type or message stands for.
  using Counts = std::array<Count, 24>;
  Counts client_{}, channel_{}, feed_{}, admin_{}, link_{}, control_{}, bulk_{}, datagram_{};
};

}  // namespace spindle_fuzz
