#include "daemon/view/halves.h"

#include <fmt/format.h>

namespace spindled {

std::string names_of(const std::vector<DaemonId>& members) {
  std::string text;
  for (const DaemonId& member : members) {
    if (!text.empty()) text += ' ';
    text += member.name;
  }
  return text;
}

std::string pushes_of(const std::vector<DaemonId>& members, const std::vector<std::uint64_t>& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    if (text.empty()) {
      text = fmt::format("{} {} to {}", counts[i], counts[i] == 1 ? "message" : "messages", members[i].name);
    } else {
      text += fmt::format(", {} to {}", counts[i], members[i].name);
    }
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace spindled
