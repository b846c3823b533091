#include "tests/sim/stranger.h"

namespace spindled::sim {

Stranger::Stranger(World world, SimHost& host, Port port) : network_(&world.network) {
  end_ = network_->dial_local(host.index(), port, "stranger", *this);
}

Stranger::~Stranger() { network_->abort(end_, "connection reset by peer"); }

void Stranger::send(ByteView bytes) {
  output_.push(bytes);
  flush();
}

void Stranger::flush() {
  if (!connected_ || closed_ || output_.empty()) return;
  const ByteView front = output_.front();
  output_.pop(network_->write(end_, {&front, 1}));
}

void Stranger::stream_connected(StreamRef) {
  connected_ = true;
  flush();
}

void Stranger::stream_writable(StreamRef) { flush(); }

void Stranger::stream_readable(StreamRef end) {
  std::uint8_t buffer[4096];
  while (const std::size_t count = network_->read(end, buffer)) {
    received_.insert(received_.end(), buffer, buffer + count);
  }
  if (network_->at_end(end)) {
    closed_ = true;
    network_->close(end);
  }
}

void Stranger::stream_closed(StreamRef, std::string_view) { closed_ = true; }

}  // namespace spindled::sim
