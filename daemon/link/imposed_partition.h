// The gate that a partition imposed for a field test puts between daemons.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "daemon/wire/partition_order.h"

namespace spindled {

/// The newest order that this daemon knows, and how long it still holds. Its id outlives it, so that the next order is
/// known to be newer, and one that comes late to be older.
class ImposedPartition {
 public:
  explicit ImposedPartition(std::string self) : self_(std::move(self)) {}

  bool is_news(const PartitionOrder& order) const { return order_.id < order.id; }
  /// Takes the place of what was imposed. The order is news.
  void adopt(Time now, PartitionOrder order);
  /// Ends the partition if its time has come; whether it has ended now.
  bool expire(Time now);
  /// Ends the partition, here alone.
  void end();
  /// kNever where nothing is imposed.
  Time expires_at() const { return expires_at_; }

  bool is_imposed() const { return !order_.sides.empty(); }
  /// Of the newest order, imposed or not; number 0 where there was none.
  const PartitionId& id() const { return order_.id; }
  /// What others are to be told, and what is left of it.
  PartitionOrder order(Time now) const;

  bool separates(std::string_view a, std::string_view b) const { return side_of(a) != side_of(b); }
  /// From this daemon.
  bool separates(std::string_view peer) const { return separates(self_, peer); }
  /// Why there is no link to the peer. The text stays the same while the order holds.
  std::string explain(std::string_view peer) const;

 private:
  /// 0: not named.
  std::size_t side_of(std::string_view daemon) const;

  const std::string self_;
  PartitionOrder order_;  // `left` as of when it was adopted
  std::map<std::string, std::size_t, std::less<>> side_of_;
  Time expires_at_ = kNever;
};

}  // namespace spindled
