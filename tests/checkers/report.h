#pragma once

#include <string>

#include "tests/checkers/history.h"

namespace spindled::checkers {

inline void report(Violations& violations, std::string sentence) {
  if (violations.size() < kViolationsMax) violations.push_back(std::move(sentence));
}

}  // namespace spindled::checkers
