// Seeds for what members of the mesh tell each other.
#include "daemon/bulk/mesh/mesh_codec.h"
#include "libclient/common/framing.h"
#include "tests/fuzz/seeds.h"

namespace spindle_fuzz {

namespace {

using namespace spindled::mesh;

std::string step(unsigned from, unsigned what, const std::string& bytes = {}) {
  const auto size = static_cast<unsigned>(bytes.size());
  return one_byte(from) + one_byte(what) + one_byte(size & 0xff) + one_byte(size >> 8) + bytes;
}

std::string step(unsigned from, const Frame& frame) {
  std::vector<std::uint8_t> bytes;
  write_frame(bytes, {3, 1}, frame);
  return step(from, static_cast<unsigned>(type_of(frame)), as_string(bytes).substr(spindle::kFrameHeadBytes));
}

std::string wait(std::size_t tenths) { return step(0, 255, std::string(tenths - 1, 'x')); }

Sample sample() {
  Sample sample;
  sample.population = 40;
  for (unsigned i = 5; i < 9; ++i) {
    MemberSummary summary;
    summary.member = static_cast<spindled::MemberIndex>(i);
    summary.takes_receivers = i != 6;
    summary.holding.complete = {{0, 3}, {4, i}};
    summary.holding.begun = {{3, i}};
    if (i != 7) summary.ticket.insert({3, i});
    sample.entries.push_back(summary);
  }
  return sample;
}

Wants wants() {
  Wants wants;
  wants.received = 300;
  wants.bytes_per_s = 75'000;
  wants.residues = 0x00ff00ff00ff00ff;
  HadFilter had(20, 7);
  had.insert(2);
  wants.blocks = {{0, 12, {}}, {2, 0, had}};
  wants.holding.begun = {{2, 1}};
  return wants;
}

}  // namespace

void add_mesh_frame_seeds(Seeds& seeds) {
  const auto add = [&](std::string name, std::string bytes) {
    seeds.push_back({"mesh_frames", std::move(name), std::move(bytes)});
  };
  const std::string distributed = step(0, Distribute{1, sample()});
  const std::string accepted = step(5, PeerAnswer{true, {{{0, 6}}, {}}, {}});
  add("epoch", distributed + step(2, Collect{1, sample()}) + step(3, Collect{1, sample()}) + wait(60));
  add("candidates", distributed + wait(1) + step(5, 1) + step(8, 1) + accepted +
                        step(8, PeerAnswer{false, {}, {9, 10}}) + wait(30) + step(5, 3, "\x03\x01\x09") + wait(30));
  add("receiver", step(7, 1) + step(7, PeerRequest{}) + step(7, wants()) + step(7, 4) + step(7, 4) +
                      step(7, BlockDone{2}) + step(7, PeerLeave{false}) + wait(30));
  add("child", step(2, wants()) + step(0, 3, std::string("\x03\x01\x01", 3)) + wait(20) + step(2, 4) + step(2, 2));
  add("sender_leaves", distributed + step(5, 1) + accepted + step(5, HoldingReport{{{{0, 2}}, {{2, 5}}}}) + wait(30) +
                           step(5, PeerLeave{true}) + step(6, 2) + wait(100));
}

}  // namespace spindle_fuzz
