#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

Violations check_gaps(const History& history) {
  Violations violations;
  for (const ClientHistory& client : history.clients) {
    std::map<std::string, std::uint64_t> missed;  // by name, as told
    std::uint64_t told = 0;
    for (const Gapped* gap : events_of<Gapped>(client)) {
      told += gap->messages;
      for (const auto& [name, messages] : gap->of_name) missed[name] += messages;
    }
    if (told == 0) continue;
    std::set<MessageKey> delivered;
    for (const Delivered* each : events_of<Delivered>(client)) delivered.insert(key_of(each->message));
    std::map<std::string, std::uint64_t> lacking;
    std::uint64_t lacking_in_all = 0;
    for (const ClientHistory& sender : history.clients) {
      for (const Sent* sent : events_of<Sent>(sender)) {
        if (delivered.contains(key_of(sent->message))) continue;
        ++lacking_in_all;
        for (const std::string& group : std::set(sent->message.groups.begin(), sent->message.groups.end()))
          ++lacking[group];
      }
    }
    if (told > lacking_in_all) {
      report(violations, fmt::format("gaps: {} was told to have missed {} messages, and lacks {}", client.name, told,
                                     lacking_in_all));
    }
    for (const auto& [name, messages] : missed) {
      if (messages <= lacking[name]) continue;
      report(violations, fmt::format("gaps: {} was told to have missed {} messages to {}, and lacks {}", client.name,
                                     messages, name, lacking[name]));
    }
  }
  return violations;
}

}  // namespace spindled::checkers
