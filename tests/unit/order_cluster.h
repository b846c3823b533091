// Orders of several daemons joined by an in-memory transport: FIFO from each daemon to each other one, moved by hand.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/order/order.h"

namespace spindled::test {

class SilentSink final : public LogSink {
 public:
  bool wants(LogLevel level) const override { return level == LogLevel::error; }
  void write(LogLevel, std::string_view, std::string_view line) override { errors.emplace_back(line); }
  std::vector<std::string> errors;
};

/// One daemon: an Order, and a record of what it handed up.
class OrderNode final : public StreamTransport, public OrderedMessages {
 public:
  struct Frame {
    LinkFrame type = LinkFrame::data;
    std::vector<std::uint8_t> body;
  };

  OrderNode(std::string name, std::size_t count) : name_(std::move(name)), links(count) {
    NodeConfig config;
    config.name = name_;
    context = std::make_unique<Context>(config, sink, 1);
    order = std::make_unique<Order>(*context, *this, *this);
  }
  ~OrderNode() override { order.reset(); }

  // StreamTransport
  void multicast(const MemberSet& to, const Slice& head, const Slice& tail) override {
    Frame frame;
    frame.body.assign(head.data(), head.data() + head.size());
    frame.body.insert(frame.body.end(), tail.data(), tail.data() + tail.size());
    to.for_each([&](MemberIndex member) {
      if (member != order->view().self) links[member].push_back(frame);
    });
  }
  void multicast_unreliable(const MemberSet& to, const Slice& head, const Slice& tail) override {
    multicast(to, head, tail);
  }
  void handle(LinkFrame type, FrameHandler handler) override { handlers[type] = std::move(handler); }
  void send(LinkFrame type, const MemberSet& to, ByteView content) override {
    to.for_each([&](MemberIndex member) { links[member].push_back({type, {content.begin(), content.end()}}); });
  }

  // OrderedMessages
  void deliver(Time, const Delivery& message) override {
    std::vector<std::uint8_t> storage;
    const ByteView content = message.contiguous(storage);
    delivered.emplace_back(content.begin(), content.end());
    if (is_ordered(message.service)) ordered.push_back(delivered.back());
    sizes.push_back(content.size());
  }
  void horizon_advanced(Time, std::uint64_t position) override { horizon = position; }
  void transitional(Time, const MemberSet&) override { delivered.emplace_back("--- transitional"); }
  void furthest_reached(Time) override {}
  void view_installed(Time, const View&, const MemberSet&) override { delivered.emplace_back("--- view"); }
  bool is_busy() const override { return ordered.size() >= busy_after; }
  bool is_behind() const override { return behind || is_busy(); }

  /// Sends `text` to `to`.
  void send(const MemberSet& to, std::string_view text, Service service, SenderOrder* sender = nullptr) {
    OutgoingMessage message;
    message.service = service;
    message.destinations = &to;
    message.sender = sender;
    message.envelope = spindle::as_bytes(text);
    order->originate(now, message);
  }

  Time now{1s};
  SilentSink sink;
  std::string name_;
  std::unique_ptr<Context> context;
  std::map<LinkFrame, FrameHandler> handlers;
  std::unique_ptr<Order> order;
  std::vector<std::deque<Frame>> links;  // to each member
  std::vector<std::string> delivered;
  std::vector<std::string> ordered;
  std::vector<std::size_t> sizes;
  std::uint64_t horizon = 0;
  std::size_t busy_after = SIZE_MAX;  // ordered messages, it takes no more
  bool behind = false;                // it takes them all, and says that much waits
};

/// Members of one view, named a, b, c, ...
class OrderCluster {
 public:
  explicit OrderCluster(std::size_t count, MemberIndex sequencer = 0) {
    view.id = {7, "a"};
    view.sequencer = sequencer;
    for (std::size_t i = 0; i < count; ++i) view.members.push_back({std::string(1, static_cast<char>('a' + i)), 1});
    for (std::size_t i = 0; i < count; ++i) {
      nodes.push_back(std::make_unique<OrderNode>(view.members[i].name, count));
      View own = view;
      own.self = static_cast<MemberIndex>(i);
      nodes.back()->order->install(nodes.back()->now, own, {});
    }
  }

