#include "daemon/config/hints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "daemon/config/address.h"
#include "daemon/config/schema.h"
#include "daemon/config/suggestion.h"

namespace spindled {

namespace {

std::string in_brackets(std::string_view section) {
  return is_repeated(section) ? fmt::format("[[{}]]", section) : fmt::format("[{}]", section);
}

/// `word` without the blanks around it.
std::string_view trimmed(std::string_view word) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = word.find_first_not_of(kBlanks);
  return begin == std::string_view::npos ? "" : word.substr(begin, word.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace

std::string unknown_section(std::string_view name, bool is_value) {
  if (is_value) {
    for (const Key& key : schema()) {
      if (key.name == name) return fmt::format("must be in a section; did you mean {}?", key.full_name());
    }
    return "must be in a section";
  }
  std::vector<std::string_view> sections;
  for (const Key& key : schema()) {
    if (sections.empty() || sections.back() != key.section) sections.push_back(key.section);
  }
  const std::string_view nearest = nearest_word(name, sections);
  if (!nearest.empty()) return fmt::format("unknown section; did you mean {}?", in_brackets(nearest));
  std::vector<std::string> all;
  all.reserve(sections.size());
  for (const std::string_view section : sections) all.push_back(in_brackets(section));
  return fmt::format("unknown section; there are {}", fmt::join(all, ", "));
}

std::string suggest_key(std::string_view section, std::string_view name) {
  std::vector<std::string_view> known;
  for (const Key& key : schema()) {
    if (key.section == section) known.push_back(key.name);
  }
  const std::string_view nearest = nearest_word(name, known);
  if (!nearest.empty()) return fmt::format("did you mean {}?", nearest);
  for (const Key& key : schema()) {
    if (key.name == name) return fmt::format("did you mean {}, in {}?", key.name, in_brackets(key.section));
  }
  return fmt::format("{} has {}", in_brackets(section), fmt::join(known, ", "));
}

std::string find_key_at(std::string_view text, std::size_t wanted) {
  std::string_view section;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with('[') && line.ends_with(']')) {
      section = line.substr(0, line.find(']'));
      section.remove_prefix(std::min(section.find_first_not_of('['), section.size()));
    }
    if (number != wanted) continue;
    const std::string_view name = trimmed(line.substr(0, line.find('=')));
    const bool is_key = name.size() < line.size() && !name.empty() && is_host_name(name);
    if (!is_key) return {};
    return section.empty() ? std::string(name) : fmt::format("{}.{}", trimmed(section), name);
  }
  return {};
}

}  // namespace spindled
