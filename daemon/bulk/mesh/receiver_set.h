// Those to whom a member sends what they ask for.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/base/random.h"
#include "daemon/bulk/mesh/mesh_output.h"

namespace spindled::mesh {

/// Receivers are peers, of which there are some at most, and children in the tree. What a receiver wants is put into a
/// queue when it says so; what comes later waits for its next wants. So does what has just come: it may be on its way
/// to the receiver along the tree.
class ReceiverSet {
 public:
  static constexpr std::size_t kPeersMax = 10;
  static constexpr Duration kTreeDelay = 1s;

  ReceiverSet(MeshContent& content, Random random) : content_(content), random_(random) {}

  bool has_room() const { return peers_ < kPeersMax; }
  bool has(MemberIndex member) const { return find(member) != nullptr; }
  bool is_peer(MemberIndex member) const;
  /// Some of the peers, that are drawn.
  std::vector<MemberIndex> draw_peers(std::size_t count);
  void add_peer(Time now, MemberIndex peer);
  void remove(MemberIndex member);
  void set_children(const std::vector<MemberIndex>& children);

  void wants_received(Time now, MemberIndex from, Wants wants);
  void block_done(MemberIndex from, std::uint32_t block);
  /// What to send next to that receiver; it counts as sent.
  std::optional<SymbolId> next(MemberIndex to);
  /// It was sent something otherwise.
  void pushed(MemberIndex to, SymbolId symbol);
  void note_sent(MemberIndex to, std::uint64_t symbols);
  /// Whether it has said that it has all of that block.
  bool lacks_nothing_of(MemberIndex receiver, std::uint32_t block) const;
  /// Of the peers that have been here since `before`, the one that has the least part of what it receives from here;
  /// nothing where there is still room. The time begins anew for all.
  std::optional<MemberIndex> least_benefiting(Time before);

 private:
  struct Fresh {
    std::uint32_t block = 0;
    std::uint32_t count = 0;
    std::uint32_t next_source = 0;  // below the number of source symbols: those are sent
  };
  struct Receiver {
    MemberIndex member = 0;
    bool is_child = false;
    Time since{};
    std::deque<SymbolId> queue;
    std::vector<Fresh> fresh;
    // Those that it may not have had when it told its wants last.
    std::deque<SymbolId> under_way;
    std::uint32_t sent = 0;  // ever
    Holding holding;
    std::uint32_t bytes_per_s = 0;  // that it receives from all
    std::uint64_t sent_lately = 0;  // symbols
  };

  const Receiver* find(MemberIndex member) const;
  Receiver* find(MemberIndex member) { return const_cast<Receiver*>(std::as_const(*this).find(member)); }
  void enqueue(Time now, Receiver& receiver, const Wants& wants, const BlockWant& want);
  void count(Receiver& receiver, SymbolId symbol);

  MeshContent& content_;
  Random random_;
  std::vector<Receiver> receivers_;
  std::size_t peers_ = 0;
};

}  // namespace spindled::mesh
