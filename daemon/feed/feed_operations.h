// What travels between daemons about which feeds there are: operations, ordered with those of the groups.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/group/operations.h"

namespace spindled {

/// How long a repair may be of use, at most.
inline constexpr Duration kRepairForMax = 60s;

/// Feeds of the origin that are open. They have just been opened, or a view has brought daemons together that may not
/// know of them: who knows a feed already learns nothing.
struct FeedsOpened {
  struct Feed {
    std::uint32_t number = 0;
    std::string group;
    std::string client;      // of the origin, the source
    Duration repair_for{};   // in microseconds, at most kRepairForMax
    std::uint64_t next = 0;  // sequence that its next packet has; 0: it has just been opened
  };
  std::vector<Feed> feeds;  // in rising order of their numbers; at least one
};
/// Feeds of the origin that nothing more is sent of.
struct FeedsClosed {
  struct Feed {
    std::uint32_t number = 0;
    std::uint64_t next = 0;  // sequence that a further packet would have had
  };
  std::vector<Feed> feeds;  // likewise
};

/// In the order of their numbers, from kFeedOperationMin on.
using FeedOperation = std::variant<FeedsOpened, FeedsClosed>;
inline constexpr std::uint8_t kFeedOperationMin = kChannelOperationMin + 16;
inline constexpr std::size_t kFeedOperations = std::variant_size_v<FeedOperation>;

inline std::uint8_t number_of(const FeedOperation& operation) {
  return static_cast<std::uint8_t>(kFeedOperationMin + operation.index());
}

/// What follows the number.
std::vector<std::uint8_t> write_feed_operation(const FeedOperation& operation);
/// Nothing where the bytes are not exactly one valid operation of that number.
std::optional<FeedOperation> read_feed_operation(std::uint8_t number, ByteView content);

}  // namespace spindled
