#include "daemon/order/hand_up.h"

namespace spindled {

void HandUp::deliver(Time now, const Delivery& message) {
  if (!is_busy()) return deliver_at_once(now, message);
  hold(message);
}

void HandUp::hold(const Delivery& message) {
  if (message.service == Service::unreliable && held_bytes_ >= kHeldBytesMax) {
    context_.counters.add(Counter::data_dropped_unreliable);
    return;
  }
  held_bytes_ += message.content_size();
  held_.push_back(message);
}

void HandUp::horizon_advanced(Time now, std::uint64_t position) { take(now, Horizon{position}); }

void HandUp::transitional(Time now, const MemberSet& transitional) { take(now, Transitional{transitional}); }

void HandUp::furthest_reached(Time now) { take(now, FurthestReached{}); }

void HandUp::view_installed(Time now, const View& view, const MemberSet& came_along) {
  take(now, Installed{view, came_along});
}

void HandUp::take(Time now, Item item) {
  if (is_busy()) {
    held_.push_back(std::move(item));
  } else {
    pass(now, item);
  }
}

/// The layer above may originate messages, and those come back to it: behind all that waits.
void HandUp::go_on(Time now) {
  if (passing_ || !is_busy()) return;
  passing_ = true;
  above_.go_on(now);
  while (!held_.empty() && !above_.is_busy()) {
    const Item item = held_.pop_front();
    if (const auto* message = std::get_if<Delivery>(&item)) held_bytes_ -= message->content_size();
    pass(now, item);
  }
  passing_ = false;
}

void HandUp::pass(Time now, const Item& item) {
  struct Passer {
    void operator()(const Delivery& message) const { hand_up.deliver_at_once(now, message); }
    void operator()(const Horizon& horizon) const { hand_up.above_.horizon_advanced(now, horizon.position); }
    void operator()(const Transitional& signal) const { hand_up.above_.transitional(now, signal.members); }
    void operator()(const FurthestReached&) const { hand_up.above_.furthest_reached(now); }
    void operator()(const Installed& installed) const {
      hand_up.above_.view_installed(now, installed.view, installed.came_along);
    }
    HandUp& hand_up;
    Time now;
  };
  std::visit(Passer{*this, now}, item);
}

}  // namespace spindled
