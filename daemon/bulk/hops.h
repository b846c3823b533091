// Who of the neighbouring daemons is connected for bulk content, and how hops are opened.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "daemon/base/connection_taker.h"
#include "daemon/base/context.h"
#include "daemon/link/links.h"
#include "daemon/overlay/stream_transport.h"
#include "libclient/bulk/bulk_frames.h"

namespace spindled {

/// There is one hop between two neighbours for all channels, beside their link: a lost packet of bulk holds up no
/// ordered message. Who has dialled the link dials the hop, at the same address. It shows a token that the other side
/// has told it over the link, so that a hop is as genuine as the link; the token invites it, too. A hop outlives the
/// link that it was opened beside.
class Hops {
 public:
  /// `invited` is called when a neighbour may be dialled that could not be before.
  Hops(Context& context, Driver& driver, ConnectionBroker& broker, Links& links, StreamTransport& streams,
       std::function<void(Time)> invited);

  /// The hop to that neighbour, open or being opened.
  std::optional<ConnectionId> find(std::string_view daemon) const;
  /// Hops are wanted to these: those that are not there are dialled, or invited. Those dialled are given to `dialled`,
  /// with the daemon.
  template <typename Dialled>
  void look_after(Time now, const std::set<std::string, std::less<>>& wanted, Dialled&& dialled) {
    for (const std::string& daemon : wanted) {
      if (hops_.contains(daemon)) continue;
      if (const std::optional<ConnectionId> connection = open(now, daemon)) {
        hops_.emplace(daemon, *connection);
        dialled(*connection, daemon);
      }
    }
  }
  /// What the daemon that was dialled is shown.
  spindle::bulk::BulkHello hello_to(std::string_view daemon) const;
  /// Whether somebody who says this, and has proved to be `identity`, is a neighbour that was invited. It has been
  /// then, and takes the place of a former hop, which is returned where there is one.
  Result<std::optional<ConnectionId>> admit(ConnectionId connection, std::string_view identity,
                                            const spindle::bulk::BulkHello& hello);
  void forget(ConnectionId connection);

 private:
  using Token = spindle::bulk::BulkToken;
  struct Invitation {
    Token token{};
    Time told_at{};
  };
  static constexpr Duration kInvitationRepeated = 1s;

  /// Dials where this side does; otherwise invites the other to.
  std::optional<ConnectionId> open(Time now, const std::string& daemon);
  bool token_received(LinkId link, ByteView content);

  Context& context_;
  Driver& driver_;
  ConnectionBroker& broker_;
  Links& links_;
  std::map<std::string, ConnectionId, std::less<>> hops_;
  std::map<std::string, Token, std::less<>> tokens_;            // of others, by which they are dialled
  std::map<std::string, Invitation, std::less<>> invitations_;  // of others, to dial
};

}  // namespace spindled
