#include "tests/checkers/message_index.h"

#include <algorithm>

namespace spindled::checkers {

std::string to_text(const spindle::GroupViewId& id) {
  return fmt::format("{}@{}:{:x}/{}", id.view_number, id.coordinator, id.incarnation, id.position);
}

std::vector<PlacedDelivery> place_deliveries(const ClientHistory& client) {
  std::vector<PlacedDelivery> deliveries;
  // Per group: the deliveries since its transitional signal, which wait for the view that ends the transition.
  std::map<std::string, std::vector<std::size_t>> open;
  std::map<std::string_view, const GroupView*> last;
  for (const Event& event : client.events) {
    if (const auto* signal = std::get_if<Transitional>(&event.what)) {
      open.try_emplace(signal->group);
    } else if (const auto* view = std::get_if<GroupView>(&event.what)) {
      const auto found = open.find(view->group);
      const bool is_member = std::find(view->members.begin(), view->members.end(), client.name) != view->members.end();
      if (is_member) {
        last[view->group] = view;
      } else {
        last.erase(view->group);
      }
      if (found == open.end() || (view->cause != spindle::ViewCause::network && is_member)) continue;
      for (const std::size_t place : found->second) deliveries[place].next_view = view;
      open.erase(found);
    } else if (const auto* delivered = std::get_if<Delivered>(&event.what)) {
      PlacedDelivery placed{
          &delivered->message, delivered->position ? &*delivered->position : nullptr, false, nullptr, {}};
      for (const std::string& group : delivered->message.groups) {
        if (const auto known = last.find(group); known != last.end()) placed.views.insert(*known);
        const auto found = open.find(group);
        if (found == open.end()) continue;
        placed.transitional = true;
        found->second.push_back(deliveries.size());
      }
      deliveries.push_back(std::move(placed));
    }
  }
  return deliveries;
}

bool knew_each_other(std::string_view group, const PlacedDelivery& a, const std::string& client_a,
                     const PlacedDelivery& b, const std::string& client_b) {
  const auto view_a = a.views.find(group), view_b = b.views.find(group);
  if (view_a == a.views.end() || view_b == b.views.end()) return false;
  return is_in(view_a->second->members, client_b) && is_in(view_b->second->members, client_a);
}

}  // namespace spindled::checkers
