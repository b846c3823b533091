#include <algorithm>

#include "daemon/base/result.h"
#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"
#include "tests/checkers/rules.h"

namespace spindled::checkers {

namespace {

/// The last place in the history where a group was asked to be left, by group, and the groups that joins were refused
/// for, or that rules had it leave.
struct Exceptions {
  std::map<std::string, std::size_t> left_at;
  std::set<std::string> refused;

  explicit Exceptions(const ClientHistory& client) {
    for (std::size_t place = 0; place < client.events.size(); ++place) {
      const auto& what = client.events[place].what;
      if (const auto* leave = std::get_if<LeaveRequested>(&what)) {
        left_at[leave->group] = place;
        if (leave->by_rules) refused.insert(leave->group);
      }
      if (const auto* refusal = std::get_if<Refused>(&what)) {
        const auto code = static_cast<Errc>(refusal->code);
        if (code != Errc::already_a_member && code != Errc::not_a_member) refused.insert(refusal->group);
      }
    }
  }
};

/// How many of the messages that rules may have denied, and may not, were refused.
std::uint64_t refused_at_will(const ClientHistory& client, const RulesIndex& rules, Time end) {
  std::uint64_t refused = 0, denied = 0;
  if (!rules.has_any()) return 0;
  for (const MessagesRefused* each : events_of<MessagesRefused>(client)) {
    if (each->by_rules) refused += each->messages;
  }
  for (const Event& event : client.events) {
    const auto* sent = std::get_if<Sent>(&event.what);
    if (sent != nullptr && rules.of(client, sent->message, event.at, end) == Verdict::denied) ++denied;
  }
  return refused > denied ? refused - denied : 0;
}

void check(const ClientHistory& client, const RulesIndex& rules, Time end, Violations& violations) {
  const Exceptions exceptions(client);
  std::uint64_t refused = refused_at_will(client, rules, end);
  std::set<MessageKey> delivered;
  for (const Delivered* each : events_of<Delivered>(client)) delivered.insert(key_of(each->message));

  std::uint64_t gaps = 0;  // messages that it was told to have missed
  for (const Gapped* gap : events_of<Gapped>(client)) gaps += gap->messages;
  // And those to a synchronous group that it was taken out of.
  for (const MessagesRefused* each : events_of<MessagesRefused>(client)) {
    if (!each->by_rules) gaps += each->messages;
  }

  std::set<std::string> wanted{client.name};  // its last request was to join, or its private name
  for (std::size_t place = 0; place < client.events.size(); ++place) {
    const auto& what = client.events[place].what;
    if (const auto* join = std::get_if<JoinRequested>(&what)) wanted.insert(join->group);
    if (const auto* leave = std::get_if<LeaveRequested>(&what)) wanted.erase(leave->group);
    const auto* sent = std::get_if<Sent>(&what);
    if (sent == nullptr || sent->self_discard || sent->message.service == Service::unreliable) continue;
    const auto is_member_of = [&](const std::string& group) {
      if (!wanted.contains(group) || exceptions.refused.contains(group)) return false;
      // Of one with independent flows, a leave does not wait for the messages before it.
      const auto left = exceptions.left_at.find(group);
      return !client.independent_flows || left == exceptions.left_at.end() || left->second < place;
    };
    const std::vector<std::string>& groups = sent->message.groups;
    if (std::none_of(groups.begin(), groups.end(), is_member_of) || delivered.contains(key_of(sent->message))) continue;
    const Verdict verdict = rules.of(client, sent->message, client.events[place].at, end);
    if (verdict == Verdict::denied) continue;
    if (verdict == Verdict::either && refused > 0) {
      --refused;
      continue;
    }
    if (gaps > 0) {
      --gaps;
      continue;
    }
    report(violations, fmt::format("self-delivery: {} never got its {}", client.name, to_text(sent->message)));
  }
}

}  // namespace

Violations check_self_delivery(const History& history) {
  Violations violations;
  const RulesIndex rules(history);
  for (const ClientHistory& client : history.clients) {
    if (!client.is_closed()) check(client, rules, history.end, violations);
  }
  return violations;
}

}  // namespace spindled::checkers
