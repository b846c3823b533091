#include <algorithm>
#include <map>

#include "daemon/base/result.h"
#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"
#include "tests/checkers/sending_views.h"

namespace spindled::checkers {

namespace {

/// Where a client stands with a synchronous group of which it is, or is to be, a member.
struct Standing {
  std::string view;              // empty: it has had none
  bool answered = false;         // a request to flush, since
  std::vector<MessageKey> next;  // messages that are of the next one
};

class Sender {
 public:
  Sender(const ClientHistory& client, SendingViews& views, Violations& violations)
      : client_(client), views_(views), violations_(violations) {}

  void run() {
    for (const Event& event : client_.events) {
      if (const auto* join = std::get_if<JoinRequested>(&event.what)) {
        if (join->synchronous) standings_.try_emplace(join->group);
      } else if (const auto* leave = std::get_if<LeaveRequested>(&event.what)) {
        take_leave(*leave);
      } else if (const auto* refused = std::get_if<Refused>(&event.what)) {
        take_refusal(*refused);
      } else if (const auto* answer = std::get_if<FlushAnswered>(&event.what)) {
        if (const auto at = standings_.find(answer->group); at != standings_.end()) at->second.answered = true;
      } else if (const auto* view = std::get_if<GroupView>(&event.what)) {
        take_view(*view);
      } else if (const auto* sent = std::get_if<Sent>(&event.what)) {
        take_sent(sent->message);
      }
    }
  }

 private:
  void take_refusal(const Refused& refused) {
    if (static_cast<Errc>(refused.code) == Errc::not_a_member) {
      end_leave(refused.group);
    } else if (const auto at = standings_.find(refused.group); at != standings_.end() && at->second.view.empty()) {
      standings_.erase(at);
    }
  }

  void take_leave(const LeaveRequested& leave) {
    ++leaving_[leave.group];
    standings_.erase(leave.group);
  }

  void end_leave(const std::string& group) {
    if (const auto at = leaving_.find(group); at != leaving_.end() && --at->second == 0) leaving_.erase(at);
  }

  void take_view(const GroupView& view) {
    if (!is_in(view.members, client_.name)) return end_leave(view.group);
    const auto at = standings_.find(view.group);
    // It may be of the part that it asked to end.
    if (at == standings_.end() || leaving_.contains(view.group)) return;
    if (!view.synchronous) {
      standings_.erase(at);
      return;
    }
    Standing& standing = at->second;
    if (!standing.view.empty() && !standing.answered) {
      report(violations_, fmt::format("synchrony: {} got view {} of {} without having flushed the one before",
                                      client_.name, to_text(view.id), view.group));
    }
    standing.view = to_text(view.id);
    standing.answered = false;
    for (const MessageKey& key : std::exchange(standing.next, {})) views_[key][view.group] = standing.view;
  }

  void take_sent(const MessageRecord& message) {
    if (message.service < Service::fifo) return;
    const MessageKey key = key_of(message);
    for (const std::string& group : message.groups) {
      const auto at = standings_.find(group);
      if (at == standings_.end()) continue;
      Standing& standing = at->second;
      if (standing.view.empty() || standing.answered) {
        standing.next.push_back(key);
      } else {
        views_[key][group] = standing.view;
      }
    }
  }

  const ClientHistory& client_;
  SendingViews& views_;
  Violations& violations_;
  std::map<std::string, Standing> standings_;
  std::map<std::string, std::size_t> leaving_;  // leaves that it has asked for and not seen done
};

/// Whether the receiver, with these views of its groups, is to get the message: what is for it under another name, too,
/// it gets in any case.
const GroupView* wrong_view(const ClientHistory& client, const MessageRecord& message,
                            const std::map<std::string, std::string>& sending,
                            const std::map<std::string, const GroupView*>& views) {
  const GroupView* wrong = nullptr;
  for (const std::string& name : message.groups) {
    if (name == client.name) return nullptr;
    const auto view = views.find(name);
    if (view == views.end()) continue;
    const auto sent_in = sending.find(name);
    const bool is_right =
        !view->second->synchronous || sent_in == sending.end() || sent_in->second == to_text(view->second->id);
    if (is_right) return nullptr;
    wrong = view->second;
  }
  return wrong;
}

/// Members of groups that rules had leave at some time.
using TakenOut = std::set<std::pair<std::string, std::string>>;

void check_receiver(const ClientHistory& client, const SendingViews& sending, bool has_rules, const TakenOut& taken_out,
                    Violations& violations) {
  std::map<std::string, const GroupView*> views;
  for (const Event& event : client.events) {
    if (const auto* view = std::get_if<GroupView>(&event.what)) {
      if (is_in(view->members, client.name)) {
        views[view->group] = view;
      } else {
        views.erase(view->group);
      }
    }
    const auto* delivered = std::get_if<Delivered>(&event.what);
    if (delivered == nullptr) continue;
    const auto found = sending.find(key_of(delivered->message));
    if (found == sending.end()) continue;
    const GroupView* wrong = wrong_view(client, delivered->message, found->second, views);
    if (wrong == nullptr) continue;
    // One that rules took out may not know it yet: what it sends is of who is no member, or of its next membership.
    const std::string& sender = delivered->message.sender;
    if (has_rules && (!is_in(wrong->members, sender) || taken_out.contains({sender, wrong->group}))) continue;
    report(violations,
           fmt::format("synchrony: {} got {} in view {} of {}, and it was sent in {}", client.name,
                       to_text(delivered->message), to_text(wrong->id), wrong->group, found->second.at(wrong->group)));
  }
}

}  // namespace

SendingViews sending_views_of(const History& history, Violations* violations) {
  SendingViews views;
  Violations found;
  for (const ClientHistory& client : history.clients) Sender(client, views, found).run();
  if (violations != nullptr) *violations = std::move(found);
  return views;
}

Violations check_synchrony(const History& history) {
  Violations violations;
  const SendingViews sending = sending_views_of(history, &violations);
  TakenOut taken_out;
  for (const ClientHistory& client : history.clients) {
    for (const LeaveRequested* leave : events_of<LeaveRequested>(client)) {
      if (leave->by_rules) taken_out.insert({client.name, leave->group});
    }
  }
  for (const ClientHistory& client : history.clients) {
    check_receiver(client, sending, !history.rules.empty(), taken_out, violations);
  }
  return violations;
}

}  // namespace spindled::checkers
