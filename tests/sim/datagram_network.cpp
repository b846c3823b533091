#include "tests/sim/datagram_network.h"

#include <algorithm>

namespace spindled::sim {

DatagramNetwork::DatagramNetwork(EventQueue& events, std::uint64_t seed, IsBlocked is_blocked)
    : events_(&events), random_(seed), is_blocked_(std::move(is_blocked)) {}

void DatagramNetwork::set_path(HostIndex a, HostIndex b, const DatagramPath& path) {
  paths_[{a, b}] = paths_[{b, a}] = path;
}

DatagramPath& DatagramNetwork::path(HostIndex from, HostIndex to) {
  return paths_.try_emplace({from, to}, default_path_).first->second;
}

void DatagramNetwork::add_host(HostIndex host, DatagramReceiver& receiver) { hosts_[host].receiver = &receiver; }

void DatagramNetwork::move(HostIndex host) { ++hosts_.at(host).port; }

DatagramAddress DatagramNetwork::address_of(HostIndex host) const { return make_address(host, hosts_.at(host).port); }

DatagramAddress DatagramNetwork::make_address(HostIndex host, std::uint16_t port) {
  DatagramAddress address{.port = port};
  spindle::Writer(address.host.data()).u32(host);
  return address;
}

void DatagramNetwork::send(HostIndex from, const DatagramAddress& to, ByteView bytes) {
  if (tap_) tap_(from, to, bytes);
  const HostIndex host = spindle::Reader(to.host).u32();
  if (!hosts_.contains(host) || is_blocked_(from, host)) return;
  const DatagramPath& way = path(from, host);
  if (way.blocked || bytes.size() > way.bytes_max || random_.chance(way.loss)) return;
  carry(host, way, address_of(from), to.port, bytes);
  if (random_.chance(way.repeated)) carry(host, way, address_of(from), to.port, bytes);
}

void DatagramNetwork::forge(const DatagramAddress& from, HostIndex to, std::vector<std::uint8_t> bytes) {
  hosts_.at(to).receiver->datagram_arrived(from, std::move(bytes));
}

void DatagramNetwork::carry(HostIndex to, const DatagramPath& path, const DatagramAddress& from, std::uint16_t port,
                            ByteView bytes) {
  Duration delay = path.delay;
  delay += Duration(static_cast<Duration::rep>(random_.below(static_cast<std::uint64_t>(path.jitter.count()) + 1)));
  if (random_.chance(path.late)) delay += path.late_by;
  events_->after(delay, [this, to, from, port, copy = std::vector<std::uint8_t>(bytes.begin(), bytes.end())]() mutable {
    const Host& host = hosts_.at(to);
    if (host.port == port) host.receiver->datagram_arrived(from, std::move(copy));
  });
}

}  // namespace spindled::sim
