// What clients did and were told, in numbers.
#pragma once

#include "tests/checkers/history.h"
#include "tests/hunt/outcome.h"

namespace spindled::hunt {

void count_clients(const checkers::History& history, Tally& tally);
/// And daemons, as peers in the meshes of bulk channels.
void count_peers(const std::vector<checkers::PeerHistory>& peers, Tally& tally);

}  // namespace spindled::hunt
