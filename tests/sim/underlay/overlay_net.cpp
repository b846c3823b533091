#include "tests/sim/underlay/overlay_net.h"

#include <algorithm>

#include "daemon/base/check.h"

namespace spindled::sim::underlay {

void Meter::count(Time now, Participant at, bool is_useful, bool is_from_parent) {
  const auto second = static_cast<std::size_t>(to_seconds(now.time_since_epoch()));
  if (second >= raw_.size()) {
    raw_.resize(second + 1);
    from_parents_.resize(second + 1);
    useful_.resize((second + 1) * participants_);
  }
  ++raw_[second];
  if (is_useful) ++useful_[second * participants_ + at];
  if (is_from_parent) ++from_parents_[second];
}

void StressTrace::sent(SymbolId symbol, const std::vector<Pipe>& way) {
  if (mesh::mix(mesh::key_of(symbol)) % kSymbolEvery == 0) {
    auto& copies = symbols_[mesh::key_of(symbol)];
    for (const Pipe pipe : way) ++copies[pipe];
  }
  if (symbol.block % kBlockEvery == 1) {
    auto& carried = blocks_[symbol.block];
    if (carried.empty()) carried.resize(pipes_);
    for (const Pipe pipe : way) ++carried[pipe];
  }
}

double StressTrace::mean() const {
  double sum = 0;
  for (const auto& [key, copies] : symbols_) {
    double own = 0;
    for (const auto& [pipe, count] : copies) own += count;
    sum += own / static_cast<double>(copies.size());
  }
  return symbols_.empty() ? 0 : sum / static_cast<double>(symbols_.size());
}

std::uint32_t StressTrace::most() const {
  std::uint32_t most = 0;
  for (const auto& [key, copies] : symbols_) {
    for (const auto& [pipe, count] : copies) most = std::max(most, count);
  }
  return most;
}

double StressTrace::mean_of_blocks(std::uint32_t symbols_per_block) const {
  double sum = 0;
  std::size_t count = 0;
  for (const auto& [block, carried] : blocks_) {
    for (const std::uint32_t symbols : carried) {
      if (symbols == 0) continue;
      sum += std::max(1.0, static_cast<double>(symbols) / symbols_per_block);
      ++count;
    }
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

OverlayNet::OverlayNet(const Topology& topology, double symbol_bytes, Transport transport, std::uint64_t seed)
    : symbol_bytes_(symbol_bytes),
      flows_(topology, transport),
      peers_(topology.participants()),
      dead_(topology.participants()),
      control_bytes_(topology.participants()),
      meter_(topology.participants()),
      stress_(topology.pipes()),
      losses_(seed) {}

FlowId OverlayNet::find(Participant from, Participant to) const {
  for (const Peer& peer : peers_[from]) {
    if (peer.to == to) return peer.flow;
  }
  return kNoFlow;
}

void OverlayNet::open(Participant from, Participant to) {
  if (dead_[from] || dead_[to] || is_open(from, to)) return;
  peers_[from].push_back({to, flows_.open(from, to)});
}

void OverlayNet::close(Participant from, Participant to) {
  auto& peers = peers_[from];
  const auto found = std::find_if(peers.begin(), peers.end(), [&](const Peer& peer) { return peer.to == to; });
  if (found == peers.end()) return;
  flows_.close(found->flow);
  peers.erase(found);
}

bool OverlayNet::has_room(Participant from, Participant to) const {
  const FlowId flow = find(from, to);
  return flow != kNoFlow && flows_.has_room(flow, symbol_bytes_);
}

void OverlayNet::put(Participant from, const Peer& peer, SymbolId symbol) {
  flows_.sent(peer.flow, symbol_bytes_);
  stress_.sent(symbol, flows_.way(peer.flow));
  const double loss = flows_.loss(peer.flow);
  if (loss > 0 && losses_.chance(loss)) return;
  in_flight_.push_back({from, peer.to, symbol});
}

bool OverlayNet::send(Participant from, Participant to, SymbolId symbol) {
  const FlowId flow = find(from, to);
  if (flow == kNoFlow || !flows_.has_room(flow, symbol_bytes_)) return false;
  put(from, {to, flow}, symbol);
  return true;
}

void OverlayNet::count_control(Participant from, Participant to, double bytes) {
  control_bytes_[from] += bytes;
  flows_.sent_beside(from, to, bytes);
}

void OverlayNet::kill(Participant participant) {
  dead_[participant] = true;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto other = static_cast<Participant>(i);
    close(participant, other);
    close(other, participant);
  }
}

void OverlayNet::step(Dissemination& system) {
  if (steps_++ % kStepsPerShare == 0) flows_.share(kStepsPerShare * to_seconds(kStep));
  now_ += kStep;
  flows_.advance(to_seconds(kStep), symbol_bytes_);
  arriving_.swap(in_flight_);
  in_flight_.clear();
  for (const InFlight& each : arriving_) {
    if (!dead_[each.to] && !dead_[each.from]) system.received(now_, each.to, each.from, each.symbol);
  }
  system.step(now_);
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto from = static_cast<Participant>(i);
    for (const Peer& peer : peers_[from]) {
      while (flows_.has_room(peer.flow, symbol_bytes_)) {
        const auto symbol = system.next(now_, from, peer.to);
        if (!symbol) break;
        put(from, peer, *symbol);
      }
    }
  }
}

}  // namespace spindled::sim::underlay
