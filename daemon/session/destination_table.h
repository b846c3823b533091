// What the numbers stand for under which one client sends.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "daemon/admission/flow.h"
#include "daemon/base/result.h"
#include "daemon/group/groups.h"
#include "libclient/protocol/client_frames.h"

namespace spindled {

/// Where a client sends, and what it has to spend on that.
struct Line {
  DestinationSet to;
  Flow flow;
};

/// The sets of destinations that a client has defined, by handle, within the bounds of the protocol: so many numbers
/// (kHandlesMax), and so many bytes (kDefinedBytesMax), by defined_bytes().
class DestinationTable {
 public:
  /// Gives the handle this meaning instead of the one that it had, or none. An error where all sets together would then
  /// take too much.
  std::optional<Error> define(const spindle::protocol::Define& define);
  bool is_defined(std::uint32_t handle) const {
    return handle < lines_.size() && lines_[handle] != nullptr && !lines_[handle]->to.names.empty();
  }
  /// Of a handle that is defined.
  Line& operator[](std::uint32_t handle) { return *lines_[handle]; }
  const Line& operator[](std::uint32_t handle) const { return *lines_[handle]; }
  /// Calls `visit(const DestinationSet&, const Flow&)` for each that is defined.
  template <typename Visit>
  void for_each_flow(Visit&& visit) const {
    for (std::uint32_t handle = 0; handle < lines_.size(); ++handle) {
      if (is_defined(handle)) visit(lines_[handle]->to, lines_[handle]->flow);
    }
  }
  /// What all sets take.
  std::size_t bytes() const { return bytes_; }

 private:
  std::vector<std::unique_ptr<Line>> lines_;  // by handle; none where it was never defined
  std::size_t bytes_ = 0;
};

}  // namespace spindled
