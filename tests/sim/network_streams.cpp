// The life of one stream: dialling, writing, carrying, reading, closing.
#include <algorithm>
#include <utility>

#include "daemon/base/check.h"
#include "tests/sim/network.h"

namespace spindled::sim {

namespace {

/// What one stream has of a path at a time: as little as the path carries in a tenth of a second, so that others, which
/// say that their ends are there, need not wait for long; and a packet at least.
std::size_t turn_of(const PathProperties& path) {
  constexpr std::size_t kPacket = 1460;
  if (path.bytes_per_second == 0) return SIZE_MAX;
  return std::max<std::size_t>(kPacket, path.bytes_per_second / 10);
}

}  // namespace

std::pair<StreamRef, Network::Stream&> Network::add_stream() {
  const std::uint64_t number = numbered_.size();
  Stream& stream = streams_[number];
  numbered_.push_back(&stream);
  return {StreamRef{number, 0}, stream};
}

StreamRef Network::dial(HostIndex from, std::string_view address, StreamOwner& owner) {
  const auto [ref, stream] = add_stream();
  stream.ends[0].owner = &owner;
  stream.ends[0].host = from;
  const auto target =
      std::find_if(hosts_.begin(), hosts_.end(), [&](const Host& host) { return host.address == address; });
  if (target == hosts_.end()) {
    fail_end(ref, 1ms, "no such host");
    return ref;
  }
  const auto to = static_cast<HostIndex>(target - hosts_.begin());
  stream.ends[1].host = to;
  stream.ends[0].out = &wire(from, to);
  stream.ends[1].out = &wire(to, from);
  attempt_dial(ref, to, 1);
  return ref;
}

void Network::attempt_dial(StreamRef ref, HostIndex target, int attempt) {
  End* end = find(ref);
  if (end == nullptr || end->owner == nullptr) return;
  Wire& out = *end->out;
  if (is_blocked(out) || is_blocked(*find(ref.peer())->out) || hosts_[target].silent) {
    if (attempt == kDialAttempts) {
      fail_end(ref, 0ns, "connection timed out");
    } else {
      events_->after(kDialRetry, [this, ref, target, attempt] { attempt_dial(ref, target, attempt + 1); });
    }
    return;
  }
  const std::string peer = hosts_[end->host].name;
  events_->after(delay(out), [this, ref, target, peer] { accept(ref, target, Port::link, peer); });
}

StreamRef Network::dial_local(HostIndex host, Port port, std::string peer, StreamOwner& owner) {
  const auto [ref, stream] = add_stream();
  for (std::size_t side = 0; side < 2; ++side) {
    stream.local[side] = std::make_unique<Wire>();
    stream.local[side]->properties = local_path_;
    stream.ends[side].out = stream.local[side].get();
  }
  stream.ends[0].owner = &owner;
  stream.ends[1].host = host;
  events_->after(10us, [this, opened = ref, host, port, peer = std::move(peer)] { accept(opened, host, port, peer); });
  return ref;
}

void Network::accept(StreamRef ref, HostIndex target, Port port, std::string_view peer) {
  End* opener = find(ref);
  if (opener == nullptr) return;
  Wire& back = *find(ref.peer())->out;
  if (hosts_[target].silent) {
    fail_end(ref, kDialRetry * kDialAttempts, "connection timed out");
    return;
  }
  if (!hosts_[target].up) {
    fail_end(ref, delay(back), "connection refused");
    return;
  }
  End& end = *find(ref.peer());
  end.established = true;
  end.owner = hosts_[target].listener->stream_accepted(ref.peer(), port, peer);
  if (end.owner == nullptr) {
    fail_end(ref, delay(back), "connection refused");
    return;
  }
  events_->after(delay(back), [this, ref] {
    End* connected = find(ref);
    if (connected == nullptr || connected->owner == nullptr || connected->established) return;
    connected->established = true;
    connected->owner->stream_connected(ref);
    // What the acceptor said at once may have come with, or before, the news of the connection.
    connected = find(ref);
    if (connected == nullptr || connected->owner == nullptr) return;
    if (!connected->receive.empty() || connected->fin_received) connected->owner->stream_readable(ref);
  });
}

std::size_t Network::write(StreamRef ref, std::span<const ByteView> buffers) {
  End* end = find(ref);
  if (end == nullptr || end->owner == nullptr || !end->established) return 0;
  std::size_t taken = 0;
  for (const ByteView& buffer : buffers) {
    const std::size_t limit = end->out->properties.send_buffer;
    const std::size_t room = limit > end->send.size() ? limit - end->send.size() : 0;
    const std::size_t part = std::min(room, buffer.size());
    end->send.push(buffer.first(part));
    taken += part;
    if (part < buffer.size()) {
      end->write_blocked = true;
      break;
    }
  }
  if (taken > 0) add_waiting(ref, *end);
  return taken;
}

void Network::add_waiting(StreamRef ref, End& end) {
  if (!end.waiting) {
    end.waiting = true;
    end.out->waiting.push_back(ref);
  }
  // From an event of its own: a write must not make room, or call anybody, before it has returned.
  if (!end.out->busy && !is_blocked(*end.out)) hold(*end.out, ref, 0ns);
}

void Network::pump(Wire& wire) {
  while (!wire.busy && !wire.waiting.empty() && !is_blocked(wire)) {
    const StreamRef ref = wire.waiting.front();
    wire.waiting.pop_front();
    End* end = find(ref);
    if (end == nullptr) continue;
    end->waiting = false;
    if (transmit(wire, ref, *end) && !end->waiting) {
      end->waiting = true;
      wire.waiting.push_back(ref);
    }
  }
}

std::size_t Network::draw_chunk(std::size_t available) {
  // Now and then a boundary anywhere, so that frames are cut in every possible place.
  available = std::min(available, kChunkBytesMax);
  return available > 1 && random_.below(8) == 0 ? 1 + random_.below(available) : available;
}

std::size_t Network::sendable(const Wire& wire, const End& end) {
  const std::size_t window = std::max(end.window, wire.properties.receive_window);
  const std::size_t open = window > end.in_flight ? window - end.in_flight : 0;
  return std::min(open, end.send.size());
}

void Network::take(Wire& wire, StreamRef ref, End& end, std::size_t bytes, bool fin) {
  if (wire.tap) wire.tap(ref, end.send.front().first(bytes));
  end.send.pop(bytes);
  end.in_flight += bytes;
  end.fin_sent = end.fin_sent || fin;
  if (wire.to != kLocal) bytes_carried_ += bytes;
}

Duration Network::transmission_time(const Wire& wire, std::size_t bytes) {
  if (wire.properties.bytes_per_second == 0) return {};
  return from_seconds(static_cast<double>(bytes) / static_cast<double>(wire.properties.bytes_per_second));
}

void Network::hold(Wire& wire, StreamRef ref, Duration time) {
  wire.busy = true;
  const bool local = wire.from == kLocal && wire.to == kLocal;
  events_->after(time, [this, stream = ref.stream, local, &wire] {
    if (local && stream_of(stream) == nullptr) return;  // the wire went with its stream
    wire.busy = false;
    pump(wire);
  });
}

void Network::call_writer(const Wire& wire, StreamRef ref, End& end) {
  if (!end.write_blocked || end.send.size() > wire.properties.send_buffer / 2) return;
  end.write_blocked = false;
  events_->after(0ns, [this, ref] {
    End* writer = find(ref);
    if (writer != nullptr && writer->owner != nullptr) writer->owner->stream_writable(ref);
  });
}

bool Network::transmit(Wire& wire, StreamRef ref, End& end) {
  if (end.flow == nullptr && wire.properties.congestion_control != CongestionControl::none) {
    end.flow = std::make_unique<SegmentFlow>(wire.properties.congestion_control);
  }
  if (end.flow != nullptr) return transmit_segment(wire, ref, end);
  if (end.crashed) return false;
  const std::size_t size = draw_chunk(std::min(sendable(wire, end), turn_of(wire.properties)));
  const bool fin = end.fin_wanted && !end.fin_sent && size == end.send.size();
  if (size == 0 && !fin) return false;

  const ByteView front = end.send.front().first(size);
  std::vector<std::uint8_t> chunk(front.begin(), front.end());
  take(wire, ref, end, size, fin);
  const Duration transmission = transmission_time(wire, size);
  wire.last_arrival = std::max(events_->now() + transmission + delay(wire), wire.last_arrival);
  events_->at(wire.last_arrival,
              [this, ref, chunk = std::move(chunk), fin]() mutable { arrive(ref.peer(), std::move(chunk), fin); });
  if (transmission > 0ns) hold(wire, ref, transmission);
  call_writer(wire, ref, end);
  return !end.send.empty();
}

void Network::arrive(StreamRef to, std::vector<std::uint8_t> chunk, bool fin) {
  End* end = find(to);
  if (end == nullptr) return;
  if (end->owner == nullptr) {
    arrive_at_closed(to, *end, chunk.size());
    return;
  }
  end->receive.push(std::move(chunk));
  end->fin_received = end->fin_received || fin;
  if (end->established) end->owner->stream_readable(to);
}

void Network::arrive_at_closed(StreamRef to, End& end, std::size_t bytes) {
  End& sender = *find(to.peer());
  if (end.host != kLocal && hosts_[end.host].silent) return;  // nobody there: neither an answer nor a window
  if (!end.crashed && events_->now() - end.closed_at < kLinger) {
    sender.in_flight -= std::min(bytes, sender.in_flight);
    if (!sender.send.empty()) add_waiting(to.peer(), sender);
    return;
  }
  if (end.out == nullptr || is_blocked(*end.out)) return;
  fail_end(to.peer(), delay(*end.out), "connection reset by peer");
}

std::size_t Network::read(StreamRef ref, std::span<std::uint8_t> out) {
  End* end = find(ref);
  if (end == nullptr) return 0;
  const std::size_t count = end->receive.pop_into(out);
  End& sender = *find(ref.peer());
  sender.in_flight -= std::min(count, sender.in_flight);
  if (count > 0 && end->out != nullptr && sender.out != nullptr) grow_window(sender, *end->out, count);
  if (count > 0 && (!sender.send.empty() || (sender.fin_wanted && !sender.fin_sent))) add_waiting(ref.peer(), sender);
  return count;
}

void Network::grow_window(End& sender, const Wire& back, std::size_t bytes) {
  const PathProperties& path = sender.out->properties;
  if (path.receive_window_max <= path.receive_window) return;
  sender.read_by_peer += bytes;
  if (events_->now() - sender.measured_since < path.delay + back.properties.delay) return;
  const std::size_t wanted = std::min(path.receive_window_max, 2 * sender.read_by_peer);
  sender.window = std::max({sender.window, path.receive_window, wanted});
  sender.read_by_peer = 0;
  sender.measured_since = events_->now();
}

Duration Network::round_trip(StreamRef ref) const {
  const End* end = find(ref);
  const End* peer = find(ref.peer());
  if (end == nullptr || end->out == nullptr || peer->out == nullptr) return Duration::zero();
  const Duration queued = std::max<Duration>(end->out->free_at - events_->now(), 0ns);
  return end->out->properties.delay + queued + peer->out->properties.delay;
}

Duration Network::shortest_round_trip(StreamRef ref) const {
  const End* end = find(ref);
  const End* peer = find(ref.peer());
  if (end == nullptr || end->out == nullptr || peer->out == nullptr) return Duration::zero();
  // Where nothing waits in front of the path it is not told: what daemons measure themselves is as good.
  if (end->out->properties.queue_bytes == 0) return Duration::zero();
  return end->out->properties.delay + peer->out->properties.delay;
}

std::size_t Network::unacknowledged_bytes(StreamRef ref) const {
  const End* end = find(ref);
  if (end == nullptr) return 0;
  return end->send.size() + (end->flow ? end->flow->in_flight_bytes() : end->in_flight);
}

std::size_t Network::readable(StreamRef ref) const {
  const End* end = find(ref);
  return end == nullptr ? 0 : end->receive.size();
}

bool Network::at_end(StreamRef ref) const {
  const End* end = find(ref);
  return end != nullptr && end->fin_received && end->receive.empty();
}

void Network::close(StreamRef ref) {
  End* end = find(ref);
  if (end == nullptr || end->owner == nullptr) return;
  end->owner = nullptr;
  end->closed_at = events_->now();
  end->receive.clear();
  if (end->established) {
    end->fin_wanted = true;
    add_waiting(ref, *end);
    // Unread bytes no longer hold the peer's window.
    End& sender = *find(ref.peer());
    sender.in_flight = 0;
    if (!sender.send.empty()) add_waiting(ref.peer(), sender);
  }
  forget_if_done(ref.stream);
}

void Network::abort(StreamRef ref, std::string_view why) {
  End* end = find(ref);
  if (end == nullptr || end->owner == nullptr) return;
  end->owner = nullptr;
  end->crashed = true;
  end->receive.clear();
  if (end->out != nullptr && !is_blocked(*end->out)) fail_end(ref.peer(), delay(*end->out), why);
  forget_if_done(ref.stream);
}

void Network::vanish(StreamRef ref) {
  End* end = find(ref);
  if (end == nullptr || end->owner == nullptr) return;
  end->owner = nullptr;
  end->crashed = true;
  end->receive.clear();
  forget_if_done(ref.stream);
}

void Network::fail_end(StreamRef ref, Duration after, std::string_view why) {
  events_->after(after, [this, ref, reason = std::string(why)] {
    End* end = find(ref);
    if (end == nullptr) return;
    StreamOwner* owner = std::exchange(end->owner, nullptr);
    end->crashed = true;
    forget_if_done(ref.stream);
    if (owner != nullptr) owner->stream_closed(ref, reason);
  });
}

void Network::forget_if_done(std::uint64_t stream) {
  const Stream* found = stream_of(stream);
  if (found == nullptr) return;
  for (const End& end : found->ends) {
    if (end.owner != nullptr) return;
  }
  numbered_[stream] = nullptr;
  streams_.erase(stream);
}

}  // namespace spindled::sim
