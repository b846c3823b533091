// What local clients know of bulk channels.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "daemon/channel/channel.h"
#include "daemon/channel/channel_clients.h"

namespace spindled {

/// Tells each of them everything once: that a channel is offered, that it is sealed, that it is complete, that it has
/// ended; where it has missed something because its daemon did not know, then with the next `catch_up`. Frames are
/// encoded once for all.
class ToldChannels {
 public:
  /// Before anything else.
  void attach(ChannelClients& clients) { clients_ = &clients; }

  /// To the source, whose request it answers.
  void tell_source(const Channel& channel, std::uint32_t request);
  /// To those of `members`, local ones of the channel's group, who do not know. `self` is this daemon's index.
  void tell_offered(const Channel& channel, std::span<const SessionId> members, MemberIndex self);
  /// To all who know of the channel, and not of this.
  void tell_sealed(const Channel& channel);
  void tell_complete(const Channel& channel, const spindle::protocol::BulkComplete& complete);
  /// To the source, once it knows that the channel is complete, where anything of it is news.
  void tell_returned(const Channel& channel, const spindle::protocol::BulkReturned& returned);
  /// Whether there is anybody to be told that it is complete.
  bool has_somebody_waiting(const BulkChannelId& id) const;
  void tell_ended(const BulkChannelId& id, BulkEnd why);

  /// The client is to be told nothing more of the channel, and everything if it is a member again.
  void forget(const BulkChannelId& id, SessionId session);
  bool knows(const BulkChannelId& id, SessionId session) const;

 private:
  struct Told {
    SessionId session = 0;
    bool of_seal = false;
    bool of_completion = false;
  };
  using Clients = std::vector<Told>;  // sorted by session

  static Clients::iterator place_of(Clients& clients, SessionId session);
  /// Whether it did not know.
  bool add(const Channel& channel, SessionId session);
  /// Those who have not been told, and are from now on.
  std::vector<SessionId> take_untold(const BulkChannelId& id, bool Told::*what);
  void deliver(std::span<const SessionId> to, const spindle::protocol::BulkNews& news);

  ChannelClients* clients_ = nullptr;
  std::map<BulkChannelId, Clients> told_;
  /// What the source was told last, of those that are complete.
  std::map<BulkChannelId, spindle::protocol::BulkReturned> returned_;
};

}  // namespace spindled
