// What the mesh's members tell each other, beside symbols.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "daemon/base/member_set.h"
#include "daemon/bulk/mesh/had_filter.h"
#include "daemon/bulk/mesh/holding.h"
#include "daemon/bulk/mesh/summary_ticket.h"

namespace spindled::mesh {

/// A member, as the others hear of it by RanSub.
struct MemberSummary {
  MemberIndex member = 0;
  bool takes_receivers = false;
  Holding holding;
  SummaryTicket ticket;  // of the begun blocks
};

/// A random subset of a number of members.
struct Sample {
  static constexpr std::size_t kEntriesMax = 10;

  std::uint32_t population = 0;        // kMembersMax at most
  std::vector<MemberSummary> entries;  // no more than the population
};

/// Up the tree: of all below the sender, and of itself.
struct Collect {
  std::uint32_t epoch = 0;
  Sample sample;
};
/// Down the tree: of all that are not below the receiver.
struct Distribute {
  std::uint32_t epoch = 0;
  Sample sample;
};
/// Asks to be sent symbols,
struct PeerRequest {};
/// and the answer to it.
struct PeerAnswer {
  static constexpr std::size_t kOthersMax = 4;

  bool is_accepted = false;
  Holding holding;
  std::vector<MemberIndex> others;  // where it is not accepted: who may be asked instead
};
/// Of one block, what a receiver wants of one sender.
struct BlockWant {
  std::uint32_t block = 0;
  /// So many of any symbols that nobody else gives; for a sender that has all of it.
  std::uint32_t fresh = 0;
  /// Otherwise those of the residues that are not in here.
  HadFilter had;
};
/// The residues of ESIs that a sender is to send of, as bits.
inline constexpr unsigned kResidues = 64;
constexpr unsigned residue_of(std::uint32_t esi) { return esi % kResidues; }

/// What a receiver wants, in place of what it wanted before.
struct Wants {
  static constexpr std::size_t kBlocksMax = 12;

  std::uint32_t received = 0;     // symbols that have come from this sender, ever
  std::uint32_t bytes_per_s = 0;  // that come from all
  std::uint64_t residues = 0;
  std::vector<BlockWant> blocks;  // the first ones first
  Holding holding;                // what the receiver has
};
/// What a sender has, as the answer to that.
struct HoldingReport {
  Holding holding;
};
/// Nothing more of that block is wanted.
struct BlockDone {
  std::uint32_t block = 0;
};
/// Ends it that one sends to the other; by either.
struct PeerLeave {
  bool is_sender = false;  // who says so was the sender
};

using Frame = std::variant<Collect, Distribute, PeerRequest, PeerAnswer, Wants, HoldingReport, BlockDone, PeerLeave>;

}  // namespace spindled::mesh
