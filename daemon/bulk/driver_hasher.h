// SHA-256 of the driver, for what the root of a content proves.
#pragma once

#include "daemon/base/driver.h"
#include "libclient/bulk/block_index.h"

namespace spindled {

class DriverHasher final : public spindle::bulk::Hasher {
 public:
  explicit DriverHasher(const Driver& driver) : driver_(driver) {}

  /// Where the driver has none, a hash that is no root.
  spindle::bulk::BlockHash hash(ByteView bytes) const override {
    return driver_.sha256(bytes).value_or(spindle::bulk::BlockHash{});
  }

 private:
  const Driver& driver_;
};

}  // namespace spindled
