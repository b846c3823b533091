// How connections end.
#pragma once

#include <string_view>

#include "daemon/link/link_layer.h"
#include "daemon/link/refusal_log.h"

namespace spindled {

/// Who ends a connection.
enum class Ending { here, by_peer, lost };

/// Says why to the other side, the log, the counters and, of a link that was up, the layer above; and has the neighbour
/// behind it dialled again.
///
/// Order of calls: one of the first four for whatever was a connection or a link; then `let_go` once its close frame is
/// out, or has had the time for that. Any of them may remove it from the table; its memory stays for the turn.
class Teardown {
 public:
  explicit Teardown(LinkLayer& layer) : layer_(layer) {}

  /// The connection is not closing yet. `link_down` is called before this returns.
  void end(Time now, Link& link, const Error& reason, Ending ending = Ending::here);
  /// The other side says that it ends it.
  void close_received(Time now, Link& link, ByteView body);
  void connection_lost(Time now, Link& link, std::string_view why);
  /// This daemon stops.
  void end_as_stopping(Time now, Link& link);
  /// Closes the connection, whatever has still to be written, and forgets it.
  void let_go(Link& link);

 private:
  void end_established(Time now, Link& link, const Error& reason);
  void send_close(Time now, Link& link, const Error& reason);
  void dial_again(Time now, const Link& link, const Error& reason);
  void count_end(LinkPhase phase, const Error& reason, Ending ending);
  void log_end(Time now, const Link& link, const Error& reason, Ending ending);

  LinkLayer& layer_;
  RefusalLog refusals_;
};

}  // namespace spindled
