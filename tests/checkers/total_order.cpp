#include <algorithm>
#include <cstdint>
#include <set>
#include <unordered_map>

#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace {

/// Messages by number, so that each is looked up once and not for each pair of receivers.
using Numbers = std::unordered_map<MessageKey, std::uint32_t, MessageKeyHash>;

struct Receiver {
  const ClientHistory* client = nullptr;
  std::vector<PlacedDelivery> ordered;
  std::vector<std::uint32_t> numbers;  // of these
  std::vector<std::size_t> places;     // of the first delivery of a message in `ordered`, by its number, or kNowhere
  std::set<std::string> groups;        // that the client was ever a member of

  static constexpr std::size_t kNowhere = SIZE_MAX;
  std::size_t place_of(std::uint32_t number) const { return number < places.size() ? places[number] : kNowhere; }
};

Receiver make_receiver(const ClientHistory& client, Numbers& numbers) {
  Receiver receiver{&client, {}, {}, {}, {}};
  for (const GroupView* view : events_of<GroupView>(client)) receiver.groups.insert(view->group);
  for (PlacedDelivery& delivery : place_deliveries(client)) {
    if (!is_ordered(delivery.message->service)) continue;
    const std::uint32_t number =
        numbers.try_emplace(key_of(*delivery.message), static_cast<std::uint32_t>(numbers.size())).first->second;
    if (number >= receiver.places.size()) receiver.places.resize(number + 1, Receiver::kNowhere);
    if (receiver.places[number] == Receiver::kNowhere) receiver.places[number] = receiver.ordered.size();
    receiver.ordered.push_back(std::move(delivery));
    receiver.numbers.push_back(number);
  }
  return receiver;
}

/// Behind the signal the order is that of those who move together; others may meet in the same next view.
bool is_comparable(const PlacedDelivery& a, const std::string& client_a, const PlacedDelivery& b,
                   const std::string& client_b) {
  if (a.transitional != b.transitional) return false;
  if (!a.transitional) return true;
  return a.next_view != nullptr && b.next_view != nullptr && to_text(a.next_view->id) == to_text(b.next_view->id) &&
         is_in(a.next_view->vs_set, client_b) && is_in(b.next_view->vs_set, client_a);
}

/// Where the network splits, the one order holds among the members of each group that know of each other: only they
/// are told of the split.
bool is_for_both(const PlacedDelivery& delivery_a, const Receiver& a, const PlacedDelivery& delivery_b,
                 const Receiver& b) {
  const std::vector<std::string>& groups = delivery_a.message->groups;
  return std::any_of(groups.begin(), groups.end(), [&](const std::string& group) {
    if (delivery_a.transitional) return a.groups.contains(group) && b.groups.contains(group);
    return knew_each_other(group, delivery_a, a.client->name, delivery_b, b.client->name);
  });
}

void compare(const Receiver& a, const Receiver& b, Violations& violations) {
  const MessageRecord* before = nullptr;
  std::size_t place_before = 0;
  for (std::size_t i = 0; i < a.ordered.size(); ++i) {
    const std::size_t place = b.place_of(a.numbers[i]);
    if (place == Receiver::kNowhere) continue;
    const PlacedDelivery& delivery = a.ordered[i];
    const PlacedDelivery& theirs = b.ordered[place];
    if (!is_comparable(delivery, a.client->name, theirs, b.client->name)) continue;
    if (!is_for_both(delivery, a, theirs, b)) continue;
    if (before != nullptr && place < place_before) {
      report(violations, fmt::format("total order: {} got {} before {}, {} the other way round", a.client->name,
                                     to_text(*before), to_text(*delivery.message), b.client->name));
      return;
    }
    before = delivery.message;
    place_before = place;
  }
}

}  // namespace

Violations check_total_order(const History& history) {
  Violations violations;
  std::vector<Receiver> receivers;
  Numbers numbers;
  for (const ClientHistory& client : history.clients) receivers.push_back(make_receiver(client, numbers));
  for (std::size_t a = 0; a < receivers.size(); ++a) {
    for (std::size_t b = a + 1; b < receivers.size(); ++b) compare(receivers[a], receivers[b], violations);
  }
  return violations;
}

}  // namespace spindled::checkers
