#include "daemon/link/handshakes.h"

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "daemon/base/check.h"
#include "daemon/link/hello.h"
#include "daemon/link/link_limits.h"

namespace spindled {

Handshakes::Handshakes(LinkLayer& layer, const ImposedPartition& partition, Liveness& liveness, Teardown& teardown)
    : layer_(layer),
      partition_(partition),
      liveness_(liveness),
      teardown_(teardown),
      hello_(make_hello(layer.context.config)) {}

void Handshakes::dial_due(Time now) {
  Neighbours& neighbours = layer_.neighbours;
  while (const std::optional<Neighbours::Index> index = neighbours.take_due(now)) {
    const Neighbours::Neighbour& neighbour = neighbours.all()[*index];
    if (!neighbour.known_peer.empty() && layer_.table.established_to(neighbour.known_peer) != nullptr) {
      neighbours.park(*index);
      continue;
    }
    const ConnectionId connection = layer_.driver.dial(neighbour.config.address);
    add(now, connection, neighbour.config.address, true).marks.neighbour = *index;
  }
}

void Handshakes::connected(Time now, Link& link, std::string_view identity) {
  link.set_identity(identity);
  link.enter(LinkPhase::handshake);
  layer_.table.set_deadline(link, now + layer_.context.config.link.handshake_timeout);
  send_hello(now, link);
}

void Handshakes::accepted(Time now, ConnectionId connection, const Peer& peer) {
  Link& link = add(now, connection, peer.address, false);
  link.set_identity(peer.identity());
  if (layer_.stopping) {
    teardown_.end_as_stopping(now, link);
  } else if (pending() > kPendingAcceptedMax) {
    teardown_.end(now, link, {Errc::limit_exceeded, "too many connections are in their handshake"});
    // No lingering: the bound holds whatever the kernel takes.
    if (layer_.table.find(connection) != nullptr) teardown_.let_go(link);
  } else {
    send_hello(now, link);
  }
}

void Handshakes::first_frame_received(Time now, Link& link, const Link::Frame& frame) {
  const Result<ControlMessage> message = decode_control(frame.body.view());
  if (!message) {
    teardown_.end(now, link, message.error());
  } else if (const auto* hello = std::get_if<LinkHello>(&*message)) {
    hello_received(now, link, *hello);
  } else {
    teardown_.end(now, link, {Errc::unexpected_frame, "the first control message was not the handshake's"});
  }
}

void Handshakes::timed_out(Time now, Link& link) {
  if (link.phase() == LinkPhase::dialling) {
    teardown_.end(now, link, {Errc::connect_failed, "the address did not answer"});
  } else {
    SPINDLE_CHECK(!link.is_established());
    teardown_.end(now, link, {Errc::handshake_timeout, {}});
  }
}

Link& Handshakes::add(Time now, ConnectionId connection, std::string_view address, bool dialled) {
  Link& link = layer_.table.add(
      std::make_unique<Link>(layer_.context, layer_.driver, connection, std::string(address), dialled, now));
  layer_.table.set_deadline(link, now + (dialled ? kDialTimeout : layer_.context.config.link.handshake_timeout));
  return link;
}

std::size_t Handshakes::pending() const {
  std::size_t count = 0;
  layer_.table.for_each([&](const Link& link) { count += !link.dialled() && !link.is_established() ? 1 : 0; });
  return count;
}

void Handshakes::send_hello(Time now, Link& link) {
  LinkHello hello = hello_;
  const bool is_told = partition_.id().number != 0 && layer_.context.config.admin.allow_partition;
  if (is_told) hello.partition = partition_.order(now);
  hello.datagrams = link.offers.own = layer_.datagrams.make_offer(link.connection());
  link.send(LinkFrame::control, encode_control(hello), {}, {});
  layer_.context.counters.add(Counter::control_out);
  layer_.table.mark_dirty(link);
}

void Handshakes::hello_received(Time now, Link& link, const LinkHello& hello) {
  if (const Result<void> genuine = check_identity(link.identity(), hello.daemon.name); !genuine) {
    teardown_.end(now, link, genuine.error());
    return;
  }
  link.set_peer(hello.daemon);
  link.offers.peer = hello.datagrams;
  if (const Result<void> good = check_hello(hello_, hello); !good) {
    teardown_.end(now, link, good.error());
    return;
  }
  const std::string& peer = hello.daemon.name;
  const bool learned = link.marks.neighbour && layer_.neighbours.learn(*link.marks.neighbour, peer);
  // Before the gate: a heal has to cross the gap that it closes.
  if (hello.partition) layer_.events->partition_learned(now, *hello.partition);
  if (partition_.separates(peer)) {
    teardown_.end(now, link, {Errc::partitioned, partition_.explain(peer)});
    return;
  }
  decide(now, link);
  // The weight configured for the address turns out to be that of a link which is up already.
  if (!learned || link.is_established()) return;
  if (const Link* kept = layer_.table.established_to(peer)) layer_.events->round_trip_changed(now, *kept->marks.id);
}

void Handshakes::decide(Time now, Link& link) {
  const DaemonId& peer = link.peer();
  Link* other = layer_.table.established_to(peer);
  if (other == nullptr) {
    // A former life of it, if that is what is linked under its name, is not long in showing that it is gone; if it is
    // another daemon, both links stay, and the overlay sees to it that one of the two stays out.
    if (Link* namesake = layer_.table.established_to(peer.name)) liveness_.ping(now, *namesake);
    establish(now, link);
    return;
  }
  // One side decides: it keeps the connection that is its link already, so that nothing is lost with that, and the
  // other side does as it does. Of two that one side dialled that one decides, as it may have lost the first without
  // our knowing; of two that both dialled, the smaller name.
  const Error duplicate{Errc::duplicate_link, {}};
  const bool one_dialled_both = link.dialled() == other->dialled();
  const bool decides = one_dialled_both ? link.dialled() : hello_.daemon.name < peer.name;
  if (decides) {
    teardown_.end(now, link, duplicate);
  } else if (link.phase() == LinkPhase::handshake) {
    link.enter(LinkPhase::waiting);  // for a frame, or to be closed
  } else {
    teardown_.end(now, *other, duplicate);
    establish(now, link);
  }
}

void Handshakes::establish(Time now, Link& link) {
  if (!layer_.table.take_id(link)) {
    teardown_.end(now, link, {Errc::limit_exceeded, "this daemon has as many links as it can have"});
    return;
  }
  link.enter(LinkPhase::established);
  link.set_up_since(now);
  layer_.table.set_deadline(link, kNever);
  layer_.neighbours.succeed(link.peer().name);
  layer_.context.counters.add(Counter::links_up);
  // The ping is the first frame behind the handshake: it tells a neighbour that keeps this connection waiting to use
  // it.
  liveness_.watch(now, link);
  layer_.log.info("link to {} up ({} {}, incarnation {:016x})", link.peer().name,
                  link.dialled() ? "dialled" : "accepted from", link.address(), link.peer().incarnation);
  layer_.datagrams.link_up(now, link);
  layer_.events->link_up(now, *link.marks.id);
}

}  // namespace spindled
