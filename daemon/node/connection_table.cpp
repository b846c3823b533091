#include "daemon/node/connection_table.h"

#include "daemon/base/check.h"

namespace spindled {

PortHandler& ConnectionTable::owner(ConnectionId connection) const {
  const auto found = owners_.find(connection);
  SPINDLE_CHECK(found != owners_.end());
  return *found->second;
}

PortHandler& ConnectionTable::take(ConnectionId connection) {
  PortHandler& handler = owner(connection);
  owners_.erase(connection);
  return handler;
}

ConnectionId ConnectionTable::dial_for(Port port, std::string_view address) {
  const ConnectionId connection = driver_.dial(address);
  owners_.emplace(connection, of(port));
  return connection;
}

void ConnectionTable::close(ConnectionId connection) {
  owners_.erase(connection);
  driver_.close(connection);
}

}  // namespace spindled
