// The table of counters: each has a name, says what it counts, and is counted somewhere.
#include "daemon/base/counters.h"

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace spindled {
namespace {

/// All sources of the daemon but the table itself.
std::string daemon_sources() {
  const auto root = std::filesystem::path(SPINDLE_SOURCE_FOLDER) / "daemon";
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string name = entry.path().filename();
    if (!entry.is_regular_file() || name.starts_with("counters.")) continue;
    std::ifstream file(entry.path());
    all.append(std::istreambuf_iterator<char>(file), {});
  }
  return all;
}

/// Whether `text` has `word`, and not only at the beginning of a longer one.
bool has_word(const std::string& text, const std::string& word) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const char next = at + word.size() < text.size() ? text[at + word.size()] : ' ';
    if (next != '_' && std::isalnum(static_cast<unsigned char>(next)) == 0) return true;
  }
  return false;
}

TEST(Counters, EachIsCountedSomewhere) {
  const std::string sources = daemon_sources();
  ASSERT_FALSE(sources.empty());
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const auto counter = static_cast<Counter>(i);
    const std::string name(to_string(counter));
    EXPECT_TRUE(has_word(sources, "Counter::" + name)) << name << " never moves";
    EXPECT_FALSE(describe(counter).empty()) << name;
    EXPECT_TRUE(names.insert(to_string(counter)).second) << name;
  }
}

}  // namespace
}  // namespace spindled
