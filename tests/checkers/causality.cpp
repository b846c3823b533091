#include <algorithm>
#include <cstddef>

#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace {

/// Where a receiver delivered each ordered message, from 1; transitional deliveries left out.
std::map<MessageKey, std::size_t> ordered_places(const ClientHistory& client) {
  std::map<MessageKey, std::size_t> places;
  for (const PlacedDelivery& delivery : place_deliveries(client)) {
    if (delivery.transitional || !is_ordered(delivery.message->service)) continue;
    places.try_emplace(key_of(*delivery.message), places.size() + 1);
  }
  return places;
}

std::size_t place_of(const std::map<MessageKey, std::size_t>& places, const MessageRecord& message) {
  const auto found = places.find(key_of(message));
  return found == places.end() ? 0 : found->second;
}

/// What `sender` had seen when it sent must not come later than what it sent, at `receiver`.
void compare(const ClientHistory& sender, const ClientHistory& receiver,
             const std::map<MessageKey, std::size_t>& places, Violations& violations) {
  std::size_t latest = 0;  // the place, at the receiver, of the last of what the sender has seen or sent so far
  const MessageRecord* cause = nullptr;
  for (const Event& event : sender.events) {
    const auto* sent = std::get_if<Sent>(&event.what);
    const auto* seen = std::get_if<Delivered>(&event.what);
    const MessageRecord* message = sent != nullptr ? &sent->message : seen != nullptr ? &seen->message : nullptr;
    if (message == nullptr || !is_ordered(message->service)) continue;
    const std::size_t place = place_of(places, *message);
    if (sent != nullptr && place != 0 && place < latest) {
      report(violations, fmt::format("causality: {} got {} before {}, on which it depends", receiver.name,
                                     to_text(*message), to_text(*cause)));
      return;
    }
    if (place > latest) {
      latest = place;
      cause = message;
    }
  }
}

}  // namespace

Violations check_causality(const History& history) {
  Violations violations;
  for (const ClientHistory& receiver : history.clients) {
    const std::map<MessageKey, std::size_t> places = ordered_places(receiver);
    for (const ClientHistory& sender : history.clients) compare(sender, receiver, places, violations);
  }
  return violations;
}

}  // namespace spindled::checkers
