#include "daemon/link/links.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/check.h"

namespace spindled {

void Links::start(Time now) {
  SPINDLE_CHECK(layer_.events != nullptr);
  layer_.neighbours.start(now);
  handshakes_.dial_due(now);
}

void Links::stop(Time now) {
  layer_.stopping = true;
  layer_.neighbours.stop();
  layer_.table.for_each_of_now([&](Link& link) {
    if (link.phase() != LinkPhase::closing) teardown_.end_as_stopping(now, link);
  });
}

// Inputs.

void Links::handle_accepted(Time now, ConnectionId connection, const Peer& peer) {
  handshakes_.accepted(now, connection, peer);
}

void Links::handle_connected(Time now, ConnectionId connection, std::string_view identity) {
  if (Link* link = layer_.table.find(connection)) handshakes_.connected(now, *link, identity);
}

std::span<std::uint8_t> Links::read_space(ConnectionId connection) {
  Link* link = layer_.table.find(connection);
  SPINDLE_CHECK(link != nullptr);
  return link->read_space();
}

void Links::handle_read(Time now, ConnectionId connection, std::size_t bytes) {
  Link* link = layer_.table.find(connection);
  SPINDLE_CHECK(link != nullptr);
  link->handle_read(now, bytes);
  if (hand_over(now, *link)) return;
  while (link->phase() != LinkPhase::closing) {
    Result<std::optional<Link::Frame>> frame = link->next_frame();
    if (!frame) {
      teardown_.end(now, *link, frame.error());
    } else if (!frame->has_value()) {
      return;
    } else {
      handle_frame(now, *link, std::move(**frame));
    }
  }
  link->discard_input();
}

bool Links::hand_over(Time now, Link& link) {
  if (taker_ == nullptr || link.phase() != LinkPhase::handshake || link.dialled()) return false;
  const ConnectionTaker::Claim claim = taker_->claim_on(Port::link, link.unread());
  if (claim != ConnectionTaker::Claim::now) return claim == ConnectionTaker::Claim::later;
  const Peer peer(link.address(), link.identity().empty() ? std::vector<std::string>() : std::vector{link.identity()});
  InputBuffer unread = link.take_input();
  layer_.table.set_deadline(link, kNever);
  layer_.table.remove(link);
  taker_->take_over(now, link.connection(), Port::link, peer, std::move(unread));
  return true;
}

void Links::handle_frame(Time now, Link& link, Link::Frame frame) {
  if (frame.type == LinkFrame::control) layer_.context.counters.add(Counter::control_in);
  if (frame.type == LinkFrame::close) return teardown_.close_received(now, link, frame.body.view());
  if (link.phase() == LinkPhase::handshake) return handshakes_.first_frame_received(now, link, frame);
  if (link.phase() == LinkPhase::waiting) handshakes_.used_by_peer(now, link);
  if (!link.is_established()) return;
  if (frame.type == LinkFrame::ping || frame.type == LinkFrame::pong) {
    liveness_.echo_received(now, link, frame);
  } else if (frame.type == LinkFrame::datagram) {
    if (layer_.datagrams.frames_received(now, *link.marks.id, frame.body.view()) || !link.is_established()) return;
    teardown_.end(now, link, {Errc::malformed_frame, "a frame in place of a datagram is malformed"});
  } else {
    layer_.events->frame_received(now, *link.marks.id, frame.type, std::move(frame.body));
  }
}

void Links::handle_writable(Time, ConnectionId connection) {
  Link* link = layer_.table.find(connection);
  if (link == nullptr) return;
  link->handle_writable();
  layer_.table.mark_dirty(*link);
}

void Links::handle_closed(Time now, ConnectionId connection, std::string_view why) {
  if (Link* link = layer_.table.find(connection)) teardown_.connection_lost(now, *link, why);
}

void Links::handle_datagrams(Time now, std::span<const IncomingDatagram> datagrams) {
  for (const IncomingDatagram& datagram : datagrams) {
    const std::optional<LinkId> bad = layer_.datagrams.handle(now, datagram);
    if (bad) close(now, *bad, {Errc::malformed_frame, "a datagram is malformed"});
  }
}

void Links::handle_time(Time now) {
  partition_.handle_time(now);
  while (Link* link = layer_.table.take_due(now)) {
    link->phase() == LinkPhase::closing ? teardown_.let_go(*link) : handshakes_.timed_out(now, *link);
  }
  if (!layer_.stopping) handshakes_.dial_due(now);
  liveness_.handle_time(now);
  layer_.datagrams.handle_time(now);
}

Time Links::next_deadline() const {
  return std::min({layer_.table.next_deadline(), layer_.neighbours.next_dial(), liveness_.next_deadline(),
                   partition_.next_deadline(), layer_.datagrams.next_deadline()});
}

void Links::flush(Time now) {
  if (layer_.table.take_overflow()) end_overflowed(now);
  // Writing hands up no events, so nothing is marked on the way.
  for (const ConnectionId connection : layer_.table.dirty()) {
    Link* link = layer_.table.find(connection);
    if (link == nullptr) continue;
    link->marks.dirty = false;
    if (link->write() && link->phase() == LinkPhase::closing) teardown_.let_go(*link);
  }
  layer_.table.dirty().clear();
  layer_.table.forget_removed();
  layer_.datagrams.flush(now);
}

void Links::end_overflowed(Time now) {
  layer_.table.for_each_established([&](Link& link) {
    if (!link.overflowed()) return;
    teardown_.end(now, link,
                  {Errc::limit_exceeded,
                   fmt::format("{} does not read: {} bytes wait for it", link.peer().name, link.queue().bytes())});
  });
}

// Output.

void Links::send_control(LinkId link, const Slice& message) {
  if (sendable(link) == nullptr) return;
  if (message.size() <= kControlFrameBytesMax) {
    send(link, LinkFrame::control, message);
  } else {
    constexpr std::size_t kPartBytesMax = kControlFrameBytesMax - 1;
    for (std::size_t at = 0; at < message.size(); at += kPartBytesMax) {
      const std::uint8_t is_last = at + kPartBytesMax >= message.size() ? 1 : 0;
      send(link, LinkFrame::control_part, {&is_last, 1}, message.part(at, kPartBytesMax), {});
    }
  }
  layer_.context.counters.add(Counter::control_out);
}

void Links::send(LinkId link, LinkFrame type, const Slice& content) { send(link, type, {}, content, {}); }

void Links::send(LinkId id, LinkFrame type, ByteView prefix, const Slice& head, const Slice& tail) {
  Link* link = sendable(id);
  if (link == nullptr) return;
  link->send(type, prefix, head, tail);
  layer_.table.mark_dirty(*link);
}

bool Links::send_feed_frame(Time now, LinkId id, std::uint8_t type, ByteView head, ByteView tail) {
  Link* link = sendable(id);
  if (link == nullptr) return false;
  switch (layer_.datagrams.next_way(now, id, head.size() + tail.size())) {
    case Datagrams::Way::datagram:
      return layer_.datagrams.send(id, type, head, tail);
    case Datagrams::Way::none:
      return false;
    case Datagrams::Way::connection:
      break;
  }
  if (link->queue().bytes(FramePriority::data) > kFallbackQueueBytesMax) {
    layer_.datagrams.note_behind(id);
    return false;
  }
  std::vector<std::uint8_t> frame(kDatagramFrameHeadBytes + head.size() + tail.size());
  Writer writer(frame.data());
  write_datagram_frame_head(writer, type, head.size() + tail.size());
  writer.bytes(head);
  writer.bytes(tail);
  link->send(LinkFrame::datagram, frame, {}, {});
  layer_.table.mark_dirty(*link);
  return true;
}

void Links::drop_queued(LinkId id, FramePriority priority) {
  if (Link* link = sendable(id)) link->drop_queued(priority);
}

void Links::close(Time now, LinkId id, Error reason) {
  if (Link* link = sendable(id)) teardown_.end(now, *link, reason);
}

// What is known.

std::vector<LinkId> Links::established() const {
  std::vector<LinkId> result;
  layer_.table.for_each_established([&](const Link& link) { result.push_back(*link.marks.id); });
  return result;
}

std::optional<LinkId> Links::established_with(std::string_view peer) const {
  const Link* link = layer_.table.established_to(peer);
  return link == nullptr ? std::nullopt : link->marks.id;
}

LinkInfo Links::info(LinkId id) const {
  const Link& link = layer_.table.at(id);
  LinkInfo info;
  info.peer = link.peer();
  info.address = link.address();
  info.identity = link.identity();
  info.dialled = link.dialled();
  info.configured_weight = configured_weight(id);
  info.round_trip = link.round_trip();
  info.up_since = link.up_since();
  info.queued_bytes = link.queue().bytes();
  info.queued_packets = link.queue().packets();
  info.bytes_in = link.bytes_in();
  info.bytes_out = link.bytes_out();
  info.frames_in = link.frames_in();
  info.frames_out = link.frames_out();
  info.datagrams = layer_.datagrams.info(id);
  return info;
}

Links::QueueLength Links::queue_length(LinkId id) const {
  const Link& link = layer_.table.at(id);
  const LinkQueue& queue = link.queue();
  return {link.is_blocked() ? queue.packets() : 0, queue.departed_packets(), queue.departed_squares()};
}

std::vector<NeighbourInfo> Links::unconnected() const {
  std::vector<NeighbourInfo> result;
  for (const Neighbours::Neighbour& neighbour : layer_.neighbours.all()) {
    if (!neighbour.known_peer.empty() && layer_.table.established_to(neighbour.known_peer) != nullptr) continue;
    result.push_back({neighbour.config.address, neighbour.last_error, neighbour.next_dial});
  }
  return result;
}

}  // namespace spindled
