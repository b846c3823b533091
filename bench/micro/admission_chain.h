// Admission alone, with as many flows and congested links as a measurement wants.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/micro/surroundings.h"
#include "daemon/admission/admission.h"
#include "daemon/base/check.h"
#include "daemon/group/groups.h"
#include "daemon/link/links.h"
#include "daemon/order/order.h"
#include "daemon/overlay/overlay.h"
#include "daemon/session/destination_table.h"
#include "tests/support/nobody.h"

namespace spindled::bench {

inline constexpr std::size_t kGroups = 1'000;
inline constexpr std::size_t kBytes = 100;  // of payload

inline std::string group_name(std::size_t index) { return "group" + std::to_string(index); }

/// Bytes that the process has allocated and not freed, what malloc adds included.
inline double allocated() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

/// Admission at one end of a chain of ten daemons. The groups have a member each, at the other end; `congested` links
/// of the chain cost something, little enough that a flow that sends once a second can pay.
class Chain {
 public:
  Chain(std::size_t clients, std::size_t groups, std::size_t congested)
      : context_(config(), silence_, 1),
        links_(context_, driver_),
        overlay_(context_, links_),
        groups_(context_),
        order_(context_, transport_, groups_),
        admission_(context_, links_, overlay_, order_, groups_) {
    groups_.attach(order_, no_clients_);
    install();
    for (std::size_t i = 1; i <= congested; ++i) {
      const auto from = static_cast<MemberIndex>(i);
      SPINDLE_CHECK(
          admission_.price_received(now_, {0, from, static_cast<MemberIndex>(from + 1), {}, 1, kLevel, kDelay}));
    }
    const auto flows = static_cast<double>(clients * groups);
    double before = allocated();
    define(clients, groups);
    bytes_defined_ = (allocated() - before) / flows;
    before = allocated();
    // Twice: a flow may have to earn its first message.
    for (int i = 0; i < 2; ++i) use_all();
    bytes_used_ = (allocated() - before) / flows;
    SPINDLE_CHECK(set(0, 0).to.daemons.contains(kDaemons - 1));
  }

  /// Whether the next message of this flow, a second after the one before, may enter.
  bool send(DefinedSet& set, std::size_t bytes = kBytes) {
    now_ += 1s;
    return may_enter(set, bytes);
  }
  DefinedSet& set(std::size_t client, std::size_t group) { return clients_[client][static_cast<std::uint32_t>(group)]; }

  /// Memory of a flow from its definition on, and from its first message on.
  double defined_bytes() const { return bytes_defined_; }
  double used_bytes() const { return bytes_defined_ + bytes_used_; }

 private:
  static constexpr std::size_t kDaemons = 10;
  static constexpr std::uint16_t kLevel = 16'385, kDelay = 400;  // a dollar, and 100 ms

  static NodeConfig config() {
    NodeConfig config;
    config.name = "d0";
    config.incarnation = 1;
    return config;
  }

  void install() {
    View view;
    view.id = {1, "d0"};
    for (std::size_t i = 0; i < kDaemons; ++i) view.members.push_back({"d" + std::to_string(i), 1});
    for (std::size_t i = 1; i < kDaemons; ++i) {
      view.edges.push_back({static_cast<MemberIndex>(i - 1), static_cast<MemberIndex>(i), 1, 10'000});
    }
    order_.install(now_, view, {});
    for (std::size_t i = 0; i < kDaemons; ++i)
      deliver(static_cast<MemberIndex>(i), TableState{kGroups, kGroups + 1, i, {}, false});
    for (std::size_t i = kDaemons; i-- > 0;) announce(static_cast<MemberIndex>(i));  // who keeps its table first
    SPINDLE_CHECK(groups_.is_ready());
    admission_.start_turn(now_);
  }
  /// What the order would deliver of `daemon`: its members.
  void announce(MemberIndex daemon) {
    Announce operation;
    for (std::size_t i = 0; i < kGroups && daemon + 1 == kDaemons; ++i) {
      operation.groups.push_back({group_name(i), static_cast<GroupId>(i + 1), {{1, "member"}}});
    }
    std::sort(operation.groups.begin(), operation.groups.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    deliver(daemon, operation);
  }
  void deliver(MemberIndex daemon, const GroupOperation& operation) {
    Delivery delivery;
    delivery.origin = daemon;
    delivery.message_class = MessageClass::group;
    delivery.position = ++position_;
    delivery.first = context_.arena.copy(write_operation(operation));
    groups_.deliver(now_, delivery);
  }

  void define(std::size_t clients, std::size_t groups) {
    groups_of_each_ = groups;
    clients_.resize(clients);
    for (DestinationTable& client : clients_) {
      for (std::size_t i = 0; i < groups; ++i) {
        const std::string name = group_name(i);
        SPINDLE_CHECK(!client.define({static_cast<std::uint32_t>(i), {name}}));
      }
    }
  }
  void use_all() {
    now_ += 1s;
    for (std::size_t client = 0; client < clients_.size(); ++client) {
      for (std::size_t group = 0; group < groups_of_each_; ++group) may_enter(set(client, group), kBytes);
    }
  }
  bool may_enter(DefinedSet& set, std::size_t bytes) {
    return admission_.try_admit(now_, set.flow->flow, set.to, {static_cast<std::uint32_t>(bytes)}).is_admitted();
  }

  Time now_{1s};
  Silence silence_;
  CountingDriver driver_;
  test::NoTransport transport_;
  test::NoClients no_clients_;
  Context context_;
  Links links_;
  Overlay overlay_;
  Groups groups_;
  Order order_;
  Admission admission_;
  std::vector<DestinationTable> clients_;
  std::size_t groups_of_each_ = 0;
  std::uint64_t position_ = 0;  // of the last group operation
  double bytes_defined_ = 0;    // per flow, by its definition
  double bytes_used_ = 0;       // and more by its first message
};

}  // namespace spindled::bench
