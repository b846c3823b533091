// What one daemon of a `Cluster` does as transport and streams of its view agreement; part of view_cluster.h.
#pragma once

#include "tests/unit/view_cluster.h"

namespace spindled::view_test {

inline NodeConfig config_of(const Cluster& cluster, const DaemonId& self) {
  NodeConfig config;
  config.first_number = cluster.first_number;
  config.name = self.name;
  config.incarnation = self.incarnation;
  return config;
}

inline MemberIndex middle(const Topology& topology) { return static_cast<MemberIndex>(topology.members.size() / 2); }

inline Host::Host(Cluster& cluster, std::size_t index, DaemonId self, std::uint64_t seed)
    : cluster_(cluster), index_(index), self_(self), context_(config_of(cluster, self), sink_, seed) {
  agreement_ = std::make_unique<ViewAgreement>(context_, *this, *this, self_, &middle);
}

inline void Host::start() {
  advertise();
  agreement_->start(cluster_.now());
}

inline void Host::flood(const ControlMessage& message, std::optional<LinkId> except) {
  std::size_t sent = 0;
  const std::map<std::size_t, std::uint32_t> links = links_;
  for (const auto& [peer, weight] : links) {
    if (!except && message.index() == crash_point.kind && sent++ == crash_point.links) {
      is_dead = true;
      cluster_.after(0ns, [this] { cluster_.crash(index_); });
      return;
    }
    if (except != LinkId(peer)) send(LinkId(peer), message);
  }
}

inline void Host::send(LinkId link, const ControlMessage& message) {
  if (is_mute || is_dead || !links_.contains(static_cast<std::size_t>(link))) return;
  cluster_.transmit(index_, static_cast<std::size_t>(link), message);
}

inline Topology Host::reachable() const {
  std::set<DaemonId> found{self_};
  std::vector<DaemonId> queue{self_};
  const auto linked = [&](const DaemonId& a, const DaemonId& b) -> std::uint32_t {
    const auto from = database_.find(a.name);
    const auto to = database_.find(b.name);
    if (from == database_.end() || to == database_.end()) return 0;
    if (from->second.origin != a || to->second.origin != b || !to->second.links.contains(a)) return 0;
    const auto link = from->second.links.find(b);
    return link == from->second.links.end() ? 0 : std::max(link->second, to->second.links.at(a));
  };
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const auto advertised = database_.find(queue[at].name);
    if (advertised == database_.end()) continue;
    for (const auto& [peer, weight] : advertised->second.links) {
      if (linked(queue[at], peer) != 0 && found.insert(peer).second) queue.push_back(peer);
    }
  }
  Topology topology{{found.begin(), found.end()}, {}};
  for (std::size_t a = 0; a < topology.members.size(); ++a) {
    for (std::size_t b = a + 1; b < topology.members.size(); ++b) {
      const std::uint32_t weight = linked(topology.members[a], topology.members[b]);
      if (weight != 0)
        topology.edges.push_back({static_cast<MemberIndex>(a), static_cast<MemberIndex>(b), weight, 100});
    }
  }
  return topology;
}

inline void Host::send_push(const Push& push, const MemberSet& to, const Slice& head, const Slice&) {
  EXPECT_EQ(push.proposal, recovery_.id);
  const std::uint64_t origin = head.data()[0] + 256u * head.data()[1];
  const std::uint64_t number = head.data()[2] + 256u * head.data()[3];
  to.for_each([&](MemberIndex member) { forward({member, push, origin, number}); });
}

inline void Host::forward(const RoutedPush& push) {
  if (push.push.proposal != recovery_.id || is_dead) return;
  // The neighbour on a shortest path: search from the destination, smallest index first.
  std::vector<bool> reached(recovery_.size(), false);
  std::vector<MemberIndex> queue{push.to};
  reached[push.to] = true;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const Edge& edge : recovery_.edges) {
      if (edge.a != queue[at] && edge.b != queue[at]) continue;
      const MemberIndex next = edge.a == queue[at] ? edge.b : edge.a;
      if (next == recovery_.self) {
        const std::size_t hop = Cluster::index_of(recovery_.members[queue[at]].name);
        if (links_.contains(hop)) cluster_.transmit(index_, hop, push);
        return;
      }
      if (!reached[next]) queue.push_back(next);
      reached[next] = true;
    }
  }
  ADD_FAILURE() << "a push has no way to go";
}

inline void Host::install(Time, const View& view) {
  EXPECT_TRUE(step_ == Step::recovering || view_.members.empty());
  recovery_ = view;
  frozen_ = false;
  step_ = Step::transport_open;
}

inline FrozenState Host::freeze(Time) {
  EXPECT_TRUE(frozen_) << "the overlay is frozen first, so that nothing arrives after the state was taken";
  step_ = Step::frozen;
  return {high_, 7};
}

