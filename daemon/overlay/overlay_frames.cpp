// The way of frames through the overlay: in, on to the next hops, up to this daemon's layers, and out.
#include <fmt/format.h>

#include <array>

#include "daemon/base/check.h"
#include "daemon/overlay/limits.h"
#include "daemon/overlay/overlay.h"

namespace spindled {

namespace {

constexpr std::size_t kSetBytesMax = 1 + kMembersMax / 8;
constexpr std::size_t kViewIdBytesMax = spindle::kVarintBytesMax + 1 + 255 + 8;
/// What stands in front of the body of the longest frames, those of recovery.
constexpr std::size_t kPrefixBytesMax = kSetBytesMax + 2 * kViewIdBytesMax;

/// Under which counter the bytes of a frame that is routed fall.
Counter kind_of(LinkFrame type) {
  if (type == LinkFrame::data) return Counter::bytes_data;
  return type == LinkFrame::push ? Counter::bytes_push : Counter::bytes_stability;
}

}  // namespace

// In.

void Overlay::frame_received(Time now, LinkId link, LinkFrame type, Slice body) {
  if (!at(link).up) return;
  switch (type) {
    case LinkFrame::data:
    case LinkFrame::report:
    case LinkFrame::stable:
    case LinkFrame::ready:
      stream_frame_received(now, link, type, std::move(body));
      return;
    case LinkFrame::control:
      control_received(now, link, body);
      return;
    case LinkFrame::control_part:
      control_part_received(now, link, body);
      return;
    case LinkFrame::view:
      view_named(now, link, body);
      return;
    case LinkFrame::push:
      push_received(now, link, body);
      return;
    case LinkFrame::price:
      price_received(now, link, body);
      return;
    case LinkFrame::ping:
    case LinkFrame::pong:
    case LinkFrame::close:
      break;
  }
  SPINDLE_CHECK(false);  // the link keeps these to itself
}

void Overlay::view_named(Time now, LinkId link, const Slice& body) {
  std::optional<ViewId> view = read_view_id(body.view());
  if (!view) return close_malformed(now, link, "a view frame");
  Neighbour& neighbour = at(link);
  neighbour.incoming_view = std::move(*view);
  neighbour.incoming = relation_to(neighbour.incoming_view);
}

/// A member floods the Install before it sends anything in the view, and a link keeps that order, so that frames of a
/// view that this daemon will install come only once it has. Those of a higher view are of one that it has not come
/// along to: it has answered a higher proposal.
Overlay::Incoming Overlay::relation_to(const ViewId& view) const {
  if (view == routes_.view()) return Incoming::current;
  return Incoming::other;
}

void Overlay::stream_frame_received(Time now, LinkId link, LinkFrame type, Slice body) {
  const Neighbour& neighbour = at(link);
  switch (neighbour.incoming) {
    case Incoming::current:
      if (frozen_) break;
      return route_stream_frame(now, link, type, std::move(body));
    case Incoming::other:
      break;
    case Incoming::unnamed:
      links_.close(now, link, {Errc::unexpected_frame, "a frame of a view came before any view was named"});
      return;
  }
  context_.counters.add(Counter::data_dropped_frozen);
}

void Overlay::route_stream_frame(Time now, LinkId link, LinkFrame type, Slice body) {
  Reader reader(body.view());
  MemberSet to = MemberSet::read(reader);
  if (!reader.ok() || !routes_.is_valid(to)) return close_malformed(now, link, "the destinations of a frame");
  body.remove_prefix(body.size() - reader.remaining());
  const bool is_destination = to.contains(routes_.self());
  if (is_destination) to.erase(routes_.self());
  if (!to.empty()) relay(routes_, link, type, to, body);
  if (is_destination) hand_up(now, link, type, std::move(body));
}

void Overlay::hand_up(Time now, LinkId link, LinkFrame type, Slice payload) {
  const auto in_view = [&](const auto& frame) { return frame && routes_.members().contains(frame->from); };
  if (type == LinkFrame::data) {
    streams_->data_received(now, std::move(payload));
  } else if (type == LinkFrame::report) {
    const std::optional<Report> report = read_report(payload.view());
    if (!in_view(report)) return close_malformed(now, link, "a report");
    streams_->report_received(now, *report);
  } else if (type == LinkFrame::stable) {
    const std::optional<Stable> stable = read_stable(payload.view());
    if (!in_view(stable)) return close_malformed(now, link, "a stable line");
    streams_->stable_received(now, *stable);
  } else {
    const std::optional<Ready> ready = read_ready(payload.view());
    if (!in_view(ready)) return close_malformed(now, link, "a ready line");
    streams_->ready_received(now, *ready);
  }
}

void Overlay::push_received(Time now, LinkId link, const Slice& body) {
  Reader reader(body.view());
  MemberSet to = MemberSet::read(reader);
  const Slice payload = body.part(body.size() - reader.remaining());
  ByteView rest;
  const std::optional<Push> push = reader.ok() ? read_push(payload.view(), rest) : std::nullopt;
  if (!push) return close_malformed(now, link, "a push");
  const ForwardingTable* routes = routes_of(push->proposal);
  if (routes == nullptr) return;
  if (!routes->is_valid(to)) return close_malformed(now, link, "the destinations of a push");
  const bool is_destination = to.contains(routes->self());
  if (is_destination) to.erase(routes->self());
  if (!to.empty()) relay(*routes, link, LinkFrame::push, to, payload);
  // Under the installed view's proposal this daemon has all that it was owed.
  if (is_destination && routes != &routes_)
    view_->push_received(now, *push, payload.part(payload.size() - rest.size()));
}

void Overlay::price_received(Time now, LinkId link, const Slice& body) {
  const std::optional<Price> price = read_price(body.view());
  if (!price) return close_malformed(now, link, "a price");
  // One of another view names links by other indices; one that is known already has been passed on.
  if (frozen_ || price->view != view_tag() || !routes_.members().contains(price->from)) return;
  if (prices_->price_received(now, *price)) flood_encoded(*price, body, link);
}

const ForwardingTable* Overlay::routes_of(const ViewId& proposal) const {
  if (recovery_ && proposal == recovery_->view()) return &*recovery_;
  return proposal == routes_.view() ? &routes_ : nullptr;
}

void Overlay::close_malformed(Time now, LinkId link, std::string_view what) {
  links_.close(now, link, {Errc::malformed_frame, fmt::format("{} could not be parsed", what)});
}

// On.

void Overlay::relay(const ForwardingTable& routes, LinkId from, LinkFrame type, const MemberSet& to,
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

// Out.

void Overlay::multicast(const MemberSet& to, const Slice& head, const Slice& tail) {
  if (frozen_) return;
  routes_.split(to,
                [&](LinkId link, const MemberSet& part) { send_routed(link, LinkFrame::data, part, {}, head, tail); });
}

void Overlay::multicast_unreliable(const MemberSet& to, const Slice& head, const Slice& tail) {
  if (frozen_) return;
  routes_.split(to, [&](LinkId link, const MemberSet& part) {
    if (takes_unreliable(link)) send_routed(link, LinkFrame::data, part, {}, head, tail);
  });
}

bool Overlay::takes_unreliable(LinkId link) {
  if (links_.queued_data_bytes(link) <= kUnreliableQueueBytes) return true;
  context_.counters.add(Counter::data_dropped_unreliable);
  return false;
}

void Overlay::send_report(MemberIndex to, const Report& report) {
  std::array<std::uint8_t, kReportBytesMax> bytes;
  send_small(LinkFrame::report, MemberSet::of(to), {bytes.data(), write_report(bytes.data(), report)});
}

void Overlay::send_stable(const MemberSet& to, const Stable& stable) {
  std::array<std::uint8_t, kReportBytesMax> bytes;
  send_small(LinkFrame::stable, to, {bytes.data(), write_stable(bytes.data(), stable)});
}

void Overlay::send_ready(MemberIndex to, const Ready& ready) {
  std::array<std::uint8_t, kReportBytesMax> bytes;
  send_small(LinkFrame::ready, MemberSet::of(to), {bytes.data(), write_ready(bytes.data(), ready)});
}

bool Overlay::flood_price(Price price) {
  if (frozen_) return false;
  price.view = view_tag();
  price.from = routes_.self();
  flood_encoded(price, context_.arena.copy(write_price(price)), std::nullopt);
  return true;
}

void Overlay::flood_encoded(const Price& price, const Slice& encoded, std::optional<LinkId> except) {
  for (const ForwardingTable::Hop& hop : routes_.hops()) {
    // Who it came from has it, and the link's other end never sends over the link in this direction.
    if (hop.link == except || hop.neighbour == price.from) continue;
    if (price.from == routes_.self() && price.name.empty() && hop.neighbour == price.neighbour) continue;
    links_.send_price(hop.link, encoded);
    context_.counters.add(Counter::bytes_prices, kFrameHeadBytes + encoded.size());
  }
}

void Overlay::send_small(LinkFrame type, MemberSet to, ByteView payload) {
  if (frozen_) return;
  routes_.split(to, [&](LinkId link, const MemberSet& part) { send_routed(link, type, part, payload, {}, {}); });
}

void Overlay::send_push(const Push& push, const MemberSet& to, const Slice& head, const Slice& tail) {
  const ForwardingTable* routes = routes_of(push.proposal);
  if (routes == nullptr) return;
  std::array<std::uint8_t, 2 * kViewIdBytesMax> bytes;
  Writer writer(bytes.data());
  write_push(writer, push);
  routes->split(to, [&](LinkId link, const MemberSet& part) {
    send_routed(link, LinkFrame::push, part, {bytes.data(), writer.size()}, head, tail);
  });
}

void Overlay::send_routed(LinkId link, LinkFrame type, const MemberSet& to, ByteView payload, const Slice& head,
                          const Slice& tail) {
  if (type != LinkFrame::push) mark(link);
  std::array<std::uint8_t, kPrefixBytesMax> prefix;
  Writer writer(prefix.data());
  to.write(writer);
  writer.bytes(payload);
  links_.send(link, type, {prefix.data(), writer.size()}, head, tail);
  context_.counters.add(kind_of(type), kFrameHeadBytes + writer.size() + head.size() + tail.size());
}

void Overlay::mark(LinkId link) {
  Neighbour& neighbour = at(link);
  if (neighbour.marked) return;
  neighbour.marked = true;
  links_.send(link, LinkFrame::view, view_marker_, {}, {});
  context_.counters.add(Counter::bytes_stability, kFrameHeadBytes + view_marker_.size());
}

}  // namespace spindled
