#include "tests/checkers/checkers.h"

namespace spindled::checkers {

Violations check_all(const History& history, bool at_rest) {
  Violations all;
  for (const auto check : {check_no_duplicates, check_no_invention, check_fifo, check_total_order, check_causality,
                           check_views, check_virtual_synchrony}) {
    const Violations found = check(history);
    all.insert(all.end(), found.begin(), found.end());
  }
  const Violations unsafe = check_safe_delivery(history, at_rest);
  all.insert(all.end(), unsafe.begin(), unsafe.end());
  if (!at_rest) return all;
  for (const auto check : {check_self_delivery, check_membership}) {
    const Violations found = check(history);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

std::string to_text(const Violations& violations) {
  std::string text;
  for (const std::string& violation : violations) text += violation + "\n";
  return text;
}

}  // namespace spindled::checkers
