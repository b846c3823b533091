// How connections become links, and how they end.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/check.h"
#include "daemon/link/hello.h"
#include "daemon/link/link_limits.h"
#include "daemon/link/links_entry.h"

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

void Links::send_hello(Time now, Entry& entry) {
  LinkHello hello = hello_;
  if (partition_.id().number != 0) hello.partition = partition_.order(now);
  entry.link.send(LinkFrame::control, encode_control(hello), {}, {});
  context_.counters.add(Counter::control_out);
  touch(entry);
}

void Links::handle_frame(Time now, Entry& entry, Link::Frame frame) {
  if (frame.type == LinkFrame::control) context_.counters.add(Counter::control_in);
  if (frame.type == LinkFrame::close) {
    const std::optional<LinkClose> close = read_link_close(frame.body.view());
    if (close) {
      end(now, entry, {static_cast<Errc>(close->code), close->text}, Ending::by_peer);
    } else {
      end(now, entry, {Errc::malformed_frame, "a close frame is malformed"}, Ending::here);
    }
    return;
  }
  if (entry.link.phase() == LinkPhase::handshake) {
    handle_first_frame(now, entry, frame);
    return;
  }
  // The neighbour uses this connection rather than the one it had, and so do we.
  if (entry.link.phase() == LinkPhase::waiting) resolve(now, entry);
  if (!entry.link.is_established()) return;
  if (frame.type == LinkFrame::ping || frame.type == LinkFrame::pong) {
    handle_echo(now, entry, frame);
  } else {
    events_->frame_received(now, *entry.slot, frame.type, std::move(frame.body));
  }
}

void Links::handle_echo(Time now, Entry& entry, const Link::Frame& frame) {
  const std::optional<Ping> echo = read_ping(frame.body.view());
  if (!echo) {
    end(now, entry, {Errc::malformed_frame, "a ping or pong is malformed"}, Ending::here);
  } else if (frame.type == LinkFrame::ping) {
    entry.link.send(LinkFrame::pong, frame.body.view(), {}, {});
    touch(entry);
  } else if (entry.link.handle_pong(now, *echo)) {
    events_->round_trip_changed(now, *entry.slot);
  }
}

void Links::handle_first_frame(Time now, Entry& entry, const Link::Frame& frame) {
  const Result<ControlMessage> message = decode_control(frame.body.view());
  if (!message) {
    end(now, entry, message.error(), Ending::here);
  } else if (const auto* hello = std::get_if<LinkHello>(&*message)) {
    handle_hello(now, entry, *hello);
  } else {
    end(now, entry, {Errc::unexpected_frame, "the first control message was not the handshake's"}, Ending::here);
  }
}

void Links::handle_hello(Time now, Entry& entry, const LinkHello& hello) {
  entry.link.set_peer(hello.daemon);
  if (const Result<void> good = check_hello(hello_, hello); !good) {
    end(now, entry, good.error(), Ending::here);
    return;
  }
  const bool learned = entry.neighbour && neighbours_.learn(*entry.neighbour, hello.daemon.name);
  // Before the gate: a heal has to cross the gap that it closes.
  if (hello.partition) events_->partition_learned(now, *hello.partition);
  if (partition_.separates(hello.daemon.name)) {
    end(now, entry, {Errc::partitioned, partition_.explain(hello.daemon.name)}, Ending::here);
    return;
  }
  resolve(now, entry);
  // The weight configured for the address turns out to be that of a link which is up already.
  if (!learned || entry.link.is_established()) return;
  if (const Entry* kept = established_to(hello.daemon.name)) events_->round_trip_changed(now, *kept->slot);
}

void Links::resolve(Time now, Entry& entry) {
  const DaemonId& peer = entry.link.peer();
  Entry* other = established_to(peer);
  if (other == nullptr) {
    // A former life of it, if that is what is linked under its name, is not long in showing that it is gone; if it is
    // another daemon, both links stay, and the overlay sees to it that one of the two stays out.
    if (Entry* namesake = established_to(peer.name)) {
      namesake->link.send_ping(now);
      touch(*namesake);
    }
    establish(now, entry);
    return;
  }
  // One side decides: it keeps the connection that is its link already, so that nothing is lost with that, and the
  // other side does as it does. Of two that one side dialled that one decides, as it may have lost the first without
  // our knowing; of two that both dialled, the smaller name.
  const Error duplicate{Errc::duplicate_link, {}};
  const bool one_dialled_both = entry.link.dialled() == other->link.dialled();
  const bool decides = one_dialled_both ? entry.link.dialled() : hello_.daemon.name < peer.name;
  if (decides) {
    end(now, entry, duplicate, Ending::here);
  } else if (entry.link.phase() == LinkPhase::handshake) {
    entry.link.enter(LinkPhase::waiting);  // for a frame, or to be closed
  } else {
    end(now, *other, duplicate, Ending::here);
    establish(now, entry);
  }
}

