// What several checkers look up.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <string>

#include "tests/checkers/history.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

/// What tells messages apart. Digests hardly ever agree, and are compared first.
struct MessageKey {
  std::uint64_t digest = 0;
  std::string sender;

  auto operator<=>(const MessageKey&) const = default;
};
struct MessageKeyHash {
  std::size_t operator()(const MessageKey& key) const { return key.digest; }  // a digest is a hash
};

inline MessageKey key_of(const MessageRecord& message) { return {message.digest, message.sender}; }

inline std::string to_text(const MessageRecord& message) {
  return fmt::format("{} message {:016x} (type {}, {} bytes) of {}", to_string(message.service), message.digest,
                     message.type, message.size, message.sender);
}

inline bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What keeps the order in which one client sent it: all of its messages, or, of one with independent flows, those to
/// one set of groups, in whatever order it named them and however often. Who takes over a name is another client.
using Line = std::pair<const ClientHistory*, std::vector<std::string>>;

inline Line line_of(const ClientHistory& sender, const MessageRecord& message) {
  std::vector<std::string> groups;
  if (sender.independent_flows) groups = message.groups;
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return {&sender, std::move(groups)};
}

/// Every message sent, with its place among those of its sender.
struct SentIndex {
  struct Entry {
    const Sent* sent = nullptr;
    std::size_t place = 0;
    const ClientHistory* sender = nullptr;
  };
  explicit SentIndex(const History& history) {
    for (const ClientHistory& client : history.clients) {
      std::size_t place = 0;
      for (const Sent* sent : events_of<Sent>(client)) {
        entries.try_emplace(key_of(sent->message), Entry{sent, place++, &client});
      }
    }
  }
  const Entry* find(const MessageRecord& message) const {
    const auto found = entries.find(key_of(message));
    return found == entries.end() ? nullptr : &found->second;
  }

  std::map<MessageKey, Entry> entries;
};

/// A delivery of one client, and whether it came behind a transitional signal.
struct PlacedDelivery {
  const MessageRecord* message = nullptr;
  const spindle::MessagePosition* position = nullptr;  // null where the message has none
  bool transitional = false;
  /// Of a transitional delivery: the view of the group that follows; null where none does.
  const GroupView* next_view = nullptr;
  /// The last view of each of its groups that the client is a member of.
  std::map<std::string_view, const GroupView*> views;
};

/// Whether two got a message as members of `group` that knew of each other.
bool knew_each_other(std::string_view group, const PlacedDelivery& a, const std::string& client_a,
                     const PlacedDelivery& b, const std::string& client_b);

std::string to_text(const spindle::GroupViewId& id);

/// The deliveries of `client` in order.
std::vector<PlacedDelivery> place_deliveries(const ClientHistory& client);

}  // namespace spindled::checkers
