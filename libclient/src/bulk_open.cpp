// Bulk channels beside a Connection.
#include "libclient/src/bulk_host.h"
#include "libclient/src/connection_impl.h"

namespace spindle {

Result<Bulk> Bulk::open(Connection& connection, const BulkOptions& options) {
  if (connection.usable() == nullptr) return Errc::not_connected;
  return BulkOpener::open(connection.impl_, options);
}

}  // namespace spindle
