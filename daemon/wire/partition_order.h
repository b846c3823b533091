// A partition that an administrator imposes on live daemons for a field test, as daemons tell it each other.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/member_set.h"
#include "daemon/base/time.h"
#include "daemon/wire/daemon_id.h"

namespace spindled {

/// Names an order for ever. Of two orders the larger is the newer one: whoever gives an order numbers it above all that
/// he knows, and where two do so at once the same one wins everywhere.
struct PartitionId {
  std::uint64_t number = 0;  // 0: no order was ever given
  DaemonId author;           // where it was given

  auto operator<=>(const PartitionId&) const = default;
};

/// "3@alpha"
std::string to_string(const PartitionId& id);

/// The daemons of each side. All that are not named form one more side.
using PartitionSides = std::vector<std::vector<std::string>>;

/// "alpha,beta / gamma", cut off at about `bytes_max`.
std::string to_string(const PartitionSides& sides, std::size_t bytes_max = 200);

struct PartitionOrder {
  PartitionId id;
  PartitionSides sides;  // none: there is no partition, or none any more
  Duration left{};       // how long it still lasts, in whole milliseconds on the wire; zero without sides

  bool operator==(const PartitionOrder&) const = default;
};

inline constexpr std::uint64_t kPartitionNumberMax = std::uint64_t{1} << 62;
inline constexpr std::size_t kPartitionSidesMax = 64;
inline constexpr std::size_t kPartitionDaemonsMax = kMembersMax;
/// Of all names, each with kPartitionNameOverhead: an order has to fit into the handshake of a link.
inline constexpr std::size_t kPartitionNamesBytesMax = 16u << 10;
inline constexpr std::size_t kPartitionNameOverhead = 2;
inline constexpr Duration kPartitionTimeMax = 1h;
/// Of the encoded order, without what an envelope adds.
inline constexpr std::size_t kPartitionBytesMax = kPartitionNamesBytesMax + 4 * kPartitionSidesMax + 128;

/// What is wrong with an order as a sentence, or empty. Whether the daemons that it names exist is not looked at.
std::string_view find_fault(const PartitionOrder& order);

}  // namespace spindled
