// Who of the neighbouring daemons is connected for bulk content, and how hops are opened.
#pragma once

#include <cstdint>
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
///
/// One side may have lost a hop that the other keeps: over a connection on which nothing is sent nothing is heard,
/// either. Who wants it again says so over the link, and the other gives it up: an invitation over a link whose hop is
/// open says it, and who cannot invite, since it is to dial, sends the token by which the lost hop was opened.
class Hops {
 public:
  struct Events {
    /// A neighbour may be dialled, or invited, that could not be before.
    std::function<void(Time)> invited;
    /// The other side has lost this hop. It is to be closed.
    std::function<void(Time, ConnectionId)> lost;
  };
  Hops(Context& context, Driver& driver, ConnectionBroker& broker, Links& links, StreamTransport& streams,
       Events events);

  /// The hop to that neighbour, open or being opened.
  std::optional<ConnectionId> find(std::string_view daemon) const;
  /// Hops are wanted to these: those that are not there are dialled, or invited. Those dialled are given to `dialled`,
  /// with the daemon. A hop whose other end was a former life of the daemon is given to `dead`, which is to close it.
  template <typename Dialled, typename Dead>
  void look_after(Time now, const std::set<std::string, std::less<>>& wanted, Dialled&& dialled, Dead&& dead) {
    for (const std::string& daemon : wanted) {
      if (const std::optional<ConnectionId> former = hop_of_former_life(daemon)) dead(*former);
      if (hops_.contains(daemon)) continue;
      if (const std::optional<ConnectionId> connection = open(now, daemon)) dialled(*connection, daemon);
    }
  }
  /// What the daemon that was dialled is shown. The token counts once.
  spindle::bulk::BulkHello hello_to(std::string_view daemon);
  /// Whether somebody who says this, and has proved to be `identity`, is a neighbour that was invited. It has been
  /// then, and takes the place of a former hop, which is returned where there is one.
  Result<std::optional<ConnectionId>> admit(ConnectionId connection, std::string_view identity,
                                            const spindle::bulk::BulkHello& hello);
  /// Both sides have it.
  void opened(std::string_view daemon);
  void forget(ConnectionId connection);

 private:
  using Token = spindle::bulk::BulkToken;
  struct Invitation {
    Token token{};
    Time told_at{};
  };
  static constexpr Duration kInvitationRepeated = 1s;

  struct Hop {
    ConnectionId connection{};
    std::uint64_t incarnation = 0;  // of the other side
    std::optional<Token> token{};   // by which it was opened; nothing: it was not shown yet
    bool is_open = false;
  };
  struct LostHop {
    Token token{};
    std::optional<Time> told_at{};
  };

  /// The hop, where it is with another life of the daemon than the link. Of a loss of power nothing else may be heard:
  /// a connection over which nothing is sent stays.
  std::optional<ConnectionId> hop_of_former_life(std::string_view daemon) const;
  /// Dials where this side does; otherwise invites the other to.
  std::optional<ConnectionId> open(Time now, const std::string& daemon);
  /// Where a former hop is lost here the daemon may not know it, and invites nobody while it has that.
  void tell_lost(Time now, LinkId link, const std::string& daemon);
  /// The hop that the other side has not, as the token says that came over its link.
  std::optional<ConnectionId> lost_there(LinkId link, const Token& token) const;

  Context& context_;
  Driver& driver_;
  ConnectionBroker& broker_;
  Links& links_;
  std::map<std::string, Hop, std::less<>> hops_;
  std::map<std::string, Token, std::less<>> tokens_;            // of others, by which they are dialled
  std::map<std::string, Invitation, std::less<>> invitations_;  // of others, to dial
  std::map<std::string, LostHop, std::less<>> lost_;            // until there is another one
};

}  // namespace spindled