void Links::establish(Time now, Entry& entry) {
  const auto free = std::find(slots_.begin(), slots_.end(), nullptr);
  const auto index = static_cast<std::size_t>(free - slots_.begin());
  if (index == kLinksMax) {
    end(now, entry, {Errc::limit_exceeded, "this daemon has as many links as it can have"}, Ending::here);
    return;
  }
  if (free == slots_.end()) slots_.push_back(nullptr);
  slots_[index] = &entry;
  Link& link = entry.link;
  link.enter(LinkPhase::established);
  link.set_up_since(now);
  set_deadline(entry, kNever);
  entry.slot = static_cast<LinkId>(index);
  by_peer_.emplace(link.peer(), &entry);
  neighbours_.succeed(link.peer().name);
  context_.counters.add(Counter::links_up);

  if (tick_at_ == kNever) tick_at_ = now + context_.config.link.hello_interval;
  silent_at_ = std::min(silent_at_, link.silent_at());
  // The first frame behind the handshake: it tells a neighbour that keeps this connection waiting to use it.
  link.send_ping(now);
  touch(entry);
  log_.info("link to {} up ({} {}, incarnation {:016x})", link.peer().name,
            link.dialled() ? "dialled" : "accepted from", link.address(), link.peer().incarnation);
  events_->link_up(now, *entry.slot);
}

void Links::end(Time now, Entry& entry, const Error& reason, Ending ending) {
  const LinkPhase phase = entry.link.phase();
  log_end(now, entry, reason, ending);
  count_end(phase, reason, ending);
  entry.link.enter(LinkPhase::closing);
  set_deadline(entry, kNever);
  if (ending == Ending::here && phase != LinkPhase::dialling) {
    send_close(now, entry, reason);
  } else {
    if (ending != Ending::lost) driver_.close(entry.link.connection());
    remove(entry);
  }
  if (entry.neighbour && !stopping_) {
    // Through these attempts a heal spreads.
    const bool partitioned = reason.code == Errc::partitioned;
    partitioned ? neighbours_.retry_within(now, *entry.neighbour, kPartitionRedialMax)
                : neighbours_.retry(now, *entry.neighbour);
  }
  if (phase == LinkPhase::established) end_established(now, entry, reason);
}

void Links::end_established(Time now, Entry& entry, const Error& reason) {
  const std::string& peer = entry.link.peer().name;
  by_peer_.erase(entry.link.peer());
  if (by_peer_.empty()) tick_at_ = silent_at_ = kNever;
  events_->link_down(now, *entry.slot, reason);
  slots_[static_cast<std::size_t>(*entry.slot)] = nullptr;
  entry.slot.reset();
  if (!stopping_) neighbours_.unpark(now, peer);
}

void Links::send_close(Time now, Entry& entry, const Error& reason) {
  entry.link.send_close({static_cast<std::uint16_t>(reason.code), reason.text});
  // A peer that is silent would only make us wait.
  if (entry.link.write() || reason.code == Errc::silent_peer) {
    driver_.close(entry.link.connection());
    remove(entry);
  } else {
    set_deadline(entry, now + kCloseLinger);
  }
}

void Links::count_end(LinkPhase phase, const Error& reason, Ending ending) {
  Counters& counters = context_.counters;
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

void Links::log_end(Time now, Entry& entry, const Error& reason, Ending ending) {
  const Link& link = entry.link;
  const std::string text = fmt::format("{}: {}{}", to_string(reason.code), reason.message(),
                                       ending == Ending::by_peer ? " (said by the other side)" : "");
  const bool duplicate = reason.code == Errc::duplicate_link;
  const bool fresh_failure = entry.neighbour && !duplicate && neighbours_.note_failure(*entry.neighbour, reason);
  if (link.is_established()) {
    if (duplicate) {
      log_.debug("link to {} ({}) gives way: {}", link.peer().name, link.address(), text);
    } else if (is_bad_frame(reason.code)) {
      log_.warning("link to {} ({}) down: {}", link.peer().name, link.address(), text);
    } else {
      log_.info("link to {} ({}) down: {}", link.peer().name, link.address(), text);
    }
  } else if (entry.neighbour) {
    if (fresh_failure && !stopping_) {
      log_.warning("no link to {}: {}", link.address(), text);
    } else {
      log_.debug("no link to {}: {}", link.address(), text);
    }
  } else {
    // Whoever comes and goes without a word, or because somebody stops, is no news.
    const bool news = !duplicate && ending != Ending::lost && reason.code != Errc::daemon_stopping;
    if (news && refusals_.admit(now, text)) {
      log_.warning("connection from {} refused: {}", link.address(), text);
    } else {
      log_.debug("connection from {} ended: {}", link.address(), text);
    }
  }
}

}  // namespace spindled
