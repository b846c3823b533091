#include "daemon/link/liveness.h"

#include <optional>

#include "daemon/link/link_limits.h"

namespace spindled {

void Liveness::watch(Time now, Link& link) {
  if (layer_.table.established_count() == 1) {
    next_ping_ = now + layer_.context.config.link.hello_interval;
    next_look_ = kNever;
  }
  next_look_ = std::min(next_look_, suspect_at(link));
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
    // Whoever does not read is owed no more of them.
    if (link.queue().bytes(FramePriority::control) > kAnswersQueueBytesMax) return;
    link.send(LinkFrame::pong, frame.body.view(), {}, {});
    layer_.table.mark_dirty(link);
  } else if (link.handle_pong(now, *echo)) {
    layer_.events->round_trip_changed(now, *link.marks.id);
  }
}

void Liveness::handle_time(Time now) {
  if (has_links() && now >= next_ping_) ping_all(now);
  if (has_links() && now >= next_look_) look_for_silence(now);
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

/// When there is something to ask if nothing more is heard. Without datagrams there is nothing before the link ends.
Time Liveness::suspect_at(const Link& link) const {
  return link.last_heard() + (layer_.datagrams.is_open(*link.marks.id) ? timeout() / 2 : timeout());
}

/// When the link ends if nothing more is heard.
Time Liveness::over_at(const Link& link) const {
  const Time beside = layer_.datagrams.last_heard(*link.marks.id);
  const Time stalled_for_long = link.last_heard() + (kStallTimeouts - 1) * timeout();
  return std::max(link.last_heard(), std::min(beside, stalled_for_long)) + timeout();
}

void Liveness::look_for_silence(Time now) {
  next_look_ = kNever;
  layer_.table.for_each_established([&](Link& link) {
    if (over_at(link) <= now) return teardown_.end(now, link, {Errc::silent_peer, {}});
    next_look_ = std::min(next_look_, suspect_at(link) > now ? suspect_at(link) : look_at_silent(now, link));
  });
}

/// Returns when to look again.
Time Liveness::look_at_silent(Time now, Link& link) {
  if (now - link.last_heard() >= timeout() && link.note_stall()) {
    layer_.log.info("the connection to {} is silent, but datagrams come", link.peer().name);
  }
  const Duration apart = std::max(timeout() / kSilentQuestions, kSilentQuestionsApart);
  const LinkId id = *link.marks.id;
  // Where datagrams come anyway there is nothing to ask.
  const bool may_answer = now - layer_.datagrams.last_heard(id) < apart || layer_.datagrams.ask_now(now, id);
  return may_answer ? std::min(over_at(link), now + apart) : over_at(link);
}

}  // namespace spindled
