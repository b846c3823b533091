// The fingerprint of a run: equal for equal runs, different as soon as one byte or one nanosecond differs.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "daemon/base/slab.h"
#include "daemon/base/time.h"
#include "tests/checkers/digest.h"

namespace spindled::sim {

using checkers::Digest;

/// What is traced; the number enters the digest.
enum class TraceEvent : std::uint8_t {
  dial = 1,
  write = 2,
  close = 3,
  set_reading = 4,
  wake = 5,
  delivery = 6,
  crash = 7,
  start = 8,
  datagram = 9,
};

class Trace {
 public:
  /// `who` is the host or client that did it.
  void record(Time now, std::uint32_t who, TraceEvent event, std::uint64_t detail);
  void record(Time now, std::uint32_t who, TraceEvent event, std::string_view detail);
  void record_write(Time now, std::uint32_t who, std::uint64_t connection, std::span<const ByteView> buffers,
                    std::size_t taken);

  std::uint64_t digest() const { return digest_.value(); }
  std::uint64_t events() const { return events_; }

 private:
  void head(Time now, std::uint32_t who, TraceEvent event);

  Digest digest_;
  std::uint64_t events_ = 0;
};

}  // namespace spindled::sim
