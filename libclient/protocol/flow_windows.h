// How much of each flow a client may send before the daemon has let earlier messages of it enter the network.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libclient/protocol/client_frames.h"

namespace spindle::protocol {

/// The counterpart of the daemon's lines of held messages. Bytes are those of flow_bytes(). A window belongs to a
/// handle: where the handle gets other destinations, what was sent to the former ones goes on counting.
class FlowWindows {
 public:
  bool has_room(std::uint32_t handle) const { return outstanding(handle) < kFlowWindowBytes; }
  /// Whether the daemon may still hold messages of the flow, as far as it has told.
  bool may_be_held(std::uint32_t handle) const { return outstanding(handle) >= kFlowToldBytes; }
  void sent(std::uint32_t handle, std::size_t bytes);
  /// False where that is more than was sent.
  [[nodiscard]] bool admitted(const Admitted& admitted);

  /// What was sent to a daemon is no concern of the next one's.
  void forget_sent() { outstanding_.clear(); }

  /// Somebody waits for half of the window to be free, in order to send to `destinations`. kNoHandle: for anything
  /// else.
  void want(std::uint32_t handle, std::string_view destinations);
  bool is_wanted() const { return !wanted_.empty(); }
  /// Appends the destinations for which waiting is over: those wanted under `handle`, or all.
  void take_ready(std::uint32_t handle, std::vector<std::string>& ready);
  void take_all_ready(std::vector<std::string>& ready);

  static constexpr std::uint32_t kNoHandle = UINT32_MAX;

 private:
  std::size_t outstanding(std::uint32_t handle) const {
    return handle < outstanding_.size() ? outstanding_[handle] : 0;
  }

  std::vector<std::size_t> outstanding_;                      // by handle: bytes sent and not known to be admitted
  std::map<std::uint32_t, std::vector<std::string>> wanted_;  // destinations by handle, several where it got new ones
};

}  // namespace spindle::protocol
