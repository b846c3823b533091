// What clients that do not keep up cost those who send to them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/admission/client_prices.h"
#include "daemon/base/memory_budget.h"
#include "daemon/base/node_config.h"
#include "daemon/group/operations.h"

namespace spindled {

/// Knows under which names a client here gets messages: those of its groups, and its private name.
class ClientNames {
 public:
  virtual ~ClientNames() = default;
  virtual bool is_reached_by(SessionId session, std::string_view name) const = 0;
  virtual std::string_view client_name_of(SessionId session) const = 0;
};

/// The delivery queue of a client is a link like any other (equation (7) of the paper): while messages wait in it, all
/// who send to a name that feeds it pay its price. Only names that have fed it since the client fell behind are priced,
/// so that senders to other groups of the same client, or of this daemon, pay nothing; of several slow clients of a
/// name the slowest counts. Nothing is kept for clients that keep up.
///
/// Prices follow the queues every AdmissionConfig::update_min, and sooner where one is half full and has doubled. A
/// queue that is drained before the first look, or costs little then, has no price: short bursts cost nobody anything.
/// The price of one that was drained later falls as soon as that, but not to zero at once: it lingers (price_curve.h).
class SlowClients {
 public:
  SlowClients(const NodeConfig& config, const MemoryBudget& memory, ClientPrices& prices, const ClientNames& names)
      : config_(config), memory_(memory), prices_(prices), names_(names) {}

  /// The client of `session` is behind: `queued` bytes wait for it, and it has taken `taken` bytes ever.
  void note_behind(Time now, SessionId session, std::size_t queued, std::uint64_t taken);
  /// It is not behind. Does nothing for one that has not been of late.
  void note_caught_up(Time now, SessionId session, std::size_t queued, std::uint64_t taken);
  /// It is gone.
  void forget(SessionId session);
  /// A message to `names` was queued for it; matters only while it is behind.
  template <typename Names>
  void note_message(SessionId session, const Names& names) {
    if (readers_.empty()) return;
    const auto at = readers_.find(session);
    if (at == readers_.end()) return;
    for (const std::string_view name : names) note_name(session, at->second, name);
  }

  void handle_time(Time now);
  Time next_deadline() const { return due_at_; }

  /// Names of one client that are priced; further ones are not, until it has caught up.
  static constexpr std::size_t kNamesMax = 64;
  /// How far a fast client is behind, at the speed at which it reads, when it costs AdmissionConfig::price_max.
  static constexpr Duration kLag = 200ms;
  /// Of reading slowly, in which what is remembered of a client's speed falls to a third.
  static constexpr Duration kMemory = 150ms;

 private:
  struct Reader {
    std::vector<std::string> names;  // in the order in which they came
    std::size_t queued = 0;
    std::uint64_t taken = 0;
    double price = 0;
    Time seen_at{};
    bool caught_up = false;
    std::optional<Time> cost_at;  // when it cost kOnsetFees and more, at the last such look
    std::size_t priced_for = 0;   // bytes, at the last look
    // How fast it reads while something waits: since its speed was measured, the time and what it has taken; and the
    // bytes that may therefore wait for AdmissionConfig::price_max.
    Duration busy{};
    std::uint64_t busy_taken = 0;
    double limit = 0;
  };

  /// Of a name.
  struct Told {
    double price = 0;
    SessionId slowest = 0;
    bool operator==(const Told&) const = default;
  };

  void note_name(SessionId session, Reader& reader, std::string_view name);
  /// Sets the price of a client by its queue, and lets go of names under which nothing reaches it any more.
  void look(Time now, SessionId session, Reader& reader);
  void measure(Reader& reader);
  /// Of a client for which so much waits. Where memory is scarce less may wait for the same price.
  double price_of(const Reader& reader) const;
  double linger_dollars() const;
  /// What may wait for a client that reads `limit` bytes in kLag, within what is configured.
  double within_limits(double limit) const;
  /// Tells what has changed.
  void tell();

  const NodeConfig& config_;
  const MemoryBudget& memory_;
  ClientPrices& prices_;
  const ClientNames& names_;
  std::map<SessionId, Reader> readers_;
  std::map<std::string, Told> told_;  // those that are not zero
  Time due_at_ = kNever;
};

}  // namespace spindled
