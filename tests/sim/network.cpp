// Hosts and paths: what is connected, and what is broken.
#include "tests/sim/network.h"

#include <tuple>
#include <utility>

namespace spindled::sim {

HostIndex Network::add_host(std::string name, std::string address, StreamListener& listener) {
  hosts_.push_back({.name = std::move(name), .address = std::move(address), .listener = &listener});
  return static_cast<HostIndex>(hosts_.size() - 1);
}

Network::Wire& Network::wire(HostIndex from, HostIndex to) {
  if (const auto shared = shared_.find({from, to}); shared != shared_.end()) {
    std::tie(from, to) = shared->second;
  }
  const auto [found, is_new] = wires_.try_emplace({from, to});
  if (is_new) {
    found->second.from = from;
    found->second.to = to;
    found->second.properties = default_path_;
  }
  return found->second;
}

void Network::set_path(HostIndex a, HostIndex b, const PathProperties& properties) {
  wire(a, b).properties = properties;
  wire(b, a).properties = properties;
}

void Network::share_path(HostIndex a, HostIndex b, HostIndex other_a, HostIndex other_b) {
  share_way(a, b, other_a, other_b);
  share_way(b, a, other_b, other_a);
}

void Network::share_way(HostIndex from, HostIndex to, HostIndex other_from, HostIndex other_to) {
  shared_.insert_or_assign({other_from, other_to}, std::pair(from, to));
}

const PathProperties& Network::path(HostIndex from, HostIndex to) { return wire(from, to).properties; }

void Network::set_stalled(HostIndex from, HostIndex to, bool stalled) {
  wire(from, to).stalled = stalled;
  pump(wire(from, to));
}

void Network::set_cut(HostIndex a, HostIndex b, bool cut) {
  for (Wire* each : {&wire(a, b), &wire(b, a)}) {
    each->cut = cut;
    pump(*each);
  }
}

void Network::partition(const std::vector<std::vector<HostIndex>>& groups) {
  for (Host& host : hosts_) host.side = 0;
  std::uint32_t side = 0;
  for (const std::vector<HostIndex>& group : groups) {
    ++side;
    for (const HostIndex member : group) hosts_[member].side = side;
  }
  pump_all();
}

void Network::heal(bool reset_streams) {
  for (auto& [hosts, wire] : wires_) {
    if (reset_streams && is_blocked(wire)) reset_between(hosts.first, hosts.second);
  }
  for (Host& host : hosts_) host.side = 0;
  for (auto& [hosts, wire] : wires_) wire.stalled = wire.cut = false;
  pump_all();
}

bool Network::is_blocked(HostIndex from, HostIndex to) { return is_blocked(wire(from, to)); }

bool Network::is_blocked(const Wire& wire) const {
  if (wire.from == kLocal) return false;
  return wire.stalled || wire.cut || hosts_[wire.from].side != hosts_[wire.to].side;
}

Duration Network::delay(Wire& wire) {
  const auto jitter = static_cast<std::uint64_t>(wire.properties.jitter.count());
  return wire.properties.delay + Duration(static_cast<Duration::rep>(random_.below(jitter + 1)));
}

void Network::pump_all() {
  for (auto& [hosts, wire] : wires_) pump(wire);
}

void Network::reset_between(HostIndex a, HostIndex b) {
  for (auto& [id, stream] : streams_) {
    const HostIndex first = stream.ends[0].host;
    const HostIndex second = stream.ends[1].host;
    if (!(first == a && second == b) && !(first == b && second == a)) continue;
    for (std::uint8_t side = 0; side < 2; ++side) fail_end({id, side}, 0ns, "connection reset");
  }
}

void Network::reset_at(HostIndex at, HostIndex other) {
  for (auto& [id, stream] : streams_) {
    for (std::uint8_t side = 0; side < 2; ++side) {
      if (stream.ends[side].host != at || stream.ends[1 - side].host != other) continue;
      fail_end({id, side}, 0ns, "connection reset");
    }
  }
}

std::size_t Network::inject(HostIndex from, HostIndex to, ByteView bytes) {
  std::size_t count = 0;
  for (auto& [id, stream] : streams_) {
    for (std::uint8_t side = 0; side < 2; ++side) {
      End& end = stream.ends[side];
      const bool is_open = end.owner != nullptr && end.established && !end.fin_wanted;
      if (end.host != from || stream.ends[1 - side].host != to || !is_open) continue;
      end.send.push(bytes);
      add_waiting({id, side}, end);
      ++count;
    }
  }
  return count;
}

void Network::crash(HostIndex host, bool silent) {
  hosts_[host].up = false;
  hosts_[host].silent = silent;
  std::vector<std::uint64_t> done;
  for (auto& [id, stream] : streams_) {
    for (std::uint8_t side = 0; side < 2; ++side) {
      End& end = stream.ends[side];
      if (end.host != host || end.owner == nullptr) continue;
      end.owner = nullptr;
      end.crashed = true;
      end.send.clear();
      end.receive.clear();
      // Programs on the host itself end with it.
      const bool local = stream.ends[1 - side].host == kLocal;
      if (local) fail_end({id, static_cast<std::uint8_t>(1 - side)}, 10us, "connection reset by peer");
      if (!local && !silent && end.established && !is_blocked(*end.out)) {
        fail_end({id, static_cast<std::uint8_t>(1 - side)}, delay(*end.out), "connection reset by peer");
      }
      done.push_back(id);
    }
  }
  for (const std::uint64_t id : done) forget_if_done(id);
}

void Network::restart(HostIndex host) {
  hosts_[host].up = true;
  hosts_[host].silent = false;
}

}  // namespace spindled::sim
