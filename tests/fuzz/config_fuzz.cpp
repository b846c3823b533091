// Configuration files: any text is either a configuration, which exposes nothing, or a list of errors that name the
// file.
#include "daemon/config/exposure.h"
#include "daemon/config/parse_config.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spindled;
  const ConfigResult result = parse_config(spindle::as_text({data, size}), "fuzz.toml");
  if (result) {
    SPINDLE_CHECK(find_exposed(*result).empty());
    return 0;
  }
  SPINDLE_CHECK(!result.error().empty());
  for (const ConfigError& error : result.error()) {
    SPINDLE_CHECK(!error.text.empty());
    SPINDLE_CHECK(to_string(error).starts_with("fuzz.toml"));
  }
  return 0;
}
