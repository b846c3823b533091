#include "daemon/overlay/forwarder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "daemon/base/check.h"
#include "daemon/link/link_limits.h"
#include "daemon/overlay/limits.h"

namespace spindled {

namespace {

// A `view` frame says what view the frames behind it are of: those have to leave behind it, in the queue in which it
// waits.
static_assert(std::all_of(std::begin(kFrameTraits), std::end(kFrameTraits), [](const FrameTraits& each) {
  return each.reach != FrameReach::view || each.priority == traits_of(LinkFrame::view).priority;
}));

constexpr std::size_t kSetBytesMax = 1 + kMembersMax / 8;
constexpr std::size_t kViewIdBytesMax = spindle::kVarintBytesMax + 1 + 255 + 8;
/// What stands in front of the body of the longest frames, those of recovery.
constexpr std::size_t kPrefixBytesMax = kSetBytesMax + 2 * kViewIdBytesMax;

/// Whether what follows the set of a routed frame leaves room for any set: that of the part of its members to which a
/// relay passes it on can be longer than the one that it came with.
constexpr bool leaves_room(LinkFrame type, std::size_t bytes) {
  return bytes + kSetBytesMax <= traits_of(type).bytes_max;
}
// As all that daemons send does.
constexpr std::size_t kBodyBytesMax = 1 + 4 * spindle::kVarintBytesMax + kSetBytesMax + kFragmentBytesMax;
static_assert(leaves_room(LinkFrame::data, kBodyBytesMax));
static_assert(leaves_room(LinkFrame::push, 2 * kViewIdBytesMax + kBodyBytesMax));
static_assert(leaves_room(LinkFrame::acknowledgement, kShortFrameBytesMax));

}  // namespace

Forwarder::Forwarder(Context& context, Links& links) : context_(context), links_(links) {
  handle(LinkFrame::push, [this](Time now, LinkId link, const Slice& body) { return push_received(now, link, body); });
  handle(LinkFrame::view, [this](Time, LinkId link, const Slice& content) { return view_named(link, content); });
}

void Forwarder::handle(LinkFrame type, FrameHandler handler) {
  SPINDLE_CHECK(traits_of(type).reach != FrameReach::link && !handler_of(type));
  handlers_[static_cast<std::size_t>(type) - 1] = std::move(handler);
}

void Forwarder::check_handlers() const {
  for (const FrameTraits& each : kFrameTraits) {
    SPINDLE_CHECK(each.reach == FrameReach::link || handler_of(each.type));
  }
}

// --- Links ---

void Forwarder::link_up(LinkId link, const DaemonId& peer) {
  neighbours_.resize(std::max(neighbours_.size(), static_cast<std::size_t>(link) + 1));
  at(link) = {};
  at(link).up = true;
  at(link).peer = peer;
}

void Forwarder::link_down(LinkId link) {
  const DaemonId peer = std::exchange(at(link), Neighbour{}).peer;
  routes_.remove(link, peer);
  if (recovery_) recovery_->remove(link, peer);
}

std::map<DaemonId, LinkId> Forwarder::neighbours_by_id() const {
  std::map<DaemonId, LinkId> links;
  for (std::size_t i = 0; i < neighbours_.size(); ++i) {
    if (neighbours_[i].up) links[neighbours_[i].peer] = static_cast<LinkId>(i);
  }
  return links;
}

// --- The life of a view ---

void Forwarder::freeze() {
  frozen_ = true;
  recovery_.reset();
  for (std::size_t i = 0; i < neighbours_.size(); ++i) {
    Neighbour& neighbour = neighbours_[i];
    // What waits would be rejected where it goes to, with the view's own markers.
    if (neighbour.up) links_.drop_queued(static_cast<LinkId>(i), FramePriority::data);
    neighbour.marked = false;
  }
}

void Forwarder::install(const View& view) {
  if (recovery_ && recovery_->view() == view.id) {
    routes_ = std::move(*recovery_);  // without the links that went down since
  } else {
    routes_ = ForwardingTable(view, neighbours_by_id());
  }
  recovery_.reset();
  view_marker_ = write_view_id(view.id);
  frozen_ = false;
  for (Neighbour& neighbour : neighbours_) {
    neighbour.marked = false;
    if (neighbour.incoming != Incoming::unnamed) neighbour.incoming = relation_to(neighbour.incoming_view);
  }
}

// --- In ---

void Forwarder::frame_received(Time now, LinkId link, LinkFrame type, Slice content) {
  if (!is_up(link)) return;
  switch (traits_of(type).reach) {
    case FrameReach::view:
      return view_frame_received(now, link, type, std::move(content));
    case FrameReach::neighbour:
      return hand_up(now, link, type, std::move(content));
    case FrameReach::link:
      SPINDLE_CHECK(false);  // the link keeps these to itself
  }
}

void Forwarder::hand_up(Time now, LinkId link, LinkFrame type, Slice content) {
  if (handler_of(type)(now, link, std::move(content))) return;
  links_.close(now, link,
               {Errc::malformed_frame, fmt::format("a frame of type {} could not be parsed", traits_of(type).name)});
}

bool Forwarder::view_named(LinkId link, const Slice& content) {
  std::optional<ViewId> view = read_view_id(content.view());
  if (!view) return false;
  Neighbour& neighbour = at(link);
  neighbour.incoming_view = std::move(*view);
  neighbour.incoming = relation_to(neighbour.incoming_view);
  return true;
}

/// A member floods the Install before it sends anything in the view, and a link keeps that order, so that frames of a
/// view that this daemon will install come only once it has. Those of a higher view are of one that it has not come
/// along to: it has answered a higher proposal.
Forwarder::Incoming Forwarder::relation_to(const ViewId& view) const {
  if (view == routes_.view()) return Incoming::current;
  return Incoming::other;
}

void Forwarder::view_frame_received(Time now, LinkId link, LinkFrame type, Slice content) {
  const Neighbour& neighbour = at(link);
  switch (neighbour.incoming) {
    case Incoming::current:
      if (frozen_) break;
      return route(now, link, type, std::move(content));
    case Incoming::other:
      break;
    case Incoming::unnamed:
      links_.close(now, link, {Errc::unexpected_frame, "a frame of a view came before any view was named"});
      return;
  }
  context_.counters.add(Counter::data_dropped_frozen);
}

void Forwarder::route(Time now, LinkId link, LinkFrame type, Slice content) {
  Reader reader(content.view());
  MemberSet to = MemberSet::read(reader);
  if (!reader.ok() || !routes_.is_valid(to)) {
    return links_.close(now, link, {Errc::malformed_frame, "the destinations of a frame could not be parsed"});
  }
  content.remove_prefix(content.size() - reader.remaining());
  if (!leaves_room(type, content.size())) return close_as_too_large(now, link, type);
  const bool is_destination = to.contains(routes_.self());
  if (is_destination) to.erase(routes_.self());
  if (!to.empty()) relay(routes_, link, type, to, content);
  if (is_destination) hand_up(now, link, type, std::move(content));
}

void Forwarder::close_as_too_large(Time now, LinkId link, LinkFrame type) {
  links_.close(now, link,
               {Errc::frame_too_large,
                fmt::format("a frame of type {} leaves no room for other destinations", traits_of(type).name)});
}

bool Forwarder::push_received(Time now, LinkId link, const Slice& body) {
  Reader reader(body.view());
  MemberSet to = MemberSet::read(reader);
  const Slice payload = body.part(body.size() - reader.remaining());
  ByteView rest;
  const std::optional<Push> push = reader.ok() ? read_push(payload.view(), rest) : std::nullopt;
  if (!push) return false;
  if (!leaves_room(LinkFrame::push, payload.size())) {
    close_as_too_large(now, link, LinkFrame::push);
    return true;
  }
  const ForwardingTable* routes = routes_of(push->proposal);
  if (routes == nullptr) return true;
  if (!routes->is_valid(to)) return false;
  const bool is_destination = to.contains(routes->self());
  if (is_destination) to.erase(routes->self());
  if (!to.empty()) relay(*routes, link, LinkFrame::push, to, payload);
  // Under the installed view's proposal this daemon has all that it was owed.
  if (is_destination && routes != &routes_) {
    view_->push_received(now, *push, payload.part(payload.size() - rest.size()));
  }
  return true;
}

const ForwardingTable* Forwarder::routes_of(const ViewId& proposal) const {
  if (recovery_ && proposal == recovery_->view()) return &*recovery_;
  return proposal == routes_.view() ? &routes_ : nullptr;
}

// --- On ---

void Forwarder::relay(const ForwardingTable& routes, LinkId from, LinkFrame type, const MemberSet& to,
                      const Slice& payload) {
  routes.split(to, [&](LinkId link, const MemberSet& part) {
    if (link == from) {
      context_.counters.add(Counter::frames_misrouted);
      return;
    }
    if (type == LinkFrame::data) {
      if (is_unreliable_body(payload.view()) && !takes_unreliable(link)) return;
      context_.counters.add(Counter::data_forwarded);
    }
    send_routed(link, type, part, {}, payload, {});
  });
}

// --- Out ---

void Forwarder::multicast(const MemberSet& to, const Slice& head, const Slice& tail) {
  if (frozen_) return;
  routes_.split(to,
                [&](LinkId link, const MemberSet& part) { send_routed(link, LinkFrame::data, part, {}, head, tail); });
}

void Forwarder::multicast_unreliable(const MemberSet& to, const Slice& head, const Slice& tail) {
  if (frozen_) return;
  routes_.split(to, [&](LinkId link, const MemberSet& part) {
    if (takes_unreliable(link)) send_routed(link, LinkFrame::data, part, {}, head, tail);
  });
}

bool Forwarder::takes_unreliable(LinkId link) {
  if (links_.queued_bytes(link, FramePriority::data) <= kUnreliableQueueBytes) return true;
  context_.counters.add(Counter::data_dropped_unreliable);
  return false;
}

void Forwarder::send(LinkFrame type, const MemberSet& to, ByteView content) {
  if (frozen_) return;
  // What does not fit in front of a body, as a plan for many daemons, is one.
  const bool is_short = content.size() <= kPrefixBytesMax - kSetBytesMax;
  const Slice body = is_short ? Slice() : context_.arena.copy(content);
  routes_.split(to, [&](LinkId link, const MemberSet& part) {
    send_routed(link, type, part, is_short ? content : ByteView(), body, {});
  });
}

void Forwarder::send_push(const Push& push, const MemberSet& to, const Slice& head, const Slice& tail) {
  const ForwardingTable* routes = routes_of(push.proposal);
  if (routes == nullptr) return;
  std::array<std::uint8_t, 2 * kViewIdBytesMax> bytes;
  Writer writer(bytes.data());
  write_push(writer, push);
  routes->split(to, [&](LinkId link, const MemberSet& part) {
    send_routed(link, LinkFrame::push, part, {bytes.data(), writer.size()}, head, tail);
  });
}

void Forwarder::send_routed(LinkId link, LinkFrame type, const MemberSet& to, ByteView payload, const Slice& head,
                            const Slice& tail) {
  if (type != LinkFrame::push) mark(link);
  if (type == LinkFrame::data && is_client_body(head.view())) {
    at(link).message_packets += packets_of(head.size() + tail.size());
  }
  SPINDLE_CHECK(payload.size() <= kPrefixBytesMax - kSetBytesMax);
  std::array<std::uint8_t, kPrefixBytesMax> prefix;
  Writer writer(prefix.data());
  to.write(writer);
  writer.bytes(payload);
  links_.send(link, type, {prefix.data(), writer.size()}, head, tail);
}

void Forwarder::mark(LinkId link) {
  Neighbour& neighbour = at(link);
  if (neighbour.marked) return;
  neighbour.marked = true;
  links_.send(link, LinkFrame::view, view_marker_, {}, {});
}

}  // namespace spindled
