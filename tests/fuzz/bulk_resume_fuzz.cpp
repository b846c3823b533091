// What a receiver of bulk content keeps in a file. The input is the file without its checksum.
#include "libclient/bulk/crc32c.h"
#include "libclient/bulk/resume_state.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spindle::bulk;
  std::vector<std::uint8_t> file(data, data + size);
  const std::uint32_t crc = crc32c(file);
  for (unsigned i = 0; i < 4; ++i) file.push_back(static_cast<std::uint8_t>(crc >> (8 * i)));
  spindle_fuzz::check_round_trip(file, ResumeState::decode, [](const ResumeState& state) { return state.encode(); });
  if (const auto state = ResumeState::decode(file)) {
    SPINDLE_CHECK(state->layout.is_valid());
    for (const BlockSet::Run& run : state->written.runs()) SPINDLE_CHECK(state->index.find(run.end - 1) != nullptr);
  }
  return 0;
}
