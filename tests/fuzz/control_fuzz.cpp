// Control messages between daemons: whatever decodes must encode to bytes that decode to the same.
#include "daemon/wire/control.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spindled;
  spindle_fuzz::check_round_trip({data, size}, decode_control, encode_control);
  return 0;
}
