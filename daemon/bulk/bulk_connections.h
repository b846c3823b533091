// All connections that carry bulk content.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>

#include "daemon/bulk/bulk_connection.h"

namespace spindled {

/// Who owns them. A connection that is `taken` out is none of these any more.
class BulkConnections {
 public:
  BulkConnections(Context& context, Driver& driver) : context_(context), driver_(driver) {}

  /// Null where there is none.
  BulkConnection* find(ConnectionId id) const {
    const auto found = connections_.find(id);
    return found == connections_.end() ? nullptr : found->second.get();
  }
  /// Null where it is none of these.
  BulkConnection& at(ConnectionId id) const { return *connections_.at(id); }
  BulkConnection& add(Time now, ConnectionId id, BulkConnection::Phase phase) {
    return *connections_.emplace(id, std::make_unique<BulkConnection>(context_, driver_, id, phase, now)).first->second;
  }
  std::unique_ptr<BulkConnection> take(ConnectionId id) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return nullptr;
    auto taken = std::move(found->second);
    connections_.erase(found);
    return taken;
  }
  void clear() { connections_.clear(); }
  auto begin() const { return connections_.begin(); }
  auto end() const { return connections_.end(); }

 private:
  Context& context_;
  Driver& driver_;
  std::unordered_map<ConnectionId, std::unique_ptr<BulkConnection>> connections_;
};

}  // namespace spindled
