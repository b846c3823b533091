#include "daemon/admission/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daemon/base/broken.h"
#include "daemon/link/link_limits.h"

namespace spindled {

namespace {
/// Feedback takes at least this long, however short the way: a daemon handles its inputs in turns.
constexpr Duration kStepMin = 1ms;
/// A flow that could pay is put off no longer than it takes to earn so many packets.
constexpr double kPutOffEarnings = 2;
/// Nor for less than this: it would be over by the next turn.
constexpr double kPutOffMinS = 0.0005;
/// How long it takes at most until a flow that cannot pay is looked at again: its salary changes meanwhile.
constexpr Duration kPatience = 50ms;
/// The time that a salary takes to grow e-fold on an idle network, in round trips to the flow's destinations.
constexpr int kFeedbackRoundTrips = 4;
/// What a view takes, about, and each name in it.
constexpr std::size_t kViewBytes = 48;
constexpr std::size_t kNameBytes = 24;
/// A flow can have saved what it earns in this time, so that a turn's worth of messages can enter at once where much is
/// sent.
constexpr double kTurnSavingsS = 0.01;

std::size_t packets_of(std::size_t bytes) {
  return std::max<std::size_t>(1, (bytes + kPacketBytes - 1) / kPacketBytes);
}
}  // namespace

Admission::Admission(Context& context, const Links& links, Overlay& overlay, const Order& order, const Groups& groups)
    : context_(context),
      log_(context.log_sink, "admission"),
      order_(order),
      groups_(groups),
      benefit_(make_benefit(context.config.admission.benefit)),
      book_(context.config.admission),
      own_(context, links, overlay, book_),
      membership_rate_(context.config.session),
      random_(context.random.split()),
      enabled_(context.config.admission.enabled) {}

void Admission::start_turn(Time now) {
  membership_rate_.start_turn();
  const View& view = order_.view();
  if (view.size() != 0 && view.id != book_.view().id) {
    book_.start_view(view);
    own_.start_view(now);
  }
  book_.expire(now);
  retention_full_ = order_.retained_bytes() >= context_.config.order.retention_bytes_max;
  const bool has_room_now = has_room();
  if (std::exchange(had_room_, has_room_now) != has_room_now || book_.falls() != seen_falls_) ++news_;
  seen_falls_ = book_.falls();
}

void Admission::set_enabled(bool enabled) {
  if (std::exchange(enabled_, enabled) == enabled) return;
  log_.info("switched {} by order", enabled ? "on" : "off");
  ++news_;
}

bool Admission::has_room() const {
  return groups_.is_ready() &&
         (broken(Broken::window_ignored) ||
          (!retention_full_ && order_.unstable_bytes() < context_.config.session.send_window_bytes));
}

bool Admission::may_enter(Time now, Flow& flow, DestinationSet& to, std::size_t bytes) {
  if (!has_room()) {
    had_room_ = false;  // it may be back by the next turn
    count_held(flow);
    flow.wait_for_room(now);
    return false;
  }
  groups_.resolve(to);
  const AdmissionConfig& config = context_.config.admission;
  Flow::Way& way = find_way(flow, to);
  if (!enabled_ && way.clients >= config.price_max) {
    count_held(flow);
    flow.wait_for_clients(now, now + kPatience);
    return false;
  }
  if (!enabled_ || (book_.is_local(to.daemons) && way.congestion <= 0)) {
    flow.pass(now, packets_of(bytes));
    return true;
  }
  // On an idle network: long enough that a packet that congests a link shows in its price before much has followed.
  const bool is_idle = way.congestion <= 0 && way.told <= 0;
  const Duration step = is_idle ? std::max(kStepMin, kFeedbackRoundTrips * way.round_trip) : config.step;
  if (way.reckoned_at != now) {  // the next messages of a turn find it done
    way.reckoned_at = now;
    way.price = price_of(now, flow, way.receivers, way.congestion);
    flow.accrue(now, config, savings_of(flow));
    flow.review(now, config, known_price(now, flow, way), step);
  }
  const double price = way.price;
  if (way.remote && is_put_off(now, flow, price)) return false;
  const std::size_t packets = packets_of(bytes);
  const bool has_lacked_dollars = flow.has_waited_for(Flow::Wait::dollars);
  if (flow.try_pay(now, price, packets, config, std::min(step, kPatience))) {
    context_.counters.add(Counter::packets_paid, packets);
    context_.counters.add(Counter::cents_paid, static_cast<std::uint64_t>(100 * price * static_cast<double>(packets)));
    return true;
  }
  if (!has_lacked_dollars) context_.counters.add(Counter::messages_blocked);
  return false;
}

std::optional<Time> Admission::membership_waits_until(Time now, MembershipBudget& client) {
  if (has_room()) return membership_rate_.wait_until(now, client);
  had_room_ = false;
  return kNever;
}

void Admission::pay_for_join(MembershipBudget& client, const std::string& name) {
  const Group* group = groups_.table().find(name);
  const std::size_t members = group == nullptr ? 0 : group->members.size();
  const bool is_large = members >= context_.config.session.full_view_members;
  const std::size_t view_bytes = kViewBytes + name.size() + kNameBytes * (is_large ? 1 : members);
  // When it joins, and when it leaves.
  const double told =
      2 * static_cast<double>(members) * (MembershipRate::kTellingBytes + static_cast<double>(view_bytes));
  membership_rate_.pay(client, (MembershipRate::kBaseBytes + told) * dearness(name));
}

void Admission::pay_for_leave(MembershipBudget& client, const std::string& group) {
  membership_rate_.pay(client, MembershipRate::kBaseBytes * dearness(group));
}

double Admission::dearness(const std::string& group) const {
  DestinationSet to;
  to.names = {group};
  to.daemons = MemberSet::first(book_.view().size());
  return 1 + book_.quote(to).congestion / context_.config.admission.fee;
}

/// A message that is about to wait, for anything but its price.
void Admission::count_held(const Flow& flow) {
  if (flow.has_waited_for(Flow::Wait::room) || flow.has_waited_for(Flow::Wait::clients)) return;
  context_.counters.add(Counter::messages_held_for_room);
}

Flow::Way& Admission::find_way(Flow& flow, const DestinationSet& to) const {
  Flow::Way& way = flow.way;
  if (way.price_version == book_.version() && way.table_version == to.table_version) return way;
  if (way.table_version != to.table_version) {
    way.table_version = to.table_version;
    way.round_trip = book_.round_trip(to.daemons);
  }
  const Quote quote = book_.quote(to);
  way.price_version = book_.version();
  way.congestion = quote.congestion;
  way.told = quote.told;
  way.receivers = static_cast<double>(quote.receivers);
  way.clients = quote.clients.dollars;
  way.remote = quote.remote;
  way.reckoned_at = kNever;
  return way;
}

/// Equation (8).
double Admission::price_of(Time now, const Flow& flow, double receivers, double congestion) const {
  const AdmissionConfig& config = context_.config.admission;
  if (congestion <= 0) return config.fee;
  return config.fee + congestion / benefit_->of({receivers, flow.rate(now)});
}

/// Salaries follow this. What only those at a link's own daemon see of it, how its queue comes and goes, would let
/// theirs grow faster than it shrinks. But what was told counts no longer than something waits: a first queue, told as
/// it was, is gone in a moment on a fast link.
double Admission::known_price(Time now, const Flow& flow, const Flow::Way& way) const {
  if (way.congestion <= 0 || way.told == way.congestion) return way.price;
  return price_of(now, flow, way.receivers, way.told);
}

double Admission::savings_of(const Flow& flow) const {
  const AdmissionConfig& config = context_.config.admission;
  return std::max(config.savings_max, kTurnSavingsS * config.salary / to_seconds(flow.period()));
}

/// Against all flows buying at the moment when the same news reach them (section IV-B.7 of the paper): one that has
/// come to money enters at once with probability 1/C, and waits a while otherwise, the longer the dearer packets are,
/// but in proportion to the time in which it earns a packet: one that sends much would only send in bursts. What makes
/// packets dear may be over in a moment, and what was drawn then is not to hold for longer.
bool Admission::is_put_off(Time now, Flow& flow, double price) {
  if (flow.budget() < price || flow.is_lot_over(now)) return false;
  const AdmissionConfig& config = context_.config.admission;
  const double fees = price / config.fee;
  const double earning_s = price * to_seconds(flow.period()) / config.salary;
  const double longest_s = std::min((fees - 1) * to_seconds(config.delay_max), kPutOffEarnings * earning_s);
  if (!flow.has_drawn()) {
    double lot = random_.chance(1 / fees) ? 0 : random_.real();
    if (lot * longest_s < kPutOffMinS) {
      lot = 0;
    } else {
      context_.counters.add(Counter::messages_delayed);
    }
    flow.draw(now, lot);
  }
  return flow.is_put_off(now, from_seconds(longest_s));
}

bool Admission::observe(Time now) { return own_.observe(now); }

Time Admission::next_deadline() const { return std::min(own_.next_deadline(), book_.next_expiry()); }

bool Admission::price_received(Time now, const Price& price) {
  if (!book_.hear(now, price)) return false;
  context_.counters.add(Counter::prices_heard);
  return true;
}

FlowState Admission::state(Time now, const Flow& flow, const DestinationSet& to) const {
  const Quote quote = book_.quote(to);
  FlowState state;
  const bool pays = enabled_ && (!book_.is_local(to.daemons) || quote.congestion > 0);
  state.price = pays ? price_of(now, flow, static_cast<double>(quote.receivers), quote.congestion) : 0;
  state.budget = flow.budget();
  state.rate = flow.rate(now);
  state.salary_period = flow.period();
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
  return wait == Flow::Wait::dollars || wait == Flow::Wait::lot ? "salary" : "";
}

}  // namespace spindled
