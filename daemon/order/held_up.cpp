#include "daemon/order/held_up.h"

namespace spindled {

void HeldUp::add(const Delivery& message, MessageHandler& handler) {
  if (message.service == Service::unreliable && bytes_ >= kBytesMax) {
    context_.counters.add(Counter::data_dropped_unreliable);
    return;
  }
  bytes_ += message.content_size();
  line_.push_back(Message{message, &handler});
}

/// The layer above may originate messages, and those come back to it: behind all that waits.
void HeldUp::go_on(Time now) {
  if (passing_ || !must_wait()) return;
  passing_ = true;
  above_.go_on(now);
  while (!line_.empty() && !above_.is_busy()) pass_first(now);
  passing_ = false;
}

void HeldUp::pass_first(Time now) {
  const auto first = line_.pop_front();
  if (const auto* message = std::get_if<Message>(&first)) {
    bytes_ -= message->delivery.content_size();
    message->handler->deliver(now, message->delivery);
  } else {
    std::get<Notice>(first)(now);
  }
}

}  // namespace spindled
