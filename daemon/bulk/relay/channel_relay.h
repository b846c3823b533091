// The way of one channel's symbols through a daemon.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "daemon/base/driver.h"
#include "daemon/base/time.h"
#include "daemon/bulk/relay/channel_index.h"
#include "daemon/bulk/relay/look_times.h"
#include "daemon/bulk/relay/owned_places.h"
#include "daemon/bulk/relay/parties.h"
#include "daemon/bulk/relay/patience.h"
#include "daemon/bulk/relay/peer_window.h"
#include "daemon/bulk/relay/received_symbols.h"
#include "daemon/bulk/relay/relay_output.h"
#include "daemon/bulk/relay/ring_size.h"
#include "daemon/bulk/relay/symbol_ring.h"

namespace spindled {

/// Relays one channel: no socket, and no knowledge of the content. Connections are of three kinds, and one can be all
/// of them: *upstreams* bring symbols to relay, *children* are given them, and *holders* are local clients that have
/// content. A child is another daemon or a local receiver: whoever asks.
///
/// What upstreams bring goes into a ring; each child has a cursor in it and takes what comes next whenever its
/// connection has room (ROMA, section IV: forward when feasible). So a slow child loses what is overwritten, and nobody
/// waits for it. Upstreams may send what they were granted: what the ring has room for ahead of the child that is
/// furthest. The pace is that of the fastest child, and nothing comes that nobody could take. Only for one part of the
/// time in 200 it waits for others, and for a moment where a child gets from the source what it has missed: those that
/// are as fast, and were held up, go on in step with it then, and need no streams of their own.
///
/// A child that has missed something, or has come late, is *behind*. Where a holder here has what it lacks, it is given
/// that in a stream of its own. Where that is much, or it does not keep up meanwhile, it takes nothing out of the ring
/// until that is over.
/// A holder that takes a stream and sends nothing loses it to another one that has the same (`kHolderSilence`); where
/// there is none here, what it has is asked for above as long as it is silent.
/// What a local client that serves has, or is going to have, is not asked for again: it will be a holder of that. Where
/// there is none, the need of this daemon says that something is *lost*, and it is itself behind for its parent, which
/// gives it both in turns: what others lack is not to hold up those that lack nothing.
///
/// The source is told which blocks all who are going to ask have had before it has sent them, and passes over those:
/// who goes on with a content is not to wait for all of it again. It is waited a moment for those that have not asked
/// yet; who asks later lacks what was passed over as if it had missed it.
///
/// With a mesh (ChannelMesh) there are *peers* besides: daemons that are neither parent nor child. A peer sender gives
/// what it gets along the tree; that goes to local clients, and to those children that have no peers of their own,
/// once. A peer receiver is given what comes along the tree, and nobody waits for it. Children that are *meshed*, as
/// they have peer senders, are given different symbols: each one that comes belongs to the first of them that has room,
/// and the others get it only while there is nothing that belongs to nobody (Bullet, section 3.3: the sending factor is
/// what a child has room for). What they still lack when it has gone is served as if they had missed it.
///
/// What a child lacks is known but for what is on its way to it. So that nothing is sent twice a *mark* goes to it in
/// between symbols, and comes back in its need: what is lacking then below the mark's bound has been lost. A relay
/// hands the marks of its parent on, each behind what came before it, and tells the parent when all its children have
/// them.
class ChannelRelay {
 public:
  /// `symbols_of_block`: that a whole one has. `output` and `hasher` outlive it.
  ChannelRelay(RelayOutput& output, std::uint32_t symbol_bytes, std::uint32_t symbols_of_block,
               const spindle::bulk::Hasher& hasher);

  // Who is there.

