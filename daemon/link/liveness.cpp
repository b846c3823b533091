#include "daemon/link/liveness.h"

#include <optional>

namespace spindled {

void Liveness::watch(Time now, Link& link) {
  if (layer_.table.established_count() == 1) {
    next_ping_ = now + layer_.context.config.link.hello_interval;
    next_silence_ = kNever;
  }
  next_silence_ = std::min(next_silence_, link.silent_at());
  ping(now, link);
}

void Liveness::ping(Time now, Link& link) {
  link.send_ping(now);
  layer_.table.mark_dirty(link);
}

void Liveness::echo_received(Time now, Link& link, const Link::Frame& frame) {
  const std::optional<Ping> echo = read_ping(frame.body.view());
  if (!echo) {
    teardown_.end(now, link, {Errc::malformed_frame, "a ping or pong is malformed"});
  } else if (frame.type == LinkFrame::ping) {
    link.send(LinkFrame::pong, frame.body.view(), {}, {});
    layer_.table.mark_dirty(link);
  } else if (link.handle_pong(now, *echo)) {
    layer_.events->round_trip_changed(now, *link.marks.id);
  }
}

void Liveness::handle_time(Time now) {
  if (has_links() && now >= next_ping_) ping_all(now);
  if (has_links() && now >= next_silence_) end_silent(now);
}

void Liveness::ping_all(Time now) {
  const Duration interval = layer_.context.config.link.hello_interval;
  // A daemon that was suspended finds its deadlines before the bytes that came meanwhile.
  const Duration lapse = now - next_ping_ > interval ? now - next_ping_ : Duration::zero();
  layer_.table.for_each_established([&](Link& link) {
    link.excuse(now, lapse);
    ping(now, link);
  });
  next_ping_ = now + interval;
}

void Liveness::end_silent(Time now) {
  next_silence_ = kNever;
  layer_.table.for_each_established([&](Link& link) {
    if (link.silent_at() <= now) {
      teardown_.end(now, link, {Errc::silent_peer, {}});
    } else {
      next_silence_ = std::min(next_silence_, link.silent_at());
    }
  });
}

}  // namespace spindled
