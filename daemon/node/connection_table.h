// Which connection belongs to whom.
#pragma once

#include <array>
#include <unordered_map>

#include "daemon/base/connection_taker.h"
#include "daemon/base/port_handler.h"

namespace spindled {

/// Stands between the layers and the driver, and so sees every connection begin and end: those that the links dial,
/// those that were accepted, and those that somebody closes.
class ConnectionTable final : public Driver, public ConnectionBroker {
 public:
  explicit ConnectionTable(Driver& driver) : driver_(driver) {}

  /// Before anything else: whose a port's connections are. Links have those that were dialled.
  void attach(Port port, PortHandler& handler) { handlers_[static_cast<std::size_t>(port)] = &handler; }

  PortHandler& accepted(ConnectionId connection, Port port) {
    return *owners_.emplace(connection, of(port)).first->second;
  }
  /// Of a connection that is there.
  PortHandler& owner(ConnectionId connection) const;
  /// The connection is gone: whom to tell.
  PortHandler& take(ConnectionId connection);

  // ConnectionBroker
  ConnectionId dial_for(Port port, std::string_view address) override;
  void hand_to(ConnectionId connection, Port port) override { owners_.at(connection) = of(port); }

  // Driver, for the layers.
  ConnectionId dial(std::string_view address) override { return dial_for(Port::link, address); }
  std::size_t write(ConnectionId connection, std::span<const ByteView> buffers) override {
    return driver_.write(connection, buffers);
  }
  void close(ConnectionId connection) override;
  void set_reading(ConnectionId connection, bool on) override { driver_.set_reading(connection, on); }
  Duration shortest_round_trip(ConnectionId connection) override { return driver_.shortest_round_trip(connection); }
  Duration round_trip(ConnectionId connection) override { return driver_.round_trip(connection); }
  std::size_t unacknowledged_bytes(ConnectionId connection) override {
    return driver_.unacknowledged_bytes(connection);
  }
  std::size_t memory_bytes() const override { return driver_.memory_bytes(); }
  HandshakeCounts handshakes() const override { return driver_.handshakes(); }
  Result<std::string> identify(ConnectionId connection, std::string_view token) override {
    return driver_.identify(connection, token);
  }
  std::optional<Secret> draw_secret() override { return driver_.draw_secret(); }
  std::optional<Digest> sha256(ByteView bytes) const override { return driver_.sha256(bytes); }
  std::uint16_t datagram_port(ConnectionId connection) override { return driver_.datagram_port(connection); }
  std::optional<DatagramAddress> datagram_address(ConnectionId connection, std::uint16_t port) override {
    return driver_.datagram_address(connection, port);
  }
  std::unique_ptr<DatagramCipher> datagram_cipher(ConnectionId connection) override {
    return driver_.datagram_cipher(connection);
  }
  std::size_t send_datagrams(std::span<const OutgoingDatagram> datagrams) override {
    return driver_.send_datagrams(datagrams);
  }
  DatagramCounts datagram_counts() const override { return driver_.datagram_counts(); }
  void wake_at(Time deadline) override { driver_.wake_at(deadline); }

 private:
  PortHandler* of(Port port) const { return handlers_[static_cast<std::size_t>(port)]; }

  Driver& driver_;
  std::array<PortHandler*, kPorts> handlers_{};  // by Port
  std::unordered_map<ConnectionId, PortHandler*> owners_;
};

}  // namespace spindled
