// Whether the neighbours behind established links are there, and how far away.
#pragma once

#include <algorithm>

#include "daemon/link/teardown.h"

namespace spindled {

/// Pings all links at once, every `hello_interval`; a pong gives the round-trip time, and a link on which nothing has
/// come for `liveness_timeout` is ended. Nothing is sent while there is no link.
///
/// TCP falls silent, too, where it loses the same bytes several times. So a peer whose connection is silent is asked by
/// datagram, and while datagrams come from it the link lasts, for kStallTimeouts timeouts.
class Liveness {
 public:
  Liveness(LinkLayer& layer, Teardown& teardown) : layer_(layer), teardown_(teardown) {}

  /// It has just been established.
  void watch(Time now, Link& link);
  /// Whoever is there answers, or shows that it is another by now.
  void ping(Time now, Link& link);
  /// A ping or pong.
  void echo_received(Time now, Link& link, const Link::Frame& frame);

  void handle_time(Time now);
  Time next_deadline() const { return has_links() ? std::min(next_ping_, next_look_) : kNever; }

 private:
  bool has_links() const { return layer_.table.established_count() != 0; }
  Duration timeout() const { return layer_.context.config.link.liveness_timeout; }
  Time suspect_at(const Link& link) const;
  Time over_at(const Link& link) const;
  void ping_all(Time now);
  void look_for_silence(Time now);
  Time look_at_silent(Time now, Link& link);

  LinkLayer& layer_;
  Teardown& teardown_;
  // Shared by all established links, while there are any.
  Time next_ping_ = kNever;
  Time next_look_ = kNever;  // no link is suspect before this
};

}  // namespace spindled