inline std::vector<PushOut> Host::plan_pushes(const Commit& commit, MemberIndex self) {
  EXPECT_EQ(step_, Step::frozen);
  step_ = Step::recovering;
  recovered_.clear();
  moving_.clear();
  std::vector<PushOut> pushes;
  for (const Transition& transition : commit.transitions) {
    const auto is_self = [&](const Transition::Member& member) { return member.index == self; };
    if (std::none_of(transition.members.begin(), transition.members.end(), is_self)) continue;
    EXPECT_EQ(transition.old_view, view_.id);
    for (std::uint64_t origin = 0; origin < view_.size(); ++origin) {
      for (const Transition::Member& member : transition.members) {
        if (commit.members[member.index] == view_.members[origin]) moving_[origin] = member.high[origin];
      }
      for (std::uint64_t number = 1; number <= high_[origin]; ++number) {
        PushOut out;
        std::optional<MemberIndex> pusher;
        for (const Transition::Member& member : transition.members) {
          const bool is_origin = commit.members[member.index] == view_.members[origin];
          if (member.high[origin] < number) out.to.insert(member.index);
          if (member.high[origin] >= number && (!pusher || is_origin)) pusher = member.index;
        }
        if (out.to.empty() || pusher != self) continue;
        const std::uint8_t body[4] = {static_cast<std::uint8_t>(origin), static_cast<std::uint8_t>(origin >> 8),
                                      static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(number >> 8)};
        out.head = context_.arena.copy(body);
        pushes.push_back(std::move(out));
      }
    }
  }
  return pushes;
}

inline bool Host::accept_push(Slice body) {
  EXPECT_EQ(step_, Step::recovering);
  recovered_.emplace(body.data()[0] + 256u * body.data()[1], body.data()[2] + 256u * body.data()[3]);
  return true;
}

inline void Host::recovered(Time) {
  EXPECT_EQ(step_, Step::recovering);
  for (const auto& [origin, sent] : moving_) {
    for (std::uint64_t number = high_[origin] + 1; number <= sent; ++number) {
      EXPECT_TRUE(recovered_.contains({origin, number})) << "said to be complete, and is not";
    }
    high_[origin] = std::max(high_[origin], sent);
  }
}

inline void Host::install(Time, const View& view, const Transition& transition) {
  EXPECT_EQ(step_, Step::transport_open) << "the overlay opens the view before the streams do";
  step_ = Step::open;
  Installation installation{self_, view, view_.id, {}, {}};
  for (const Transition::Member& member : transition.members) {
    installation.transitional_set.insert(view.members[member.index].name);
  }
  for (std::size_t origin = 0; origin < view_.size(); ++origin) {
    auto& numbers = installation.messages[view_.members[origin].name];
    for (std::uint64_t number = 1; number <= high_[origin]; ++number) numbers.insert(number);
  }
  for (const auto& [origin, number] : recovered_) installation.messages[view_.members[origin].name].insert(number);
  view_ = view;
  high_.assign(view.size(), 0);
  recovered_.clear();
  cluster_.installed(std::move(installation));
}

inline void Host::link_changed(std::size_t peer, bool up) {
  if (up) {
    links_[peer] = 1;
    peers_[peer] = cluster_.host(peer)->self();
  } else {
    links_.erase(peer);
  }
  agreement_->link_changed(cluster_.now(), LinkId(peer), up);
  if (up) {
    for (const auto& [name, advertisement] : database_) cluster_.transmit(index_, peer, advertisement);
  }
  advertise();
}

inline void Host::reweigh(std::size_t peer, std::uint32_t weight) {
  links_.at(peer) = weight;
  advertise();
}

inline void Host::advertise() {
  Advertisement own{self_, ++sequence_, {}};
  for (const auto& [peer, weight] : links_) own.links[peers_.at(peer)] = weight;
  learn(std::nullopt, own);
}

inline void Host::learn(std::optional<std::size_t> from, const Advertisement& advertisement) {
  Advertisement& known = database_[advertisement.origin.name];
  // Incarnations grow here, so the newest life is known by its number.
  if (std::pair(advertisement.origin.incarnation, advertisement.sequence) <=
      std::pair(known.origin.incarnation, known.sequence)) {
    return;
  }
  known = advertisement;
  for (const auto& [peer, weight] : links_) {
    if (peer != from) cluster_.transmit(index_, peer, advertisement);
  }
  agreement_->topology_changed(cluster_.now());
}

inline void Host::receive(std::size_t from, const LinkMessage& message) {
  if (is_dead) return;
  if (const auto* advertisement = std::get_if<Advertisement>(&message)) {
    learn(from, *advertisement);
  } else if (const auto* control = std::get_if<ControlMessage>(&message)) {
    agreement_->control_received(cluster_.now(), LinkId(from), *control);
  } else if (const auto* push = std::get_if<RoutedPush>(&message)) {
    if (push->push.proposal != recovery_.id) return;
    if (push->to != recovery_.self) return forward(*push);
    const std::uint8_t body[4] = {static_cast<std::uint8_t>(push->origin), static_cast<std::uint8_t>(push->origin >> 8),
                                  static_cast<std::uint8_t>(push->number),
                                  static_cast<std::uint8_t>(push->number >> 8)};
    agreement_->push_received(cluster_.now(), push->push, context_.arena.copy(body));
  }
}

inline void Host::originate() {
  if (frozen_ || is_dead) return;
  cluster_.multicast_data(index_, view_, ++high_[view_.self]);
}

inline void Host::data_received(const ViewId& view, MemberIndex origin, std::uint64_t number) {
  if (frozen_ || is_dead || view != view_.id || number != high_[origin] + 1) return;
  ++high_[origin];
}

}  // namespace spindled::view_test
