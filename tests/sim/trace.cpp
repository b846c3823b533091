#include "tests/sim/trace.h"

#include <algorithm>

namespace spindled::sim {

void Trace::head(Time now, std::uint32_t who, TraceEvent event) {
  ++events_;
  digest_.add(static_cast<std::uint64_t>(now.time_since_epoch().count()));
  digest_.add(static_cast<std::uint64_t>(who) << 8 | static_cast<std::uint64_t>(event));
}

void Trace::record(Time now, std::uint32_t who, TraceEvent event, std::uint64_t detail) {
  head(now, who, event);
  digest_.add(detail);
}

void Trace::record(Time now, std::uint32_t who, TraceEvent event, std::string_view detail) {
  head(now, who, event);
  digest_.add(detail);
}

void Trace::record_write(Time now, std::uint32_t who, std::uint64_t connection, std::span<const ByteView> buffers,
                         std::size_t taken) {
  head(now, who, TraceEvent::write);
  digest_.add(connection);
  for (const ByteView& buffer : buffers) {
    const std::size_t part = std::min(taken, buffer.size());
    digest_.add(buffer.first(part));
    taken -= part;
    if (taken == 0) break;
  }
}

}  // namespace spindled::sim
