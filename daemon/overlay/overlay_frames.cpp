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

}  // namespace

// In.

void Overlay::handle(LinkFrame type, FrameHandler handler) {
  SPINDLE_CHECK(traits_of(type).reach != FrameReach::link && !handler_of(type));
  handler_of(type) = std::move(handler);
}

FrameHandler& Overlay::handler_of(LinkFrame type) { return handlers_[static_cast<std::size_t>(type) - 1]; }

void Overlay::handle_own_frames() {
  const auto always = [this](LinkFrame type, auto received) {
    handle(type, [this, received](Time now, LinkId link, const Slice& content) {
      (this->*received)(now, link, content);
      return true;
    });
  };
  always(LinkFrame::control, &Overlay::control_received);
  always(LinkFrame::control_part, &Overlay::control_part_received);
  always(LinkFrame::push, &Overlay::push_received);
  handle(LinkFrame::view, [this](Time, LinkId link, const Slice& content) { return view_named(link, content); });
}

/// Has a frame that one member sends to others go up once it is parsed.
template <auto Read, typename Take>
void Overlay::handle_of_member(LinkFrame type, Take take) {
  handle(type, [this, take](Time now, LinkId, const Slice& content) {
    const auto frame = Read(content.view());
    if (!frame || !routes_.members().contains(frame->from)) return false;
    take(now, *frame);
    return true;
  });
}

void Overlay::handle_streams(StreamFrames& streams) {
  handle(LinkFrame::data, [&streams](Time now, LinkId, Slice content) {
    streams.data_received(now, std::move(content));
    return true;
  });
  handle_of_member<read_report>(LinkFrame::report,
                                [&streams](Time now, const Report& report) { streams.report_received(now, report); });
  handle_of_member<read_stable>(LinkFrame::stable,
                                [&streams](Time now, const Stable& stable) { streams.stable_received(now, stable); });
  handle_of_member<read_ready>(LinkFrame::ready,
                               [&streams](Time now, const Ready& ready) { streams.ready_received(now, ready); });
}

void Overlay::handle_prices(PriceFrames& prices) {
  handle(LinkFrame::price, [this, &prices](Time now, LinkId link, const Slice& content) {
    const std::optional<Price> price = read_price(content.view());
    if (!price) return false;
    // One of another view names links by other indices; one that is known already has been passed on.
    if (frozen_ || price->view != view_tag() || !routes_.members().contains(price->from)) return true;
    if (prices.price_received(now, *price)) flood_encoded(*price, content, link);
    return true;
  });
}

void Overlay::frame_received(Time now, LinkId link, LinkFrame type, Slice content) {
  if (!at(link).up) return;
  switch (traits_of(type).reach) {
    case FrameReach::view:
      return view_frame_received(now, link, type, std::move(content));
    case FrameReach::neighbour:
      return hand_up(now, link, type, std::move(content));
    case FrameReach::link:
      SPINDLE_CHECK(false);  // the link keeps these to itself
  }
}

void Overlay::hand_up(Time now, LinkId link, LinkFrame type, Slice content) {
  if (handler_of(type)(now, link, std::move(content))) return;
  close_malformed(now, link, fmt::format("a frame of type {}", traits_of(type).name));
}

bool Overlay::view_named(LinkId link, const Slice& content) {
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
Overlay::Incoming Overlay::relation_to(const ViewId& view) const {
  if (view == routes_.view()) return Incoming::current;
  return Incoming::other;
}

void Overlay::view_frame_received(Time now, LinkId link, LinkFrame type, Slice content) {
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

void Overlay::route(Time now, LinkId link, LinkFrame type, Slice content) {
  Reader reader(content.view());
  MemberSet to = MemberSet::read(reader);
  if (!reader.ok() || !routes_.is_valid(to)) return close_malformed(now, link, "the destinations of a frame");
  content.remove_prefix(content.size() - reader.remaining());
  const bool is_destination = to.contains(routes_.self());
  if (is_destination) to.erase(routes_.self());
  if (!to.empty()) relay(routes_, link, type, to, content);
  if (is_destination) hand_up(now, link, type, std::move(content));
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
  if (links_.queued_bytes(link, FramePriority::data) <= kUnreliableQueueBytes) return true;
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
    links_.send(hop.link, LinkFrame::price, encoded);
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
}

void Overlay::mark(LinkId link) {
  Neighbour& neighbour = at(link);
  if (neighbour.marked) return;
  neighbour.marked = true;
  links_.send(link, LinkFrame::view, view_marker_, {}, {});
}

}  // namespace spindled
