// Random faults on random fields, for as long as one likes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/faults/trouble.h"

namespace spindle::test {

struct RoundResult {
  std::map<FaultKind, std::size_t> faults;
  std::size_t daemons = 0;
  std::size_t clients = 0;  // that ever connected
  std::size_t sent = 0, delivered = 0, views = 0;
  spindled::Duration longest_pause{};  // between two deliveries of a client that stayed connected
  /// Empty where nothing was wrong.
  std::string failure;
};

/// A field, `faults` random faults under load, rest, and the checks. All but the moments at which things happen comes
/// from the seed. Where something is wrong, histories, diary and logs go to `folder`.
///
/// `black_boxes`: at each daemon talks one more client, which was written from docs/wire-format.md alone.
RoundResult hunt_round(std::uint64_t seed, std::size_t faults, const std::string& folder, bool black_boxes = false);

struct HuntOptions {
  std::size_t faults = 0;
  std::uint64_t seed = 0;  // 0: from the clock
  std::string folder = "build/faults";
};

/// Rounds of some fifteen faults each. Prints a line for each and a table at the end; returns the exit code, 0 where
/// nothing was violated.
int run_hunt(const HuntOptions& options);

}  // namespace spindle::test
