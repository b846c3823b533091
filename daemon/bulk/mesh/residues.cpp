#include "daemon/bulk/mesh/residues.h"

namespace spindled::mesh {

std::uint64_t Residues::renew(Time now, MemberIndex sender, unsigned count) {
  std::uint64_t taken = 0;
  unsigned number = 0;
  const auto take = [&](unsigned index) {
    residues_[index].is_held = residues_[index].was_held = true;
    residues_[index].holder = sender;
    taken |= std::uint64_t{1} << index;
    ++number;
  };
  std::uint64_t own = 0;
  unsigned own_number = 0;
  for (unsigned i = 0; i < kResidues; ++i) {
    if (!residues_[i].is_held || residues_[i].holder != sender) continue;
    own |= std::uint64_t{1} << i;
    ++own_number;
  }
  for (unsigned i = 0; i < kResidues && number < count; ++i) {
    const Residue& each = residues_[i];
    const bool is_rested = !each.was_held || each.holder == sender || now >= each.given_back_at + kRest;
    if (!each.is_held && is_rested) take(i);
  }
  const unsigned keeps = (own_number + 1) / 2;
  unsigned kept = 0;
  for (unsigned i = 0; i < kResidues; ++i) {
    if ((own >> i & 1) == 0) continue;
    if (number < count && kept < keeps) {
      take(i);
      ++kept;
    } else {
      residues_[i].is_held = false;
      residues_[i].given_back_at = now;
    }
  }
  return taken;
}

void Residues::give_back(Time now, MemberIndex sender) {
  for (Residue& each : residues_) {
    if (!each.is_held || each.holder != sender) continue;
    each.is_held = false;
    each.given_back_at = now;
  }
}

}  // namespace spindled::mesh