  /// Brings symbols to relay. `is_source`: the client that offers, whose live stream it is.
  void add_upstream(Time now, ConnectionId upstream, bool is_source);
  /// `daemon`: its name; empty: a local client.
  void add_child(Time now, ConnectionId child, std::string_view daemon);
  /// A local client that has content: all of it, as far as it is there at all, where it is the source.
  void add_holder(ConnectionId holder, bool is_source);
  /// The connection is gone, or has shut the channel.
  void remove(Time now, ConnectionId connection);
  void remove_upstream(ConnectionId upstream);
  /// It asks for nothing any more.
  void remove_child(Time now, ConnectionId child);
  /// What it sends is asked for, until it is removed; not where it is an upstream.
  void add_peer_sender(Time now, ConnectionId peer);
  void remove_peer_sender(ConnectionId peer);
  bool is_peer_sender(ConnectionId connection) const { return peers_.contains(connection); }
  /// Whether what it gives is of no use.
  bool is_in_vain(ConnectionId peer) const {
    const auto found = peers_.find(peer);
    return found != peers_.end() && found->second.window.is_in_vain();
  }
  /// Whether there are to be peer senders: it is meshed for its parent from then on.
  void set_meshed(Time now, bool is_meshed);
  /// Whether it has given what its checksum denies, or a part of a block that turned out to be wrong.
  bool is_suspect(ConnectionId peer) const {
    const auto found = peers_.find(peer);
    return found != peers_.end() && found->second.is_suspect;
  }
  /// It is given what comes along the tree as far as it asks, until it is removed as a child; not where it is a child.
  void add_peer_receiver(Time now, ConnectionId peer, std::string_view daemon);
  bool is_peer_receiver(ConnectionId connection) const {
    const auto found = children_.find(connection);
    return found != children_.end() && found->second.is_peer;
  }
  /// A peer receiver asks for blocks, in place of what it has asked for before: of each of them clients here have all
  /// of it is given what it asks for.
  void blocks_asked(ConnectionId peer, const std::vector<relay::AskedBlock>& blocks);
  /// Blocks of which local clients lack something that no client here can give.
  spindle::bulk::BlockSet lacked_by_clients() const;
  /// Peer senders are asked for these whole: nobody else is to give them.
  void set_asked_of_peers(Time now, spindle::bulk::BlockSet blocks);
  /// Of a block that is not complete: so many symbols more, at least.
  std::uint32_t lacking(std::uint32_t block) const;
  /// One more than the last block of which an upstream or a holder has brought anything.
  std::uint32_t blocks_seen() const { return blocks_seen_; }
  bool is_upstream(ConnectionId connection) const { return upstreams_.contains(connection); }
  /// Upstreams that are no clients.
  std::vector<ConnectionId> parents() const;
  /// Whether it asks along the tree.
  bool is_child(ConnectionId connection) const {
    const auto found = children_.find(connection);
    return found != children_.end() && !found->second.is_peer;
  }
  /// What it has said last that it needs; null where it asks for nothing.
  const spindle::bulk::Need* need_of(ConnectionId connection) const {
    const auto found = children_.find(connection);
    return found == children_.end() ? nullptr : &found->second.need;
  }
  /// Who is going to ask here, as the order and the tree say.
  struct Awaited {
    std::set<std::string, std::less<>> daemons{};
    std::set<ConnectionId> clients{};
    bool others = false;  // of whom it is not known yet where they ask, or whether
  };
  void set_awaited(Time now, Awaited awaited);

  /// How many blocks there are, and how many symbols the last one has, where that is less than others have. Before that
  /// is known the source passes over none.
  void set_blocks(std::uint32_t blocks, std::optional<std::uint32_t> symbols_of_last = {}) {
    blocks_ = blocks;
    symbols_of_last_ = symbols_of_last.value_or(symbols_of_block_);
  }

  /// A plan of the tree: symbols of its generation may be given to these daemons. Four plans are remembered; symbols of
  /// others are not passed on to daemons, so that plans may change without loops. What holders here send travels by
  /// the latest plan.
  void set_plan(std::uint8_t generation, std::set<std::string, std::less<>> below);

  // What comes in. What nobody has asked for is dropped.

  /// Of a peer sender: whether it was lacking. Otherwise nothing.
  std::optional<bool> symbol_received(Time now, ConnectionId from, std::uint8_t stream, RelayedSymbol symbol);
  void mark_received(Time now, ConnectionId from, const RelayedMark& mark);
  void need_received(Time now, ConnectionId from, spindle::bulk::Need need);
  void grant_received(ConnectionId from, std::uint64_t symbols);
  /// A holder has sent all that the stream was for; the source, with the live stream, all there is.
  void release_received(Time now, ConnectionId from, std::uint8_t stream);

  // What goes out.

  /// What the child is given next, or nothing. It counts as given.
  using Item = std::variant<RelayedSymbol, RelayedMark>;
  std::optional<Item> next(Time now, ConnectionId child);

  /// Tells upstreams what is missing, and sizes the ring. Call it when `next_deadline` has come.
  void handle_time(Time now);
  Time next_deadline() const { return std::min(tick_at_, looks_.next()); }
  /// Of the way to an upstream or a peer sender: what is on its way is part of what may be granted.
  void set_round_trip(ConnectionId sender, Duration round_trip);

