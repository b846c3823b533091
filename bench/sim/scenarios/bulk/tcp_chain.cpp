#include "bench/sim/scenarios/bulk/tcp_chain.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace spindled::scenarios::bulk {

namespace {

/// A host of the chain. The first one has no stream to read, and the last one none to write.
class Host final : public sim::StreamOwner, public sim::StreamListener {
 public:
  Host(sim::Network& network, std::size_t buffer_bytes)
      : network_(network), scratch_(64u << 10), buffer_bytes_(buffer_bytes) {}

  void send_to(sim::HostIndex self, const std::string& next) { out_ = network_.dial(self, next, *this); }
  void send_always() { is_first_ = true; }
  std::uint64_t received() const { return received_; }

  void stream_connected(sim::StreamRef) override {
    is_connected_ = true;
    pass_on();
  }
  void stream_readable(sim::StreamRef) override { pass_on(); }
  void stream_writable(sim::StreamRef) override { pass_on(); }
  void stream_closed(sim::StreamRef, std::string_view) override {}
  StreamOwner* stream_accepted(sim::StreamRef end, Port, std::string_view) override {
    in_ = end;
    return this;
  }

 private:
  void pass_on() {
    for (;;) {
      const std::size_t read = take();
      const std::size_t written = put();
      if (read == 0 && written == 0) return;
    }
  }
  std::size_t take() {
    if (!in_) return 0;
    const std::size_t room = out_ ? buffer_bytes_ - held_ : scratch_.size();
    const std::size_t count = network_.read(*in_, std::span(scratch_).first(std::min(room, scratch_.size())));
    received_ += count;
    if (out_) held_ += count;
    return count;
  }
  std::size_t put() {
    if (!out_ || !is_connected_) return 0;
    const std::size_t wanted = is_first_ ? scratch_.size() : std::min(held_, scratch_.size());
    if (wanted == 0) return 0;
    const ByteView bytes = ByteView(scratch_).first(wanted);
    const std::size_t count = network_.write(*out_, {&bytes, 1});
    if (!is_first_) held_ -= count;
    return count;
  }

  sim::Network& network_;
  std::vector<std::uint8_t> scratch_;
  std::size_t buffer_bytes_;
  std::optional<sim::StreamRef> in_, out_;
  bool is_connected_ = false;
  bool is_first_ = false;
  std::size_t held_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace

std::vector<double> tcp_chain(const std::vector<Hop>& hops, std::size_t buffer_bytes, Duration before,
                              Duration measured, std::uint64_t seed) {
  sim::EventQueue events;
  sim::Network network(events, seed);
  Competitors competitors(network);
  std::vector<std::unique_ptr<Host>> hosts;
  for (std::size_t i = 0; i <= hops.size(); ++i) {
    hosts.push_back(std::make_unique<Host>(network, buffer_bytes));
    const std::string name = std::to_string(i);
    network.add_host(name, name, *hosts.back());
  }
  hosts.front()->send_always();
  for (std::size_t i = 0; i < hops.size(); ++i) {
    const auto self = static_cast<sim::HostIndex>(i);
    network.set_path(self, self + 1, properties_of(hops[i]));
    competitors.add(self, self + 1, hops[i].competing);
    hosts[i]->send_to(self, std::to_string(i + 1));
  }
  const auto run_until = [&](Time end) {
    while (events.step(end)) {
    }
    events.advance(end);
  };
  const Time start = events.now() + before;
  run_until(start);
  std::vector<std::uint64_t> received;
  for (const auto& host : hosts) received.push_back(host->received());
  run_until(start + measured);
  std::vector<double> rates;
  for (std::size_t i = 1; i < hosts.size(); ++i) {
    rates.push_back(static_cast<double>(hosts[i]->received() - received[i]) * 8 / to_seconds(measured));
  }
  return rates;
}

}  // namespace spindled::scenarios::bulk
