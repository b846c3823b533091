// Which daemons are connected for bulk content, and how hops are opened.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/connection_taker.h"
#include "daemon/base/context.h"
#include "daemon/bulk/hop_invitation.h"
#include "daemon/link/links.h"
#include "daemon/overlay/overlay.h"
#include "daemon/overlay/view.h"
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
///
/// Where the path was down, and nobody has lost the hop, both may wait long for TCP to try it again, each time twice as
/// long as before, while there is another link already (`is_outlived`).
///
/// A daemon without a link to this one, a *stranger*, may be reached where one of the two has told an address in its
/// link state: that one is dialled, and where both have one, the one whose name comes first. It invites the other by a
/// frame over the links of the view (HopInvitation), and who is to dial may ask for that. Who invites or asks has no
/// hop: a former one is dead, unless it has only just been opened. There are kStrangersMax such hops at most.
class Hops {
 public:
  struct Events {
    /// A daemon may be dialled, or invited, that could not be before.
    std::function<void(Time)> invited;
    /// The other side has lost this hop. It is to be closed.
    std::function<void(Time, ConnectionId)> lost;
  };
  /// `view`: the installed one, at any time.
  Hops(Context& context, Driver& driver, ConnectionBroker& broker, Links& links, Overlay& overlay,
       std::function<const View&()> view, Events events);

  static constexpr std::size_t kStrangersMax = 48;

  /// Whether there is, or may be, a hop to that daemon.
  bool can_reach(std::string_view daemon) const;
  /// Strangers that have invited this daemon to dial, and are waiting for it.
  std::vector<std::string> inviting(Time now) const;
  /// The hop to that daemon, open or being opened.
  std::optional<ConnectionId> find(std::string_view daemon) const;
  /// Whether the link to that daemon is another one than when something was last heard on the hop, at `heard_at`.
  bool is_outlived(std::string_view daemon, Time heard_at) const;
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
  /// Whether who answers a dial, and has proved to be `identity`, may be that daemon.
  Result<void> check_dialled(std::string_view daemon, std::string_view identity) const;
  /// Whether somebody who says this, and has proved to be `identity`, is a daemon that was invited. It has been
  /// then, and takes the place of a former hop, which is returned where there is one.
  Result<std::optional<ConnectionId>> admit(ConnectionId connection, std::string_view identity,
                                            const spindle::bulk::BulkHello& hello);
  /// Both sides have it.
  void opened(Time now, std::string_view daemon);
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
    bool is_stranger = false;
    Time opened_at{};
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
  /// For that daemon to dial, in place of a former one; nothing where that is too young, or none can be drawn.
  std::optional<Token> new_invitation(Time now, const std::string& daemon);
  /// The hop that the other side has not, as the token says that came over its link.
  std::optional<ConnectionId> lost_there(LinkId link, const Token& token) const;

  // Strangers.

  /// A member of the view that there is no link to.
  std::optional<MemberIndex> stranger(std::string_view daemon) const;
  /// Whether this side dials; nothing where neither has an address.
  std::optional<bool> dials(MemberIndex stranger) const;
  std::optional<ConnectionId> open_to_stranger(Time now, const std::string& daemon, MemberIndex member);
  void invite(Time now, const std::string& daemon, MemberIndex member);
  bool has_room() const;
  bool invitation_received(Time now, ByteView content, const Events& events);
  /// Whether a hop of a stranger that says that it has none is dead.
  bool is_dead(Time now, const Hop& hop) const { return hop.is_open && now - hop.opened_at >= kYoung; }

  /// A frame that was sent before a hop was opened may come so long after that.
  static constexpr Duration kYoung = 2s;
  static constexpr Duration kInvitationKept = 5s;

  Context& context_;
  Driver& driver_;
  ConnectionBroker& broker_;
  Links& links_;
  Overlay& overlay_;
  std::function<const View&()> view_;
  std::map<std::string, Hop, std::less<>> hops_;
  std::map<std::string, Token, std::less<>> tokens_;            // of others, by which they are dialled
  std::map<std::string, Invitation, std::less<>> invitations_;  // of others, to dial
  std::map<std::string, LostHop, std::less<>> lost_;            // until there is another one
  std::map<std::string, Invitation, std::less<>> inviting_;     // of strangers, to dial them
  std::map<std::string, Time, std::less<>> asked_;              // strangers, for an invitation
};

}  // namespace spindled
