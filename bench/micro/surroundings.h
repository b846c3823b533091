// What a node is put into where nobody reads what it writes.
#pragma once

#include <string_view>

#include "daemon/base/check.h"
#include "daemon/base/driver.h"
#include "tests/support/nobody.h"

namespace spindled::bench {

using test::Silence;

/// Takes everything that the node writes, and only counts it. No connection is to end, nor to be held up.
class CountingDriver final : public Driver {
 public:
  ConnectionId dial(std::string_view) override { return ConnectionId{0}; }
  std::size_t write(ConnectionId, std::span<const ByteView> buffers) override {
    std::size_t taken = 0;
    for (const ByteView& buffer : buffers) taken += buffer.size();
    bytes += taken;
    return taken;
  }
  void close(ConnectionId) override { SPINDLE_CHECK(false); }
  void set_reading(ConnectionId, bool on) override { SPINDLE_CHECK(on); }
  void wake_at(Time deadline) override { deadline_ = deadline; }

  Time deadline() const { return deadline_; }

  std::uint64_t bytes = 0;

 private:
  Time deadline_ = kNever;
};

}  // namespace spindled::bench
