#include <algorithm>

#include "daemon/base/result.h"
#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace {

/// The last place in the history where a group was asked to be left, by group, and the groups that joins were refused
/// for.
struct Exceptions {
  std::map<std::string, std::size_t> left_at;
  std::set<std::string> refused;

  explicit Exceptions(const ClientHistory& client) {
    for (std::size_t place = 0; place < client.events.size(); ++place) {
      const auto& what = client.events[place].what;
      if (const auto* leave = std::get_if<LeaveRequested>(&what)) left_at[leave->group] = place;
      if (const auto* refusal = std::get_if<Refused>(&what)) {
        const auto code = static_cast<Errc>(refusal->code);
        if (code != Errc::already_a_member && code != Errc::not_a_member) refused.insert(refusal->group);
      }
    }
  }
};

void check(const ClientHistory& client, Violations& violations) {
  const Exceptions exceptions(client);
  std::set<MessageKey> delivered;
  for (const Delivered* each : events_of<Delivered>(client)) delivered.insert(key_of(each->message));

  std::uint64_t gaps = 0;  // messages that it was told to have missed
  for (const Gapped* gap : events_of<Gapped>(client)) gaps += gap->messages;

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
  for (const ClientHistory& client : history.clients) {
    if (!client.is_closed()) check(client, violations);
  }
  return violations;
}

}  // namespace spindled::checkers
