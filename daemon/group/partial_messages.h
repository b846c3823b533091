// What has come of large messages that are still entering the network.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "daemon/group/operations.h"
#include "daemon/wire/link_frames.h"

namespace spindled {

/// Keeps the parts that went ahead of messages (EnteringMessages), by origin and number, until the message comes or the
/// view ends. They are copied: what is kept takes about its own size, however small the parts are.
class PartialMessages {
 public:
  /// False where the part makes no sense, or its origin would have more entering than one may
  /// (EnteringMessages::kBytesMax): it is dropped then.
  bool add(MemberIndex origin, const Part& part);
  /// The payload that has come of the message, which is forgotten; nothing where none has.
  std::optional<std::vector<std::uint8_t>> take(MemberIndex origin, std::uint64_t number);
  /// The view ends.
  void clear();

  /// Of payload.
  std::size_t bytes() const { return bytes_; }
  std::size_t size() const { return messages_.size(); }

 private:
  struct Message {
    std::uint32_t total = 0;
    std::vector<std::uint8_t> payload;
  };

  std::map<std::pair<MemberIndex, std::uint64_t>, Message> messages_;
  std::map<MemberIndex, std::size_t> totals_;  // of the messages of each origin
  std::size_t bytes_ = 0;
};

}  // namespace spindled