  /// Since when the upstream, which is no client, has owed symbols and sent none; nothing where it was told that enough
  /// is here, which may be checked once its hashes come. Where peers have given some of that it counts for these, too,
  /// though later.
  std::optional<Time> silent_since(ConnectionId upstream) const;
  /// Whether it has sent any since it was added.
  bool has_sent(ConnectionId upstream) const {
    const auto found = upstreams_.find(upstream);
    return found != upstreams_.end() && found->second.has_sent;
  }

  struct ChildInfo {
    ConnectionId connection{};
    std::string daemon;
    spindle::bulk::Need need;
    std::uint64_t given = 0;   // symbols
    std::uint64_t missed = 0;  // that were overwritten before it had room
    bool is_peer = false;      // of the mesh; otherwise of the tree
    bool is_meshed = false;    // it has peer senders
    bool is_behind = false;
    bool has_stream = false;
    bool has_credit = false;        // it has said that it takes more
    bool is_waiting = false;        // there is something here for it
    std::uint64_t bytes_per_s = 0;  // lately
  };
  std::vector<ChildInfo> children(Time now) const;
  bool has_holder() const { return !holders_.empty(); }
  std::size_t upstreams() const { return upstreams_.size(); }
  /// Whether a daemon that is a child in the tree has said nothing of what it needs for `kChildSilence`.
  bool has_silent_child(Time now) const;
  /// What all below this daemon have, or can get here.
  spindle::bulk::Need need() const;
  /// The same, as it was told last; null: not yet.
  const spindle::bulk::Need* told() const { return told_ ? &*told_ : nullptr; }
  /// Complete at those that can give it here.
  spindle::bulk::BlockSet held() const;
  /// Of those that are not, what has come, where it may come twice: of peer senders, or of several upstreams.
  const ReceivedSymbols& received() const { return received_; }
  /// Of symbols that are kept, in slabs.
  std::size_t ring_bytes() const { return ring_.bytes() + own_bytes_; }
  /// Of what children, holders and this daemon have said that they have, when that was last counted.
  std::size_t needs_bytes() const { return needs_bytes_; }
  /// What is to be sent of it goes before any symbol.
  ChannelIndex& index() { return index_; }
  const ChannelIndex& index() const { return index_; }
  /// Of the ring alone.
  std::size_t ring_only_bytes() const { return ring_.bytes(); }
  /// What the ring may have at most from now on. What is beyond that is overwritten.
  void set_ring_bytes_max(std::size_t bytes);

  struct Tally {
    std::uint64_t overwritten = 0;  // symbols, of what some child lost: counted per child
    std::uint64_t needless = 0;     // that came though all here had their blocks
    std::uint64_t received = 0;     // symbols, of whatever stream
    std::uint64_t news = 0;         // of these, that were asked for and had not come before, as far as that is known
    std::uint64_t of_peers = 0;     // of these, from peer senders,
    std::uint64_t duplicates = 0;   // that had come before, or of blocks that all here had
    std::uint64_t overtaken = 0;    // symbols that came along the tree when peers had given them
    std::uint64_t merged = 0;       // needs of children, for what upstreams are told
  };
  const Tally& tally() const { return tally_; }

