#include "daemon/net/datagram_sockets.h"

#include <algorithm>

namespace spindled {

namespace {

std::optional<DatagramAddress> peer_address(int connection) {
  SocketAddress peer;
  peer.size = sizeof peer.storage;
  if (::getpeername(connection, peer.get(), &peer.size) != 0) return std::nullopt;
  return to_datagram_address(peer, 0);
}

bool is_any(const SocketAddress& address) {
  const DatagramAddress host = to_datagram_address(address, 0);
  const std::size_t begin = address.family() == AF_INET ? 12 : 0;
  return std::all_of(host.host.begin() + begin, host.host.end(), [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

Result<void> DatagramSockets::add(const Address& address) {
  Result<DatagramSocket> socket = DatagramSocket::bind(address, static_cast<std::uint16_t>(sockets_.size()));
  if (!socket) return tl::unexpected(socket.error());
  sockets_.push_back(std::make_unique<Socket>(io_, std::move(*socket)));
  return {};
}

void DatagramSockets::start() {
  if (!sockets_.empty()) reader_.emplace();
  for (const auto& each : sockets_) wait(*each);
}

/// Reading here, and waiting anew, would go on within one turn for as long as datagrams come.
void DatagramSockets::wait(Socket& socket) {
  socket.readiness.async_wait(asio::posix::stream_descriptor::wait_read, [&socket](const std::error_code& error) {
    if (!error) socket.is_ready = true;
  });
}

bool DatagramSockets::is_ready() const {
  return std::any_of(sockets_.begin(), sockets_.end(), [](const auto& each) { return each->is_ready; });
}

void DatagramSockets::read_ready() {
  for (std::size_t i = 0; i < sockets_.size(); ++i) {
    Socket& socket = *sockets_[i];
    if (!socket.is_ready) continue;
    const DatagramReader::Batch batch = reader_->read(socket.socket.descriptor(), static_cast<std::uint16_t>(i));
    if (!batch.datagrams.empty()) received_(batch.datagrams);
    if (batch.messages == DatagramReader::kMessages) continue;
    socket.is_ready = false;
    wait(socket);
  }
}

const DatagramSockets::Socket* DatagramSockets::find(int connection) const {
  const SocketAddress local = local_address(connection);
  const DatagramAddress host = to_datagram_address(local, 0);
  const Socket* found = nullptr;
  for (const auto& each : sockets_) {
    const SocketAddress& bound = each->socket.bound();
    if (bound.family() != local.family()) continue;
    if (is_any(bound) || to_datagram_address(bound, 0).host == host.host) return each.get();
    if (found == nullptr) found = each.get();
  }
  return found;
}

std::uint16_t DatagramSockets::port_of(int connection) const {
  const Socket* socket = find(connection);
  return socket == nullptr ? 0 : socket->socket.port();
}

std::optional<DatagramAddress> DatagramSockets::address_of(int connection, std::uint16_t port) const {
  const Socket* socket = find(connection);
  std::optional<DatagramAddress> address = peer_address(connection);
  if (socket == nullptr || !address) return std::nullopt;
  address->port = port;
  const auto same = [&](const auto& each) { return each.get() == socket; };
  const auto at = std::find_if(sockets_.begin(), sockets_.end(), same);
  address->socket = static_cast<std::uint16_t>(at - sockets_.begin());
  return address;
}

std::size_t DatagramSockets::send(std::span<const OutgoingDatagram> datagrams) {
  std::size_t done = 0;
  while (done < datagrams.size()) {
    const std::uint16_t socket = datagrams[done].to.socket;
    const std::span<const OutgoingDatagram> rest = datagrams.subspan(done);
    const auto other = [&](const OutgoingDatagram& each) { return each.to.socket != socket; };
    const auto count = static_cast<std::size_t>(std::find_if(rest.begin(), rest.end(), other) - rest.begin());
    const std::size_t taken = socket < sockets_.size() ? sockets_[socket]->socket.send(rest.first(count)) : count;
    done += taken;
    if (taken < count) break;
  }
  return done;
}

DatagramCounts DatagramSockets::counts() const {
  DatagramCounts sum;
  for (const auto& each : sockets_) {
    const DatagramCounts& counts = each->socket.counts();
    sum.is_segmenting = sum.is_segmenting || counts.is_segmenting;
    sum.too_long += counts.too_long;
    sum.failed += counts.failed;
  }
  return sum;
}

}  // namespace spindled
