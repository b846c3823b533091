// Holds what a daemon gives its peers in the mesh of one bulk channel to what is promised (docs/decisions/0045): tree
// and streams repair most of what a mesh does wrong, so that contents arrive all the same.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "daemon/bulk/mesh/symbol_id.h"

namespace spindled::checkers {

/// Of one daemon, in the order in which it reads and writes. A peer is given what has come along the tree since it was
/// accepted, as often as that has come, and of blocks that it wants whole as much as it wants; no more than it has
/// asked for, and nothing of blocks of which it has said that it has enough; who was refused, or is done without, is
/// given nothing.
///
/// A child in the tree is given what it has missed, too, and what is still to be written when it becomes a peer was
/// given to the child: of a hop that has been to a child only what was asked for is looked at.
class PeerGiving {
 public:
  /// Names the connection to another daemon.
  using Hop = std::uint64_t;
  using Symbol = mesh::SymbolId;

  /// The other side is a peer that is given symbols, from what is brought next on, or not any more.
  void set_receiver(Hop hop, bool is_receiver) { hops_[hop].is_receiver = is_receiver; }
  void is_child(Hop hop) { hops_[hop].was_child = true; }
  void lost(Hop hop) { hops_.erase(hop); }
  /// Came along the tree.
  void brought(Symbol symbol);
  void granted(Hop hop, std::uint64_t symbols) { hops_[hop].granted += symbols; }
  /// The other side wants so many symbols of that block. What of it is under way it counts once more.
  void wanted(Hop hop, std::uint32_t block, std::uint64_t symbols);
  /// The daemon has written that the other side is a peer receiver from now on, or that it is none.
  void answered(Hop hop, bool is_accepted) { hops_[hop].is_turned_away = !is_accepted; }
  /// The daemon has written it; `is_enough`: to one that had said that it has enough of that block. What is wrong with
  /// that.
  std::optional<std::string> gave(Hop hop, Symbol symbol, bool is_enough);

 private:
  struct State {
    bool is_receiver = false, was_child = false, is_turned_away = false;
    std::uint64_t granted = 0, given = 0;
    std::map<Symbol, std::uint64_t> due;            // how often it may still be given
    std::map<std::uint32_t, std::uint64_t> wanted;  // of blocks, how many more symbols
    std::set<Symbol> had;
  };
  std::map<Hop, State> hops_;
};

}  // namespace spindled::checkers
