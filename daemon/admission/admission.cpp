#include "daemon/admission/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daemon/admission/balance.h"
#include "daemon/group/entering_messages.h"
#include "daemon/link/link_limits.h"

namespace spindled {

namespace {
/// Feedback takes at least this long, however short the way: a daemon handles its inputs in turns.
constexpr Duration kFeedbackMin = 2500us;
/// How long it takes at most until a flow that cannot pay is looked at again: its salary changes meanwhile.
constexpr Duration kPatience = 50ms;
/// Of a price arrives as much at least: it is told to within a two-thousandth.
constexpr double kToldShare = 0.999;
/// What a view takes, about, and each name in it.
constexpr std::size_t kViewBytes = 48;
constexpr std::size_t kNameBytes = 24;
/// Packets that a flow can have saved however dear they are.
constexpr double kSavingsLeast = 2;
/// A flow can have saved what it earns in this time, so that a turn's worth of messages can enter at once where much is
/// sent.
constexpr double kTurnSavingsS = 0.01;

/// A part of a large message is what its flow earns in this time, or a packet: all flows together then send no further
/// ahead of what they earn.
constexpr double kPartS = 0.002;
/// The frame of a part has so many bytes besides, at most in general: it is to be of as many packets as are paid for.
constexpr std::size_t kPartHeadBytes = 100;
/// While messages that have their place in the order wait for turns, the daemon's own may only fill this part of the
/// window: more of them would wait there, before whatever other clients send, and not with their senders.
constexpr std::size_t kLaggingPart = 8;

/// What the flow has just been told to wait for.
Verdict refusal(const Flow& flow) { return {0, flow.waits_for(), flow.retry_at()}; }

}  // namespace

Admission::Admission(Context& context, const Links& links, Overlay& overlay, const Order& order, const Groups& groups)
    : context_(context),
      log_(context.log_sink, "admission"),
      order_(order),
      groups_(groups),
      link_state_(overlay.link_state()),
      book_(context.config.admission),
      own_(context, links, overlay, book_),
      membership_rate_(context.config.session),
      random_(context.random.split()),
      enabled_(context.config.admission.enabled) {}

void Admission::start_turn(Time now) {
  turn_at_ = now;
  membership_rate_.start_turn();
  const View& view = order_.view();
  const bool is_new_view = view.size() != 0 && view.id != book_.view().id;
  if (is_new_view) {
    book_.start_view(view);
    own_.start_view(now);
  }
  const bool is_new_setting = std::exchange(seen_settings_, link_state_.settings_version()) != seen_settings_;
  if (is_new_view || is_new_setting) set_window();
  book_.expire(now);
  retention_full_ = order_.retained_bytes() >= context_.config.order.retention_bytes_max;
  const bool has_room_now = has_room();
  if (has_room_now || !groups_.is_ready()) lacked_room_ = false;
  if (std::exchange(had_room_, has_room_now) != has_room_now || book_.falls() != seen_falls_) ++news_;
  seen_falls_ = book_.falls();
}

void Admission::set_enabled(bool enabled) {
  if (std::exchange(enabled_, enabled) == enabled) return;
  log_.info("switched {} by order", enabled ? "on" : "off");
  ++news_;
}

bool Admission::has_room() const {
  const std::size_t own = order_.own_unordered_bytes();
  const std::size_t own_max = order_.is_lagging() ? window_ / kLaggingPart : window_;
  return groups_.is_ready() && !retention_full_ && order_.unstable_bytes() < window_ && own < own_max &&
         own + order_.held_up_bytes() < window_;
}

void Admission::set_window() {
  const std::vector<DaemonId>& members = order_.view().members;
  const std::size_t memory = link_state_.smallest_memory(members);
  window_ = std::min(context_.config.session.send_window_bytes, MemoryBudget::window(memory, members.size()));
  entering_room_ = EnteringMessages::room(memory, members.size());
}

Verdict Admission::try_admit(Time now, Flow& flow, DestinationSet& to, const Offer& offer) {
  const std::uint32_t bytes = offer.part == 0 ? offer.bytes : share_of(now, flow, to, offer);
  if (!has_room()) {
    had_room_ = false;  // it may be back by the next turn
    lacked_room_ = groups_.is_ready();
    count_held(flow);
    flow.wait_for_room(now);
    return refusal(flow);
  }
  groups_.sender().resolve(to);
  Flow::Way& way = find_way(flow, to);
  if (!enabled_ && way.clients >= kToldShare * context_.config.admission.price_max) {
    count_held(flow);
    flow.wait_for_clients(now, now + kPatience);
    return refusal(flow);
  }
  // Names go with the last of the payload, or with all of it.
  std::uint32_t with_names = bytes;
  if (const std::size_t names = to.paid_bytes(); names != 0 && bytes == offer.bytes) [[unlikely]] {
    with_names += static_cast<std::uint32_t>(names);
  }
  if (!enabled_ || (book_.is_local(to.daemons) && way.congestion <= 0)) {
    flow.pass(now, packets_of(with_names));
    return {bytes};
  }
  if (way.reckoned_at != now) reckon(now, flow, way);  // the next messages of a turn find it done
  const std::size_t packets = packets_of(with_names);
  if (way.congestion > 0 && flow.credit() < 1 && !flow.has_entry()) draw_entry(flow, packets);
  if (flow.can_pay()) {
    flow.pay(now, way.price, packets);
    context_.counters.add(Counter::packets_paid, packets);
    context_.counters.add(Counter::cents_paid,
                          static_cast<std::uint64_t>(100 * way.price * static_cast<double>(packets)));
    return {bytes};
  }
  if (!flow.has_waited_for(Flow::Wait::dollars)) context_.counters.add(Counter::messages_blocked);
  flow.wait_for_dollars(now, way.congestion > 0 ? kPatience : std::min(way.delay, kPatience));
  return refusal(flow);
}

std::uint32_t Admission::share_of(Time now, Flow& flow, DestinationSet& to, const Offer& offer) {
  if (!divides(offer.bytes) || !groups_.is_ready()) return offer.bytes;
  groups_.sender().resolve(to);
  Flow::Way& way = find_way(flow, to);
  const bool is_idle = way.congestion <= 0;
  if (is_idle && (offer.bytes <= kIdlePartBytes || book_.is_local(to.daemons))) return offer.bytes;
  if (has_room() && way.reckoned_at != now) reckon(now, flow, way);
  const double packets = std::max({1.0, std::floor(flow.credit()), std::floor(kPartS * flow.earning())});
  const std::size_t earned = kPacketBytes * static_cast<std::size_t>(std::min(packets, 1e6)) - kPartHeadBytes;
  const std::size_t room = is_idle ? std::max<std::size_t>(earned, kIdlePartBytes) : earned;
  return static_cast<std::uint32_t>(std::min<std::size_t>(offer.part, room));
}

Verdict Admission::try_admit(Time now, MembershipBudget& client, Change change, const std::string& group) {
  if (!has_room()) {
    had_room_ = false;
    lacked_room_ = groups_.is_ready();
    return {0, AdmissionWait::room, kNever};
  }
  if (const auto until = membership_rate_.wait_until(now, client)) return {0, AdmissionWait::changes, *until};
  pay(client, change, group);
  return {};
}

void Admission::pay(MembershipBudget& client, Change change, const std::string& name) {
  if (change == Change::leave) return membership_rate_.pay(client, MembershipRate::kBaseBytes * dearness(name));
  const Group* group = groups_.table().find(name);
  const std::size_t members = group == nullptr ? 0 : group->members.size();
  const bool is_large = members >= context_.config.session.full_view_members;
  const std::size_t view_bytes = kViewBytes + name.size() + kNameBytes * (is_large ? 1 : members);
  // When it joins, and when it leaves.
  const double told =
      2 * static_cast<double>(members) * (MembershipRate::kTellingBytes + static_cast<double>(view_bytes));
  membership_rate_.pay(client, (MembershipRate::kBaseBytes + told) * dearness(name));
}

double Admission::dearness(const std::string& group) const {
  DestinationSet to;
  to.names = {group};
  to.daemons = MemberSet::first(book_.view().size());
  const AdmissionConfig& config = context_.config.admission;
  const double share = rate_of_balance(config.price_threshold, config.fee + book_.quote(to).congestion);
  return std::max(1.0, static_cast<double>(context_.config.session.membership_rate_bytes) / (share * kPacketBytes));
}

/// A message that is about to wait, for anything but its price.
void Admission::count_held(const Flow& flow) {
  if (flow.has_waited_for(Flow::Wait::room) || flow.has_waited_for(Flow::Wait::clients)) return;
  context_.counters.add(Counter::messages_held_for_room);
}

void Admission::renew_way(Flow::Way& way, const DestinationSet& to) const {
  if (way.table_version != to.table_version || way.config_version != context_.config_version()) {
    way.table_version = to.table_version;
    way.config_version = context_.config_version();
    way.savings = 0;
    way.round_trip = book_.round_trip(to.daemons);
    way.benefit = benefit_of(context_.config.admission, to.names);
  }
  context_.turn.count_input(to.names.size());
  const Quote quote = book_.quote(to);
  way.price_version = book_.version();
  way.congestion = quote.congestion;
  way.asked = price_of(way.benefit, quote);
  way.clients = quote.clients.dollars;
  way.parts = quote.parts;
  way.delay = quote.congestion > 0 ? std::max(quote.delay, kFeedbackMin) : std::max(way.round_trip, kFeedbackMin);
  way.reckoned_at = kNever;
}

/// Equation (8).
double Admission::price_of(BenefitKind benefit, const Quote& quote) const {
  const double fee = context_.config.admission.fee;
  return quote.congestion > 0 ? fee + quote.congestion / worth_of(benefit, quote) : fee;
}

void Admission::reckon(Time now, Flow& flow, Flow::Way& way) {
  const AdmissionConfig& config = context_.config.admission;
  const double price_before = std::exchange(way.price, way.asked);
  if (way.price != price_before || way.savings == 0)
    way.savings = std::max(kSavingsLeast, config.savings_max / way.price);
  // Until the price was known it earned what it did before.
  if (way.reckoned_at == kNever) flow.accrue(std::min(now, book_.changed_at()), savings_of(flow));
  way.reckoned_at = now;
  if (way.parts != way.priced_parts) {
    if (way.priced_parts == 0) {
      flow.meet_onset(config, price_before, way.price);
    } else {
      flow.keep_rate(price_before, way.price);
    }
    way.priced_parts = way.parts;
    way.parts_since = now;
  }
  const bool is_idle = way.congestion <= 0;
  flow.review(now, config, {way.price, is_idle, way.delay, now - way.parts_since});
  flow.accrue(now, savings_of(flow));
}

double Admission::savings_of(const Flow& flow) const {
  return std::max(flow.way.savings, kTurnSavingsS * flow.earning());
}

/// All know a price at the same time, and those that have begun together would go on together (section IV-B.7 of the
/// paper): so each message that has to wait enters somewhat sooner or later than it is earned.
void Admission::draw_entry(Flow& flow, std::size_t packets) {
  flow.set_entry(1 + (random_.real() - 0.5) * static_cast<double>(packets));
}

bool Admission::observe(Time now) { return own_.observe(now); }

Time Admission::next_deadline() const { return std::min(own_.next_deadline(), book_.next_expiry()); }

bool Admission::price_received(Time now, const Price& price) {
  if (!book_.hear(now, price)) return false;
  context_.counters.add(Counter::prices_heard);
  return true;
}

FlowSnapshot Admission::state(Time now, const Flow& flow, const DestinationSet& to) const {
  context_.turn.count_input(to.names.size());
  const Quote quote = book_.quote(to);
  FlowSnapshot state;
  state.benefit = benefit_of(context_.config.admission, to.names);
  const bool pays = enabled_ && (!book_.is_local(to.daemons) || quote.congestion > 0);
  state.price = pays ? price_of(state.benefit, quote) : 0;
  state.budget = flow.credit() * std::max(state.price, context_.config.admission.fee);
  state.rate = flow.rate(now);
  if (flow.salary() > 0) state.salary_period = from_seconds(context_.config.admission.salary / flow.salary());
  state.blocked_share = flow.blocked_share(now);
  state.is_blocked = flow.is_blocked();
  state.packets = flow.packets();
  state.dollars = flow.dollars();
  state.limited_by = limit_of(flow, quote);
  return state;
}

std::string Admission::limit_of(const Flow& flow, const Quote& quote) const {
  const auto name_of = [&](MemberIndex member) -> const std::string& { return book_.view().members[member].name; };
  const Flow::Wait wait = flow.waits_for();
  if (wait == Flow::Wait::room) return "room";
  if (!enabled_ && wait != Flow::Wait::clients) return {};
  const double link = enabled_ ? quote.link.dollars : 0;
  if (quote.clients.dollars > link) {
    const std::string_view daemon = name_of(quote.clients.daemon);
    const std::string_view slowest = book_.slowest(quote.clients);
    if (slowest.empty()) return fmt::format("clients of {} at {}", quote.clients.name, daemon);
    return fmt::format("client #{}#{} of {}", slowest, daemon, quote.clients.name);
  }
  if (link > 0) return fmt::format("link {}-{}", name_of(quote.link.from), name_of(quote.link.neighbour));
  return wait == Flow::Wait::dollars ? "salary" : "";
}

}  // namespace spindled
