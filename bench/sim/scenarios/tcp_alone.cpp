#include "bench/sim/scenarios/tcp_alone.h"

#include "tests/sim/network.h"

namespace spindled::scenarios {

namespace {

constexpr Duration kBefore = 60s, kMeasured = 600s;

/// An end that always writes, or always reads.
class Peer final : public sim::StreamOwner, public sim::StreamListener {
 public:
  explicit Peer(sim::Network& network) : network_(network), bytes_(1u << 20) {}

  void stream_connected(sim::StreamRef end) override { stream_writable(end); }
  void stream_readable(sim::StreamRef end) override {
    while (const std::size_t count = network_.read(end, bytes_)) received_ += count;
  }
  void stream_writable(sim::StreamRef end) override {
    const ByteView bytes(bytes_);
    network_.write(end, {&bytes, 1});
  }
  void stream_closed(sim::StreamRef, std::string_view) override {}
  StreamOwner* stream_accepted(sim::StreamRef, Port, std::string_view) override { return this; }

  std::uint64_t received() const { return received_; }

 private:
  sim::Network& network_;
  std::vector<std::uint8_t> bytes_;
  std::uint64_t received_ = 0;
};

}  // namespace

double tcp_alone(const Path& path, std::size_t receive_window) {
  sim::EventQueue events;
  sim::Network network(events, 1);
  Peer sender(network), receiver(network);
  network.add_host("sender", "sender:1", sender);
  network.add_host("receiver", "receiver:1", receiver);
  sim::PathProperties properties;
  properties.bytes_per_second = static_cast<std::uint64_t>(path.bits_per_second / 8);
  properties.delay = path.delay;
  properties.jitter = 0ns;
  properties.receive_window = receive_window;
  properties.congestion_control = path.congestion_control;
  properties.loss = path.loss;
  network.set_path(0, 1, properties);
  network.dial(0, "receiver:1", sender);
  const auto run_until = [&](Time end) {
    while (events.step(end)) {
    }
    events.advance(end);
  };
  const Time start = events.now() + kBefore;
  run_until(start);
  const std::uint64_t before = receiver.received();
  run_until(start + kMeasured);
  return static_cast<double>(receiver.received() - before) * 8 / to_seconds(kMeasured);
}

}  // namespace spindled::scenarios
