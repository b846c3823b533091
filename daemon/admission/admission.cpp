#include "daemon/admission/admission.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/link/link_limits.h"

namespace spindled {

namespace {
/// Feedback takes at least this long, however short the way: a daemon handles its inputs in turns.
constexpr Duration kStepMin = 1ms;
/// A flow on an idle network can have saved what it earns in this time, so that a turn's worth of messages can enter at
/// once.
constexpr double kIdleSavingsS = 0.01;

std::size_t packets_of(std::size_t bytes) {
  return std::max<std::size_t>(1, (bytes + kPacketBytes - 1) / kPacketBytes);
}
}  // namespace

Admission::Admission(Context& context, const Links& links, Overlay& overlay, const Order& order, const Groups& groups)
    : context_(context),
      order_(order),
      groups_(groups),
      benefit_(make_benefit(context.config.admission.benefit)),
      book_(context.config.admission),
      own_(context, links, overlay, book_),
      random_(context.random.split()) {}

void Admission::start_turn(Time now) {
  const View& view = order_.view();
  if (view.size() != 0 && (view.id.number != view_number_ || view.id.coordinator != view_coordinator_)) {
    view_number_ = view.id.number;
    view_coordinator_ = view.id.coordinator;
    book_.start_view(view);
    own_.start_view(now);
  }
  book_.expire(now);
  retention_full_ = order_.retained_bytes() >= context_.config.order.retention_bytes_max;
  const bool has_room_now = has_room();
  if (std::exchange(had_room_, has_room_now) != has_room_now || book_.version() != seen_version_) ++news_;
  if (held_back_ != order_.congested()) {
    held_back_ = order_.congested();
    ++news_;
  }
  seen_version_ = book_.version();
}

bool Admission::has_room() const {
  return groups_.is_ready() && !retention_full_ && order_.unstable_bytes() < context_.config.session.send_window_bytes;
}

bool Admission::may_enter(Time now, Flow& flow, DestinationSet& to, std::size_t bytes) {
  if (!has_room()) {
    had_room_ = false;  // it may be back by the next turn
    if (!flow.is_blocked()) context_.counters.add(Counter::messages_held_for_room);
    flow.wait_for_room(now);
    return false;
  }
  groups_.resolve(to);
  if (to.daemons.intersects(held_back_)) {
    flow.wait_for_room(now);
    return false;
  }
  const AdmissionConfig& config = context_.config.admission;
  if (!config.enabled || book_.is_local(to.daemons)) {
    flow.pass(now, packets_of(bytes));
    return true;
  }
  const Quote quote = book_.all_free() ? Quote{} : book_.quote(to);
  const bool congested = quote.congestion > 0;
  const double price_now = price(flow, quote, now);
  const double savings = congested
                             ? config.savings_max
                             : std::max(config.savings_max, kIdleSavingsS * config.salary / to_seconds(flow.period()));
  flow.accrue(now, config, savings);
  flow.review(now, config, price_now, congested ? config.step : feedback_time(flow, to));
  if (quote.remote && !draw_lots(now, flow, price_now)) return false;
  const bool was_blocked = flow.is_blocked();
  if (flow.try_pay(now, price_now, packets_of(bytes), config)) return true;
  if (!was_blocked) context_.counters.add(Counter::messages_blocked);
  return false;
}

/// How long it takes until a packet that congests a link of an idle tree shows in its price here.
Duration Admission::feedback_time(Flow& flow, const DestinationSet& to) const {
  if (flow.round_trip_of != to.table_version) {
    flow.round_trip_of = to.table_version;
    flow.round_trip = book_.round_trip(to.daemons);
  }
  return std::clamp(flow.round_trip, kStepMin, std::max(kStepMin, context_.config.admission.step));
}

double Admission::price(const Flow& flow, const Quote& quote, Time now) const {
  const AdmissionConfig& config = context_.config.admission;
  if (quote.congestion <= 0) return config.fee;
  const PacketFacts facts{static_cast<double>(quote.receivers), flow.rate(now)};
  return config.fee + quote.congestion / benefit_->of(facts);
}

/// Against all flows buying at the moment when a price comes (section IV-B.7 of the paper): once for each state of the
/// prices that others tell, one that could pay enters with probability 1/C, and is put off otherwise.
bool Admission::draw_lots(Time now, Flow& flow, double price) {
  if (flow.budget() < price) return true;
  if (flow.drawn_for == book_.told_version()) return flow.retry_at() == kNever || now >= flow.retry_at();
  flow.drawn_for = book_.told_version();
  if (random_.chance(context_.config.admission.fee / price)) return true;
  const auto delay_max = static_cast<std::uint64_t>(context_.config.admission.delay_max.count());
  flow.wait_until(now + Duration(static_cast<Duration::rep>(random_.below(delay_max + 1))));
  context_.counters.add(Counter::messages_delayed);
  return false;
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
  state.price = price(flow, quote, now);
  state.budget = flow.budget();
  state.rate = flow.rate(now);
  state.salary_period = flow.period();
  state.blocked_share = flow.blocked_share(now);
  state.is_blocked = flow.is_blocked();
  state.packets = flow.packets();
  state.dollars = flow.dollars();
  const auto name_of = [&](MemberIndex member) { return order_.view().members[member].name; };
  if (quote.dearest > 0) {
    state.limited_by = quote.name.empty() ? fmt::format("link {}-{}", name_of(quote.from), name_of(quote.neighbour))
                                          : fmt::format("clients of {} at {}", quote.name, name_of(quote.from));
  } else if (flow.is_blocked()) {
    state.limited_by = has_room() ? "salary" : "room";
  }
  return state;
}

}  // namespace spindled