  /// An upstream that owes symbols and has sent none for so long is silent: what it owes is not waited for.
  static constexpr Duration kSilence = 750ms;
  /// A daemon says what it needs each `kRepeat`, if not before.
  static constexpr Duration kChildSilence = 1500ms;
  /// It is waited so long for those that are going to ask.
  static constexpr Duration kAskPatience = 1s;
  static constexpr Duration kNeedInterval = 250ms;
  /// Ticks are at multiples of this: those of many channels fall together, and take few turns.
  static constexpr Duration kTickGrid = 50ms;
  /// Needs of one child that come faster are taken together, but for answers to marks.
  static constexpr Duration kNeedIntervalLeast = 5ms;
  /// A need without news is told again after this long.
  static constexpr Duration kRepeat = 1s;
  /// A child that has not said so long that it has a mark is not waited for.
  static constexpr Duration kMarkPatience = 2s;
  /// A holder that has been asked for symbols, and has sent none for so long, is asked for what others have only where
  /// these have not got it either.
  static constexpr Duration kHolderSilence = 3s;
  /// A child that has taken nothing so long, though there was something for it, is not waited for.
  static constexpr Duration kStalled = 250ms;
  static constexpr Duration kStreamPatience = 20ms;
  /// How often a child is asked what it lacks, at most.
  static constexpr Duration kMarkInterval = 20ms;
  /// What a child's own stream may have on its way between holder and child.
  static constexpr std::size_t kStreamBytes = 256u << 10;
  static constexpr std::size_t kGenerationsKept = 4;
  /// Symbols that a peer sender may have on its way at most, as a part of the ring.
  static constexpr std::size_t kPeerWindowPart = 4;
  /// Of a block of which so many symbols more have come than it has, there is enough, in all likelihood.
  static constexpr std::uint32_t kSpareSymbols = 1;
  /// Where no more blocks than these are lacking it is reckoned what they lack.
  static constexpr std::uint32_t kBlocksSummed = 4;
  /// A peer receiver that has been given fewer tries this daemon: it is given what comes next, and not what came
  /// before.
  static constexpr std::uint64_t kGivenToTry = 8;
  /// Blocks that are remembered of a peer sender; those below are forgotten first.
  static constexpr std::size_t kPeerBlocksMax = 1'024;
  /// So much of the time, lately, nothing may have belonged to a child for it to be given what others own.
  static constexpr double kDrained = 0.5;
  static constexpr Duration kDrainedTime = 200ms;
  /// Marks of upstreams that are under way at a time; further ones are dropped.
  static constexpr std::size_t kMarksMax = 64;

 private:
  using Need = spindle::bulk::Need;

  /// A plan of the tree, as far as it says to whom symbols may go.
  struct Plan {
    std::uint8_t generation = 0;
    std::set<std::string, std::less<>> below;
  };

  // The way of a symbol: channel_relay.cpp.

  void push(Time now, RelayedSymbol symbol);
  bool may_have(const relay::Child& child, const RelayedSymbol& symbol) const;
  /// Whether it was given the same symbol when that came before, as where a peer was earlier than the tree.
  static bool was_given_before(const relay::Child& child, const RelayedSymbol& symbol);
  /// Moves the cursor to what the child may have and lacks, if there is any.
  bool seek(Time now, relay::Child& child);
  RelayedSymbol take(Time now, relay::Child& child, std::uint64_t place);
  void note_overwritten(Time now, relay::Child& child);
  /// It has not got all of what came until now.
  void miss(relay::Child& child);
  /// Of no block from this one on has anything come, of whomever.
  std::uint32_t come_below() const { return std::max(blocks_seen_, of_peers_below_); }
  /// All children, where something that the source has sent may have been lost on its former connection.
  void miss_gap();
  /// The source goes on with that block, or has come to the end before it: who lacks something of those that it has
  /// passed over has missed it.
  void note_live(std::uint32_t block);
  void take_need(Time now, ConnectionId from, relay::Child& child, Need need);
  /// `handle_time` is to be called then, or earlier.
  void wake_at(Time at) {
    if (at < tick_at_) output_.wake_at(tick_at_ = at);
  }
  void wake_for_tick(Time now);
  void count_needs();
  void size_ring(Time now);
  std::uint8_t latest_generation() const { return plans_.empty() ? std::uint8_t{0} : plans_.back().generation; }

  // What has been lost, and who has it: channel_relay_streams.cpp.

  /// A local client says what it has: it is a holder of that, or none any more.
  void note_holder(ConnectionId id, const Need& need);
  void remove_holder(ConnectionId id);
  /// Whether the source is a holder here.
  bool is_source_here() const;
  /// A holder has blocks that have not come through this relay: nobody else is going to get them in passing.
  void note_brought(ConnectionId holder, const spindle::bulk::BlockSet& blocks);
  /// Blocks that it came with, in whole or in part, and has whole now, are asked for above no more, though others may
  /// have got only a part of them in passing: these have missed the rest.
  void note_came_with(ConnectionId id, relay::Holder& holder);

  /// The mark that the child is to have before anything else, if there is one.
  std::optional<relay::GivenMark> due_mark(Time now, ConnectionId id, const relay::Child& child) const;
  const relay::PassingMark* passing_mark(const relay::Child& child) const;
  /// Whether a holder has what it lacks, and it is not known yet what of that is lost.
  bool is_to_be_asked(ConnectionId id, const relay::Child& child) const;
  /// Below which block nothing is to be given to the child in passing.
  std::uint32_t bound_of(const relay::Child& child) const;
  /// Where it has got all there is for it, and has been asked not long ago: it is asked once it may be.
  void wake_for_mark(Time now, ConnectionId id, const relay::Child& child);
  void marks_seen(relay::Child& child);
  /// Which marks of upstreams all children have now.
  void settle_marks(Time now);

