#include <algorithm>

#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace {

/// An unreliable message longer than 32 KiB is sent as a reliable one.
bool is_as_sent(const MessageRecord& got, MessageRecord sent) {
  constexpr std::size_t kUnreliableBytesMax = 32u << 10;
  if (sent.service == Service::unreliable && sent.size > kUnreliableBytesMax) sent.service = Service::reliable;
  return got == sent;
}

}  // namespace

Violations check_no_invention(const History& history) {
  Violations violations;
  const SentIndex index(history);
  for (const ClientHistory& client : history.clients) {
    std::set<std::string> destinations{client.name};
    for (const Event& event : client.events) {
      if (const auto* join = std::get_if<JoinRequested>(&event.what)) destinations.insert(join->group);
      const auto* delivered = std::get_if<Delivered>(&event.what);
      if (delivered == nullptr) continue;
      const MessageRecord& message = delivered->message;
      const SentIndex::Entry* entry = index.find(message);
      if (entry == nullptr) {
        report(violations, fmt::format("no invention: {} got {}, which nobody sent", client.name, to_text(message)));
        continue;
      }
      if (!is_as_sent(message, entry->sent->message)) {
        report(violations, fmt::format("no invention: {} got {} to {}, sent as {} to {}", client.name, to_text(message),
                                       fmt::join(message.groups, ","), to_text(entry->sent->message),
                                       fmt::join(entry->sent->message.groups, ",")));
      }
      if (entry->sent->self_discard && entry->sender == &client) {
        report(violations,
               fmt::format("no invention: {} got {} in spite of self-discard", client.name, to_text(message)));
      }
      const bool is_addressed = std::any_of(message.groups.begin(), message.groups.end(),
                                            [&](const std::string& group) { return destinations.contains(group); });
      if (!is_addressed) {
        report(violations, fmt::format("no invention: {} got {}, which is not for it", client.name, to_text(message)));
      }
    }
  }
  return violations;
}

}  // namespace spindled::checkers
