// Programs that went on in a new session after their connection was lost.
#include <algorithm>
#include <map>
#include <set>

#include "daemon/base/result.h"
#include "libclient/common/names.h"
#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace {

/// The groups that a session is in where it ends, as far as it was told, and has not asked to leave since.
std::set<std::string> memberships_of(const ClientHistory& client) {
  std::set<std::string> groups, leaving;
  for (const Event& event : client.events) {
    if (const auto* leave = std::get_if<LeaveRequested>(&event.what)) {
      if (leave->by_rules) continue;
      groups.erase(leave->group);
      leaving.insert(leave->group);
    } else if (const auto* refused = std::get_if<Refused>(&event.what)) {
      if (static_cast<Errc>(refused->code) == Errc::not_a_member) leaving.erase(refused->group);
    } else if (const auto* view = std::get_if<GroupView>(&event.what)) {
      if (!is_in(view->members, client.name)) {
        groups.erase(view->group);
        leaving.erase(view->group);  // what comes behind its farewell is another membership
      } else if (!leaving.contains(view->group)) {
        groups.insert(view->group);
      }
    }
  }
  return groups;
}

/// Groups that sessions left without having asked for it, by operations of their daemons for these groups alone.
class TakenOut {
 public:
  explicit TakenOut(const History& history) {
    for (const DaemonHistory& daemon : history.daemons) {
      for (const DaemonEvent& event : daemon.events) {
        const auto* left = std::get_if<LeftGroup>(&event.what);
        if (left != nullptr) left_.insert({left->client, {event.at, left->group}});
      }
    }
    for (const ClientHistory& client : history.clients) begun_[client.name].insert(client.since);
  }
  std::set<std::string> groups_of(const ClientHistory& client) const {
    std::set<std::string> groups;
    const std::set<Time>& begun = begun_.at(client.name);
    const auto next = begun.upper_bound(client.since);
    const auto [first, end] = left_.equal_range(client.name);
    for (auto each = first; each != end; ++each) {
      const auto& [at, group] = each->second;
      if (at >= client.since && (next == begun.end() || at < *next)) groups.insert(group);
    }
    for (const LeaveRequested* leave : events_of<LeaveRequested>(client)) {
      if (!leave->by_rules) groups.erase(leave->group);
    }
    return groups;
  }

 private:
  std::multimap<std::string, std::pair<Time, std::string>> left_;  // by client
  std::map<std::string, std::set<Time>> begun_;                    // sessions of a name
};

/// Former sessions of a program that may still send, by the groups in which a new one would see them.
using Former = std::map<std::string, std::set<std::string>>;

/// Of these groups, those that the session joins as it begins.
Former groups_joined_again(const ClientHistory& client, const Former& former) {
  Former again;
  for (const Event& event : client.events) {
    const auto* join = std::get_if<JoinRequested>(&event.what);
    if (join == nullptr) break;
    if (const auto group = former.find(join->group); group != former.end()) again.insert(*group);
  }
  return again;
}

/// Which daemons were in which view, as far as that is known.
class Reach {
 public:
  explicit Reach(const History& history) {
    for (const DaemonHistory& daemon : history.daemons) {
      for (const DaemonEvent& event : daemon.events) {
        if (const auto* view = std::get_if<ViewInstalled>(&event.what)) views_.try_emplace(view->id, view->members);
      }
    }
  }
  /// Whether the daemon of the client was outside the view of the daemons that the group's view is of.
  bool is_outside(const std::string& client, const spindle::GroupViewId& id) const {
    const auto found = views_.find({id.view_number, id.coordinator, id.incarnation});
    const auto parts = spindle::parse_private_name(client);
    if (found == views_.end() || !parts) return false;
    return std::none_of(found->second->begin(), found->second->end(),
                        [&](const DaemonId& member) { return member.name == parts->daemon; });
  }

 private:
  std::map<ViewId, MemberList> views_;
};

/// Whether what a session sends may come before what former ones have sent: it has left, or could not join, all groups
/// by which it would have seen that these are gone; or it has seen them gone, and they were out of reach, are back, or
/// were taken out of that group alone. One that has its own name is gone with its beginning.
bool may_overtake(const ClientHistory& client, Former former, const Reach& reach, const Former& taken_out) {
  for (auto& group : former) group.second.erase(client.name);
  std::erase_if(former, [](const auto& group) { return group.second.empty(); });
  if (former.empty()) return false;
  Former gone;
  for (const Event& event : client.events) {
    if (const auto* leave = std::get_if<LeaveRequested>(&event.what)) {
      former.erase(leave->group);
    } else if (const auto* refused = std::get_if<Refused>(&event.what)) {
      const auto code = static_cast<Errc>(refused->code);
      if (code != Errc::already_a_member && code != Errc::not_a_member) former.erase(refused->group);
    } else if (const auto* view = std::get_if<GroupView>(&event.what)) {
      const auto is_there = [&](const std::string& name) { return is_in(view->members, name); };
      const auto back = gone.find(view->group);
      const bool is_of_network = view->cause == spindle::ViewCause::network;
      if (is_of_network && back != gone.end() && std::any_of(back->second.begin(), back->second.end(), is_there)) {
        return true;
      }
      const auto group = former.find(view->group);
      if (group != former.end() && std::none_of(group->second.begin(), group->second.end(), is_there)) {
        const auto is_outside = [&](const std::string& name) { return reach.is_outside(name, view->id); };
        if (std::any_of(group->second.begin(), group->second.end(), is_outside)) return true;
        const auto others = taken_out.find(view->group);
        const auto is_elsewhere = [&](const std::string& name) {
          return others != taken_out.end() && others->second.contains(name);
        };
        if (std::any_of(group->second.begin(), group->second.end(), is_elsewhere)) return true;
        gone.insert(former.extract(group));
      }
    }
    if (former.empty() && gone.empty()) return true;
  }
  return false;
}

/// Which session of which program sent a message.
class Programs {
 public:
  explicit Programs(const History& history) {
    std::map<std::uint32_t, std::map<std::uint32_t, const ClientHistory*>> programs;
    for (const ClientHistory& client : history.clients) {
      if (client.program != 0) programs[client.program][client.session] = &client;
      for (const Sent* sent : events_of<Sent>(client)) senders_.emplace(key_of(sent->message), &client);
    }
    const Reach reach(history);
    const TakenOut taken_out(history);
    for (const auto& [program, sessions] : programs) {
      Former former, out_of;
      for (const auto& [number, session] : sessions) {
        if (!session->follows || may_overtake(*session, groups_joined_again(*session, former), reach, out_of)) {
          beginnings_[program].insert(number);
          former.clear();
          out_of.clear();
        }
        // The former session of that name was gone as this one began, and with it what it was in.
        for (Former* each : {&former, &out_of}) {
          for (auto& group : *each) group.second.erase(session->name);
          std::erase_if(*each, [](const auto& group) { return group.second.empty(); });
        }
        for (const std::string& group : memberships_of(*session)) former[group].insert(session->name);
        for (const std::string& group : taken_out.groups_of(*session)) out_of[group].insert(session->name);
      }
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
