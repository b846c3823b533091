// docs/configuration.md and the schema say the same.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
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

/// The names of all sections, as alternatives of a regular expression.
std::string sections() {
  std::vector<std::string_view> names;
  for (const Key& key : schema()) {
    if (std::find(names.begin(), names.end(), key.section) == names.end()) names.push_back(key.section);
  }
  return fmt::format("{}", fmt::join(names, "|"));
}

/// What a page shows of configurations: blocks with a section of ours, and keys with values within the text.
std::vector<std::string> configurations_in(const std::string& page) {
  const std::regex header("(^|\n)\\[+(" + sections() + ")\\]");
  const std::regex span("`((\\[+(" + sections() + ")\\]|(" + sections() + ")\\.[a-z_]+)[^`\n]* = [^`\n]*)`");
  std::vector<std::string> found;
  for (const std::string& block : blocks_of(page)) {
    if (std::regex_search(block, header)) found.push_back(block);
  }
  for (auto at = std::sregex_iterator(page.begin(), page.end(), span); at != std::sregex_iterator(); ++at) {
    found.push_back((*at)[1].str() + "\n");
  }
  return found;
}

/// What the page says of `key`: from its heading to the next one.
std::string entry_of(const Key& key, const std::string& page) {
  const std::size_t begin = page.find(fmt::format("\n### `{}`\n", key.full_name()));
  if (begin == std::string::npos) return {};
  return page.substr(begin, page.find("\n#", begin + 1) - begin) + "\n";
}