  /// Those of which it is known what they lack.
  void serve_all();
  /// A stream for a child that is behind, where it is known what it lacks, and a holder has something of that.
  void serve(ConnectionId id, relay::Child& child);
  /// Whether it lacks so much that it is not in step again in a while.
  bool is_far_behind(const relay::Child& child) const;
  /// Up to which block a stream for it goes. One that has peers may get later blocks of them meanwhile, and is asked
  /// what it lacks once more before these.
  std::uint32_t end_of_stream_for(const relay::Child& child) const;
  void begin_stream(relay::Child& child, std::map<ConnectionId, relay::Holder>::iterator from, const Need& need,
                    spindle::bulk::BlockSet::Run blocks, bool is_alone);
  /// One that has something of what is lost for the child, and a stream left; rather one that is not silent.
  std::map<ConnectionId, relay::Holder>::iterator find_holder_for(ConnectionId id, const relay::Child& child);
  bool has_holder_for(ConnectionId id, const relay::Child& child) const;
  /// Not a silent one that owes a stream already, or while a parent gives what it has.
  bool may_serve(const relay::Holder& holder) const;
  static bool has_for(const relay::Holder& holder, const relay::Child& child, std::uint32_t below);
  void symbol_of_stream_received(ConnectionId from, std::uint8_t stream, RelayedSymbol symbol);
  void refill(relay::Child& child);
  /// What its stream has brought of blocks of which others have given it enough meanwhile.
  void drop_needless(relay::Child& child);
  /// Ends streams of holders that send nothing, where others have the same.
  void look_after_streams(Time now);
  void end_stream(relay::Child& child);

  // Upstreams, what they are granted, and what they are told: channel_relay_upwards.cpp.

  std::optional<ConnectionId> source() const;
  /// Whether there is an upstream other than the source.
  bool has_parent() const;
  static bool is_silent(Time now, const relay::Upstream& upstream) {
    return !upstream.is_source && upstream.owed > 0 && now - upstream.heard_at >= kSilence;
  }
  /// Grants upstreams what the ring has room for.
  void grant_upstreams(Time now);
  /// The place up to which nothing of the ring is needed for the pace.
  std::uint64_t consumed(Time now) const;
  /// How many symbols there may be ahead of the child that is furthest. The rest of the ring is for others: what they
  /// have yet to take is not overwritten at once.
  std::uint64_t ahead_max() const;
  bool is_waiting_for_others(Time now, std::uint64_t coming);
  /// What all children that move have passed.
  std::uint64_t passed_by_all(Time now) const;
  /// Whether it could be given more of its stream, which has only just begun, than the source sends.
  bool is_held_up_by_source(Time now, const relay::Child& child) const;

  /// Looks what upstreams are to be told, and tells them.
  void tell_needs(Time now);
  /// Has that done at the end of the turn, or as soon as it may be: some of it may be urgent.
  void tell_soon(Time now);
  /// Has that done by and by.
  void tell_later(Time now);
  /// By what upstreams were told: whether enough of all blocks is here, complete or not.
  bool has_enough() const;
  /// Whether nothing is waited for of them.
  bool lacks_nothing() const;
  /// Whether that need of the child is told by and by: it only has more than the one before.
  bool is_progress(const relay::Child& child, const Need& need) const;
  /// Which blocks the source may pass over.
  void tell_source();
  /// Whether somebody who has asked lacks what the source sends next.
  bool is_live_wanted() const;
  /// Whether somebody who is going to ask has not yet.
  bool lacks_somebody() const;

  // Peers: channel_relay_peers.cpp.

  std::optional<bool> symbol_of_peer_received(Time now, ConnectionId from, RelayedSymbol symbol);
  /// The tree has brought what lies, or lay, at that place in the ring.
  void note_overtaken(std::uint64_t former);
  void note_useless(relay::Peer& peer);
  /// Grants peer senders what they may have on their way: together no more than what is lacking.
  void grant_peers(Time now);
  std::uint32_t symbols_of(std::uint32_t block) const;
  /// Of all blocks; where many are not complete no more than that is said.
  std::uint64_t lacking() const;
  /// What is told to peer senders. Of blocks of which enough has come they are to give no more.
  Need need_of_peers(const Need& need) const;
  /// What the child had of a block it has thrown away: some of it was wrong.
  void note_wrong_blocks(const relay::Child& child, const Need& need);
  /// A stream for the next of the blocks that it has asked for, and that a holder can give.
  void give_asked_block(ConnectionId peer, relay::Child& child);

