// Link state, and the life of a view; `overlay_frames.cpp` has the way of frames.
#include "daemon/overlay/overlay.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/check.h"
#include "daemon/overlay/shortest_paths.h"

namespace spindled {

namespace {

/// Under which counter the bytes of a control message fall.
Counter kind_of(const ControlMessage& message) {
  struct Kind {
    Counter operator()(const LinkHello&) const { return Counter::bytes_link_state; }
    Counter operator()(const LinkState&) const { return Counter::bytes_link_state; }
    Counter operator()(const LinkStateSummary&) const { return Counter::bytes_link_state; }
    Counter operator()(const PartitionOrder&) const { return Counter::bytes_link_state; }
    Counter operator()(const Propose&) const { return Counter::bytes_propose; }
    Counter operator()(const MemberState&) const { return Counter::bytes_member_state; }
    Counter operator()(const Refuse&) const { return Counter::bytes_propose; }
    Counter operator()(const Commit&) const { return Counter::bytes_commit; }
    Counter operator()(const Done&) const { return Counter::bytes_done; }
    Counter operator()(const Counts&) const { return Counter::bytes_done; }
    Counter operator()(const Received&) const { return Counter::bytes_done; }
    Counter operator()(const Install&) const { return Counter::bytes_install; }
  };
  return std::visit(Kind(), message);
}

}  // namespace

Overlay::Overlay(Context& context, Links& links)
    : context_(context),
      links_(links),
      log_(context.log_sink, "overlay"),
      database_({context.config.name, context.config.incarnation}, context.config.view.refresh_interval) {
  handle_own_frames();
}

void Overlay::attach(ViewFrames& view, StreamFrames& streams, PriceFrames& prices) {
  view_ = &view;
  handle_streams(streams);
  handle_prices(prices);
}

void Overlay::start(Time now) {
  SPINDLE_CHECK(view_ != nullptr);
  for (const FrameTraits& each : kFrameTraits) {
    SPINDLE_CHECK(each.reach == FrameReach::link || handler_of(each.type));
  }
  sweep_at_ = now + context_.config.view.refresh_interval;
  update_own_links(now);
  advertise(now);
}

void Overlay::handle_time(Time now) {
  if (database_.own().next_deadline() <= now) {
    update_own_links(now);
    advertise(now);
  }
  if (sweep_at_ <= now) {
    sweep_at_ = now + context_.config.view.refresh_interval;
    if (database_.expire(now)) topology_changed(now);
  }
  if (namesake_due_ <= now) remind_of_namesake(now);
}

Time Overlay::next_deadline() const { return std::min({database_.own().next_deadline(), sweep_at_, namesake_due_}); }

// Links.

template <typename Visit>
void Overlay::for_each_up(Visit&& visit) const {
  for (std::size_t i = 0; i < neighbours_.size(); ++i) {
    if (neighbours_[i].up) visit(static_cast<LinkId>(i), neighbours_[i]);
  }
}

std::map<DaemonId, LinkId> Overlay::neighbours_by_id() const {
  std::map<DaemonId, LinkId> links;
  for_each_up([&](LinkId link, const Neighbour& neighbour) { links[neighbour.peer] = link; });
  return links;
}

void Overlay::link_up(Time now, LinkId link) {
  const LinkInfo info = links_.info(link);
  neighbours_.resize(std::max(neighbours_.size(), static_cast<std::size_t>(link) + 1));
  Neighbour& neighbour = at(link);
  neighbour = Neighbour{};
  neighbour.up = true;
  neighbour.peer = info.peer;
  neighbour.weight = LinkWeight(info.configured_weight);
  neighbour.weight.update(links_.path_round_trip(link));
  send(link, database_.summary());
  // The order may have come between the handshake and here.
  if (links_.partition().id().number != 0) send(link, links_.partition().order(now));
  view_->link_changed(now, link, true);
}

void Overlay::link_down(Time now, LinkId link, const Error&) {
  Neighbour& neighbour = at(link);
  if (!neighbour.up) return;
  const DaemonId peer = neighbour.peer;
  neighbour = Neighbour{};
  routes_.remove(link, peer);
  if (recovery_) recovery_->remove(link, peer);
  database_.own().neighbour_lost(now, peer);
  look_for_namesakes(now);
  update_own_links(now);
  advertise(now);
  view_->link_changed(now, link, false);
  topology_changed(now);
}

void Overlay::round_trip_changed(Time now, LinkId link) {
  Neighbour& neighbour = at(link);
  if (!neighbour.up || !neighbour.weight.update(links_.path_round_trip(link))) return;
  update_own_links(now);
  advertise(now);
  topology_changed(now);
}

void Overlay::update_own_links(Time now) {
  std::map<DaemonId, AdvertisedLink> own;
  for_each_up([&](LinkId link, const Neighbour& neighbour) {
    if (!neighbour.in_step) return;
    if (routes_.has_given_up(neighbour.peer) || (recovery_ && recovery_->has_given_up(neighbour.peer))) return;
    const auto round_trip = std::chrono::duration_cast<std::chrono::microseconds>(links_.path_round_trip(link)).count();
    AdvertisedLink& advertised = own[neighbour.peer];
    advertised.neighbour = neighbour.peer.name;
    advertised.neighbour_incarnation = neighbour.peer.incarnation;
    advertised.weight = neighbour.weight.value();
    advertised.round_trip_us = static_cast<std::uint32_t>(std::min<std::int64_t>(round_trip, UINT32_MAX));
  });
  std::vector<AdvertisedLink> links;
  for (auto& [peer, link] : own) links.push_back(std::move(link));
  database_.own().set_links(now, std::move(links));
  forget_reachable();
}

void Overlay::advertise(Time now) {
  const LinkState* state = database_.own().take_due(now);
  if (state == nullptr) return;
  flood(*state, std::nullopt);
  topology_changed(now);
}

void Overlay::topology_changed(Time now) {
  look_for_namesakes(now);
  forget_reachable();
  view_->topology_changed(now);
}

void Overlay::forget_reachable() {
  reachable_.reset();
  longest_round_trip_.reset();
}

// Control messages.

Slice Overlay::encode(const ControlMessage& message) {
  const std::vector<std::uint8_t> bytes = encode_control(message);
  if (bytes.size() > kControlMessageBytesMax) {  // only of what a peer has made up
    log_.error("a control message of {} bytes is not passed on: the limit is {}", bytes.size(),
               kControlMessageBytesMax);
    return {};
  }
  return context_.arena.copy(bytes);
}

void Overlay::send_encoded(LinkId link, const Slice& encoded, Counter kind) {
  if (encoded.empty()) return;
  links_.send_control(link, encoded);
  context_.counters.add(kind, kFrameHeadBytes + encoded.size());
}

void Overlay::flood(const ControlMessage& message, std::optional<LinkId> except) {
  const Slice encoded = encode(message);
  for_each_up([&](LinkId link, const Neighbour&) {
    if (link != except) send_encoded(link, encoded, kind_of(message));
  });
}

void Overlay::send(LinkId link, const ControlMessage& message) {
  if (at(link).up) send_encoded(link, encode(message), kind_of(message));
}

void Overlay::control_part_received(Time now, LinkId link, const Slice& body) {
  const ByteView bytes = body.view();
  if (bytes.empty() || bytes[0] > 1) return close_malformed(now, link, "a part of a control message");
  std::vector<std::uint8_t>& parts = at(link).parts;
  if (parts.size() + bytes.size() - 1 > kControlMessageBytesMax) {
    return links_.close(now, link, {Errc::frame_too_large, "the parts of a control message are too large together"});
  }
  parts.insert(parts.end(), bytes.begin() + 1, bytes.end());
  if (bytes[0] == 1) control_received(now, link, context_.arena.copy(std::exchange(parts, {})));
}

void Overlay::control_received(Time now, LinkId link, const Slice& body) {
  Result<ControlMessage> message = decode_control(body.view());
  if (!message) {
    links_.close(now, link, message.error());
  } else if (auto* state = std::get_if<LinkState>(&*message)) {
    link_state_received(now, link, std::move(*state), body);
  } else if (const auto* summary = std::get_if<LinkStateSummary>(&*message)) {
    summary_received(now, link, *summary);
  } else if (const auto* order = std::get_if<PartitionOrder>(&*message)) {
    partition_received(now, *order, link);
  } else if (std::holds_alternative<LinkHello>(*message)) {
    links_.close(now, link, {Errc::unexpected_frame, "a second link hello"});
  } else {
    view_->control_received(now, link, std::move(*message));
  }
}

void Overlay::link_state_received(Time now, LinkId link, LinkState state, const Slice& encoded) {
  const DaemonId origin = state.origin;
  const bool lives = state.stays_out && origin.name == database_.self().name && database_.entries().contains(origin);
  const LinkStateDatabase::Outcome outcome = database_.accept(now, std::move(state));
  switch (outcome) {
    case LinkStateDatabase::Outcome::refreshed:
    case LinkStateDatabase::Outcome::changed:
      for_each_up([&](LinkId other, const Neighbour&) {
        if (other != link) send_encoded(other, encoded, Counter::bytes_link_state);
      });
      forget_reachable();
      if (lives) namesake_heard(now, origin);
      if (outcome == LinkStateDatabase::Outcome::changed) topology_changed(now);
      advertise(now);
      return;
    case LinkStateDatabase::Outcome::own:
      advertise(now);
      return;
    case LinkStateDatabase::Outcome::full:
      if (std::exchange(complained_of_size_, true)) return;
      log_.warning("there is no room for more than {} daemons: {} is ignored", kLinkStatesMax, origin.name);
      return;
    case LinkStateDatabase::Outcome::old:
      return;
  }
}

void Overlay::summary_received(Time now, LinkId link, const LinkStateSummary& summary) {
  if (!summary.is_answer) {
    for (const LinkState& state : database_.lacking(summary)) send(link, state);
    send(link, LinkStateSummary{{}, true});
    return;
  }
  if (std::exchange(at(link).in_step, true)) return;
  update_own_links(now);
  topology_changed(now);
  advertise(now);
}

Topology Overlay::reachable() const {
  if (!reachable_) reachable_ = database_.reachable();
  return *reachable_;
}

Duration Overlay::longest_round_trip() const {
  if (longest_round_trip_) return *longest_round_trip_;
  if (!reachable_) reachable_ = database_.reachable();
  const std::vector<DaemonId>& members = reachable_->members;
  const auto self = std::lower_bound(members.begin(), members.end(), database_.self());
  SPINDLE_CHECK(self != members.end() && *self == database_.self());
  const ShortestPaths paths(Adjacency(members.size(), reachable_->edges),
                            static_cast<MemberIndex>(self - members.begin()));
  longest_round_trip_ = std::chrono::microseconds(paths.longest_round_trip_us());
  return *longest_round_trip_;
}

// The life of a view.

void Overlay::freeze() {
  frozen_ = true;
  recovery_.reset();
  // What waits would be rejected where it goes to, with the view's own markers.
  for_each_up([&](LinkId link, const Neighbour&) { links_.drop_queued(link, FramePriority::data); });
  for (Neighbour& neighbour : neighbours_) neighbour.marked = false;
}

void Overlay::use_recovery_routes(const View& view) { recovery_.emplace(view, neighbours_by_id()); }

void Overlay::install(Time now, const View& view) {
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
  // Links that the view before had given up count again.
  update_own_links(now);
  advertise(now);
}

}  // namespace spindled
