#include "tests/checkers/rules.h"

#include <algorithm>

namespace spindled::checkers {

namespace {

bool fits(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*') return !text.empty() && pattern[0] == text[0] && fits(pattern.substr(1), text.substr(1));
  return fits(pattern.substr(1), text) || (!text.empty() && fits(pattern, text.substr(1)));
}

bool is_meant(const std::vector<std::string>& who, const Identities& client) {
  return std::any_of(who.begin(), who.end(), [&](const std::string& each) {
    return each == "anyone" ||
           std::any_of(client.begin(), client.end(), [&](const std::string& identity) { return fits(each, identity); });
  });
}

}  // namespace

bool rules_allow(const AccessConfig& rules, const Identities& client, Right right, std::string_view group) {
  const auto first = std::find_if(rules.rules.begin(), rules.rules.end(), [&](const AccessRule& rule) {
    return is_meant(rule.who, client) && std::any_of(rule.groups.begin(), rule.groups.end(),
                                                     [&](const std::string& each) { return fits(each, group); });
  });
  return first == rules.rules.end() ? rules.rules.empty() : first->allow.contains(right);
}

bool rules_allow_name(const AccessConfig& rules, const Identities& client, std::string_view name) {
  const auto first = std::find_if(rules.names.begin(), rules.names.end(),
                                  [&](const ReservedNames& reserved) { return fits(reserved.pattern, name); });
  return first == rules.names.end() || is_meant(first->who, client);
}

QuotaLimits quota_of(const AccessConfig& rules, const Identities& client) {
  const auto first = std::find_if(rules.quotas.begin(), rules.quotas.end(),
                                  [&](const QuotaRule& quota) { return is_meant(quota.who, client); });
  return first == rules.quotas.end() ? QuotaLimits() : first->limits;
}

RulesIndex::RulesIndex(const History& history) {
  for (const RulesInForce& each : history.rules) daemons_[each.daemon].push_back(&each);
}

/// What changes at the very moment counts as both.
std::vector<const AccessConfig*> RulesIndex::between(const std::string& daemon, Time from, Time to) const {
  std::vector<const AccessConfig*> found;
  const AccessConfig* before = &none_;
  if (const auto known = daemons_.find(daemon); known != daemons_.end()) {
    for (const RulesInForce* each : known->second) {
      if (each->from > to) break;
      if (each->from < from) {
        before = &each->rules;
      } else {
        found.push_back(&each->rules);
      }
    }
  }
  found.push_back(before);
  return found;
}

Verdict RulesIndex::of(const ClientHistory& sender, const MessageRecord& message, Time from, Time to) const {
  return ask(sender, from, to, [&](const AccessConfig& rules) {
    return std::all_of(message.groups.begin(), message.groups.end(), [&](const std::string& group) {
      return rules_allow(rules, sender.identities, Right::send, group);
    });
  });
}

}  // namespace spindled::checkers
