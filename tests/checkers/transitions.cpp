// What clients are told of a change of the daemons, held against what the daemons did: who came along, and the signal.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "libclient/common/names.h"
#include "tests/checkers/checkers.h"
#include "tests/checkers/daemon_index.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace {

using spindle::GroupViewId;
using spindle::ViewCause;
using Names = std::set<std::string>;

std::string daemon_of(const std::string& client) {
  const auto parts = spindle::parse_private_name(client);
  return parts ? std::string(parts->daemon) : std::string();
}

bool is_own_join(const GroupView& view, const std::string& client) {
  return view.cause == ViewCause::join && is_in(view.changed, client);
}

ViewId view_of_daemons(const GroupViewId& id) { return {id.view_number, id.coordinator, id.incarnation}; }

/// Which daemons a daemon moved along with, from one of its views to a later one.
class Paths {
 public:
  explicit Paths(const DaemonIndex& index) : index_(index) {
    for (const DaemonIndex::Stay& stay : index.stays()) {
      const DaemonIndex::View& view = index.view_of(stay);
      stays_.try_emplace({stay.daemon->id.name, view.id}, &stay);
    }
  }

  /// By name; nothing where `daemon` is not known to have gone from one to the other.
  std::optional<Names> along(const std::string& daemon, const GroupViewId& from, const GroupViewId& to) const {
    const auto found = stays_.find({daemon, view_of_daemons(to)});
    if (found == stays_.end()) return std::nullopt;
    const DaemonIndex::Stay* stay = found->second;
    std::set<DaemonId> together(index_.view_of(*stay).members->begin(), index_.view_of(*stay).members->end());
    while (!is(*stay, from)) {
      if (stay->previous == kNone) return std::nullopt;
      const std::vector<DaemonId>& members = *index_.view_of(*stay).members;
      for (std::size_t i = 0; i < members.size(); ++i) {
        if (!stay->installed->came_along.contains(static_cast<MemberIndex>(i))) together.erase(members[i]);
      }
      // Who has not come into this view at all has not come along into a later one either.
      std::erase_if(together, [&](const DaemonId& each) { return !is_in_view(members, each); });
      stay = &index_.stay(stay->previous);
    }
    Names names;
    for (const DaemonId& each : together) names.insert(each.name);
    return names;
  }

  /// Who went on with `daemon` from that view to its next one; nothing where there is none.
  std::optional<Names> along_out_of(const std::string& daemon, const GroupViewId& view) const {
    const auto found = stays_.find({daemon, view_of_daemons(view)});
    if (found == stays_.end() || found->second->next == kNone) return std::nullopt;
    const DaemonIndex::Stay& next = index_.stay(found->second->next);
    Names names;
    next.installed->came_along.for_each(
        [&](MemberIndex each) { names.insert((*index_.view_of(next).members)[each].name); });
    return names;
  }

 private:
  bool is(const DaemonIndex::Stay& stay, const GroupViewId& id) const {
    return index_.view_of(stay).id == view_of_daemons(id);
  }
  static bool is_in_view(const std::vector<DaemonId>& members, const DaemonId& daemon) {
    return std::find(members.begin(), members.end(), daemon) != members.end();
  }

  const DaemonIndex& index_;
  std::map<std::pair<std::string, ViewId>, const DaemonIndex::Stay*> stays_;
};

/// What one client knows of a group of which it is a member.
struct Part {
  const GroupView* last = nullptr;  // of the views that it got
  bool signalled = false;           // since the network's last view
  bool safe = false;                // a safe message to the group has followed, or one of its own that is discarded
  bool joined = false;              // right before it
  const GroupView* at_signal = nullptr;
  /// A violation, unless a signal is next: a view of a synchronous group may stand behind the signal that its members
  /// get as the view of the daemons ends, and they get it again then.
  std::string doubt;
};

