// docs/configuration.md and the schema say the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include "daemon/config/parse_config.h"
#include "daemon/config/schema.h"

namespace spindled {
namespace {

std::filesystem::path root() { return SPINDLE_SOURCE_FOLDER; }

std::string read_file(const std::filesystem::path& path) {
  std::ifstream page(path);
  return {std::istreambuf_iterator<char>(page), {}};
}

std::string read_page() { return read_file(root() / "docs" / "configuration.md"); }

/// README and all pages.
std::vector<std::filesystem::path> pages() {
  std::vector<std::filesystem::path> all{root() / "README.md"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root() / "docs")) {
    if (entry.path().extension() == ".md") all.push_back(entry.path());
  }
  return all;
}

/// The blocks of a page that are indented by four spaces.
std::vector<std::string> blocks_of(const std::string& page) {
  std::vector<std::string> blocks;
  bool inside = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const bool is_code = line.starts_with("    ");
    if (is_code && !inside) blocks.emplace_back();
    inside = is_code || (inside && line.empty());
    if (inside) blocks.back() += line.substr(std::min<std::size_t>(line.size(), 4)) + "\n";
  }
  return blocks;
}

/// What a page shows of configurations: blocks with a section of ours, and keys with values within the text.
std::vector<std::string> configurations_in(const std::string& page) {
  std::string sections;
  for (const Key& key : schema()) {
    if (sections.find(key.section) == std::string::npos)
      sections += (sections.empty() ? "" : "|") + std::string(key.section);
  }
  const std::regex header("(^|\n)\\[+(" + sections + ")\\]");
  const std::regex span("`((\\[+(" + sections + ")\\]|(" + sections + ")\\.[a-z_]+)[^`\n]* = [^`\n]*)`");
  std::vector<std::string> found;
  for (const std::string& block : blocks_of(page)) {
    if (std::regex_search(block, header)) found.push_back(block);
  }
  for (auto at = std::sregex_iterator(page.begin(), page.end(), span); at != std::sregex_iterator(); ++at) {
    found.push_back((*at)[1].str() + "\n");
  }
  return found;
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

TEST(ConfigDocs, EveryConfigurationThatIsShownIsValid) {
  std::size_t shown = 0;
  for (const std::filesystem::path& page : pages()) {
    for (const std::string& text : configurations_in(read_file(page))) {
      ++shown;
      const ConfigResult result = parse_config(text, page.filename().string());
      EXPECT_TRUE(result) << text << to_string(result.error().front());
    }
  }
  EXPECT_GE(shown, 8u);
}

TEST(ConfigDocs, ConfigurationsOnAPageAreSeen) {
  EXPECT_EQ(
      configurations_in("As in `[listen] links = []`, or\n\n    [daemon]\n\n    [log]\n\nnot\n\n    [Unit]\n").size(),
      2u);
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
