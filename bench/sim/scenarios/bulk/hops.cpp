#include "bench/sim/scenarios/bulk/hops.h"

#include <fmt/format.h>

#include <algorithm>

namespace spindled::scenarios::bulk {

namespace {

constexpr std::size_t kSendBufferMin = 3000;
constexpr std::size_t kSendBufferMax = 128u << 10;
constexpr double kSendBufferS = 0.0005;
constexpr std::size_t kWindowFirst = 64u << 10;
constexpr std::size_t kWindowMax = 6u << 20;

}  // namespace

sim::PathProperties properties_of(const Hop& hop) {
  sim::PathProperties path;
  path.bytes_per_second = static_cast<std::uint64_t>(hop.bits_per_second / 8);
  path.delay = hop.delay;
  path.jitter = 0ns;
  path.congestion_control = hop.congestion_control;
  path.loss = hop.loss;
  path.queue_bytes = hop.queue_bytes;
  path.send_buffer =
      std::clamp(static_cast<std::size_t>(hop.bits_per_second / 8 * kSendBufferS), kSendBufferMin, kSendBufferMax);
  path.receive_window = kWindowFirst;
  path.receive_window_max = kWindowMax;
  return path;
}

void Competitors::add(sim::HostIndex a, sim::HostIndex b, std::size_t count) {
  if (count == 0) return;
  const std::string from = fmt::format("competing{}", hosts_++), to = fmt::format("competing{}", hosts_++);
  const sim::HostIndex sender = network_.add_host(from, from, *this), receiver = network_.add_host(to, to, *this);
  network_.share_path(a, b, sender, receiver);
  for (std::size_t i = 0; i < count; ++i) network_.dial(sender, to, *this);
}

void Competitors::stream_readable(sim::StreamRef end) {
  while (network_.read(end, bytes_) != 0) {
  }
}

void Competitors::stream_writable(sim::StreamRef end) {
  const ByteView bytes(bytes_);
  network_.write(end, {&bytes, 1});
}

}  // namespace spindled::scenarios::bulk
