#include "daemon/bulk/mesh/residues.h"

#include <vector>

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
  // None comes first each time.
  first_ = (first_ + kStep) % kResidues;
  const auto nth = [&](unsigned i) { return (first_ + i) % kResidues; };
  std::vector<unsigned> own;
  for (unsigned i = 0; i < kResidues; ++i) {
    if (residues_[nth(i)].is_held && residues_[nth(i)].holder == sender) own.push_back(nth(i));
  }
  for (unsigned i = 0; i < kResidues && number < count; ++i) {
    const Residue& each = residues_[nth(i)];
    const bool is_rested = !each.was_held || each.holder == sender || now >= each.given_back_at + kRest;
    if (!each.is_held && is_rested) take(nth(i));
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (number < count && i < (own.size() + 1) / 2) {
      take(own[i]);
    } else {
      residues_[own[i]].is_held = false;
      residues_[own[i]].given_back_at = now;
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
