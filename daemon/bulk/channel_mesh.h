// This daemon's part in the mesh of one channel.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/driver.h"
#include "daemon/base/random.h"
#include "daemon/base/time.h"
#include "daemon/bulk/mesh/block_requests.h"
#include "daemon/bulk/mesh/mesh_codec.h"
#include "daemon/bulk/mesh/mesh_member.h"

namespace spindled {

struct RelayedChannel;

/// A member of the mesh (daemon/bulk/mesh) between the relay of a channel and the hops, as long as one plan of the tree
/// is followed: members are named by their places in it, and frames of other plans are passed over.
///
/// Peers have a place, and are neither the parent nor below this daemon. Who is somebody's peer the member decides: all
/// that are neighbours in the overlay are asked, and as many others as there may be senders, by chance, as far as they
/// can be reached (Hops). One whose symbols are useless mostly is done without for a while. What a peer gives is what
/// comes to it along the tree (ChannelRelay), without being told. Who is far behind asks peers by `wants` for blocks
/// besides, of which clients there have all (BlockRequests).
class ChannelMesh final : private mesh::MeshOutput, private mesh::MeshContent {
 public:
  /// The connections to other daemons.
  struct Hops {
    /// The one that is open; nothing: there is none.
    std::function<std::optional<ConnectionId>(std::string_view daemon)> open;
    std::function<bool(std::string_view daemon)> is_neighbour;
    std::function<bool(std::string_view daemon)> can_reach;
    /// What `wanted` says may be something else from then on.
    std::function<void(Time)> look;
    std::function<void(ConnectionId, std::uint8_t generation, const mesh::Frame&)> send;
    /// Nothing more of the channel is asked for there.
    std::function<void(ConnectionId)> shut;
    /// The shortest one lately.
    std::function<Duration(ConnectionId)> round_trip;
  };
  /// By the channel's position, in which this daemon has a place. The channel outlives it.
  ChannelMesh(Time now, RelayedChannel& channel, Hops hops, Random random);
  ~ChannelMesh() override;

  /// It is of no use where there are fewer daemons.
  static constexpr std::size_t kDaemonsMin = 3;

  void frame_received(Time now, std::string_view from, std::uint8_t generation, mesh::Frame frame);
  /// Of a peer sender.
  void symbol_received(Time now, std::string_view from, mesh::SymbolId symbol, bool is_useful);
  void hop_opened(Time now, std::string_view daemon);
  void hop_lost(Time now, std::string_view daemon);
  /// What it sends is asked for along the tree.
  void leave_sender(Time now, std::string_view daemon);
  /// Ends: peers are told, and the relay knows of none.
  void stop();

  /// Daemons that hops are wanted to.
  std::set<std::string, std::less<>> wanted() const;
  void tick(Time now);
  Time next_deadline() const;

  struct Status {
    std::size_t senders = 0, receivers = 0;  // peers
    std::uint64_t avoided = 0;               // times that a sender was done without, as it was of no use,
    std::size_t suspects = 0;                // or as what it gave was wrong
    std::uint64_t frame_bytes = 0;           // told to others
  };
  Status status() const;

 private:
  /// Whom no hop is to be had to in that time is not asked again for as long as the latter.
  static constexpr Duration kDialled = 4s;
  static constexpr Duration kNotReached = 30s;
  /// One that is no neighbour, and does not send by then, may be asked again.
  static constexpr Duration kRefused = 5s;
  /// Who has been asked and has not answered for so long is not waited for, as it may follow another plan. Who has said
  /// nothing at all when that was so for the second time may have no mesh, and is asked again after `kNotReached`.
  static constexpr Duration kAnswer = 1s;
  /// How often neighbours are asked, and senders weighed.
  static constexpr Duration kCheck = 1s;
  /// A sender is left where what it gives is of no use (PeerWindow), once it has sent for so long: its parent and ours
  /// have to know first.
  static constexpr Duration kTrial = 1s;
  /// Who is its parent's only child is given all that there is, and begins as if it had left all of them. Of those that
  /// were left one is tried again after so long; and after twice as long each time, where that is in
  /// vain. Where one gives what is of use for so long all may.
  static constexpr Duration kAvoided = 10s;
  static constexpr Duration kAvoidedMax = 40s;
  static constexpr Duration kProved = 4s;

