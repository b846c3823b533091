#include "tests/hunt/key_probes.h"

#include <fmt/format.h>

#include <memory>

#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "tests/sim/stranger.h"

namespace spindled::hunt {

namespace {

namespace protocol = spindle::protocol;

constexpr Duration kAnswered = 100ms;

bool was_resumed(const sim::Stranger& stranger) {
  const std::vector<std::uint8_t>& bytes = stranger.received();
  const auto head = spindle::read_frame_head(bytes);
  if (!head || static_cast<protocol::ClientFrame>(head->type) != protocol::ClientFrame::welcome) return false;
  if (bytes.size() < spindle::kFrameHeadBytes + head->length) return false;
  const auto welcome = protocol::read_welcome(ByteView(bytes).subspan(spindle::kFrameHeadBytes, head->length));
  return welcome && welcome->resumed;
}

}  // namespace

std::vector<Finding> probe_keys(sim::Simulator& sim) {
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < sim.client_count(); ++i) {
    sim::SimClient& owner = sim.client(i);
    std::optional<protocol::Resume> resume = owner.resume();
    if (!owner.is_connected() || !resume) continue;
    resume->key.secret.front() ^= 1;
    sim::Stranger stranger(sim.world(), owner.host(), Port::client);
    std::vector<std::uint8_t> hello;
    protocol::Hello asks;
    asks.resume = resume;
    protocol::write_hello(hello, asks);
    stranger.send(hello);
    sim.run_for(kAnswered);
    if (!was_resumed(stranger)) continue;
    findings.push_back({"keys", fmt::format("keys: a stranger took up the session of {}", owner.private_name())});
  }
  return findings;
}

}  // namespace spindled::hunt
