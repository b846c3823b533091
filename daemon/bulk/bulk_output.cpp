#include "daemon/bulk/bulk_output.h"

#include <algorithm>
#include <utility>

#include "daemon/bulk/mesh/mesh_codec.h"

namespace spindled {

namespace bulk = spindle::bulk;

namespace {

/// What a turn writes of bulk content at most: ordered messages come in between.
constexpr std::size_t kTurnBytes = 512u << 10;
/// What a connection does of that at most, where others have something to write: they get on in step.
constexpr std::size_t kShareLeast = 64u << 10;

}  // namespace

BulkOutput::BulkOutput(Context& context, BulkConnections& connections, Paths& paths,
                       std::function<void(Time, BulkConnection&)> overflowing)
    : context_(context), connections_(connections), paths_(paths), overflowing_(std::move(overflowing)) {}

void BulkOutput::mark_dirty(BulkConnection& connection) {
  if (!std::exchange(connection.is_dirty, true)) dirty_.push_back(connection.id());
}

void BulkOutput::may_send(ConnectionId to, RelayedChannel& channel) {
  BulkConnection* connection = connections_.find(to);
  if (connection == nullptr) return;
  connection->schedule().add(channel);
  mark_dirty(*connection);
}

void BulkOutput::send_need(ConnectionId to, const RelayedChannel& channel, std::uint8_t stream,
                           const bulk::Need& need) {
  if (stream == bulk::kLiveStream) context_.counters.add(Counter::bulk_needs_out);
  send(to, channel, [&](std::uint32_t number, bulk::BulkBytes& out) { bulk::write_need(out, {number, stream, need}); });
}

void BulkOutput::send_grant(ConnectionId to, const RelayedChannel& channel, std::uint8_t stream,
                            std::uint64_t symbols) {
  send(to, channel, [&](std::uint32_t number, bulk::BulkBytes& out) {
    bulk::write_grant(out, {number, stream, symbols});
  });
}

void BulkOutput::send_release(ConnectionId to, const RelayedChannel& channel, std::uint8_t stream) {
  send(to, channel, [&](std::uint32_t number, bulk::BulkBytes& out) { bulk::write_release(out, {number, stream}); });
}

void BulkOutput::ask_index(ConnectionId to, const RelayedChannel& channel) {
  send(to, channel, [](std::uint32_t number, bulk::BulkBytes& out) { bulk::write_ask_index(out, {number}); });
}

void BulkOutput::send_mesh(ConnectionId to, const RelayedChannel& channel, std::uint8_t generation,
                           const mesh::Frame& frame) {
  send(to, channel, [&](std::uint32_t number, bulk::BulkBytes& out) {
    mesh::write_frame(out, {number, generation}, frame);
  });
}

template <typename Write>
void BulkOutput::send(ConnectionId to, const RelayedChannel& channel, Write&& write) {
  BulkConnection* connection = connections_.find(to);
  if (connection == nullptr) return;
  const std::optional<std::uint32_t> number = number_for(*connection, channel);
  if (!number) return;
  send_control(*connection, [&](bulk::BulkBytes& out) { write(*number, out); });
  mark_dirty(*connection);
}

template <typename Write>
std::size_t BulkOutput::send_control(BulkConnection& connection, Write&& write) {
  bulk::BulkBytes frame;
  write(frame);
  connection.send(frame);
  control_bytes_ += frame.size();
  return frame.size();
}

std::optional<std::uint32_t> BulkOutput::number_for(BulkConnection& connection, const RelayedChannel& channel) {
  if (const std::optional<std::uint32_t> number = connection.number_of(channel.id)) return number;
  const std::optional<std::uint32_t> number = connection.open(channel.id);
  if (!number) return std::nullopt;
  bulk::BulkBytes frame;
  bulk::write_open(frame, {*number, channel.id, channel.layout});
  connection.send(frame);
  return number;
}

void BulkOutput::shut(BulkConnection& connection, const RelayedChannel& channel) {
  connection.schedule().remove(channel);
  const std::optional<std::uint32_t> number = connection.number_of(channel.id);
  if (!number) return;
  bulk::BulkBytes frame;
  bulk::write_shut(frame, *number);
  connection.send(frame);
  connection.forget(channel.id);
  mark_dirty(connection);
}

void BulkOutput::flush(Time now) {
  written_ = 0;
  flush_at_ = kNever;
  paths_.end_turn(now);
  if (control_bytes_ != 0) control_out_.add(now.time_since_epoch(), std::exchange(control_bytes_, 0));
  const std::vector<ConnectionId> all = std::exchange(dirty_, {});
  const std::size_t share = std::max(kTurnBytes / std::max<std::size_t>(all.size(), 1), kShareLeast);
  std::vector<BulkConnection*> begun;
  for (const ConnectionId id : all) {
    BulkConnection* connection = connections_.find(id);
    if (connection == nullptr) continue;
    connection->is_dirty = false;
    if (connection->is_overflowing()) {
      overflowing_(now, *connection);
      continue;
    }
    if (fill(now, *connection, share) == 0) {
      go_on(now, *connection);
    } else {
      begun.push_back(connection);
    }
  }
  // What was taken has others granted more: that is told in this turn, or nobody may come to tell it for long.
  for (const ConnectionId id : std::exchange(dirty_, {})) {
    BulkConnection* connection = connections_.find(id);
    if (connection == nullptr) continue;
    connection->is_dirty = false;
    write(now, *connection);
    go_on(now, *connection);
  }
  // Who has had no turn is first in the next one.
  for (BulkConnection* connection : begun) go_on(now, *connection);
}

void BulkOutput::go_on(Time now, BulkConnection& connection) {
  if (connection.schedule().empty() || !connection.has_room()) return;
  mark_dirty(connection);
  const bool may_go_on = may_send_now(now, connection);
  flush_at_ = std::min(flush_at_, may_go_on ? now : paths_.rate(connection.daemon()).next_at());
}

bool BulkOutput::may_send_now(Time now, const BulkConnection& connection) {
  return !connection.is_hop() || paths_.may_send(now, connection.daemon());
}

std::size_t BulkOutput::fill(Time now, BulkConnection& connection, std::size_t share) {
  const std::size_t before = written_;
  const std::size_t most = std::min(kTurnBytes, before + share);
  std::size_t taken = connection.write();
  while (connection.has_room() && !connection.schedule().empty() && written_ < most && may_send_now(now, connection)) {
    RelayedChannel& channel = connection.schedule().front();
    const std::optional<std::uint32_t> number = number_for(connection, channel);
    if (!number) {
      connection.schedule().drop_front();
      continue;
    }
    std::size_t bytes = 0;
    if (const ChannelIndex::Part part = channel.relay.index().next(connection.id()); !part.hashes.empty()) {
      bytes = send_control(connection, [&](bulk::BulkBytes& out) {
        bulk::write_index(out, {*number, part.first, part.hashes});
      });
    } else if (const std::optional<ChannelRelay::Item> item = channel.relay.next(now, connection.id())) {
      if (const auto* mark = std::get_if<RelayedMark>(&*item)) {
        bytes = send_control(connection, [&](bulk::BulkBytes& out) {
          bulk::write_mark(out, {*number, mark->mark, mark->bound});
        });
      } else {
        const RelayedSymbol& symbol = std::get<RelayedSymbol>(*item);
        connection.send(*number, symbol);
        bytes = symbol.bytes.size();
        context_.counters.add(Counter::bulk_symbols_relayed);
        context_.counters.add(Counter::bulk_bytes_relayed, bytes);
      }
    } else {
      connection.schedule().drop_front();
      continue;
    }
    written_ += bytes;
    connection.schedule().charge(bytes);
    if (connection.is_hop()) paths_.rate(connection.daemon()).sent(bytes);
    if (!connection.has_room()) taken += connection.write();
  }
  taken += connection.write();
  if (connection.is_hop()) paths_.wrote(now, connection.daemon(), taken, connection.is_blocked());
  return written_ - before;
}

void BulkOutput::write(Time now, BulkConnection& connection) {
  const std::size_t taken = connection.write();
  if (connection.is_hop() && taken != 0) paths_.wrote(now, connection.daemon(), taken, connection.is_blocked());
}

}  // namespace spindled
