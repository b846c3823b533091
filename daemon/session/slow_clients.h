// What clients that do not keep up cost those who send to them.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/memory_budget.h"
#include "daemon/base/node_config.h"
#include "daemon/base/turn_work.h"
#include "daemon/session/slow_names.h"

namespace spindled {

/// The delivery queue of a client is a link like any other (equation (7) of the paper): while messages wait in it, all
/// who send to a name that feeds it pay its price. Only names that have fed it since the client fell behind are priced,
/// so that senders to other groups of the same client, or of this daemon, pay nothing; of several slow clients of a
/// name the slowest counts. Nothing is kept for clients that keep up.
///
/// Prices follow the queues every AdmissionConfig::update_min, and at the end of the turn where one is half full and
/// has doubled. A queue that is drained before the first look, or costs little then, has no price: short bursts cost
/// nobody anything. The price of one that was drained later falls as soon as that, but not to zero at once: it lingers
/// (price_curve.h).
///
/// A turn sees to some names only, a tenth of the units of its work, whatever else it does: messages, which make
/// clients slow, would leave no room for it. Where there are too many for one turn a round through all clients takes as
/// long as it takes.
class SlowClients {
 public:
  SlowClients(const NodeConfig& config, const MemoryBudget& memory, TurnWork& turn, ClientPrices& prices,
              const ClientNames& names)
      : config_(config), memory_(memory), turn_(turn), names_(names), priced_(prices, names) {}

  /// The client of `session` is behind: `queued` bytes wait for it, and it has taken `taken` bytes ever.
  void note_behind(Time now, SessionId session, std::size_t queued, std::uint64_t taken);
  /// It is not behind. Does nothing for one that has not been of late.
  void note_caught_up(Time now, SessionId session, std::size_t queued, std::uint64_t taken);
  /// It is gone.
  void forget(SessionId session);
  /// A message to `names` was queued for it; matters only while it is behind.
  void note_message(SessionId session, std::span<const std::string_view> names) {
    if (readers_.empty()) return;
    const auto at = readers_.find(session);
    if (at != readers_.end()) note_names(session, at->second, names);
  }

  void handle_time(Time now);
  /// The end of a turn: what has changed is told.
  void flush(Time now);
  Time next_deadline() const { return std::min(due_at_, flush_at_); }

  /// Names of one client that are priced; further ones are not, until it has caught up.
  static constexpr std::size_t kNamesMax = 64;
  /// Of one message, that it is asked about whether they reach the client; others, with the next messages.
  static constexpr std::size_t kNamesAsked = 8;
  /// How far a fast client is behind, at the speed at which it reads, when it costs AdmissionConfig::price_max.
  static constexpr Duration kLag = 200ms;
  /// Of reading slowly, in which what is remembered of a client's speed falls to a third.
  static constexpr Duration kMemory = 150ms;

 private:
  static constexpr std::size_t kTurnPart = 10;  // a name for so many units of a turn

  struct Reader {
    std::vector<std::string> names;  // in the order in which they came
    std::size_t next_asked = 0;      // of a message to many names, the first that is asked about
    std::size_t queued = 0;
    std::uint64_t taken = 0;
    double price = 0;
    Time seen_at{};
    bool caught_up = false;
    bool is_due = false;          // to be looked at in this turn or the next
    std::optional<Time> cost_at;  // when it cost kOnsetFees and more, at the last such look
    std::size_t priced_for = 0;   // bytes, at the last look
    // How fast it reads while something waits: since its speed was measured, the time and what it has taken; and the
    // bytes that may therefore wait for AdmissionConfig::price_max.
    Duration busy{};
    std::uint64_t busy_taken = 0;
    double limit = 0;
  };

  /// One that is gone, and what it costs until that is told.
  struct Gone {
    SessionId session = 0;
    double price = 0;
    std::vector<std::string> names;
  };

  void note_names(SessionId session, Reader& reader, std::span<const std::string_view> names);
  void look_soon(SessionId session, Reader& reader);
  bool has_turn() const { return kTurnPart * names_seen_to_ < turn_.max(); }
  /// Sets the price of a client by its queue, and lets go of names under which nothing reaches it any more.
  void look(Time now, SessionId session, Reader& reader);
  void measure(Reader& reader);
  /// Of a client for which so much waits. Where memory is scarce less may wait for the same price.
  double price_of(const Reader& reader) const;
  double linger_dollars() const;
  /// What may wait for a client that reads `limit` bytes in kLag, within what is configured.
  double within_limits(double limit) const;

  const NodeConfig& config_;
  const MemoryBudget& memory_;
  TurnWork& turn_;
  const ClientNames& names_;
  SlowNames priced_;
  std::map<SessionId, Reader> readers_;
  std::size_t names_seen_to_ = 0;  // in this turn
  std::deque<SessionId> soon_;     // those that are due
  std::deque<Gone> gone_;
  SessionId next_ = 0;  // where the round through all goes on
  Time due_at_ = kNever;
  Time flush_at_ = kNever;  // where the turn had no room for all
};

}  // namespace spindled
