#include "tests/checkers/checkers.h"

#include "tests/checkers/daemon_checkers.h"

namespace spindled::checkers {

namespace {

void append(Violations& all, const Violations& found) { all.insert(all.end(), found.begin(), found.end()); }

Violations check_clients(const History& history, bool at_rest) {
  Violations all;
  for (const auto check : {check_no_duplicates, check_no_invention, check_fifo, check_total_order, check_positions,
                           check_one_order, check_causality, check_views, check_local_monotonicity,
                           check_member_delivery, check_synchrony, check_gaps, check_request_order, check_moves}) {
    append(all, check(history));
  }
  append(all, check_virtual_synchrony(history, at_rest));
  append(all, check_safe_delivery(history, at_rest));
  append(all, check_access(history, at_rest));
  append(all, check_channels(history, at_rest));
  append(all, check_content(history, at_rest));
  append(all, check_peers(history));
  append(all, check_feeds(history, at_rest));
  append(all, check_reading(history, at_rest));
  if (!at_rest) return all;
  append(all, check_self_delivery(history));
  append(all, check_membership(history));
  append(all, check_names(history));
  return all;
}

Violations check_daemons(const DaemonIndex& index, bool at_rest) {
  Violations all;
  for (const auto check :
       {check_daemon_views, check_daemon_transitional_sets, check_daemon_virtual_synchrony, check_daemon_sending_view,
        check_daemon_no_duplicates, check_daemon_no_invention, check_daemon_fifo, check_daemon_total_order,
        check_daemon_causality, check_daemon_holes, check_daemon_safe_delivery, check_daemon_self_delivery}) {
    append(all, check(index));
  }
  if (at_rest) append(all, check_daemon_liveness(index));
  return all;
}

}  // namespace

Violations check_all(const History& history, bool at_rest) {
  Violations all = check_clients(history, at_rest);
  const DaemonIndex index(history, at_rest);
  append(all, check_transitions(history, index, at_rest));
  append(all, check_daemons(index, at_rest));
  return all;
}

std::string to_text(const Violations& violations) {
  std::string text;
  for (const std::string& violation : violations) text += violation + "\n";
  return text;
}

}  // namespace spindled::checkers
