#include "daemon/config/print_config.h"

#include <fmt/format.h>

#include "daemon/config/schema.h"

namespace spindled {

namespace {

std::string neighbours_text(const DaemonConfig& config) {
  std::string text;
  for (const NeighbourConfig& neighbour : config.node.link.neighbours) {
    text += fmt::format("\n[[{}]]\naddress = {}\nweight = {}\n", kNeighbourSection, toml_string(neighbour.address),
                        neighbour.weight);
  }
  return text;
}

}  // namespace

std::string print_config(DaemonConfig config) {
  config.listen.links = link_addresses(config);
  std::string text;
  std::string_view section;
  for (const Key& key : schema()) {
    if (key.section != section) {
      section = key.section;
      if (section == kNeighbourSection) {
        text += neighbours_text(config);
      } else {
        text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
      }
    }
    if (section != kNeighbourSection) text += fmt::format("{} = {}\n", key.name, value_text(key, config));
  }
  return text;
}

}  // namespace spindled