/// "64 KiB"
std::string in_binary_units(std::uint64_t bytes) {
  static constexpr std::string_view kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes % 1024 == 0 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

/// How the lines begin that the entry of `key` must have.
std::vector<std::string> expected_lines(const Key& key) {
  const std::string name = key.full_name();
  if (name == "daemon.name") return {"- Default: the name of the host", "- Values: "};
  if (name == "neighbour.address" || std::holds_alternative<EntryKey>(key.kind))
    return {"- Default: none: it must be given\n", "- Values: "};
  if (const auto* number = std::get_if<EntryNumberKey>(&key.kind)) {
    return {"- Default: no bound\n", fmt::format("- Range: {} to {}\n", number->min, number->max)};
  }
  if (std::holds_alternative<EntryDateKey>(key.kind)) return {"- Default: no end\n", "- Values: "};
  if (name == "listen.clients") return {"- Default: `[\"127.0.0.1:4803\"]`\n", "- Values: "};
  if (name == "listen.links") {
    return {
        "- Default: `[\"0.0.0.0:4804\"]` with a neighbour configured and `tls.bundle` or `tls.insecure` set, "
        "`[\"127.0.0.1:4804\"]` with\n  a neighbour alone, otherwise `[]`\n",
        "- Values: "};
  }
  const std::string value = default_text(key);
  const std::string range = range_text(key);
  if (range.empty()) return {fmt::format("- Default: `{}`\n", value), "- Values: "};
  if (const auto* size = std::get_if<SizeKey>(&key.kind); size != nullptr && name.ends_with("_bytes")) {
    if (std::stoull(value) % 1024 != 0) {
      return {fmt::format("- Default: {} bytes\n", value), fmt::format("- Range: {} bytes\n", range)};
    }
    return {fmt::format("- Default: {} bytes ({})", value, in_binary_units(std::stoull(value))),
            fmt::format("- Range: {} bytes ({} to {})", range, in_binary_units(static_cast<std::uint64_t>(size->min)),
                        in_binary_units(static_cast<std::uint64_t>(size->max)))};
  }
  const std::string_view unit = name.ends_with("_ms") ? "ms\n" : "";
  return {fmt::format("- Default: {} {}", value, unit), fmt::format("- Range: {} {}", range, unit)};
}

std::string without_breaks(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

TEST(ConfigDocs, EveryKeyIsExplained) {
  const std::string page = read_page();
  for (const Key& key : schema()) {
    const std::string entry = entry_of(key, page);
    ASSERT_NE(entry, "") << key.full_name() << " has no heading";
    for (const std::string& line : expected_lines(key)) {
      EXPECT_NE(entry.find("\n" + line), std::string::npos) << "of " << key.full_name() << ": " << line;
    }
    EXPECT_NE(entry.find("\n- When to change it: "), std::string::npos) << key.full_name();
    // The example, within the text or as a block.
    const bool has_example = without_breaks(entry).find(fmt::format(" `{} = ", key.full_name())) != std::string::npos ||
                             entry.find(fmt::format("\n    {} = ", key.name)) != std::string::npos;
    EXPECT_TRUE(has_example) << key.full_name();
  }
}

TEST(ConfigDocs, KeysAreInTheOrderOfTheSchema) {
  const std::string page = read_page();
  const std::regex heading("\n### `([a-z0-9_.]+)`\n");
  std::vector<std::string> explained, known;
  for (auto at = std::sregex_iterator(page.begin(), page.end(), heading); at != std::sregex_iterator(); ++at) {
    explained.push_back((*at)[1].str());
  }
  for (const Key& key : schema()) known.push_back(key.full_name());
  EXPECT_EQ(explained, known);
}

/// What looks like a key in the code spans of a page and is none: `section.key`, if that is not a file or a call, and
/// `key_ms` alone.
std::vector<std::string> unknown_keys_in(const std::string& page) {
  static const std::regex span("`([^`\n]+(?:\n[^`\n]+)?)`");
  static const std::regex full("(^|[^a-z0-9_./-])((?:" + sections() + ")\\.[a-z][a-z0-9_]*)(?![a-z0-9_(/.])");
  static const std::regex alone("^[a-z0-9_]+_ms$");
  static const std::regex file(".*\\.(h|cpp|proto|md|py|toml|pem)$");
  std::vector<std::string> unknown;
  const auto look_up = [&](const std::string& name, bool (*is_name_of)(const Key&, const std::string&)) {
    const bool known =
        std::any_of(schema().begin(), schema().end(), [&](const Key& key) { return is_name_of(key, name); });
    if (!known) unknown.push_back(name);
  };
  for (auto at = std::sregex_iterator(page.begin(), page.end(), span); at != std::sregex_iterator(); ++at) {
    const std::string text = (*at)[1].str();
    for (auto key = std::sregex_iterator(text.begin(), text.end(), full); key != std::sregex_iterator(); ++key) {
      const std::string name = (*key)[2].str();
      if (!std::regex_match(name, file)) {
        look_up(name, [](const Key& each, const std::string& wanted) { return each.full_name() == wanted; });
      }
    }
    if (std::regex_match(text, alone)) {
      look_up(text, [](const Key& each, const std::string& wanted) { return each.name == wanted; });
    }
  }
  return unknown;
}

TEST(ConfigDocs, EveryKeyThatIsNamedExists) {
  // Of the style of names in hacking.md.
  const std::vector<std::string> no_keys{"timeout_ms"};
  for (const std::filesystem::path& page : pages()) {
    for (const std::string& name : unknown_keys_in(read_file(page))) {
      EXPECT_NE(std::find(no_keys.begin(), no_keys.end(), name), no_keys.end())
          << page << " names " << name << ", which is no key of the configuration";
    }
  }
}

TEST(ConfigDocs, KeysThatDoNotExistAreSeen) {
  EXPECT_EQ(unknown_keys_in("`link.redial_min_ms`, `link.hello_interval_ms`, `link_ms`, `stall_timeout_ms`, and\n"
                            "`order.retention_bytes_max = 1` in `daemon/link/link.h`, `admin.proto`, `order.cpp` or\n"
                            "`view.members()`, as `session.price_bytes`"),
            (std::vector<std::string>{"link.hello_interval_ms", "link_ms", "order.retention_bytes_max",
                                      "session.price_bytes"}));
}

/// The page of keys shows parts of configurations, those of daemons with a certificate.
ConfigOverlay rest_of_configurations_on(const std::filesystem::path& page) {
  if (page.filename() != "configuration.md") return {};
  return [](DaemonConfig& config) { config.tls.bundle = "/etc/spindle/beta.pem"; };
}

TEST(ConfigDocs, EveryConfigurationThatIsShownIsValid) {
  std::size_t shown = 0;
  for (const std::filesystem::path& page : pages()) {
    for (const std::string& text : configurations_in(read_file(page))) {
      ++shown;
      const ConfigResult result = parse_config(text, page.filename().string(), rest_of_configurations_on(page));
      EXPECT_TRUE(result) << text << to_string(result.error().front());
    }
  }
  EXPECT_GE(shown, schema().size());
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