  /// What was not here before. Gives the place in the ring to which it went when it has come before.
  std::optional<std::uint64_t> note_received(Time now, mesh::SymbolId symbol);
  /// From now on it is remembered what has come, the ring's content included.
  void may_come_twice(Time now);
  /// What was sent until now may come twice until a ring later.
  void wait_for_a_ring() { once_from_ = ring_.end() + ring_.capacity(); }
  /// What the ring has of blocks that somebody below lacks has come.
  void remember_ring(Time now);
  /// Upstreams were told that something is lost, or (`is_more_wanted`) that somebody lacks what nobody lacked: they
  /// send it anew, and the ring may have it still.
  void note_asked_again(Time now, bool is_more_wanted);
  /// Whether it is remembered: for as long as there are several that send, and until a ring later nothing has come
  /// twice.
  bool remembers();

  /// Moves to the next place that belongs to nobody and may be the child's, if there is any.
  bool seek_own(relay::Child& child);
  /// Before anything changes: whether there is something that may belong to the child.
  void note_drained(Time now, relay::Child& child);
  void note_drained(Time now);  // of all that are meshed
  /// Whether there has been nothing for a while.
  bool is_drained(Time now, relay::Child& child);
  /// Whether the source is here and has sent everything: nobody who is meshed needs what others own.
  bool is_source_done() const;
  /// What the child has not got of the ring it has missed.
  void pass_over_ring(Time now, relay::Child& child);

  RelayOutput& output_;
  std::uint32_t symbol_bytes_;
  std::uint32_t symbols_of_block_;
  std::optional<std::uint32_t> blocks_;
  std::uint32_t symbols_of_last_ = 0;
  ChannelIndex index_;
  RingSize ring_size_;
  SymbolRing ring_;
  Time tick_at_ = kNever;
  Tally tally_;

  std::map<ConnectionId, relay::Upstream> upstreams_;
  std::map<ConnectionId, relay::Peer> peers_;  // that send
  std::map<ConnectionId, relay::Child> children_;
  std::map<ConnectionId, relay::Holder> holders_;
  std::set<ConnectionId> unserved_;  // children of which it is known what they lack
  std::deque<Plan> plans_;           // the latest is last
  Awaited awaited_;
  std::optional<Time> awaits_since_;  // some of them lack
  bool is_awaiting_ = false;          // and are waited for

  std::uint32_t blocks_seen_ = 0;     // one more than the last of which an upstream or a holder has brought anything
  std::uint32_t of_peers_below_ = 0;  // likewise, a peer
  std::uint32_t live_seen_ = 0;  // one more than the last block that the source has sent anything of, or passed over
  bool is_whole_ = true;         // whatever has come through the ring was all there is from the first block on
  bool is_given_from_above_ = false;  // a parent has sent something lately, when that was looked at last
  bool is_live_over_ = false;         // the source is here, and has sent the last block to its end
  bool has_gap_ = false;              // before what it sends next, as it has another connection now

  std::deque<relay::PassingMark> marks_;
  std::uint64_t last_sequence_ = 0;  // of these
  std::uint64_t stream_window_;      // symbols
  std::size_t own_bytes_ = 0;        // of streams

  Patience patience_;
  LookTimes looks_;
  std::optional<Need> told_;       // upwards,
  Time told_at_{};                 // then
  bool has_missed_some_ = false;   // some child, since that was looked at
  std::set<ConnectionId> untold_;  // upstreams that have been told nothing
  spindle::bulk::BlockSet told_source_;
  std::size_t needs_bytes_ = 0;

  PeerTrials trials_;
  bool is_meshed_ = false;
  bool has_enough_news_ = false;  // of a block of which there is enough, that is not told to peers
  spindle::bulk::BlockSet asked_of_peers_;
  bool is_asked_news_ = false;  // of these, that is not told upwards
  ReceivedSymbols received_;    // while it is remembered
  bool is_remembering_ = false;
  std::uint64_t once_from_ = 0;  // the place in the ring from which on nothing comes twice, where one alone sends
  OwnedPlaces owned_;            // by meshed children, or given by peers
};

}  // namespace spindled
