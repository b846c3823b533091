// Programs that went on in a new session after their connection was lost.
#include <map>
#include <set>

#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace {

/// Which session of which program sent a message.
class Programs {
 public:
  explicit Programs(const History& history) {
    for (const ClientHistory& client : history.clients) {
      if (client.program != 0 && !client.follows) beginnings_[client.program].insert(client.session);
      for (const Sent* sent : events_of<Sent>(client)) senders_.emplace(key_of(sent->message), &client);
    }
  }
  const ClientHistory* sender_of(const MessageRecord& message) const {
    const auto found = senders_.find(key_of(message));
    return found == senders_.end() ? nullptr : found->second;
  }
  /// The earliest session behind which `session` comes, or itself.
  std::uint32_t first_before(std::uint32_t program, std::uint32_t session) const {
    return *std::prev(beginnings_.at(program).upper_bound(session));
  }

 private:
  std::map<MessageKey, const ClientHistory*> senders_;
  std::map<std::uint32_t, std::set<std::uint32_t>> beginnings_;  // sessions that wait for none, by program
};

/// What one client was told, held against the sessions that sent it.
class Witness {
 public:
  Witness(const ClientHistory& client, const Programs& programs, Violations& violations)
      : client_(client), programs_(programs), violations_(violations) {}

  void check() {
    for (const Event& event : client_.events) {
      if (const auto* delivered = std::get_if<Delivered>(&event.what)) check(delivered->message);
      // A session that was out of reach may be back.
      const auto* view = std::get_if<GroupView>(&event.what);
      if (view != nullptr && view->cause == spindle::ViewCause::network) latest_.clear();
    }
  }

 private:
  struct Latest {
    std::uint32_t session = 0;
    const MessageRecord* message = nullptr;
  };

  void check(const MessageRecord& message) {
    const ClientHistory* sender = programs_.sender_of(message);
    if (sender == nullptr || sender->program == 0) return;
    const auto [same, is_new] = seen_.try_emplace({sender->program, message.digest}, &message);
    if (!is_new && same->second->sender != message.sender) {
      report(violations_, fmt::format("moves: {} got {}, and the same from {}", client_.name, to_text(message),
                                      same->second->sender));
    }
    if (message.service < Service::fifo) return;
    Latest& latest = latest_[sender->program];
    const std::uint32_t first = programs_.first_before(sender->program, latest.session);
    if (latest.message != nullptr && sender->session < latest.session && sender->session >= first) {
      report(violations_, fmt::format("moves: {} got {} after {}, which a later session sent", client_.name,
                                      to_text(message), to_text(*latest.message)));
    }
    if (is_ordered(message.service) && sender->session >= latest.session) latest = {sender->session, &message};
  }

  const ClientHistory& client_;
  const Programs& programs_;
  Violations& violations_;
  std::map<std::uint32_t, Latest> latest_;  // ordered one, by program
  std::map<std::pair<std::uint32_t, std::uint64_t>, const MessageRecord*> seen_;
};

}  // namespace

Violations check_moves(const History& history) {
  Violations violations;
  const Programs programs(history);
  for (const ClientHistory& client : history.clients) Witness(client, programs, violations).check();
  return violations;
}

}  // namespace spindled::checkers
