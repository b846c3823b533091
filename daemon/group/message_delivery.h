// Messages of clients, on their way out of the order to local members.
#pragma once

#include <string>
#include <vector>

#include "daemon/group/bundle.h"
#include "daemon/group/early_messages.h"
#include "daemon/group/flushes.h"
#include "daemon/group/group_state.h"
#include "daemon/group/local_route.h"
#include "daemon/group/partial_messages.h"
#include "daemon/group/transitional_signals.h"

namespace spindled {

/// Finds who gets a message here, opens bundles, and puts large messages together with the parts that came ahead of
/// them.
class MessageDelivery final : public MessageHandler {
 public:
  /// So many pieces of a large message are a unit of TurnWork, for each receiver.
  static constexpr std::size_t kPiecesOfAUnit = 8;
  /// So many bytes of an envelope are compared with those of the last one in the time of a unit.
  static constexpr std::size_t kEnvelopeBytesOfAUnit = 16u << 10;
  /// And of names so many are written, as what waits to be counts, too.
  static constexpr std::size_t kNameBytesOfAUnit = 1u << 10;

  MessageDelivery(GroupState& state, TransitionalSignals& signals, const Flushes& flushes)
      : state_(state), signals_(signals), flushes_(flushes), early_(state.context) {}

  /// A message of a client: at once, or when the group table is complete. Or a part that goes ahead of one.
  void deliver(Time now, const Delivery& message) override;
  /// The first message that came before the group table was complete; false where there is none.
  bool deliver_early();
  /// The members of a group have changed, or who is here.
  void forget_route() { route_.forget(); }
  /// A new view.
  void restart();

  /// Contents of messages that wait for the table of their view.
  std::size_t early_bytes() const { return early_.bytes(); }
  bool is_full() const { return early_.is_full(); }
  /// Of payload of others' messages, and its own, that are entering.
  std::size_t partial_bytes() const { return partial_.bytes(); }

 private:
  void deliver_now(const Delivery& message);
  void take_part(const Delivery& message);
  /// False for a malformed envelope.
  bool resolve_route(const Delivery& message);
  void add_target(MemberIndex origin, const Envelope::Target& target);
  /// Nothing where the target is no group with members that get the message.
  const Group* find(MemberIndex origin, const Envelope::Target& target) const;
  /// The payload of a message alone; false where it is not as the envelope says.
  bool collect_chunks(const Delivery& message);
  /// Puts what went ahead in front of `chunks_`; false where it is not there.
  bool put_together(MemberIndex origin);
  bool begins_as_said(ByteView payload) const;
  bool open_bundle(const Delivery& message);
  /// A safe message behind the signal is one that only those who move together are known to have. Where somebody of
  /// them is cut off before the next view, it keeps less than the others have delivered by then: a group gets the
  /// message without a signal only where nothing can be lost any more, whether the group is split or not.
  void signal_targets(MemberIndex origin);
  /// As work of the turn: a message of so many pieces, for all receivers.
  /// What is in front of the payload is compared with that of the last message, and its names are written to each
  /// receiver.
  void count_work(std::size_t pieces) {
    const std::size_t of_each = 1 + pieces / kPiecesOfAUnit + route_.packed.size() / kNameBytesOfAUnit;
    state_.context.turn.count_step(route_.receivers.size() * of_each + route_.envelope_size() / kEnvelopeBytesOfAUnit);
  }

  GroupState& state_;
  TransitionalSignals& signals_;
  const Flushes& flushes_;
  EarlyMessages early_;
  PartialMessages partial_;
  LocalRoute route_;  // of the last message

  // Scratch space of one delivery, kept to save allocations.
  std::string sender_;  // private name
  std::vector<Slice> chunks_;
  std::vector<BundledMessage> bundled_;
};

}  // namespace spindled
