#include "daemon/order/stability.h"

namespace spindled {

namespace {
/// The announcement of less than this part of `acknowledge_every_bytes` can be late.
constexpr std::size_t kLittle = 4;
}  // namespace

void Stability::stop() {
  for (const Timer timer : {Timer::acknowledge, Timer::announce}) timers_.stop(timer);
}

// --- As a destination ---

void Stability::acknowledge(Origins origins) {
  acknowledgements_due_ = false;
  bool news_left = false;
  for (std::size_t i = 0; i < state_.incoming.size(); ++i) {
    if (i == state_.view.self) continue;
    IncomingStream& stream = state_.incoming[i];
    const bool much = stream.bytes_since_acknowledgement() >= state_.context.config.order.acknowledge_every_bytes;
    if (much || (origins == Origins::of_anything && stream.has_news())) {
      stream.reported();
      state_.send<write_acknowledgement>(LinkFrame::acknowledgement, MemberSet::of(static_cast<MemberIndex>(i)),
                                         Acknowledgement{state_.view.self, stream.high()});
    } else {
      news_left = news_left || stream.has_news();
    }
  }
  if (!news_left) timers_.stop(Timer::acknowledge);
}

// --- As an origin ---

void Stability::take_acknowledgement(Time now, const Acknowledgement& acknowledgement) {
  if (!state_.own.acknowledge(acknowledgement.from, acknowledgement.high)) {
    state_.log.error("an acknowledgement of what was never sent was dropped");
    return;
  }
  if (!state_.own.has_news()) return;
  const OrderConfig& config = state_.context.config.order;
  // Before anything takes the room that this has made: who hears of it afterwards would hold the old and the new.
  if (state_.own.released_since_announcement() >= config.acknowledge_every_bytes) return announce();
  const bool is_little = state_.own.released_since_announcement() < little();
  timers_.set_earlier(Timer::announce, now + (is_little ? config.announce_stable_within : config.acknowledge_within));
}

/// Where many daemons send a little each, a word about every message costs more than what it frees is worth. But what
/// all together have not announced yet leaves room for what is not stable.
std::size_t Stability::little() const {
  const OrderConfig& config = state_.context.config.order;
  return std::min(config.acknowledge_every_bytes, config.retention_bytes_max / state_.view.size()) / kLittle;
}

void Stability::announce() {
  timers_.stop(Timer::announce);
  const MemberSet holders = state_.own.take_holders();
  if (holders.empty()) return;
  state_.send<write_stable>(LinkFrame::stable, holders, Stable{state_.view.self, state_.own.stable_line()});
}

// --- In time ---

void Stability::flush() {
  if (acknowledgements_due_ && !state_.held_up.is_behind()) acknowledge(Origins::of_much);
}

void Stability::handle_time(Time now) {
  if (timers_.take_due(Timer::acknowledge, now)) {
    if (state_.held_up.is_behind()) {
      timers_.set(Timer::acknowledge, now + state_.context.config.order.acknowledge_within);
    } else {
      acknowledge(Origins::of_anything);
    }
  }
  if (timers_.take_due(Timer::announce, now)) announce();
}

}  // namespace spindled
