// What the administrator is told of bulk content.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/bulk/bulk_connections.h"
#include "daemon/bulk/bulk_output.h"
#include "daemon/bulk/channel_mesh.h"
#include "daemon/bulk/paths.h"
#include "daemon/bulk/relayed_channel.h"
#include "daemon/channel/channels.h"

namespace spindled {

/// Describes what others own.
class BulkStatus {
 public:
  struct Subjects {
    const Channels& channels;
    const RelayedChannels& relayed;
    const BulkConnections& connections;
    const Paths& paths;
    const BulkOutput& output;
  };
  explicit BulkStatus(Subjects subjects) : subjects_(subjects) {}

  struct ReceiverInfo {
    ChannelRelay::ChildInfo child;
    SessionId session = 0;   // of a local client
    std::string limited_by;  // empty: it has all, or nothing limits it
  };
  struct RelayInfo {
    BulkChannelId id;
    TreePosition position;
    std::vector<ReceiverInfo> children;
    std::size_t ring_bytes = 0;
    std::size_t index_bytes = 0;
    ChannelRelay::Tally tally;
    std::optional<ChannelMesh::Status> mesh;
  };
  struct HopInfo {
    std::string daemon;
    bool is_open = false;
    Paths::Info path;
  };
  RelayInfo relay(Time now, const Channel& channel) const;
  /// In which this daemon has any part.
  std::vector<RelayInfo> relays(Time now) const;
  std::vector<HopInfo> hops(Time now) const;
  /// Of the rings at this moment, and how many there are.
  std::size_t rings_bytes() const { return subjects_.relayed.rings_bytes(); }
  std::size_t channels() const { return subjects_.relayed.size(); }
  std::size_t ring_bytes() const { return subjects_.relayed.ring_bytes(); }
  std::uint64_t control_bytes_per_s(Time now) const { return subjects_.output.control_bytes_per_s(now); }

 private:
  std::string limit_of(Time now, const RelayedChannel& relayed, const ChannelRelay::ChildInfo& child) const;

  Subjects subjects_;
};

}  // namespace spindled
