#include "daemon/link/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "daemon/base/check.h"
#include "daemon/base/gather_buffers.h"
#include "daemon/link/link_limits.h"

namespace spindled {

Link::Link(Context& context, Driver& driver, ConnectionId connection, std::string address, bool dialled, Time now)
    : context_(context),
      driver_(driver),
      connection_(connection),
      address_(std::move(address)),
      dialled_(dialled),
      phase_(dialled ? LinkPhase::dialling : LinkPhase::handshake),
      queue_(context.slabs),
      last_heard_(now) {}

void Link::enter(LinkPhase phase) {
  SPINDLE_CHECK(may_follow(phase_, phase));
  phase_ = phase;
}

std::span<std::uint8_t> Link::read_space() { return input_.prepare(context_.read_arena, wanted_); }

void Link::handle_read(Time now, std::size_t bytes) {
  input_.commit(context_.read_arena, bytes);
  bytes_in_ += bytes;
  context_.counters.add(Counter::link_bytes_in, bytes);
  if (bytes != 0) last_heard_ = now;
}

Result<std::optional<Link::Frame>> Link::next_frame() {
  wanted_ = 0;
  const std::optional<FrameHead> head = spindle::read_frame_head(input_.unread());
  if (!head) return std::nullopt;
  if (Result<void> good = check_head(*head); !good) return tl::unexpected<Error>(good.error());
  if (input_.unread().size() < kFrameHeadBytes + head->length) {
    wanted_ = kFrameHeadBytes + head->length;
    return std::nullopt;
  }
  input_.skip(kFrameHeadBytes);
  ++frames_in_;
  context_.counters.add(Counter::link_frames_in);
  return Frame{static_cast<LinkFrame>(head->type), input_.take(head->length)};
}

Result<void> Link::check_head(const FrameHead& head) const {
  const FrameTraits* traits = find_frame(head.type);
  if (traits == nullptr) return fail(Errc::malformed_frame, fmt::format("there is no frame of type {}", head.type));
  const bool is_first = traits->type == LinkFrame::control || traits->type == LinkFrame::close;
  if (phase_ == LinkPhase::handshake && !is_first) {
    return fail(Errc::unexpected_frame, fmt::format("a frame of type {} came before the handshake", head.type));
  }
  const std::size_t limit = is_established() ? traits->bytes_max : std::min(traits->bytes_max, kHandshakeFrameBytesMax);
  if (head.length > limit) {
    return fail(Errc::frame_too_large,
                fmt::format("a frame of type {} has {} bytes, the limit is {}", head.type, head.length, limit));
  }
  return {};
}

/// Whether a frame may be queued. A link that must be closed is closed at the end of the turn, not under the feet of
/// whoever is sending.
bool Link::make_room(std::size_t body_bytes) {
  if (overflowed_ || queue_.bytes() + kFrameHeadBytes + body_bytes > kLinkQueueBytesMax) {
    overflowed_ = true;
    return false;
  }
  ++frames_out_;
  return true;
}

void Link::send(LinkFrame type, ByteView prefix, const Slice& head, const Slice& tail) {
  const FrameTraits& traits = traits_of(type);
  const std::size_t length = prefix.size() + head.size() + tail.size();
  SPINDLE_CHECK(length <= traits.bytes_max);
  if (!make_room(length)) return;
  queue_.append(traits, prefix, head, tail);
  if (traits.bytes) context_.counters.add(*traits.bytes, kFrameHeadBytes + length);
}

void Link::send_close(const LinkClose& close) {
  for (std::size_t i = 1; i < kFramePriorities; ++i) queue_.drop(static_cast<FramePriority>(i));
  queue_.append(traits_of(LinkFrame::close), write_link_close(close), {}, {});
  ++frames_out_;
}

bool Link::write() {
  GatherBuffers<kGatherBuffersMax> room;
  const std::span<ByteView> buffers = room.all();
  while (!blocked_ && !queue_.empty()) {
    const std::size_t count = queue_.gather(buffers);
    std::size_t offered = 0;
    for (std::size_t i = 0; i < count; ++i) offered += buffers[i].size();
    const std::size_t taken = driver_.write(connection_, buffers.first(count));
    SPINDLE_CHECK(taken <= offered);
    queue_.consume(taken);
    bytes_out_ += taken;
    context_.counters.add(Counter::link_bytes_out, taken);
    blocked_ = taken < offered;
  }
  return queue_.empty();
}

void Link::send_ping(Time now) {
  first_ping_ = std::min(first_ping_, now);
  std::array<std::uint8_t, kPingFrameBytes> body;
  Writer writer(body.data());
  writer.u64(static_cast<std::uint64_t>(now.time_since_epoch().count()));
  send(LinkFrame::ping, body, {}, {});
}

bool Link::handle_pong(Time now, const Ping& pong) {
  const Time sent{Duration(static_cast<Duration::rep>(pong.token))};
  if (sent < first_ping_ || sent > now) return false;
  // RFC 6298, the smoothed estimate. A sample of zero, which a virtual clock can give, still counts as measured.
  const Duration sample = std::max<Duration>(now - sent, 1ns);
  round_trip_ = round_trip_ == Duration::zero() ? sample : std::max<Duration>((7 * round_trip_ + sample) / 8, 1ns);
  return true;
}

Duration Link::path_round_trip() const {
  const Duration below = shortest_round_trip();
  return round_trip_ == Duration::zero() || below == Duration::zero() ? round_trip_ : below;
}

void Link::excuse(Time now, Duration lapse) { last_heard_ = std::min(now, last_heard_ + lapse); }

}  // namespace spindled
