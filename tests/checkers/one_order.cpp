// The one order of ordered messages, as graphs over all clients: three may disagree where no two do.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "libclient/common/names.h"
#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"
#include "tests/checkers/order_graph.h"

namespace spindled::checkers {

namespace {

/// Messages by number, and who delivered which after which.
class Sequences {
 public:
  OrderGraph::Node node(const MessageRecord& message) {
    const auto [found, is_new] = nodes_.try_emplace(key_of(message), static_cast<OrderGraph::Node>(messages_.size()));
    if (is_new) messages_.push_back(&message);
    return found->second;
  }
  void follows(OrderGraph::Node before, OrderGraph::Node after) { edges_.emplace_back(before, after); }

  void check(const std::string& where, Violations& violations) const {
    OrderGraph graph(messages_.size());
    for (const auto& [before, after] : edges_) graph.add_edge(before, after);
    const std::vector<OrderGraph::Node> cycle = graph.find_cycle();
    if (cycle.empty()) return;
    report(violations, fmt::format("total order: {} comes before {}, and by way of {} messages the other way round{}",
                                   to_text(*messages_[cycle[0]]), to_text(*messages_[cycle[1 % cycle.size()]]),
                                   cycle.size(), where));
  }

 private:
  std::unordered_map<MessageKey, OrderGraph::Node, MessageKeyHash> nodes_;
  std::vector<const MessageRecord*> messages_;
  std::vector<std::pair<OrderGraph::Node, OrderGraph::Node>> edges_;
};

/// Of what a group delivered without a signal.
struct InGroup {
  const ClientHistory* client = nullptr;
  PlacedDelivery delivery;
};
using ByMessage = std::unordered_map<MessageKey, std::vector<const InGroup*>, MessageKeyHash>;

/// Whether all who got the message knew of this receiver, and it of them: a join that is told with the next view of
/// the network may have come before the message at another side.
bool was_known_to_all(std::string_view group, const InGroup& receiver, const std::vector<const InGroup*>& all) {
  const GroupView* const view = receiver.delivery.views.find(group)->second;
  return std::all_of(all.begin(), all.end(), [&](const InGroup* each) {
    return each->delivery.views.find(group)->second->id == view->id ||
           knew_each_other(group, receiver.delivery, receiver.client->name, each->delivery, each->client->name);
  });
}

/// In each group, what its members deliver to it without a signal.
void check_groups(const History& history, Violations& violations) {
  std::map<std::string_view, std::vector<InGroup>> groups;
  for (const ClientHistory& client : history.clients) {
    for (const PlacedDelivery& delivery : place_deliveries(client)) {
      if (delivery.transitional || !is_ordered(delivery.message->service)) continue;
      for (const auto& [group, view] : delivery.views) groups[group].push_back({&client, delivery});
    }
  }
  for (const auto& [group, deliveries] : groups) {
    ByMessage by_message;
    for (const InGroup& each : deliveries) by_message[key_of(*each.delivery.message)].push_back(&each);
    Sequences sequences;
    const InGroup* last = nullptr;
    std::optional<OrderGraph::Node> last_node;
    for (const InGroup& each : deliveries) {
      if (!was_known_to_all(group, each, by_message.at(key_of(*each.delivery.message)))) continue;
      const OrderGraph::Node node = sequences.node(*each.delivery.message);
      if (last != nullptr && last->client == each.client) sequences.follows(*last_node, node);
      last = &each;
      last_node = node;
    }
    sequences.check(fmt::format(" in {}", group), violations);
  }
}

/// When each daemon gave the signal, by name, in all of its lives.
std::map<std::string, std::vector<Time>> signals_of(const History& history) {
  std::map<std::string, std::vector<Time>> signals;
  for (const DaemonHistory& daemon : history.daemons) {
    for (const DaemonEvent& event : daemon.events) {
      if (std::holds_alternative<Signal>(event.what)) signals[daemon.id.name].push_back(event.at);
    }
  }
  return signals;
}

/// All clients and groups: but for messages that were under way to one of their receivers when its daemon gave the
/// signal, whether the receiver was told or not. Histories of real runs do not have the daemons' signals, and are held
/// to the order within groups only.
void check_all_clients(const History& history, Violations& violations) {
  if (history.daemons.empty()) return;
  const std::map<std::string, std::vector<Time>> signals = signals_of(history);
  std::unordered_map<MessageKey, Time, MessageKeyHash> sent_at;
  for (const ClientHistory& client : history.clients) {
    for (const Event& event : client.events) {
      if (const auto* sent = std::get_if<Sent>(&event.what)) sent_at.try_emplace(key_of(sent->message), event.at);
    }
  }
  std::set<MessageKey> left_open;
  for (const ClientHistory& client : history.clients) {
    const auto parts = spindle::parse_private_name(client.name);
    const auto found = signals.find(parts ? std::string(parts->daemon) : std::string());
    if (found == signals.end()) continue;
    for (const Event& event : client.events) {
      const auto* delivered = std::get_if<Delivered>(&event.what);
      if (delivered == nullptr || !is_ordered(delivered->message.service)) continue;
      const auto sent = sent_at.find(key_of(delivered->message));
      const Time from = sent == sent_at.end() ? Time() : sent->second;
      const auto signal = std::lower_bound(found->second.begin(), found->second.end(), from);
      if (signal != found->second.end() && *signal <= event.at) left_open.insert(key_of(delivered->message));
    }
  }
  Sequences sequences;
  for (const ClientHistory& client : history.clients) {
    std::optional<OrderGraph::Node> last;
    for (const Delivered* delivered : events_of<Delivered>(client)) {
      if (!is_ordered(delivered->message.service) || left_open.contains(key_of(delivered->message))) continue;
      const OrderGraph::Node node = sequences.node(delivered->message);
      if (last) sequences.follows(*last, node);
      last = node;
    }
  }
  sequences.check("", violations);
}

}  // namespace

Violations check_one_order(const History& history) {
  Violations violations;
  check_groups(history, violations);
  check_all_clients(history, violations);
  return violations;
}

}  // namespace spindled::checkers
