// What the sessions tell admission about clients that do not keep up.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spindled {

/// Names that have a price at one time: of a daemon's own clients, and of those of all others; more are passed over.
inline constexpr std::size_t kClientPricesMax = 4096;

/// Implemented by admission, which tells all senders.
class ClientPrices {
 public:
  virtual ~ClientPrices() = default;
  /// What the local clients that are reached by `name`, a group or a private name, and do not keep up, cost a packet
  /// from now on; 0: nothing. `slowest` is the name of the one that costs most.
  virtual void set_client_price(const std::string& name, double dollars, std::string_view slowest) = 0;
};

}  // namespace spindled
