// docs/configuration.md and the schema say the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "daemon/config/parse_config.h"
#include "daemon/config/schema.h"

namespace spindled {
namespace {

std::string read_page() {
  const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  std::ifstream page(root / "docs" / "configuration.md");
  return {std::istreambuf_iterator<char>(page), {}};
}

/// What the page has to say in the table row of `key`, up to the meaning.
std::string expected_row(const Key& key) {
  const std::string name = key.full_name();
  if (name == "daemon.name") return "| `daemon.name` | the name of the host | | ";
  if (name == "neighbour.address") return "| `neighbour.address` | none: it must be given | | ";
  if (name == "listen.clients") return "| `listen.clients` | `[\"127.0.0.1:4803\"]` | | ";
  if (name == "listen.links") {
    return "| `listen.links` | `[\"0.0.0.0:4804\"]` with a neighbour configured, otherwise `[]` | | ";
  }
  if (range_text(key).empty()) return fmt::format("| `{}` | `{}` | | ", name, default_text(key));
  return fmt::format("| `{}` | {} | {} | ", name, default_text(key), range_text(key));
}

TEST(ConfigDocs, EveryKeyIsExplainedWithItsDefaultAndRange) {
  const std::string page = read_page();
  for (const Key& key : schema()) {
    EXPECT_NE(page.find("\n" + expected_row(key)), std::string::npos) << expected_row(key);
  }
}

TEST(ConfigDocs, NoOtherKeyIsExplained) {
  const std::string page = read_page();
  const std::regex row("\n\\| `([a-z_.]+)` \\|");
  const auto rows = std::distance(std::sregex_iterator(page.begin(), page.end(), row), std::sregex_iterator());
  EXPECT_EQ(static_cast<std::size_t>(rows), schema().size());
}

TEST(ConfigDocs, DefaultsAreWithinTheirRanges) {
  for (const Key& key : schema()) {
    if (range_text(key).empty() || key.section == kNeighbourSection) continue;
    const std::string text = fmt::format("[{}]\n{} = {}\n", key.section, key.name, default_text(key));
    EXPECT_TRUE(parse_config(text, "spindle.toml")) << text;
  }
}

}  // namespace
}  // namespace spindled
