#include "daemon/bulk/mesh/mesh_frames.h"

namespace spindled::mesh {

namespace {

// Length, type, and the channel's number on the connection.
constexpr std::size_t kHeadBytes = 9;

struct Size {
  std::size_t operator()(const Collect& frame) const { return 4 + frame.sample.encoded_bytes(); }
  std::size_t operator()(const Distribute& frame) const { return 4 + frame.sample.encoded_bytes(); }
  std::size_t operator()(const PeerRequest&) const { return 0; }
  std::size_t operator()(const PeerAnswer& frame) const {
    return 2 + frame.holding.encoded_bytes() + 2 * frame.others.size();
  }
  std::size_t operator()(const Wants& frame) const {
    std::size_t sum = 18 + frame.holding.encoded_bytes();
    for (const BlockWant& want : frame.blocks) sum += 10 + want.had.bits().size();
    return sum;
  }
  std::size_t operator()(const HoldingReport& frame) const { return frame.holding.encoded_bytes(); }
  std::size_t operator()(const BlockDone&) const { return 4; }
  std::size_t operator()(const PeerLeave&) const { return 1; }
};

}  // namespace

std::size_t encoded_bytes(const Frame& frame) { return kHeadBytes + std::visit(Size{}, frame); }

}  // namespace spindled::mesh
