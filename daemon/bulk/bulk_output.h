// What goes out on bulk connections, and when.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/bulk/bulk_connections.h"
#include "daemon/bulk/mesh/mesh_frames.h"
#include "daemon/bulk/paths.h"
#include "daemon/bulk/relayed_channel.h"
#include "libclient/bulk/bulk_frames.h"
#include "libclient/bulk/rate_meter.h"

namespace spindled {

/// What connections have to be told goes into their queues at once. Symbols are taken from the relays at the end of a
/// turn, by the schedule and the rate of each connection, and no more of them than a turn may write.
class BulkOutput {
 public:
  /// `overflowing` is called for a connection that does not read what it is told.
  BulkOutput(Context& context, BulkConnections& connections, Paths& paths,
             std::function<void(Time, BulkConnection&)> overflowing);

  /// There may be something to write.
  void mark_dirty(BulkConnection& connection);

  // Of a channel; nothing happens where the connection is not there.

  void may_send(ConnectionId to, RelayedChannel& channel);
  void send_need(ConnectionId to, const RelayedChannel& channel, std::uint8_t stream, const spindle::bulk::Need& need);
  void send_grant(ConnectionId to, const RelayedChannel& channel, std::uint8_t stream, std::uint64_t symbols);
  void send_release(ConnectionId to, const RelayedChannel& channel, std::uint8_t stream);
  void ask_index(ConnectionId to, const RelayedChannel& channel);
  void send_mesh(ConnectionId to, const RelayedChannel& channel, std::uint8_t generation, const mesh::Frame& frame);
  /// Nothing more is sent of it on that connection, until it is opened anew.
  void shut(BulkConnection& connection, const RelayedChannel& channel);

  /// The end of a turn: writes what there is, or as much as a turn may.
  void flush(Time now);
  /// When there may be more to write.
  Time next_deadline() const { return flush_at_; }
  /// Bytes a second of all that goes out and is no symbol, lately.
  std::uint64_t control_bytes_per_s(Time now) const { return control_out_.rate(now.time_since_epoch()); }

 private:
  template <typename Write>
  void send(ConnectionId to, const RelayedChannel& channel, Write&& write);
  /// A frame that is no symbol; its bytes.
  template <typename Write>
  std::size_t send_control(BulkConnection& connection, Write&& write);
  /// The number of the channel in this direction, which is told first where it is new; nothing: there is none free.
  std::optional<std::uint32_t> number_for(BulkConnection& connection, const RelayedChannel& channel);
  bool may_send_now(Time now, const BulkConnection& connection);
  /// No more than `share`; how much it was.
  std::size_t fill(Time now, BulkConnection& connection, std::size_t share);
  /// What it has been told, and no symbols.
  void write(Time now, BulkConnection& connection);
  /// The rest in the next turn, or by its rate.
  void go_on(Time now, BulkConnection& connection);

  Context& context_;
  BulkConnections& connections_;
  Paths& paths_;
  std::function<void(Time, BulkConnection&)> overflowing_;
  std::vector<ConnectionId> dirty_;
  Time flush_at_ = kNever;
  std::size_t written_ = 0;          // bytes, in this turn
  std::uint64_t control_bytes_ = 0;  // that were queued in this turn
  spindle::bulk::RateMeter control_out_;
};

}  // namespace spindled
