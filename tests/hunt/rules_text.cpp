#include "tests/hunt/rules_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace spindled::hunt {

namespace {

constexpr std::string_view kRightNames[] = {"send", "join", "create"};

std::string rights_to_text(RightSet rights) {
  std::string text;
  for (std::size_t i = 0; i < kRights; ++i) {
    if (!rights.contains(static_cast<Right>(i))) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ",", kRightNames[i]);
  }
  return text.empty() ? "nothing" : text;
}

std::string who_to_text(const std::vector<std::string>& who) {
  return who.empty() ? "nobody" : fmt::format("{}", fmt::join(who, ","));
}

std::vector<std::string> who_of(Words& words) {
  std::vector<std::string> who = words.list("identity");
  if (who == std::vector<std::string>{"nobody"}) who.clear();
  return who;
}

RightSet rights_of(Words& words) {
  RightSet rights;
  const std::vector<std::string> names = words.list("right");
  if (names == std::vector<std::string>{"nothing"}) return rights;
  for (const std::string& name : names) {
    const auto* const found = std::find(std::begin(kRightNames), std::end(kRightNames), name);
    if (found == std::end(kRightNames)) {
      words.fail(fmt::format("\"{}\" is no right (send, join, create)", name));
    } else {
      rights.insert(static_cast<Right>(found - std::begin(kRightNames)));
    }
  }
  return rights;
}

}  // namespace

std::string to_text(const AccessConfig& rules) {
  std::string text = "rules\n";
  for (const AccessRule& rule : rules.rules) {
    text += fmt::format("access {} {} {}\n", who_to_text(rule.who), fmt::join(rule.groups, ","),
                        rights_to_text(rule.allow));
  }
  for (const ReservedNames& names : rules.names) {
    text += fmt::format("reserve {} {}\n", names.pattern, who_to_text(names.who));
  }
  for (const QuotaRule& quota : rules.quotas) {
    text += fmt::format("quota {} {} {} {}\n", who_to_text(quota.who), quota.limits.connections,
                        quota.limits.memberships, quota.limits.bytes_per_s);
  }
  return text;
}

bool parse_rules(Words& words, std::string_view key, std::vector<AccessConfig>& sets) {
  if (key == "rules") {
    sets.emplace_back();
    return true;
  }
  if (key != "access" && key != "reserve" && key != "quota") return false;
  if (sets.empty()) {
    words.fail("\"rules\" comes first");
    while (!words.at_end()) words.next("");
    return true;
  }
  AccessConfig& rules = sets.back();
  if (key == "access") {
    AccessRule& rule = rules.rules.emplace_back();
    rule.who = who_of(words);
    rule.groups = words.list("group");
    rule.allow = rights_of(words);
  } else if (key == "reserve") {
    ReservedNames& names = rules.names.emplace_back();
    names.pattern = words.next("name");
    names.who = who_of(words);
  } else {
    QuotaRule& quota = rules.quotas.emplace_back();
    quota.who = who_of(words);
    quota.limits.connections = words.number("number of connections");
    quota.limits.memberships = words.number("number of memberships");
    quota.limits.bytes_per_s = words.number("rate");
  }
  return true;
}

}  // namespace spindled::hunt
