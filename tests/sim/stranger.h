// Somebody who connects to a daemon and keeps to no protocol.
#pragma once

#include <string>
#include <vector>

#include "tests/sim/sim_host.h"

namespace spindled::sim {

/// Connects in the constructor; what is sent before the connection stands waits for it. Reads all that comes.
class Stranger final : private StreamOwner {
 public:
  Stranger(World world, SimHost& host, Port port);
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;
  ~Stranger() override;

  void send(ByteView bytes);
  /// The daemon has closed, or reset, the connection.
  bool is_closed() const { return closed_; }
  const std::vector<std::uint8_t>& received() const { return received_; }

 private:
  void stream_connected(StreamRef end) override;
  void stream_readable(StreamRef end) override;
  void stream_writable(StreamRef end) override;
  void stream_closed(StreamRef end, std::string_view why) override;
  void flush();

  Network* network_;
  StreamRef end_;
  bool connected_ = false;
  bool closed_ = false;
  ByteFifo output_;
  std::vector<std::uint8_t> received_;
};

}  // namespace spindled::sim
