// Plans that were made before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>

#include "libclient/codes/raptorq.h"

namespace spindle::codes {

/// Keeps the plans that were wanted last, by the number of source symbols. Several threads may call it at once.
class EncodingPlans {
 public:
  /// `kept`: plans, at least one. One for 1,000 symbols takes some 200 KB; memory grows as the number of symbols.
  explicit EncodingPlans(std::size_t kept) : kept_(kept) {}

  /// Makes the plan where it is not there. Others do not wait for that; two threads may make the same one.
  EncodingPlan of(std::uint32_t source_symbols);

 private:
  const std::size_t kept_;
  std::mutex mutex_;
  std::list<EncodingPlan> plans_;  // the one that was wanted last first
};

}  // namespace spindle::codes
