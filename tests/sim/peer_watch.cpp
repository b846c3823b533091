#include "tests/sim/peer_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daemon/bulk/mesh/mesh_codec.h"
#include "libclient/common/framing.h"

namespace spindled::sim {

namespace bulk = spindle::bulk;
using bulk::BulkFrame;

namespace {

bool is(std::uint8_t type, BulkFrame frame) { return type == static_cast<std::uint8_t>(frame); }
bool is(std::uint8_t type, mesh::FrameType frame) { return type == static_cast<std::uint8_t>(frame); }

ConnectionId id_of(StreamRef end) { return ConnectionId{end.key()}; }

/// Of one daemon, in a second, for one channel (docs/decisions/0042): 30 kb.
constexpr double kControlBytesPerS = 30'000.0 / 8;

}  // namespace

template <typename Handle>
void PeerWatch::Frames::take(ByteView bytes, Handle&& handle) {
  while (!bytes.empty()) {
    if (head_.size() < spindle::kFrameHeadBytes) {
      const std::size_t count = std::min(bytes.size(), spindle::kFrameHeadBytes - head_.size());
      head_.insert(head_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
      bytes = bytes.subspan(count);
      if (head_.size() < spindle::kFrameHeadBytes) return;
      const auto head = spindle::read_frame_head(ByteView(head_));
      type_ = head->type;
      length_ = head->length;
      at_ = 0;
      body_.clear();
    }
    const std::size_t count = std::min(bytes.size(), length_ - at_);
    const std::size_t kept = std::min(count, kKept - body_.size());
    body_.insert(body_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(kept));
    bytes = bytes.subspan(count);
    at_ += count;
    if (at_ < length_) return;
    head_.clear();
    handle(Frame{type_, length_, ByteView(body_)});
  }
}

void PeerWatch::reading(const Node& node, StreamRef end, ByteView bytes) {
  Connection& connection = connections_[end];
  if (connection.is_other()) return;
  from_ = end;
  connection.in.frames.take(bytes, [&](const Frames::Frame& frame) {
    note_first(connection, connection.in, frame.type);
    if (connection.is_bulk) note_read(node, end, connection, frame);
  });
}

void PeerWatch::wrote(Time now, const Node& node, StreamRef end, std::span<const ByteView> buffers, std::size_t taken) {
  Connection& connection = connections_[end];
  if (connection.written_at != now) connection.is_all_new = !connection.is_blocked;
  connection.written_at = now;
  std::size_t offered = 0;
  for (const ByteView& buffer : buffers) offered += buffer.size();
  connection.is_blocked = taken < offered;
  for (const ByteView& buffer : buffers) {
    const std::size_t count = std::min(buffer.size(), taken);
    taken -= count;
    if (connection.is_other() || count == 0) return;
    connection.out.frames.take(buffer.first(count), [&](const Frames::Frame& frame) {
      note_first(connection, connection.out, frame.type);
      if (connection.is_bulk) note_written(now, node, end, connection, frame);
    });
  }
}

/// Who dials says so with the first frame; the other side may have said something before it knows what this is.
void PeerWatch::note_first(Connection& connection, Direction& direction, std::uint8_t type) {
  if (direction.first) return;
  direction.first = type;
  if (is(type, BulkFrame::hello)) connection.is_hop = connection.is_bulk = true;
  if (is(type, BulkFrame::attach)) connection.is_bulk = true;
}

PeerWatch::Watched& PeerWatch::watched(const Channel& channel) {
  const auto [at, is_new] = channels_.try_emplace(channel);
  if (is_new) {
    at->second.history.daemon = daemon_;
    at->second.history.channel = channel;
  }
  return at->second;
}

const PeerWatch::Channel* PeerWatch::channel_of(const Direction& direction, spindle::Reader& reader) {
  const std::uint64_t number = reader.varint();
  const auto found = direction.channels.find(static_cast<std::uint32_t>(number));
  return !reader.ok() || found == direction.channels.end() ? nullptr : &found->second;
}

void PeerWatch::note_number(Direction& direction, const Frames::Frame& frame) {
  if (is(frame.type, BulkFrame::open)) {
    if (const auto open = bulk::read_open(frame.begin)) direction.channels[open->number] = open->channel;
  } else if (const auto shut = bulk::read_shut(frame.begin)) {
    direction.channels.erase(*shut);
  }
}

void PeerWatch::note_read(const Node& node, StreamRef end, Connection& connection, const Frames::Frame& frame) {
  if (is(frame.type, BulkFrame::open) || is(frame.type, BulkFrame::shut)) return note_number(connection.in, frame);
  spindle::Reader reader{frame.begin};
  const bool is_symbol = is(frame.type, BulkFrame::symbol), is_grant = is(frame.type, BulkFrame::grant);
  const bool is_wants = is(frame.type, mesh::FrameType::wants);
  if (!is_symbol && !is_grant && !is_wants && !is(frame.type, mesh::FrameType::peer_request)) return;
  const Channel* channel = channel_of(connection.in, reader);
  if (channel == nullptr) return;
  Watched& watch = watched(*channel);
  if (connection.is_hop) watch.hops.insert(end);
  if (is_wants && frame.length == frame.begin.size()) {
    const auto read = mesh::read_frame(mesh::FrameType::wants, frame.begin);
    const auto* wants = read ? std::get_if<mesh::Wants>(&read->frame) : nullptr;
    if (wants == nullptr) return;
    watch.history.wanted += wants->blocks.size();
    for (const mesh::BlockWant& want : wants->blocks) watch.giving.wanted(end.key(), want.block, want.fresh);
    return;
  }
  if (is_symbol) reader.u8();  // the plan
  if (is_symbol || is_grant) {
    if (reader.u8() != bulk::kLiveStream) return;
  }
  if (is_grant) watch.giving.granted(end.key(), reader.varint());
  if (!is_symbol) return;
  const auto block = static_cast<std::uint32_t>(reader.varint());
  const auto esi = static_cast<std::uint32_t>(reader.varint());
  if (!reader.ok()) return;
  const ChannelRelay* relay = node.bulk_relay(*channel);
  brought_.push_back({*channel, {block, esi}, relay != nullptr && relay->is_peer_sender(id_of(end))});
}

void PeerWatch::handled(const Node& node) {
  look(node);
  for (const Brought& each : std::exchange(brought_, {})) {
    Watched& watch = watched(each.channel);
    const ChannelRelay* relay = node.bulk_relay(each.channel);
    const bool is_of_peer = each.is_of_peer && relay != nullptr && relay->is_peer_sender(id_of(from_));
    const bool is_first = watch.had.insert(each.symbol).second;
    ++watch.history.symbols;
    if (is_of_peer) {
      ++watch.history.of_peers;
      if (!is_first) ++watch.history.had_before;
    } else {
      if (!is_first && !watch.had_of_tree.contains(each.symbol)) ++watch.history.had_of_peers;
      watch.had_of_tree.insert(each.symbol);
      watch.giving.brought(each.symbol);
    }
  }
}

void PeerWatch::look(const Node& node) {
  for (auto& [channel, watch] : channels_) {
    const ChannelRelay* relay = node.bulk_relay(channel);
    for (const StreamRef hop : watch.hops) {
      watch.giving.set_receiver(hop.key(), relay != nullptr && relay->is_peer_receiver(id_of(hop)));
      if (relay != nullptr && relay->is_child(id_of(hop))) watch.giving.is_child(hop.key());
    }
  }
}

void PeerWatch::note_written(Time now, const Node& node, StreamRef end, Connection& connection,
                             const Frames::Frame& frame) {
  if (!connection.is_hop) return;
  if (is(frame.type, BulkFrame::open) || is(frame.type, BulkFrame::shut)) return note_number(connection.out, frame);
  const bool is_symbol = is(frame.type, BulkFrame::symbol);
  if (!is_symbol && !mesh::is_type(frame.type)) return;
  spindle::Reader reader{frame.begin};
  const Channel* channel = channel_of(connection.out, reader);
  if (channel == nullptr) return;
  Watched& watch = watched(*channel);
  watch.hops.insert(end);
  reader.u8();  // the plan
  if (!is_symbol) {
    const double rest = watch.told - to_seconds(now - watch.told_at) * kControlBytesPerS;
    watch.told = std::max(rest, 0.0) + static_cast<double>(frame.length + spindle::kFrameHeadBytes);
    watch.told_at = now;
    watch.history.told_at_once = std::max(watch.history.told_at_once, static_cast<std::uint64_t>(watch.told));
    const bool is_answer = is(frame.type, mesh::FrameType::peer_answer);
    if (!is_answer && !is(frame.type, mesh::FrameType::peer_leave)) return;
    const bool is_yes = reader.u8() != 0;
    // Who was the receiver says that it takes no more: that is not told to who is given something.
    if (is_answer || is_yes) watch.giving.answered(end.key(), is_answer && is_yes);
    return;
  }
  const ChannelRelay* relay = node.bulk_relay(*channel);
  if (relay != nullptr && relay->is_child(id_of(end))) watch.giving.is_child(end.key());
  reader.u8();  // the stream
  const auto block = static_cast<std::uint32_t>(reader.varint());
  const auto esi = static_cast<std::uint32_t>(reader.varint());
  if (!reader.ok()) return;
  ++watch.history.given;
  const bulk::Need* need = relay == nullptr ? nullptr : relay->need_of(id_of(end));
  const bool has_enough = need != nullptr && (need->complete.contains(block) || need->held_of(block) == bulk::kEnough);
  if (const auto wrong = watch.giving.gave(end.key(), {block, esi}, connection.is_all_new && has_enough)) {
    if (watch.history.wrong.size() < checkers::kViolationsMax) watch.history.wrong.push_back(*wrong);
  }
}

void PeerWatch::closed(StreamRef end) {
  if (connections_.erase(end) == 0) return;
  for (auto& [channel, watch] : channels_) {
    if (watch.hops.erase(end) != 0) watch.giving.lost(end.key());
  }
}

void PeerWatch::end() {
  former_ = histories();
  connections_.clear();
  channels_.clear();
  brought_.clear();
}

std::vector<checkers::PeerHistory> PeerWatch::histories() const {
  std::vector<checkers::PeerHistory> all = former_;
  for (const auto& [channel, watch] : channels_) all.push_back(watch.history);
  return all;
}

}  // namespace spindled::sim
