// Streams over paths with loss: segments, their loss and their acknowledgements.
#include <algorithm>
#include <utility>

#include "tests/sim/network.h"

namespace spindled::sim {

bool Network::transmit_segment(Wire& wire, StreamRef ref, End& end) {
  SegmentFlow& flow = *end.flow;
  if (end.crashed || !flow.has_room()) return false;  // what arrives makes room
  SegmentRef segment;
  if (flow.has_lost()) {
    segment = flow.next_lost();
  } else {
    const std::size_t size = std::min(sendable(wire, end), SegmentFlow::kSegmentBytes);
    const bool fin = end.fin_wanted && !end.fin_sent && size == end.send.size();
    if (size == 0 && !fin) return false;
    const ByteView bytes = end.send.front().first(size);
    segment = flow.cut({bytes.begin(), bytes.end()}, fin);
    take(wire, ref, end, size, fin);
  }
  send_segment(wire, ref, flow, std::move(segment));
  watch_timeout(ref, flow);
  call_writer(wire, ref, end);
  return flow.has_lost() || !end.send.empty();
}

void Network::send_segment(Wire& wire, StreamRef ref, SegmentFlow& flow, SegmentRef segment) {
  const std::size_t size = segment->bytes.size();
  const std::uint64_t number = flow.sent(events_->now(), segment);
  const Duration transmission = transmission_time(wire, size);
  Time leaves = events_->now() + transmission;
  if (wire.properties.queue_bytes > 0) {
    // The sender's own line is fast, and the queue in front of the narrow one drops what it has no room for.
    const Time from = std::max(events_->now(), wire.free_at);
    const double waiting = to_seconds(from - events_->now()) * static_cast<double>(wire.properties.bytes_per_second);
    if (waiting + static_cast<double>(size) > static_cast<double>(wire.properties.queue_bytes)) return;
    leaves = wire.free_at = from + transmission;
  } else if (transmission > 0ns) {
    hold(wire, ref, transmission);
  }
  if (random_.chance(wire.properties.loss)) return;
  wire.last_arrival = std::max(leaves + delay(wire), wire.last_arrival);
  events_->at(wire.last_arrival,
              [this, ref, number, segment = std::move(segment)] { segment_arrived(ref, number, segment); });
}

void Network::segment_arrived(StreamRef from, std::uint64_t number, const SegmentRef& segment) {
  End* sender = find(from);
  if (sender == nullptr) return;
  End& receiver = *find(from.peer());
  events_->after(delay(*receiver.out), [this, from, number] {
    End* end = find(from);
    if (end == nullptr) return;
    end->flow->acknowledged(events_->now(), number);
    if (end->flow->has_lost() || !end->send.empty() || (end->fin_wanted && !end->fin_sent)) add_waiting(from, *end);
  });
  for (const SegmentRef& next : sender->flow->arrived(segment)) {
    arrive(from.peer(), next->bytes, next->fin);
    sender = find(from);
    if (sender == nullptr) return;  // whoever was told has ended the stream
  }
}

/// One event at a time looks whether the flow's deadline has passed.
void Network::watch_timeout(StreamRef ref, SegmentFlow& flow) {
  const Time deadline = flow.deadline();
  if (deadline == kNever || flow.is_watched) return;
  flow.is_watched = true;
  events_->at(deadline, [this, ref] {
    End* end = find(ref);
    if (end == nullptr) return;
    SegmentFlow& watched = *end->flow;
    watched.is_watched = false;
    if (watched.deadline() <= events_->now()) {
      watched.time_out(events_->now());
      add_waiting(ref, *end);
    }
    watch_timeout(ref, watched);
  });
}

}  // namespace spindled::sim
