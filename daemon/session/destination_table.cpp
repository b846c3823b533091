#include "daemon/session/destination_table.h"

#include <fmt/format.h>

namespace spindled {

namespace protocol = spindle::protocol;

std::optional<Error> DestinationTable::define(const protocol::Define& define) {
  const std::size_t former = is_defined(define.handle) ? protocol::defined_bytes(lines_[define.handle]->to.names) : 0;
  const std::size_t bytes = bytes_ - former + protocol::defined_bytes(define.groups);
  if (bytes > protocol::kDefinedBytesMax) {
    return Error{Errc::limit_exceeded,
                 fmt::format("the client's sets of destinations would take {} bytes, of which it has {}: it has to "
                             "define sets anew, or without names, that it sends to no more",
                             bytes, protocol::kDefinedBytesMax)};
  }
  bytes_ = bytes;
  if (lines_.size() <= define.handle) lines_.resize(define.handle + 1);
  // The budget stays: a client that defines its sets anew for every message earns no more than others.
  if (lines_[define.handle] == nullptr) lines_[define.handle] = std::make_unique<Line>();
  Line& line = *lines_[define.handle];
  line.to = DestinationSet();
  line.flow.redirect();
  line.to.names.assign(define.groups.begin(), define.groups.end());
  return std::nullopt;
}

}  // namespace spindled