  /// How often it is looked which blocks are to be asked of senders, while any are.
  static constexpr Duration kAsk = 50ms;

  // mesh::MeshOutput
  bool may_ask(MemberIndex peer) const override;
  void dial(MemberIndex peer) override;
  void close(MemberIndex) override {}
  void send(MemberIndex to, const mesh::Frame& frame) override;
  bool send_symbol(MemberIndex, mesh::SymbolId) override { return false; }  // the relay does

  // mesh::MeshContent
  std::uint32_t blocks() const override;
  std::uint32_t first_incomplete() const override;
  bool is_complete(std::uint32_t block) const override;
  std::uint32_t source_symbols(std::uint32_t block) const override;
  std::uint32_t lacking(std::uint32_t block) const override;
  std::span<const mesh::HeldSymbol> held(std::uint32_t block) const override;
  std::uint32_t fresh_symbol(std::uint32_t block) override;
  mesh::Holding holding() const override;
  mesh::SummaryTicket ticket() const override;

  std::optional<MemberIndex> member_of(std::string_view daemon) const;
  /// The open hop to one that may be a peer.
  std::optional<ConnectionId> peer_hop(MemberIndex member) const;
  bool is_tree_neighbour(MemberIndex member) const;
  /// Whether it may give something: what those below this daemon have came through it.
  bool may_give(MemberIndex member) const;
  void give_up_dialled(Time now);
  /// Has the member do what is due, and remembers whom it gives up.
  void tick_member(Time now);
  bool is_mute(Time now, MemberIndex member) const;
  /// Those of no link that are to be asked.
  std::vector<MemberIndex> others(Time now);
  void check(Time now);
  /// Asks those that may give; of those that were left one at a time.
  void propose(Time now, const std::vector<MemberIndex>& candidates);
  void leave_useless(Time now);
  /// Who was left gives whole blocks all the same, where it has some that are lacking here.
  void note_summaries(const mesh::Sample& sample);
  /// A receiver wants blocks.
  void wants_received(MemberIndex from, const mesh::Wants& wants);
  /// Asks senders for whole blocks, where clients here are far behind.
  void ask_for_blocks(Time now);
  /// Whether the budget allowed it.
  bool tell_wants(Time now, MemberIndex sender);
  /// Nothing is asked of it at present.
  bool is_avoided(MemberIndex member) const;
  /// Has the relay send to, and take from, those that are peers by now.
  void settle(Time now);

  RelayedChannel& channel_;
  const Hops hops_;
  const std::uint8_t generation_;
  const std::vector<std::string> places_;
  std::map<std::string_view, MemberIndex> members_;  // of places_: asked for each symbol of a peer
  const MemberIndex self_;
  const std::optional<MemberIndex> parent_;
  const std::vector<MemberIndex> children_;
  const std::set<MemberIndex> below_;
  Random random_;
  mesh::MeshMember member_;
  mesh::BlockRequests requests_;
  Time now_{};
  Time check_at_;
  Time ask_at_ = kNever;
  std::map<MemberIndex, Time> dialled_;      // members that a hop is waited for to, since then
  std::map<MemberIndex, Time> not_reached_;  // members that are not asked until then
  struct Unanswered {
    std::uint32_t times = 0;
    Time last{};
  };
  std::map<MemberIndex, Unanswered> unanswered_;  // requests, to those of whom nothing has been heard
  std::set<MemberIndex> left_;                    // as they were of no use
  struct Probe {
    MemberIndex member = 0;
    Time since{};
  };
  std::optional<Probe> probe_;                  // the one of these that is tried again
  Time probe_at_{};                             // otherwise the next one is then
  Duration avoided_for_{};                      // the time before that
  std::map<ConnectionId, std::uint64_t> sent_;  // symbols, to peer receivers, that have been told to the member
  std::uint64_t avoided_ = 0;
  std::uint64_t frame_bytes_ = 0;
};

}  // namespace spindled
