// Watches what a simulated daemon puts on its hops as a peer in the meshes of bulk channels.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/bulk/relay/channel_relay.h"
#include "daemon/node/node.h"
#include "libclient/bulk/bulk_frames.h"
#include "tests/checkers/history.h"
#include "tests/checkers/peer_giving.h"
#include "tests/sim/network.h"

namespace spindled::sim {

/// Of all lives of one host. It reads the frames of hops and attachments in both directions, as they are before anybody
/// lies in them, and asks the daemon who is whose peer. What is on a connection may be older than that: what cannot be
/// said for sure passes.
class PeerWatch {
 public:
  explicit PeerWatch(std::string daemon) : daemon_(std::move(daemon)) {}

  /// The daemon is to be given these bytes next;
  void reading(const Node& node, StreamRef end, ByteView bytes);
  /// and has handled them, or anything else.
  void handled(const Node& node);
  void wrote(Time now, const Node& node, StreamRef end, std::span<const ByteView> buffers, std::size_t taken);
  void closed(StreamRef end);
  /// The life of the daemon is over.
  void end();

  std::vector<checkers::PeerHistory> histories() const;

 private:
  using Channel = spindle::bulk::BulkChannelId;

  /// Cuts a stream into frames, of whose bodies it keeps the beginning.
  class Frames {
   public:
    struct Frame {
      std::uint8_t type = 0;
      std::size_t length = 0;  // of the body
      ByteView begin;          // of that
    };
    /// Calls `handle` with each frame that is there to its end.
    template <typename Handle>
    void take(ByteView bytes, Handle&& handle);

   private:
    static constexpr std::size_t kKept = 400;
    std::vector<std::uint8_t> head_;
    std::vector<std::uint8_t> body_;
    std::size_t length_ = 0, at_ = 0;
    std::uint8_t type_ = 0;
  };
  struct Direction {
    Frames frames;
    std::optional<std::uint8_t> first;  // frame's type
    std::map<std::uint32_t, Channel> channels;
  };
  struct Connection {
    Direction in, out;
    bool is_hop = false, is_bulk = false;
    Time written_at{};        // last,
    bool is_all_new = true;   // and whether nothing of that had waited since a former turn
    bool is_blocked = false;  // not all of it was taken
    /// Frames that say what it is have passed, and it is of something else.
    bool is_other() const { return !is_bulk && in.first && out.first; }
  };
  /// Of all meshes of one channel that the daemon is a member of.
  struct Watched {
    checkers::PeerHistory history;
    checkers::PeerGiving giving;
    std::set<StreamRef> hops;  // over which something of it has gone
    std::set<mesh::SymbolId> had, had_of_tree;
    double told = 0;  // bytes, that are forgotten as the budget allows
    Time told_at{};
  };
  struct Brought {
    Channel channel;
    mesh::SymbolId symbol;
    bool is_of_peer = false;  // before it was handled
  };

  Watched& watched(const Channel& channel);
  static void note_first(Connection& connection, Direction& direction, std::uint8_t type);
  /// Null where the frame is of no channel that is open.
  static const Channel* channel_of(const Direction& direction, spindle::Reader& reader);
  static void note_number(Direction& direction, const Frames::Frame& frame);
  void note_read(const Node& node, StreamRef end, Connection& connection, const Frames::Frame& frame);
  void note_written(Time now, const Node& node, StreamRef end, Connection& connection, const Frames::Frame& frame);
  void look(const Node& node);

  std::string daemon_;
  std::map<StreamRef, Connection> connections_;
  std::map<Channel, Watched> channels_;  // in this life
  std::vector<checkers::PeerHistory> former_;
  StreamRef from_{};  // of what was brought
  std::vector<Brought> brought_;
};

}  // namespace spindled::sim
