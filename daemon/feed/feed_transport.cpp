#include "daemon/feed/feed_transport.h"

#include <algorithm>

#include "daemon/base/check.h"

namespace spindled {

void FeedTransport::attach(FeedRepair& repair, FeedListeners& listeners, FeedSources& sources) {
  repair_ = &repair;
  listeners_ = &listeners;
  sources_ = &sources;
}

// --- Views and links ---

void FeedTransport::begin_view(Time now, const View& view) {
  now_ = now;
  view_ = &view;
  view_began_ = now;
  if (repair_->feeds() != 0 || !sources_->all().empty() || early_.bytes() != 0) need_routes();
}

void FeedTransport::need_routes() {
  if (const View* view = std::exchange(view_, nullptr)) install(*view);
}

void FeedTransport::install(const View& view) {
  ++routes_found_;
  std::map<DaemonId, LinkId> neighbours;
  for (const LinkId link : links_.established()) neighbours.emplace(links_.peer(link), link);
  routes_ = FeedRoutes(view, neighbours);
  former_ = std::exchange(installed_, {routes_.tag(), view.self, view.members});
  repair_->install(now_, routes_, view_began_);
  look_at_ = now_;
  for (const EarlyFrames::Frame& each : early_.take()) {
    context_.turn.begin_step();
    const Taken taken = take(now_, each.from, each.type, each.body);
    if (taken == Taken::unknown_view && is_early(each.body)) {
      early_.add(each.from, each.type, each.body);
    } else if (taken != Taken::yes) {
      context_.counters.add(Counter::feed_frames_stray);
    }
  }
}

void FeedTransport::feed_link_down(Time now, LinkId link) {
  now_ = now;
  early_.forget(link);
  share_.forget(link);
  std::erase_if(held_, [&](const Held& each) {
    if (each.link != link) return false;
    held_bytes_ -= each.head.size() + each.payload.size();
    return true;
  });
  routes_.remove(link);
  repair_->link_down(link);
}

const FeedTransport::Named* FeedTransport::find(std::uint16_t tag) const {
  for (const Named* each : {&installed_, &former_}) {
    if (each->tag == tag && !each->members.empty()) return each;
  }
  return nullptr;
}

bool FeedTransport::is_own(const FeedRef& ref) const {
  const Named* named = find(ref.view);
  return named != nullptr && named->self == ref.origin;
}

/// Links' own round trips are of heartbeats, which wait behind data.
void FeedTransport::look_at_links() {
  look_at_ = kNever;
  if (repair_->feeds() == 0) return;
  look_at_ = now_ + kLookInterval;
  for (const LinkId link : links_.established()) {
    const Duration round_trip = links_.datagram_round_trip(link);
    if (round_trip != Duration::zero()) repair_->set_round_trip(link, round_trip);
  }
}

// --- In ---

bool FeedTransport::feed_frame_received(Time now, LinkId link, std::uint8_t type, ByteView body) {
  now_ = now;
  need_routes();
  context_.turn.begin_step();
  const Taken taken = take(now, link, type, body);
  if (taken == Taken::unknown_view) {
    if (is_early(body)) {
      early_.add(link, type, body);
      context_.counters.add(Counter::feed_frames_early);
    } else {
      context_.counters.add(Counter::feed_frames_stray);
    }
  }
  if (look_at_ == kNever && repair_->feeds() != 0) look_at_ = now;
  return taken != Taken::malformed;
}

FeedTransport::Taken FeedTransport::take(Time now, LinkId link, std::uint8_t type, ByteView body) {
  switch (static_cast<DatagramFrame>(type)) {
    case DatagramFrame::packet:
      return hand_on(now, link, read_packet(body));
    case DatagramFrame::nak:
      return hand_on(now, link, read_nak(body));
    case DatagramFrame::gone:
      return hand_on(now, link, read_gone(body));
    case DatagramFrame::beat:
      return hand_on(now, link, read_beat(body));
  }
  return Taken::malformed;
}

template <typename Frame>
FeedTransport::Taken FeedTransport::hand_on(Time now, LinkId link, std::optional<Frame> frame) {
  if (!frame) return Taken::malformed;
  switch (repair_->handle(now, link, std::move(*frame))) {
    case FeedRepair::Result::handled:
      return Taken::yes;
    case FeedRepair::Result::malformed:
      return Taken::malformed;
    case FeedRepair::Result::unknown_view:
      break;
  }
  return Taken::unknown_view;
}

/// Numbers of views only rise. The frame is well-formed.
bool FeedTransport::is_early(ByteView body) const {
  if (installed_.members.empty()) return true;
  const std::uint16_t tag = Reader(body).u16();
  return static_cast<std::int16_t>(tag - installed_.tag) > 0;
}

void FeedTransport::deliver(const FeedKey& feed, std::uint64_t sequence, const FeedPacket& packet) {
  const std::uint64_t counted = sequence - FeedRepair::kSequenceBase;
  const std::optional<FeedRepair::State> state = repair_->state_of(feed);
  listeners_->deliver(feed, counted, packet.flags, packet.payload, !state || state->next == counted + 1);
}

void FeedTransport::lost(const FeedKey& feed, std::uint64_t first, std::uint64_t count) {
  listeners_->lost(feed, first - FeedRepair::kSequenceBase, count);
}

void FeedTransport::loss_reported(std::uint32_t feed, std::uint64_t first, const FeedNak& nak) {
  const Named* named = find(nak.ref.view);
  if (named == nullptr || nak.reporter >= named->members.size()) return;
  sources_->lost(now_, feed, named->members[nak.reporter], first, nak);
}

// --- Out ---

void FeedTransport::send(LinkId link, const FeedPacket& packet) {
  FeedPacket without = packet;
  without.payload = {};
  head_.resize(packet_size(without));
  Writer writer(head_.data());
  write_packet(writer, without);
  const std::optional<std::uint32_t> own_feed = is_own(packet.ref) ? std::optional(packet.ref.feed) : std::nullopt;
  if (!own_feed || !packet.is_repair()) return send_packet(link, own_feed, head_, packet.payload);
  if (sources_->silent_until(*own_feed) > now_) {
    if (held_.size() >= kHeldMax) return;  // it is asked for again
    held_.push_back({link, *own_feed, head_, {packet.payload.begin(), packet.payload.end()}});
    held_bytes_ += head_.size() + packet.payload.size();
    return;
  }
  sources_->repaired(*own_feed, head_.size() + packet.payload.size());
  send_packet(link, own_feed, head_, packet.payload);
}

void FeedTransport::send_packet(LinkId link, std::optional<std::uint32_t> own_feed, ByteView head, ByteView payload) {
  if (!links_.is_established(link)) return;
  const LinkShare::Connection connection{prices_.costs(link), links_.bytes_out(link)};
  const double share = context_.config.feed.link_share;
  if (!share_.take(now_, link, connection, share, head.size() + payload.size())) {
    context_.counters.add(Counter::feed_packets_yielded);
    if (own_feed) sources_->yielded(now_, *own_feed);
    return;
  }
  links_.send_feed_frame(now_, link, static_cast<std::uint8_t>(DatagramFrame::packet), head, payload);
}

template <typename Frame, typename Write>
void FeedTransport::send_short(LinkId link, DatagramFrame type, std::size_t bytes_max, const Frame& frame,
                               Write&& write) {
  std::array<std::uint8_t, std::max(kNakBytesMax, kShortDatagramFrameBytesMax)> body;
  SPINDLE_CHECK(bytes_max <= body.size());
  Writer writer(body.data());
  write(writer, frame);
  links_.send_feed_frame(now_, link, static_cast<std::uint8_t>(type), {body.data(), writer.size()}, {});
}

void FeedTransport::send(LinkId link, const FeedNak& nak) {
  send_short(link, DatagramFrame::nak, kNakBytesMax, nak, write_nak);
}

void FeedTransport::send(LinkId link, const FeedGone& gone) {
  send_short(link, DatagramFrame::gone, kShortDatagramFrameBytesMax, gone, write_gone);
}

void FeedTransport::send(LinkId link, const FeedBeat& beat) {
  send_short(link, DatagramFrame::beat, kShortDatagramFrameBytesMax, beat, write_beat);
}

// --- Time ---

void FeedTransport::handle_time(Time now) {
  now_ = now;
  if (look_at_ <= now) look_at_links();
  if (held_.empty()) return;
  std::deque<Held> silent;
  for (Held& each : std::exchange(held_, {})) {
    if (sources_->silent_until(each.feed) > now) {
      silent.push_back(std::move(each));
      continue;
    }
    const std::size_t bytes = each.head.size() + each.payload.size();
    held_bytes_ -= bytes;
    sources_->repaired(each.feed, bytes);
    send_packet(each.link, each.feed, each.head, each.payload);
  }
  held_ = std::move(silent);
}

Time FeedTransport::next_at() const {
  Time next = look_at_;
  for (const Held& each : held_) next = std::min(next, sources_->silent_until(each.feed));
  return next;
}

}  // namespace spindled
