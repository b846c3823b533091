// One member of the mesh of a channel: what a tree leaves idle is used between members that the tree does not join.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/base/random.h"
#include "daemon/base/time.h"
#include "daemon/bulk/mesh/disjoint_send.h"
#include "daemon/bulk/mesh/mesh_output.h"
#include "daemon/bulk/mesh/ransub.h"
#include "daemon/bulk/mesh/receiver_set.h"
#include "daemon/bulk/mesh/sender_set.h"

namespace spindled::mesh {

struct MeshOptions {
  RanSub::Options ransub;
  /// Bytes of content in a symbol.
  double symbol_bytes = 8'192;
  /// Of what is told to others in a second: so much, or this part of what arrives.
  double control_bytes_per_s = 30'000.0 / 8;
  double control_part = 0.01;
  /// Peers are asked for symbols; otherwise there is the tree alone.
  bool has_peers = true;
  /// Which child gets which symbol is chosen; otherwise chance does.
  bool is_disjoint = true;
  /// Senders are told what to send. Otherwise they give what they get along the tree, by other means than this, and the
  /// parent is none of them.
  bool tells_wants = true;
  /// Who has been asked to send and has not answered for so long is not waited for.
  Duration patience = 10s;
};

/// Bullet (Kostić, Rodriguez, Albrecht and Vahdat, SOSP 2003), for content that is coded in blocks.
///
/// - What comes along the tree goes on along the tree, to children by `DisjointSend`.
/// - `RanSub` tells of other members. In each epoch the most useful of these are asked to send (`SenderSet`), and one
/// that
///   sends little of use makes room for others; likewise those that are sent to (`ReceiverSet`).
/// - Symbols that a child in the tree lacks, and that came by other ways, it asks of its parent as of any peer.
///
/// Times do not go back. What comes of peers is not trusted, but for symbols, which the content judges.
class MeshMember : private RanSubOutput {
 public:
  MeshMember(MemberIndex self, MeshOutput& output, MeshContent& content, Random random, const MeshOptions& options);

  /// Nobody above: this is the root, where the content comes from.
  void set_place(Time now, std::optional<MemberIndex> parent, const std::vector<MemberIndex>& children);
  void frame_received(Time now, MemberIndex from, Frame frame);
  /// Behind it the content has it. `is_useful`: it lacked it.
  void symbol_received(Time now, MemberIndex from, SymbolId symbol, bool is_useful);
  /// A block has become complete.
  void block_completed(Time now, std::uint32_t block);
  /// At the root: a symbol that nobody has been given. Whether a child took it. While none does, the root gives nobody
  /// anything else.
  bool originate(Time now, SymbolId symbol);
  /// The connection to that member takes a symbol more: which one.
  std::optional<SymbolId> next(MemberIndex to) { return source_waits_ ? std::nullopt : receivers_.next(to); }

  /// These may be asked to send, whatever RanSub tells: the first ones last.
  void propose(Time now, const std::vector<MemberIndex>& members);
  /// It is not to send any more.
  void leave_sender(Time now, MemberIndex sender);
  /// Tells a sender what is wanted of it, where `tells_wants` does not. Whether the budget allows it.
  bool tell_wants(Time now, MemberIndex sender, Wants wants);
  /// Those that it was sent without being asked for, or by other means than `next`.
  void sent(MemberIndex to, std::uint64_t symbols) { receivers_.note_sent(to, symbols); }

  void connected(Time now, MemberIndex peer);
  /// The connection is gone, or none could be made.
  void lost(Time now, MemberIndex peer);

  void tick(Time now);
  Time next_deadline() const;

  const SenderSet& senders() const { return senders_; }
  const ReceiverSet& receivers() const { return receivers_; }
  const DisjointSend& disjoint_send() const { return disjoint_; }
  const RanSub& ransub() const { return ransub_; }

 private:
  // RanSubOutput
  void send_collect(MemberIndex parent, Collect collect) override { send(parent, std::move(collect)); }
  void send_distribute(MemberIndex child, Distribute distribute) override { send(child, std::move(distribute)); }
  MemberSummary own_summary() override;
  std::size_t summaries_to_tell() override;
  void distributed(std::uint32_t epoch, const Sample& sample) override;

  void received(Time now, MemberIndex from, Collect& frame);
  void received(Time now, MemberIndex from, Distribute& frame);
  void received(Time now, MemberIndex from, PeerRequest& frame);
  void received(Time now, MemberIndex from, PeerAnswer& frame);
  void received(Time now, MemberIndex from, Wants& frame);
  void received(Time now, MemberIndex from, HoldingReport& frame);
  void received(Time now, MemberIndex from, BlockDone& frame);
  void received(Time now, MemberIndex from, PeerLeave& frame);

  bool is_neighbour(MemberIndex member) const;
  /// Made once in a turn.
  const SummaryTicket& own_ticket();
  bool takes_receivers() const { return receivers_.has_room() && !source_waits_; }
  bool pass_on(SymbolId symbol);
  void take_candidates(const Sample& sample);
  void ask_candidates();
  void evict(bool has_candidates);
  void leave_sender(MemberIndex sender);
  void drop_receiver(MemberIndex receiver);
  void close_if_idle(MemberIndex peer);
  void tell_senders(Time now);
  /// Bytes a second.
  double control_budget() const;
  /// What may be told grows.
  void renew_credit(Time now);
  void send(MemberIndex to, Frame frame);

  const MemberIndex self_;
  MeshOutput& output_;
  MeshContent& content_;
  const MeshOptions options_;
  std::optional<MemberIndex> parent_;
  std::vector<MemberIndex> children_;
  RanSub ransub_;
  DisjointSend disjoint_;
  SenderSet senders_;
  ReceiverSet receivers_;
  Time now_{};
  // Of this epoch, the best last; so many more are asked, and for each one that refuses another, as long as there are
  // tries.
  std::vector<MemberIndex> candidates_;
  std::size_t asks_left_ = 0;
  std::size_t tries_left_ = 0;
  bool has_had_candidates_ = false;  // since somebody was last evicted, or might have been
  bool source_waits_ = false;        // for children to have room
  SummaryTicket ticket_;             // as of then
  std::optional<Time> ticket_at_;    // nothing: not made yet
  // What may be told: grows by the budget, and is what filters have to fit into.
  double control_credit_ = 0;
  Time credited_at_{};
};

}  // namespace spindled::mesh
