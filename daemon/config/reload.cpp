#include "daemon/config/reload.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/config/schema.h"

namespace spindled {

Reload reload(DaemonConfig running, DaemonConfig next) {
  Reload result{running, {}, {}};
  // Another bundle can take the place of one. Whether there is any is settled where links and listeners are set up.
  const bool switches_tls = running.tls.bundle.empty() != next.tls.bundle.empty();
  for (const Key& key : schema()) {
    const std::string value = value_text(key, next);
    if (value == value_text(key, running)) continue;
    if (is_live(key) && !(switches_tls && key.section == "tls")) {
      copy_value(key, next, result.config);
      result.changed.push_back(fmt::format("{} = {}", key.full_name(), value));
    } else {
      result.needs_restart.push_back(key.full_name());
    }
  }
  if (next.node.access != running.node.access) {
    result.config.node.access = next.node.access;
    const AccessConfig& access = next.node.access;
    result.changed.push_back(fmt::format("entries: [[{}]] {}, [[{}]] {}, [[{}]] {}", kAccessSection,
                                         access.rules.size(), kNamesSection, access.names.size(), kQuotaSection,
                                         access.quotas.size()));
  }
  if (next.tokens != running.tokens) {
    result.config.tokens = next.tokens;
    result.changed.push_back(fmt::format("entries: [[{}]] {}", kTokenSection, next.tokens.size()));
  }
  const auto is_same = [](const NeighbourConfig& a, const NeighbourConfig& b) {
    return a.address == b.address && a.weight == b.weight;
  };
  const std::vector<NeighbourConfig>& before = running.node.link.neighbours;
  const std::vector<NeighbourConfig>& after = next.node.link.neighbours;
  if (!std::equal(before.begin(), before.end(), after.begin(), after.end(), is_same)) {
    result.needs_restart.emplace_back(kNeighbourSection);
  }
  return result;
}

}  // namespace spindled