class Checker {
 public:
  Checker(const History& history, const DaemonIndex& index, bool at_rest)
      : history_(history), paths_(index), at_rest_(at_rest) {
    std::map<std::string_view, std::size_t> of_name;
    for (const ClientHistory& client : history.clients) ++of_name[client.name];
    for (const ClientHistory& client : history.clients) {
      // Another client of its name that is in the group is not it; and one that has closed need not have been told
      // that rules had it leave.
      const bool may_have_left = of_name[client.name] > 1 || (client.is_closed() && !history.rules.empty());
      for (const JoinRequested* join : events_of<JoinRequested>(client)) {
        if (may_have_left) left_.insert({client.name, join->group});
      }
      for (const LeaveRequested* leave : events_of<LeaveRequested>(client)) left_.insert({client.name, leave->group});
      for (const Sent* sent : events_of<Sent>(client)) {
        if (sent->message.service != Service::safe || !sent->self_discard) continue;
        for (const std::string& group : sent->message.groups) discards_.insert({client.name, group});
      }
    }
  }

  Violations run() {
    for (const ClientHistory& client : history_.clients) follow(client);
    check_symmetry();
    return std::move(violations_);
  }

 private:
  void follow(const ClientHistory& client) {
    std::map<std::string, Part> parts;
    for (const Event& event : client.events) {
      if (const auto* leave = std::get_if<LeaveRequested>(&event.what)) {
        parts.erase(leave->group);
        leaving_.insert({client.name, leave->group});
      } else if (const auto* signal = std::get_if<Transitional>(&event.what)) {
        take_signal(client, signal->group, parts);
      } else if (const auto* view = std::get_if<GroupView>(&event.what)) {
        take_view(client, *view, parts);
      } else if (const auto* gap = std::get_if<Gapped>(&event.what)) {
        // It may have held a safe message.
        for (auto& [group, part] : parts) {
          part.safe = part.safe || (part.signalled && (gap->unlisted > 0 || gap->of_name.contains(group)));
        }
      } else if (const auto* delivered = std::get_if<Delivered>(&event.what)) {
        if (delivered->message.service != Service::safe) continue;
        for (const std::string& group : delivered->message.groups) {
          if (const auto part = parts.find(group); part != parts.end() && part->second.signalled)
            part->second.safe = true;
        }
      }
    }
    if (!at_rest_ || client.is_closed()) return;
    for (const auto& [group, part] : parts) {
      if (!part.doubt.empty()) report(violations_, part.doubt);
      if (!part.signalled) continue;
      report(violations_, fmt::format("transitional signal: {} got one for {}, and never the view that ends it",
                                      client.name, group));
    }
  }

  void take_signal(const ClientHistory& client, const std::string& group, std::map<std::string, Part>& parts) {
    const auto part = parts.find(group);
    if (part == parts.end()) {
      if (leaving_.contains({client.name, group})) return;  // it may concern the part that it ended
      report(violations_,
             fmt::format("transitional signal: {} got one for {}, of which it has had no view", client.name, group));
      return;
    }
    part->second.signalled = true;
    part->second.doubt.clear();
    part->second.safe = part->second.safe || discards_.contains({client.name, group});
    // Who joins behind the signal that the others have got may not know what that one was for.
    part->second.joined = is_own_join(*part->second.last, client.name);
    part->second.at_signal = part->second.last;
  }

  void settle_doubt(const std::string& group, std::map<std::string, Part>& parts) {
    const auto part = parts.find(group);
    if (part != parts.end() && !part->second.doubt.empty()) report(violations_, std::exchange(part->second.doubt, {}));
  }

  void take_view(const ClientHistory& client, const GroupView& view, std::map<std::string, Part>& parts) {
    settle_doubt(view.group, parts);
    if (!is_in(view.members, client.name)) {
      parts.erase(view.group);
      return;
    }
    if (view.cause == ViewCause::network && !is_in(view.vs_set, client.name)) {
      report(violations_, fmt::format("transitional set: that of view {} of {} at {} lacks the receiver",
                                      to_text(view.id), view.group, client.name));
    }
    const bool own_join = is_own_join(view, client.name);
    if (leaving_.contains({client.name, view.group})) {
      if (!own_join) return;  // it may be of the part that it ended
      leaving_.erase({client.name, view.group});
    }
    const auto part = parts.find(view.group);
    if (part == parts.end()) {
      if (view.cause == ViewCause::network && view.vs_set.size() > 1) {
        report(violations_, fmt::format("transitional set: that of view {} of {} at {}, the first there, has others",
                                        to_text(view.id), view.group, client.name));
      }
      parts[view.group].last = &view;
      return;
    }
    if (view.cause == ViewCause::network) {
      const std::string doubt = check_change(client, part->second, view);
      continued_[{view.group, to_text(view.id)}].emplace(client.name, &view);
      part->second = Part();
      part->second.doubt = doubt;
      if (!view.synchronous) settle_doubt(view.group, parts);
    }
    part->second.last = &view;
  }

