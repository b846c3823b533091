#include <map>
#include <string>

#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace {

using spindle::MessagePosition;

/// The place alone. What was the last change before it is the receiver's: behind a hole who gets a message may have
/// missed a change that others have had.
std::string order_text(const MessagePosition& position) {
  const spindle::GroupViewId& view = position.change;
  return fmt::format("{}@{}:{:x}+{}.{}", view.view_number, view.coordinator, view.incarnation, position.order,
                     position.index);
}

std::string place_text(const MessagePosition& position) {
  return fmt::format("{}+{}.{}", to_text(position.change), position.order, position.index);
}

/// That the positions of one client fit what it got before and the views of their groups.
void check_alone(const ClientHistory& client, Violations& violations) {
  const MessagePosition* last = nullptr;
  for (const PlacedDelivery& delivery : place_deliveries(client)) {
    const MessagePosition* const position = delivery.position;
    if (position != nullptr && !is_ordered(delivery.message->service)) {
      report(violations, fmt::format("positions: {} got {} with a position", client.name, to_text(*delivery.message)));
    }
    if (position == nullptr) continue;
    const bool is_earlier =
        last != nullptr && (*position <= *last || position->change.view_number < last->change.view_number);
    if (is_earlier) {
      report(violations, fmt::format("positions: {} got {} at {}, behind {}", client.name, to_text(*delivery.message),
                                     place_text(*position), place_text(*last)));
    }
    last = position;
    for (const auto& [group, view] : delivery.views) {
      if (!are_of_one_order(view->id, position->change) || position->is_behind(view->id)) continue;
      report(violations, fmt::format("positions: {} got {} at {}, in view {} of {}", client.name,
                                     to_text(*delivery.message), place_text(*position), to_text(view->id), group));
    }
  }
}

/// That nothing that came before a view of its group says that it is behind that.
void check_views_ahead(const ClientHistory& client, Violations& violations) {
  std::map<std::string, const MessagePosition*> last;
  for (const Event& event : client.events) {
    if (const auto* delivered = std::get_if<Delivered>(&event.what)) {
      if (!delivered->position) continue;
      for (const std::string& group : delivered->message.groups) last[group] = &*delivered->position;
    } else if (const auto* view = std::get_if<GroupView>(&event.what)) {
      const auto before = last.find(view->group);
      if (before == last.end() || !before->second->is_behind(view->id)) continue;
      report(violations, fmt::format("positions: {} got view {} of {} behind a message at {}", client.name,
                                     to_text(view->id), view->group, place_text(*before->second)));
    }
  }
}

/// What all clients say of one message, and of one place.
class Places {
 public:
  void add(const ClientHistory& client, const PlacedDelivery& delivery, Violations& violations) {
    if (delivery.position == nullptr) return;
    const auto [known, is_new] = positions_.try_emplace(key_of(*delivery.message), delivery.position);
    if (!is_new && order_text(*known->second) != order_text(*delivery.position)) {
      report(violations,
             fmt::format("positions: {} got {} at {}, others at {}", client.name, to_text(*delivery.message),
                         place_text(*delivery.position), place_text(*known->second)));
    }
    const auto [at, is_free] = messages_.try_emplace(order_text(*delivery.position), delivery.message);
    if (is_free || key_of(*at->second) == key_of(*delivery.message)) return;
    report(violations, fmt::format("positions: {} got {} at {}, where others got {}", client.name,
                                   to_text(*delivery.message), place_text(*delivery.position), to_text(*at->second)));
  }

 private:
  std::map<MessageKey, const MessagePosition*> positions_;
  std::map<std::string, const MessageRecord*> messages_;
};

}  // namespace

Violations check_positions(const History& history) {
  Violations violations;
  Places places;
  for (const ClientHistory& client : history.clients) {
    check_alone(client, violations);
    check_views_ahead(client, violations);
    for (const PlacedDelivery& delivery : place_deliveries(client)) places.add(client, delivery, violations);
  }
  return violations;
}

}  // namespace spindled::checkers
