#include "bench/sim/scenarios/feeds/feed_flow.h"

#include <algorithm>
#include <utility>

namespace spindled::scenarios::feeds {

FeedFlow::FeedFlow(sim::EventQueue& events, const FeedFlowProperties& properties, std::uint64_t seed)
    : events_(&events), properties_(properties), rate_(events.now(), properties.rate, Random(seed)), nodes_(1) {}

FeedFlow::Node FeedFlow::add_node(Node parent, sim::PacketRoute down, sim::PacketRoute up) {
  const auto node = static_cast<Node>(nodes_.size());
  nodes_.push_back({.parent = parent, .down = std::move(down), .up = std::move(up)});
  nodes_[parent].children.push_back(node);
  return node;
}

void FeedFlow::start() {
  send();
  if (properties_.rate.like_tcp) measure();
}

void FeedFlow::measure() {
  const Time asked = events_->now();
  for (Node node = 1; node < nodes_.size(); ++node) {
    if (nodes_[node].round_trip != Duration::zero()) nodes_[node].mean.look(nodes_[node].round_trip);
    sim::send_packet(nodes_[node].down, properties_.question_bytes, [this, node, asked] {
      sim::send_packet(nodes_[node].up, properties_.question_bytes, [this, node, asked] { answered(node, asked); });
    });
  }
  events_->after(kQuestionInterval, [this] { measure(); });
}

void FeedFlow::answered(Node node, Time asked) {
  Duration& mean = nodes_[node].round_trip;
  const Duration sample = std::max<Duration>(events_->now() - asked, 1ns);
  mean = mean == Duration::zero() ? sample : (7 * mean + sample) / 8;
}

void FeedFlow::send() {
  const Time now = events_->now();
  rate_.advance(now);
  pacer_.set_rate(now, rate_.rate(), rate_.silent_until());
  while (pacer_.may_send(now)) {
    if (!to_repair_.empty()) {
      const std::uint64_t sequence = *to_repair_.begin();
      to_repair_.erase(to_repair_.begin());
      ++repairs_;
      // The rate is that of each link: what some of them carry counts for as much less.
      pacer_.sent(properties_.rate.packet_bytes * nodes_[0].asked[sequence].size() / nodes_[0].children.size());
      repair(0, sequence);
      continue;
    }
    pacer_.sent(properties_.rate.packet_bytes);
    rate_.sent(now, next_, properties_.rate.packet_bytes);
    for (const Node child : nodes_[0].children) send_down(child, next_, false);
    ++next_;
  }
  events_->at(pacer_.next_at(), [this] { send(); });
}

void FeedFlow::send_down(Node child, std::uint64_t sequence, bool is_repair) {
  sim::send_packet(nodes_[child].down, properties_.rate.packet_bytes,
                   [this, child, sequence, is_repair] { arrived(child, sequence, is_repair); });
}

void FeedFlow::arrived(Node at, std::uint64_t sequence, bool is_repair) {
  if (is_repair) {
    repair(at, sequence);
    return;
  }
  NodeState& node = nodes_[at];
  for (const Node child : node.children) send_down(child, sequence, false);
  if (!node.is_receiver || sequence < node.expected) return;
  ++node.delivered;
  while (node.expected < sequence) ask(at, at, {at, node.expected++, sequence, {}});
  node.expected = sequence + 1;
}

void FeedFlow::ask(Node at, Node from, const Asked& asked) {
  NodeState& node = nodes_[at];
  const bool is_first = node.asked[asked.sequence].empty();
  node.asked[asked.sequence].insert(from);
  if (at == 0) {
    if (rate_.lost(events_->now(), {.reporter = asked.reporter,
                                    .mean_round_trip = asked.way,
                                    .heard = asked.heard,
                                    .sequences = {&asked.sequence, 1}})) {
      reductions_.push_back(events_->now());
    }
    to_repair_.insert(asked.sequence);
  } else if (is_first || !properties_.aggregates) {
    Asked onward = asked;
    const bool is_known = node.mean.mean() != Duration::zero() && (at == from || asked.way != Duration::zero());
    onward.way = is_known ? asked.way + node.mean.mean() : Duration::zero();
    sim::send_packet(node.up, properties_.nak_bytes,
                     [this, parent = node.parent, at, onward] { ask(parent, at, onward); });
  }
}

void FeedFlow::repair(Node at, std::uint64_t sequence) {
  const auto found = nodes_[at].asked.find(sequence);
  if (found == nodes_[at].asked.end()) return;
  const std::set<Node> asked = std::move(found->second);
  nodes_[at].asked.erase(found);
  for (const Node child : asked) {
    if (child != at) send_down(child, sequence, true);
  }
}

}  // namespace spindled::scenarios::feeds
