// Which of a receiver's senders sends which symbols.
#pragma once

#include <array>
#include <cstdint>

#include "daemon/base/member_set.h"
#include "daemon/base/time.h"
#include "daemon/bulk/mesh/mesh_frames.h"

namespace spindled::mesh {

/// Each residue of ESIs belongs to one sender at a time, so that no two send the same. All of them move on from sender
/// to sender, since what one of them lacks another may have. One that was taken from a sender is given to another after
/// a while only, so that what the first had under way has come, and is known to be here.
class Residues {
 public:
  static constexpr Duration kRest = 250ms;

  /// The sender gives back what it has, and takes as many as it is to have: those that others have given back before
  /// its own, of which it keeps no more than half. As bits.
  std::uint64_t renew(Time now, MemberIndex sender, unsigned count);
  /// It sends no more.
  void give_back(Time now, MemberIndex sender);

 private:
  struct Residue {
    MemberIndex holder = 0;
    bool is_held = false;
    Time given_back_at{};
    bool was_held = false;
  };

  static constexpr unsigned kStep = 23;

  std::array<Residue, kResidues> residues_;
  unsigned first_ = 0;
};

}  // namespace spindled::mesh
