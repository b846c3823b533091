#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace {

/// A client sent an ordered message, or it was delivered to it.
struct Deed {
  std::uint32_t client = 0;
  std::uint32_t message = 0;
  bool is_send = false;
  std::uint32_t line = 0;  // of a message that is sent: which of its sender's depend on it
};

/// What all clients did, in an order in which every message is sent before it is delivered. The times of events do not
/// say as much: several may happen at one time.
class Deeds {
 public:
  explicit Deeds(const History& history) : lists_(history.clients.size()), places_(history.clients.size()) {
    for (std::uint32_t i = 0; i < lists_.size(); ++i) read(history.clients[i], i);
    sort();
  }

  const std::vector<Deed>& in_order() const { return sorted_; }
  const std::vector<const MessageRecord*>& messages() const { return messages_; }
  /// A client has one or several: the messages of one depend on each other.
  std::size_t lines() const { return lines_.size(); }
  /// By message: its place among the ordered deliveries of `client`, from 1; 0 where it is none of them.
  std::vector<std::uint32_t> places_of(std::size_t client) const {
    std::vector<std::uint32_t> places(messages_.size(), 0);
    std::uint32_t count = 0;
    for (const std::uint32_t message : places_[client]) {
      ++count;
      if (places[message] == 0) places[message] = count;
    }
    return places;
  }

 private:
  void read(const ClientHistory& client, std::uint32_t number) {
    for (const Sent* sent : events_of<Sent>(client)) {
      if (is_ordered(sent->message.service)) is_sent_[intern(sent->message)] = true;
    }
    for (const Event& event : client.events) {
      if (const auto* sent = std::get_if<Sent>(&event.what); sent != nullptr && is_ordered(sent->message.service)) {
        const auto line = lines_.try_emplace(line_of(client, sent->message), static_cast<std::uint32_t>(lines_.size()));
        lists_[number].push_back({number, intern(sent->message), true, line.first->second});
      } else if (const auto* got = std::get_if<Delivered>(&event.what)) {
        if (!is_ordered(got->message.service)) continue;
        const std::uint32_t message = intern(got->message);
        lists_[number].push_back({number, message, false});
        places_[number].push_back(message);
      }
    }
  }

  std::uint32_t intern(const MessageRecord& message) {
    const auto [found, is_new] = ids_.try_emplace(key_of(message), static_cast<std::uint32_t>(messages_.size()));
    if (is_new) {
      messages_.push_back(&message);
      is_sent_.push_back(false);
    }
    return found->second;
  }

  void sort() {
    std::vector<bool> done(messages_.size(), false);  // sent by now, or by nobody
    for (std::size_t i = 0; i < done.size(); ++i) done[i] = !is_sent_[i];
    std::vector<std::size_t> next(lists_.size(), 0);
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (std::size_t i = 0; i < lists_.size(); ++i) {
        while (next[i] < lists_[i].size()) {
          const Deed& deed = lists_[i][next[i]];
          if (!deed.is_send && !done[deed.message]) break;
          if (deed.is_send) done[deed.message] = true;
          sorted_.push_back(deed);
          ++next[i];
          goes_on = true;
        }
      }
    }
    // Where messages were delivered before they were sent, the rest comes as it is.
    for (std::size_t i = 0; i < lists_.size(); ++i) {
      sorted_.insert(sorted_.end(), lists_[i].begin() + static_cast<std::ptrdiff_t>(next[i]), lists_[i].end());
    }
  }

  std::unordered_map<MessageKey, std::uint32_t, MessageKeyHash> ids_;
  std::vector<const MessageRecord*> messages_;
  std::vector<bool> is_sent_;
  std::map<Line, std::uint32_t> lines_;
  std::vector<std::vector<Deed>> lists_;
  std::vector<std::vector<std::uint32_t>> places_;
  std::vector<Deed> sorted_;
};

/// The last, at the receiver, of what something depends on.
struct Cause {
  std::uint32_t place = 0;
  std::uint32_t message = 0;
};

/// What a message depends on, directly or by way of messages that the receiver never got, must not come later than the
/// message itself, at this receiver.
void check_receiver(const Deeds& deeds, std::size_t clients, std::size_t receiver, const std::string& name,
                    Violations& violations) {
  const std::vector<std::uint32_t> places = deeds.places_of(receiver);
  std::vector<Cause> behind_message(places.size());  // what each message depends on
  std::vector<Cause> behind_client(clients);         // what the next message of each client will depend on,
  std::vector<Cause> behind_line(deeds.lines());     // and one of this line beside that
  for (const Deed& deed : deeds.in_order()) {
    Cause& known = deed.is_send ? behind_line[deed.line] : behind_client[deed.client];
    const std::uint32_t place = places[deed.message];
    if (deed.is_send) {
      if (behind_client[deed.client].place > known.place) known = behind_client[deed.client];
      behind_message[deed.message] = known;
      if (place != 0 && place < known.place) {
        report(violations,
               fmt::format("causality: {} got {} before {}, on which it depends", name,
                           to_text(*deeds.messages()[deed.message]), to_text(*deeds.messages()[known.message])));
        return;
      }
    } else if (behind_message[deed.message].place > known.place) {
      known = behind_message[deed.message];
    }
    if (place > known.place) known = {place, deed.message};
  }
}

}  // namespace

Violations check_causality(const History& history) {
  Violations violations;
  const Deeds deeds(history);
  for (std::size_t i = 0; i < history.clients.size(); ++i) {
    check_receiver(deeds, history.clients.size(), i, history.clients[i].name, violations);
  }
  return violations;
}

}  // namespace spindled::checkers
