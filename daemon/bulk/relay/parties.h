// Who takes part in the relay of one channel, as its daemon knows them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>

#include "daemon/base/driver.h"
#include "daemon/base/time.h"
#include "daemon/bulk/relay/peer_window.h"
#include "daemon/bulk/relay/symbol_ring.h"
#include "libclient/bulk/bulk_frames.h"
#include "libclient/bulk/rate_meter.h"

namespace spindled {

/// A mark as it is given to a child: libclient/bulk/bulk_frames.h.
struct RelayedMark {
  std::uint64_t mark = 0;
  std::uint32_t bound = 0;
};

}  // namespace spindled

/// What ChannelRelay, which explains the terms, keeps of each of them.
namespace spindled::relay {

/// It brings symbols to relay.
struct Upstream {
  bool is_source = false;
  bool has_sent = false;
  std::uint64_t owed = 0;  // symbols that were granted and have not come
  std::uint64_t seen = 0;  // the latest of its marks that all children have
  Duration round_trip{};
  Time heard_at{};  // or since when it owes something
};

/// A peer sender.
struct Peer {
  PeerWindow window{};
  std::set<std::uint32_t> blocks{};  // that are not complete here, and of which it has given something
  bool is_suspect = false;
};

/// A local client that has content.
struct Holder {
  bool is_source = false;  // has whatever there is
  spindle::bulk::BlockSet complete{};
  /// What it had, or had begun, when it came, until it is complete.
  spindle::bulk::BlockSet came_with{};
  std::array<bool, 256> streams{};
  std::optional<Time> silent_at{};  // it had not sent what a stream asked of it then, and has sent nothing since

  /// The number of one that is for children, and nobody has.
  std::optional<std::uint8_t> free_stream() const {
    const auto free = std::find(streams.begin() + 1, streams.end(), false);
    return free == streams.end() ? std::nullopt : std::optional(static_cast<std::uint8_t>(free - streams.begin()));
  }
};

/// What a holder gives one child alone.
struct Stream {
  ConnectionId holder{};
  std::uint8_t number = 0;
  std::uint64_t owed = 0;
  bool is_over = false;   // the holder has sent all; what is in `own` is left
  bool is_alone = false;  // the child takes nothing from the ring meanwhile
  Time begun_at{};
  spindle::bulk::BlockSet::Run blocks{};  // that it is for, as far as they are lacking
  bool has_come = false;                  // something, since that was looked at
  std::optional<Time> silent_since{};
};

/// A block that a peer asks for whole, or for so many more symbols of it than it has.
struct AskedBlock {
  std::uint32_t block = 0;
  std::uint32_t symbols = 0;
};

/// A mark of an upstream, on its way through the ring.
struct PassingMark {
  std::uint64_t sequence = 0;  // of all that have come, from 1
  std::uint64_t place = 0;     // in the ring: it comes before that symbol
  ConnectionId upstream{};
  RelayedMark mark;
  Time come_at{};
};

/// A mark that a child was given.
struct GivenMark {
  std::uint64_t number = 0;
  std::uint32_t bound = 0;
  std::uint64_t sequence = 0;  // of the upstream's mark that it hands on; 0: it is this relay's
};

/// Another daemon or a local receiver: whoever asks.
struct Child {
  std::string daemon{};      // empty: a local client
  bool is_peer = false;      // a peer receiver
  std::uint64_t cursor = 0;  // in the ring
  // It has been given whatever lies in the ring from this place up to its cursor, but for blocks that it had, and has
  // lost nothing of that. Of one that has peers, which is not given all, it says nothing.
  std::uint64_t has_all_from = 0;
  // Of one that is meshed: the next place that may belong to it, and those that do and lie ahead of its cursor.
  std::uint64_t next_own = 0;
  std::set<std::uint64_t> ahead{};
  double drained = 0;        // the part of the time, lately, in which nothing could belong to it,
  Time drained_at{};         // until then
  std::uint64_t taken = 0;   // the place behind the last that it was given
  Time moved_at{};           // when its cursor last did
  std::uint64_t credit = 0;  // symbols that it has room for
  spindle::bulk::Need need{};
  spindle::bulk::BlockSet settled{};  // blocks that nobody is to serve it: complete, or with peers also enough
  bool has_asked = false;             // a need has come
  Time need_at{};                     // when it came,
  std::optional<spindle::bulk::Need> next_need{};  // and one that has come too soon behind it
  std::uint32_t behind_below = 0;                  // it has missed something of blocks below this one, or may have
  std::uint64_t last_mark = 0;
  Time marked_at{};                            // when it was given the last one that is this relay's
  std::uint64_t has_sequence = 0;              // it has the upstreams' marks up to here
  std::uint64_t given_sequence = 0;            // or was given them
  std::deque<GivenMark> marks{};               // that it has not said that it has
  std::optional<std::uint32_t> known_below{};  // what it lacks below this block is lost
  std::optional<Stream> stream{};
  std::deque<RelayedSymbol> own{};  // of its stream
  std::deque<AskedBlock> asked{};   // of a peer; the first one is that of its stream, where it has one
  bool is_turn_of_ring = false;
  std::uint64_t given = 0;
  std::uint64_t missed = 0;
  spindle::bulk::RateMeter meter{};  // of what it is given

  bool is_meshed() const { return need.meshed && !is_peer; }
  /// How far it is.
  std::uint64_t front() const { return is_meshed() ? std::max(cursor, next_own) : cursor; }
  /// Whether it lacks something that it will not get in passing.
  bool is_behind() const { return need.complete.first_missing() < behind_below; }
  /// Who lacks little, and keeps up while it is given that, is in step again afterwards. Otherwise it gets what it
  /// lacks alone, unless it is others below it who lack it.
  bool takes_from_ring() const { return !stream || !stream->is_alone || need.lost; }
};

}  // namespace spindled::relay
