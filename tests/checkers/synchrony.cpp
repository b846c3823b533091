#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

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

/// A request to join that the client has had no answer to, which is a view or a refusal, and what it sent to the group
/// before the next one. Where it is a member, or a request before it makes it one, it changes nothing and is refused.
/// Where it is put out before its daemon comes to read it, it begins the next membership, and what stands behind it is
/// of that.
struct Join {
  bool synchronous = false;
  std::vector<MessageKey> behind;
};

class Sender {
 public:
  Sender(const ClientHistory& client, SendingViews& views, Violations& violations)
      : client_(client), views_(views), violations_(violations) {}

  void run() {
    for (const Event& event : client_.events) {
      if (const auto* join = std::get_if<JoinRequested>(&event.what)) {
        take_join(*join);
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
    // Nobody has told it what became of these.
    for (const auto& [group, joins] : joins_) {
      for (const Join& join : joins) forget(group, join);
    }
  }

 private:
  void take_join(const JoinRequested& join) {
    std::deque<Join>& joins = joins_[join.group];
    joins.push_back({join.synchronous, {}});
    const bool is_first = joins.size() == 1 && !memberships_.contains(join.group);
    if (join.synchronous && (is_first || leaving_.contains(join.group))) standings_.try_emplace(join.group);
  }

  void take_refusal(const Refused& refused) {
    const auto code = static_cast<Errc>(refused.code);
    if (code == Errc::not_a_member) return end_leave(refused.group);
    std::deque<Join>& joins = joins_[refused.group];
    if (joins.empty()) return;
    if (code == Errc::already_a_member) {
      // The one that makes it a member may still be under way.
      const bool is_first = memberships_.contains(refused.group) || joins.size() == 1;
      joins.erase(joins.begin() + (is_first ? 0 : 1));
      return;
    }
    joins.pop_front();
    if (const auto at = standings_.find(refused.group); at != standings_.end() && at->second.view.empty()) {
      standings_.erase(at);
    }
    begin_next(refused.group, 0);
  }

  void take_leave(const LeaveRequested& leave) {
    ++leaving_[leave.group];
    standings_.erase(leave.group);
    // Its daemon has read none of the requests to join before that.
    if (leave.by_rules) begin_next(leave.group, 1);
  }

  /// The first of the requests to join that it has had no answer to is to make it a member. Of its leaves so many came
  /// before that.
  void begin_next(const std::string& group, std::size_t leaves_before) {
    const std::deque<Join>& joins = joins_[group];
    for (const Join& join : joins) forget(group, join);
    if (joins.empty() || !joins.front().synchronous || standings_.contains(group)) return;
    // Where it has asked to leave, too, that ends what they begin, or some of it.
    if (const auto leaves = leaving_.find(group); leaves != leaving_.end() && leaves->second > leaves_before) return;
    Standing& standing = standings_[group];
    for (const Join& join : joins) standing.next.insert(standing.next.end(), join.behind.begin(), join.behind.end());
  }

  void forget(const std::string& group, const Join& join) {
    for (const MessageKey& key : join.behind) {
      if (const auto at = views_.find(key); at != views_.end()) at->second.erase(group);
    }
  }

  void end_join(const std::string& group) {
    if (std::deque<Join>& joins = joins_[group]; !joins.empty()) joins.pop_front();
  }

  void end_leave(const std::string& group) {
    if (const auto at = leaving_.find(group); at != leaving_.end() && --at->second == 0) leaving_.erase(at);
  }

  void take_view(const GroupView& view) {
    if (!is_in(view.members, client_.name)) {
      // It may have left before a view.
      if (memberships_.erase(view.group) == 0) end_join(view.group);
      return end_leave(view.group);
    }
    if (memberships_.insert(view.group).second) end_join(view.group);
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
      if (const auto joins = joins_.find(group); joins != joins_.end() && !joins->second.empty()) {
        joins->second.back().behind.push_back(key);
      }
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
  std::map<std::string, std::size_t> leaving_;     // leaves that it has asked for and not seen done
  std::map<std::string, std::deque<Join>> joins_;  // by group
  std::set<std::string> memberships_;              // groups of which it has a view
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

TakenOut taken_out_by_rules(const History& history) {
  TakenOut taken_out;
  if (history.rules.empty()) return taken_out;
  for (const ClientHistory& client : history.clients) {
    for (const LeaveRequested* leave : events_of<LeaveRequested>(client)) {
      if (leave->by_rules) taken_out.insert({client.name, leave->group});
    }
  }
  return taken_out;
}

Violations check_synchrony(const History& history) {
  Violations violations;
  const SendingViews sending = sending_views_of(history, &violations);
  const TakenOut taken_out = taken_out_by_rules(history);
  for (const ClientHistory& client : history.clients) {
    check_receiver(client, sending, !history.rules.empty(), taken_out, violations);
  }
  return violations;
}

}  // namespace spindled::checkers
