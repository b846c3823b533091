// What the order layer hands up, and the layer above is not ready to take yet.
#pragma once

#include <array>
#include <variant>

#include "daemon/base/context.h"
#include "daemon/base/ring.h"
#include "daemon/order/message.h"

namespace spindled {

/// Stands between the order layer and the layer above. What the latter does with one thing that it is handed may take
/// more than a turn (`OrderedMessages::is_busy`); whatever comes meanwhile waits here, in its order, and nothing
/// overtakes it. A message goes to whoever handles its class, and to the layer above where nobody else does.
///
/// Little waits: the order layer leaves ordered messages where they are while this is busy, and reports nothing as
/// received, so that others run into their windows. Here wait unordered messages, of which unreliable ones are dropped
/// where much waits, and what the end of a view brings, which is no more than what was kept for it.
class HandUp final : public OrderedMessages {
 public:
  /// Of messages that wait here, from which on unreliable ones do not.
  static constexpr std::size_t kHeldBytesMax = 1u << 20;

  HandUp(Context& context, OrderedMessages& above) : context_(context), above_(above) { handlers_.fill(&above); }

  /// Before anything is handed up: whom messages of that class go to.
  void handle(MessageClass message_class, MessageHandler& handler) { handler_of(message_class) = &handler; }

  // OrderedMessages
  void deliver(Time now, const Delivery& message) override;
  void horizon_advanced(Time now, std::uint64_t position) override;
  void transitional(Time now, const MemberSet& transitional) override;
  void furthest_reached(Time now) override;
  void view_installed(Time now, const View& view, const MemberSet& came_along) override;
  bool is_busy() const override { return passing_ || !held_.empty() || above_.is_busy(); }
  bool is_behind() const override { return is_busy() || above_.is_behind(); }
  void deliver_at_once(Time now, const Delivery& message) override {
    handler_of(message.message_class)->deliver(now, message);
  }
  void go_on(Time now) override;

  /// Contents of messages that wait here.
  std::size_t held_bytes() const { return held_bytes_; }

 private:
  struct Horizon {
    std::uint64_t position = 0;
  };
  struct Transitional {
    MemberSet members;
  };
  struct FurthestReached {};
  struct Installed {
    View view;
    MemberSet came_along;
  };
  using Item = std::variant<Delivery, Horizon, Transitional, FurthestReached, Installed>;

  MessageHandler*& handler_of(MessageClass message_class) { return handlers_[static_cast<std::size_t>(message_class)]; }
  void hold(const Delivery& message);
  /// Holds it, or passes it on at once.
  void take(Time now, Item item);
  void pass(Time now, const Item& item);

  Context& context_;
  OrderedMessages& above_;
  std::array<MessageHandler*, kMessageClasses> handlers_;
  Ring<Item, 64> held_;
  std::size_t held_bytes_ = 0;
  bool passing_ = false;
};

}  // namespace spindled
