// What rules of access say, read once more from docs/configuration.md: nothing of daemon/access is asked.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/checkers/history.h"

namespace spindled::checkers {

using Identities = std::vector<std::string>;

bool rules_allow(const AccessConfig& rules, const Identities& client, Right right, std::string_view group);
bool rules_allow_name(const AccessConfig& rules, const Identities& client, std::string_view name);
/// 0: no bound.
QuotaLimits quota_of(const AccessConfig& rules, const Identities& client);

/// How rules stand to something while they may have been asked about it.
enum class Verdict : std::uint8_t { allowed, denied, either };

/// Which rules were in force when, at each daemon.
class RulesIndex {
 public:
  explicit RulesIndex(const History& history);
  RulesIndex(const RulesIndex&) = delete;
  RulesIndex& operator=(const RulesIndex&) = delete;

  /// Whether any daemon had rules at any time.
  bool has_any() const { return !daemons_.empty(); }
  /// All those that were in force at a daemon at some moment of a time.
  std::vector<const AccessConfig*> between(const std::string& daemon, Time from, Time to) const;

  /// Whether `test(const AccessConfig&)` says so of all of them, of none or of some.
  template <typename Test>
  Verdict ask(const ClientHistory& client, Time from, Time to, const Test& test) const {
    std::size_t yes = 0, all = 0;
    for (const AccessConfig* each : between(client.daemon, from, to)) {
      ++all;
      yes += test(*each) ? 1 : 0;
    }
    return yes == all ? Verdict::allowed : yes == 0 ? Verdict::denied : Verdict::either;
  }
  /// Of a right.
  Verdict of(const ClientHistory& client, Right right, const std::string& group, Time from, Time to) const {
    return ask(client, from, to,
               [&](const AccessConfig& rules) { return rules_allow(rules, client.identities, right, group); });
  }
  /// Of a message: one destination that is denied denies all.
  Verdict of(const ClientHistory& sender, const MessageRecord& message, Time from, Time to) const;

 private:
  const AccessConfig none_;
  std::map<std::string, std::vector<const RulesInForce*>> daemons_;
};

}  // namespace spindled::checkers
