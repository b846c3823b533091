// What a client is told about messages that were dropped from its queue.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libclient/common/bytes.h"

namespace spindled {

/// Adds up the messages that were lost at one place of a client's queue; together they become one `gap` frame. Bounded,
/// however many messages and names there are.
class LostMessages {
 public:
  /// `frame` is a `message` frame, its head included, at least up to its payload.
  void add(spindle::ByteView frame);

  bool any() const { return messages_ != 0; }
  std::uint64_t messages() const { return messages_; }
  std::uint64_t bytes() const { return bytes_; }  // of payload
  std::vector<std::uint8_t> frame() const;
  void clear() { *this = LostMessages(); }

 private:
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t unlisted_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> names_;
};

}  // namespace spindled
