// The order layers of three daemons, with nothing above, below and between them.
#pragma once

#include <memory>
#include <vector>

#include "bench/micro/instructions/meter.h"
#include "bench/micro/surroundings.h"
#include "daemon/order/order.h"

namespace spindled::bench {

class OrderLayers {
 public:
  static constexpr std::size_t kMessages = 96;  // in one round

  /// All that the layers do is counted.
  OrderLayers(Meter& meter, std::size_t bytes);
  ~OrderLayers();

  /// Each sends a third of the messages to all, agreed, and delivers all of them.
  void round();

 private:
  struct Layer;

  void send(Layer& layer);
  /// Whether there was anything.
  bool pass_on(Layer& from);

  Meter& meter_;
  const std::vector<std::uint8_t> payload_;
  SenderOrder sender_;
  std::vector<std::unique_ptr<Layer>> layers_;
};

}  // namespace spindled::bench