  OrderNode& operator[](std::size_t index) { return *nodes[index]; }
  MemberSet all() const { return MemberSet::first(nodes.size()); }

  /// Moves one frame from `from` to `to`, if there is one.
  bool move(std::size_t from, std::size_t to) {
    std::deque<OrderNode::Frame>& link = nodes[from]->links[to];
    if (link.empty()) return false;
    const OrderNode::Frame frame = std::move(link.front());
    link.pop_front();
    OrderNode& node = *nodes[to];
    EXPECT_TRUE(node.handlers.at(frame.type)(node.now, LinkId{}, node.context->arena.copy(frame.body)));
    return true;
  }

  /// Flushes everywhere and moves everything until nothing moves.
  void settle() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (auto& node : nodes) node->order->flush(node->now);
      for (std::size_t from = 0; from < nodes.size(); ++from) {
        for (std::size_t to = 0; to < nodes.size(); ++to) {
          while (move(from, to)) moved = true;
        }
      }
    }
  }
  /// Lets the timers fire, and settles.
  void pass_time(Duration duration) {
    for (auto& node : nodes) {
      node->now += duration;
      node->order->handle_time(node->now);
    }
    settle();
  }

  /// Moves `survivors` (old indices) together to the next view, recovery included.
  void change_view(const std::vector<MemberIndex>& survivors) {
    Commit commit;
    Transition transition;
    recover(survivors, commit, transition);
    View next;
    next.id = commit.proposal;
    next.members = commit.members;
    for (std::size_t i = 0; i < survivors.size(); ++i) {
      OrderNode& node = *nodes[survivors[i]];
      for (auto& link : node.links) link.clear();
      next.self = static_cast<MemberIndex>(i);
      node.order->install(node.now, next, transition);
    }
  }

  /// A view change that is given up when `survivors` have received all, before any of them installs.
  void recover_in_vain(const std::vector<MemberIndex>& survivors) {
    Commit commit;
    Transition transition;
    recover(survivors, commit, transition);
  }

  View view;
  std::vector<std::unique_ptr<OrderNode>> nodes;

 private:
  void recover(const std::vector<MemberIndex>& survivors, Commit& commit, Transition& transition) {
    commit.proposal = {view.id.number + 1, "a"};
    transition.old_view = view.id;
    for (const MemberIndex old : survivors) {
      const FrozenState state = nodes[old]->order->freeze(nodes[old]->now);
      transition.members.push_back({static_cast<MemberIndex>(commit.members.size()), state.high});
      transition.safe_line = std::max(transition.safe_line, state.safe_line);
      transition.processed = std::max(transition.processed, state.processed);
      commit.members.push_back(view.members[old]);
    }
    commit.transitions.push_back(transition);
    std::vector<std::pair<MemberIndex, std::vector<std::uint8_t>>> pushes;
    for (std::size_t i = 0; i < survivors.size(); ++i) {
      OrderNode& node = *nodes[survivors[i]];
      for (const PushOut& push : node.order->plan_pushes(commit, static_cast<MemberIndex>(i))) {
        std::vector<std::uint8_t> body(push.head.data(), push.head.data() + push.head.size());
        body.insert(body.end(), push.tail.data(), push.tail.data() + push.tail.size());
        push.to.for_each([&](MemberIndex to) { pushes.emplace_back(survivors[to], body); });
      }
    }
    for (auto& [to, body] : pushes) {
      ASSERT_TRUE(nodes[to]->order->accept_push(nodes[to]->context->arena.copy(body)));
    }
    if (pushes.empty()) return;
    for (const MemberIndex survivor : survivors) nodes[survivor]->order->recovered(nodes[survivor]->now);
  }
};

}  // namespace spindled::test
