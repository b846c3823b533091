// Rules of access in the text of plans: docs/simulator.md has the format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/node_config.h"
#include "tests/hunt/plan_words.h"

namespace spindled::hunt {

/// A set of rules, behind a line that begins it.
std::string to_text(const AccessConfig& rules);

/// Whether a line that begins with `key` is of rules. Then the words behind it are taken, and it begins a set or adds
/// to the last one.
bool parse_rules(Words& words, std::string_view key, std::vector<AccessConfig>& rules);

}  // namespace spindled::hunt
