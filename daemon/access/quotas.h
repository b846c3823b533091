// What clients may use of a daemon, by the quotas of the configuration.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "daemon/base/context.h"
#include "daemon/base/node_config.h"
#include "daemon/base/peer.h"
#include "daemon/base/result.h"
#include "daemon/base/token_bucket.h"

namespace spindled {

/// What the clients of one identity use of this daemon together.
struct QuotaUse {
  std::size_t connections = 0;
  std::size_t memberships = 0;
  std::size_t memory = 0;  // bytes
  TokenBucket bytes;
};

/// That of all identities. One that has proved nothing is known by the host it comes from.
using Quotas = std::map<std::string, QuotaUse>;

/// One client's part of it. The first quota decides that names the client; without one nothing is bounded, and all is
/// counted nevertheless, as quotas may change while clients are connected: then nothing is taken away, but nothing
/// more is given.
class ClientQuota {
 public:
  /// A message may enter as long as its bytes, over this time, are within the rate: small ones together, and a larger
  /// one alone, which the next ones wait for.
  static constexpr Duration kBurst = 250ms;
  /// Of those who have left and have spent their rate, fewer than this are remembered.
  static constexpr std::size_t kIdentitiesKept = 10'000;

  /// All outlive this one.
  ClientQuota(const Context& context, Quotas& quotas, const Peer& peer)
      : context_(context), quotas_(quotas), peer_(peer) {}
  ClientQuota(const ClientQuota&) = delete;
  ClientQuota& operator=(const ClientQuota&) = delete;
  ~ClientQuota() { close(); }

  /// The client comes in. Where it may not: why.
  std::optional<Error> open();
  /// It uses nothing any more.
  void close();

  /// Has what follows go by the configuration of now.
  void refresh();
  /// Whether it may join one more group.
  bool may_join();
  /// So many groups it has joined, and not left.
  void note_memberships(std::size_t groups);
  /// So many bytes of the daemon's memory it holds.
  void note_memory(std::size_t bytes);
  /// Whether all together hold more than they may.
  bool holds_too_much();
  /// Why it is to be cut off, where that is so: one that holds no less than the others in the mean.
  std::optional<Error> objection_to_memory();
  /// Whether there is a rate at which it may send, as of the last `refresh`.
  bool has_rate() const { return limits_.bytes_per_s != 0; }
  /// Of one for which there is: nothing where a message may enter now, otherwise when it is worth trying again.
  std::optional<Time> wait_until(Time now);
  /// It has entered.
  void take(std::size_t bytes) { use_->second.bytes.take(static_cast<double>(bytes)); }
  /// Whether its messages wait for that rate.
  bool is_spent() const { return has_rate() && !use_->second.bytes.is_open(); }

 private:
  bool is_open() const { return use_ != quotas_.end(); }
  std::string key() const;

  const Context& context_;
  Quotas& quotas_;
  const Peer& peer_;
  Quotas::iterator use_ = quotas_.end();
  std::size_t memberships_ = 0;  // its own
  std::size_t memory_ = 0;
  std::uint64_t version_ = 0;  // of the configuration that `limits_` is of
  QuotaLimits limits_;
};

}  // namespace spindled
