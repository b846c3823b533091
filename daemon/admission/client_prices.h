// What the sessions tell admission about clients that do not keep up.
#pragma once

#include <string>
#include <string_view>

namespace spindled {

/// Implemented by admission, which tells all senders.
class ClientPrices {
 public:
  virtual ~ClientPrices() = default;
  /// What the local clients that are reached by `name`, a group or a private name, and do not keep up, cost a packet
  /// from now on; 0: nothing. `slowest` is the name of the one that costs most.
  virtual void set_client_price(const std::string& name, double dollars, std::string_view slowest) = 0;
};

}  // namespace spindled
