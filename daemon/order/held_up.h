// What has reached its place, and the layer above is not ready to take yet.
#pragma once

#include <functional>
#include <variant>

#include "daemon/base/context.h"
#include "daemon/base/ring.h"
#include "daemon/order/message.h"

namespace spindled {

/// A line beside the way up, which nothing enters where nothing holds it up. What the layer above does with one thing
/// that it is handed may take more than a turn (`OrderedMessages::is_busy`); whatever comes meanwhile waits here, in
/// its order, and nothing overtakes it.
///
/// Little waits: the order layer leaves ordered messages where they are meanwhile, and reports nothing as received, so
/// that others run into their windows. Here wait unordered messages, of which unreliable ones are dropped where much
/// waits, and what the end of a view brings, which is no more than what was kept for it.
class HeldUp {
 public:
  /// Of messages that wait here, from which on unreliable ones do not.
  static constexpr std::size_t kBytesMax = 1u << 20;

  /// Tells the layer above something.
  using Notice = std::function<void(Time now)>;

  HeldUp(Context& context, OrderedMessages& above) : context_(context), above_(above) {}

  /// Whether what is to be handed up now has to wait here.
  bool must_wait() const { return passing_ || !line_.empty() || above_.is_busy(); }
  /// Whether nothing is to be reported as received.
  bool is_behind() const { return must_wait() || above_.is_behind(); }

  void add(const Delivery& message, MessageHandler& handler);
  void add(Notice notice) { line_.push_back(std::move(notice)); }
  /// In another turn: the layer above goes on, and is handed what waits as far as it takes it.
  void go_on(Time now);

  /// Contents of messages that wait here.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Message {
    Delivery delivery;
    MessageHandler* handler = nullptr;
  };

  void pass_first(Time now);

  Context& context_;
  OrderedMessages& above_;
  Ring<std::variant<Message, Notice>, 64> line_;
  std::size_t bytes_ = 0;
  bool passing_ = false;
};

}  // namespace spindled