  /// What is wrong if no signal follows.
  std::string check_change(const ClientHistory& client, const Part& part, const GroupView& view) {
    const auto where = [&] { return fmt::format("view {} of {} at {}", to_text(view.id), view.group, client.name); };
    const auto along = paths_.along(daemon_of(client.name), part.last->id, view.id);
    const Names before(part.last->members.begin(), part.last->members.end());
    const Names vs_set(view.vs_set.begin(), view.vs_set.end());
    for (const std::string& member : vs_set) {
      if (!is_in(view.members, member)) {
        report(violations_, fmt::format("transitional set: that of {} has {}, who is no member", where(), member));
      } else if (!before.contains(member)) {
        report(violations_,
               fmt::format("transitional set: that of {} has {}, who was not in the last view", where(), member));
      } else if (along && !along->contains(daemon_of(member))) {
        report(violations_,
               fmt::format("transitional set: that of {} has {}, who did not come along", where(), member));
      }
    }
    if (!along) return {};
    for (const std::string& member : before) {
      const bool came = along->contains(daemon_of(member));
      if (came && is_in(view.members, member) && !vs_set.contains(member) && !left_.contains({member, view.group})) {
        report(violations_, fmt::format("transitional set: that of {} lacks {}, who came along", where(), member));
      }
      if (!came && !part.signalled) {
        report(violations_,
               fmt::format("transitional signal: {} came without one, and {} was separated from the receiver", where(),
                           member));
        return {};
      }
    }
    if (!part.signalled || part.safe || part.joined || !has_no_reason(client, part, view)) return {};
    return fmt::format("transitional signal: {} ends one that was given for no reason", where());
  }

  /// All members came along, from the view in which the signal was given. A view of a synchronous group that stands
  /// behind the signal, as the view of the daemons ends, is of that one still: there who is separated may have left
  /// with it, and no further signal follows.
  bool has_no_reason(const ClientHistory& client, const Part& part, const GroupView& view) const {
    const std::string daemon = daemon_of(client.name);
    const auto along = paths_.along(daemon, part.at_signal->id, view.id);
    const auto later = view.synchronous ? paths_.along_out_of(daemon, view.id) : std::nullopt;
    const auto came = [&](const std::string& member) {
      const bool has_left = later && !is_in(view.members, member) && !later->contains(daemon_of(member));
      return along->contains(daemon_of(member)) && !has_left;
    };
    const std::vector<std::string>& members = part.at_signal->members;
    return along && std::all_of(members.begin(), members.end(), came);
  }

  /// Of two that are both told who came along: one came along with the other as the other did with it.
  void check_symmetry() {
    for (const auto& [key, views] : continued_) {
      for (const auto& [name, view] : views) {
        for (const auto& [other, others] : views) {
          if (name >= other || is_in(view->vs_set, other) == is_in(others->vs_set, name)) continue;
          report(violations_,
                 fmt::format("transitional set: in view {} of {}, that of one of {} and {} has the other, and "
                             "not the other way round",
                             key.second, key.first, name, other));
        }
      }
    }
  }

  const History& history_;
  Paths paths_;
  bool at_rest_;
  std::set<std::pair<std::string, std::string>> left_;      // who ever asked to leave which group, or ended
  std::set<std::pair<std::string, std::string>> leaving_;   // and has not been told of joining anew
  std::set<std::pair<std::string, std::string>> discards_;  // who sent safe messages to which group, not to itself
  std::map<std::pair<std::string, std::string>, std::map<std::string, const GroupView*>> continued_;
  Violations violations_;
};

}  // namespace

Violations check_transitions(const History& history, const DaemonIndex& index, bool at_rest) {
  return Checker(history, index, at_rest).run();
}

}  // namespace spindled::checkers
