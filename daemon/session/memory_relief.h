// What all clients of a daemon hold together, and who gives up something where that is too much.
#pragma once

#include <optional>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/session/session_table.h"

namespace spindled {

/// Decides, and leaves it to its owner to cut off. What the limit is, and when something is to be given up,
/// MemoryBudget says.
class MemoryRelief {
 public:
  /// Both outlive this one.
  MemoryRelief(Context& context, const SessionTable& sessions);

  /// Brings what the client holds up to date in the sum of all.
  void count(Session& session);
  /// It is about to be forgotten.
  void forget(const Session& session) { change(session.marks.counted, {}); }

  /// Why it is to be cut off, where it holds more than one may, or those of its identity more than they may together.
  std::optional<Error> objection_to(Time now, Session& session) const;
  /// Whether the client may send a part of a large message: where memory is short, or much of it is taken by messages
  /// that are not complete or wait, only one client may, and that only goes on with what it has begun.
  bool may_send_part(const Session& session) {
    const bool may = !is_crowded() || going_on_ == session.id();
    if (!may) {
      has_paused_ = true;
      nobody_to_choose_ = false;
    }
    return may;
  }

  /// The end of a turn. Whether who waits is worth trying again.
  bool look(Time now);
  /// Those who are to give up something, as memory is full, or too much of it is taken by definitions: a few, who holds
  /// most first.
  std::vector<Session*> find_largest(Time now);
  /// Whether it still is.
  bool is_to_give_up(Time now, const Session& session) const { return is_overdrawn() && weight_of(now, session) > 0; }
  /// Why one of those is cut off.
  Error reason_for(const Session& session) const;

 private:
  void change(const SessionMemory& before, const SessionMemory& after);
  /// Whether there is no room for another large message.
  bool is_crowded() const;
  bool has_too_many_definitions() const;
  bool is_overdrawn() const { return context_.memory.is_full() || has_too_many_definitions(); }
  /// Whose message goes on. Whether it is another one now.
  bool choose_who_goes_on(Time now);
  double weight_of(Time now, const Session& session) const;

  Context& context_;
  Log log_;
  const SessionTable& sessions_;
  std::size_t definitions_ = 0;  // of all clients, in bytes
  std::size_t unfinished_ = 0;   // likewise
  std::size_t heap_ = 0;         // likewise
  bool is_short_ = false;
  bool is_full_ = false;
  SessionId going_on_ = 0;
  bool has_paused_ = false;        // somebody, since there was room last
  bool nobody_to_choose_ = false;  // of all were looked at, and nobody has paused since
  Time look_again_at_{};           // for the largest: not in every turn
};

}  // namespace spindled
