#include "daemon/link/teardown.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "daemon/link/link_limits.h"
#include "daemon/wire/control.h"

namespace spindled {

namespace {

bool is_bad_frame(Errc code) {
  return code == Errc::malformed_frame || code == Errc::frame_too_large || code == Errc::unexpected_frame;
}

/// Whether a handshake failed because somebody is not wanted, rather than by accident.
bool is_refusal(Errc code) {
  switch (code) {
    case Errc::version_mismatch:
    case Errc::cluster_mismatch:
    case Errc::settings_mismatch:
    case Errc::name_conflict:
    case Errc::limit_exceeded:
    case Errc::handshake_timeout:
      return true;
    default:
      return is_bad_frame(code);
  }
}

}  // namespace

void Teardown::end(Time now, Link& link, const Error& reason, Ending ending) {
  const LinkPhase phase = link.phase();
  log_end(now, link, reason, ending);
  count_end(phase, reason, ending);
  link.enter(LinkPhase::closing);
  layer_.table.set_deadline(link, kNever);
  if (ending == Ending::here && phase != LinkPhase::dialling) {
    send_close(now, link, reason);
  } else if (ending == Ending::lost) {
    layer_.table.remove(link);
  } else {
    let_go(link);
  }
  dial_again(now, link, reason);
  if (phase == LinkPhase::established) end_established(now, link, reason);
}

void Teardown::close_received(Time now, Link& link, ByteView body) {
  if (const std::optional<LinkClose> close = read_link_close(body)) {
    end(now, link, {static_cast<Errc>(close->code), close->text}, Ending::by_peer);
  } else {
    end(now, link, {Errc::malformed_frame, "a close frame is malformed"});
  }
}

void Teardown::connection_lost(Time now, Link& link, std::string_view why) {
  switch (link.phase()) {
    case LinkPhase::closing:
      return layer_.table.remove(link);
    case LinkPhase::dialling:
      return end(now, link, {Errc::connect_failed, std::string(why)}, Ending::lost);
    default:
      return end(now, link, {Errc::link_failed, std::string(why)}, Ending::lost);
  }
}

void Teardown::end_as_stopping(Time now, Link& link) {
  end(now, link, {Errc::daemon_stopping, fmt::format("{} is stopping", layer_.context.config.name)});
}

void Teardown::let_go(Link& link) {
  layer_.driver.close(link.connection());
  layer_.table.remove(link);
}

void Teardown::end_established(Time now, Link& link, const Error& reason) {
  layer_.table.forget_peer(link);
  layer_.datagrams.link_down(now, link);
  layer_.events->link_down(now, *link.marks.id, reason);
  layer_.table.free_id(link);
  if (!layer_.stopping) layer_.neighbours.unpark(now, link.peer().name);
}

void Teardown::send_close(Time now, Link& link, const Error& reason) {
  link.send_close({static_cast<std::uint16_t>(reason.code), reason.text});
  // A peer that is silent would only make us wait.
  if (link.write() || reason.code == Errc::silent_peer) {
    let_go(link);
  } else {
    layer_.table.set_deadline(link, now + kCloseLinger);
  }
}

void Teardown::dial_again(Time now, const Link& link, const Error& reason) {
  if (!link.marks.neighbour || layer_.stopping) return;
  if (reason.code == Errc::partitioned) {
    // Through these attempts a heal spreads.
    layer_.neighbours.retry_within(now, *link.marks.neighbour, kPartitionRedialMax);
  } else {
    layer_.neighbours.retry(now, *link.marks.neighbour);
  }
}

void Teardown::count_end(LinkPhase phase, const Error& reason, Ending ending) {
  Counters& counters = layer_.context.counters;
  if (phase == LinkPhase::dialling) return;  // there was no connection
  counters.add_close(static_cast<std::uint16_t>(reason.code));
  if (reason.code == Errc::name_conflict) counters.add(Counter::name_conflicts);
  if (ending == Ending::here && is_bad_frame(reason.code)) counters.add(Counter::link_frames_bad);
  if (phase == LinkPhase::established) {
    counters.add(Counter::links_down);
  } else if (is_refusal(reason.code)) {
    counters.add(Counter::link_handshakes_refused);
  }
}

void Teardown::log_end(Time now, const Link& link, const Error& reason, Ending ending) {
  const Log& log = layer_.log;
  const std::string text = fmt::format("{}: {}{}", to_string(reason.code), reason.message(),
                                       ending == Ending::by_peer ? " (said by the other side)" : "");
  const bool duplicate = reason.code == Errc::duplicate_link;
  const bool fresh_failure =
      link.marks.neighbour && !duplicate && layer_.neighbours.note_failure(*link.marks.neighbour, reason);
  if (link.is_established()) {
    if (duplicate) {
      log.debug("link to {} ({}) gives way: {}", link.peer().name, link.address(), text);
    } else if (is_bad_frame(reason.code)) {
      log.warning("link to {} ({}) down: {}", link.peer().name, link.address(), text);
    } else {
      log.info("link to {} ({}) down: {}", link.peer().name, link.address(), text);
    }
  } else if (link.marks.neighbour) {
    if (fresh_failure && !layer_.stopping) {
      log.warning("no link to {}: {}", link.address(), text);
    } else {
      log.debug("no link to {}: {}", link.address(), text);
    }
  } else {
    // Whoever comes and goes without a word, or because somebody stops, is no news.
    const bool news = !duplicate && ending != Ending::lost && reason.code != Errc::daemon_stopping;
    if (news && refusals_.admit(now, text)) {
      log.warning("connection from {} refused: {}", link.address(), text);
    } else {
      log.debug("connection from {} ended: {}", link.address(), text);
    }
  }
}

}  // namespace spindled
