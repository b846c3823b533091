#include "tests/hunt/outcome.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace spindled::hunt {

namespace {

/// Line feeds and tabs separate; what contains them gets spaces.
std::string plain(std::string text) {
  for (char& each : text) {
    if (each == '\n' || each == '\t') each = ' ';
  }
  return text;
}

std::string_view cut_at(std::string_view& text, char separator) {
  const std::size_t size = std::min(text.find(separator), text.size());
  const std::string_view head = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return head;
}

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::string to_text(const Outcome& outcome) {
  std::string text = fmt::format("digest\t{}\n", outcome.digest);
  for (const Finding& each : outcome.findings) {
    text += fmt::format("finding\t{}\t{}\n", plain(each.property), plain(each.sentence));
  }
  for (const auto& [name, value] : outcome.tally.counts) text += fmt::format("count\t{}\t{}\n", value, name);
  for (const auto& [name, value] : outcome.tally.largest) text += fmt::format("largest\t{}\t{}\n", value, name);
  return text + "explanation\n" + outcome.explanation;
}

Outcome outcome_from_text(std::string_view text) {
  Outcome outcome;
  while (!text.empty()) {
    std::string_view line = cut_at(text, '\n');
    const std::string_view key = cut_at(line, '\t');
    if (key == "explanation") {
      outcome.explanation = text;
      return outcome;
    }
    const std::string_view first = cut_at(line, '\t');
    if (key == "digest") {
      outcome.digest = number(first);
    } else if (key == "finding") {
      outcome.findings.push_back({std::string(first), std::string(line)});
    } else if (key == "count") {
      outcome.tally.counts[std::string(line)] = number(first);
    } else if (key == "largest") {
      outcome.tally.largest[std::string(line)] = number(first);
    }
  }
  outcome.findings.push_back({"unreadable outcome", "what a run reported is not complete"});
  return outcome;
}

}  // namespace spindled::hunt
