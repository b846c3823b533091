#include <algorithm>

#include "tests/checkers/checkers.h"
#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace {

using spindle::ViewCause;

bool is_own_join(const GroupView& view, const std::string& client) {
  return view.cause == ViewCause::join && is_in(view.changed, client);
}

void check_agreement(const GroupView& view, const GroupView& first, const std::string& client, Violations& violations) {
  if (view.members != first.members || view.cause != first.cause) {
    report(violations, fmt::format("views: {} got view {} of {} with other members, or another cause, than others",
                                   client, to_text(view.id), view.group));
  }
  // With cause network, what has changed depends on where the receiver comes from.
  if (view.cause != ViewCause::network && view.changed != first.changed) {
    report(violations, fmt::format("views: {} got view {} of {} with another change than others", client,
                                   to_text(view.id), view.group));
  }
}

void check_self(const GroupView& view, const std::string& client, Violations& violations) {
  if (!is_in(view.members, client)) {
    report(violations, fmt::format("views: {} is not in view {} of {}", client, to_text(view.id), view.group));
  }
  if (std::set(view.members.begin(), view.members.end()).size() != view.members.size()) {
    report(violations, fmt::format("views: view {} of {} names a member twice", to_text(view.id), view.group));
  }
}

/// The last view of one who left: without members, and only for who asked to leave.
bool is_farewell(const GroupView& view, const std::string& client) {
  return view.cause == ViewCause::leave && view.members.empty() && view.changed == std::vector<std::string>{client};
}

void check_change(const GroupView& before, const GroupView& view, const std::string& client, Violations& violations) {
  const std::set<std::string> old_members(before.members.begin(), before.members.end());
  const std::set<std::string> new_members(view.members.begin(), view.members.end());
  std::set<std::string> difference;
  std::set_symmetric_difference(old_members.begin(), old_members.end(), new_members.begin(), new_members.end(),
                                std::inserter(difference, difference.end()));
  // Who has left and joined again is named twice.
  std::set<std::string> named;
  for (const std::string& name : view.changed) {
    if (!named.insert(name).second && is_in(before.members, name) && is_in(view.members, name)) difference.insert(name);
  }
  if (difference != named) {
    report(violations, fmt::format("views: {} got view {} of {}, and what it says has changed is not what has", client,
                                   to_text(view.id), view.group));
  }
}

}  // namespace

Violations check_views(const History& history) {
  Violations violations;
  std::map<std::pair<std::string, std::string>, const GroupView*> first;
  for (const ClientHistory& client : history.clients) {
    std::map<std::string, const GroupView*> before;  // nullptr: asked to leave, and not told of joining again
    std::map<std::string, std::size_t> leaves;       // asked for, and not seen done
    for (const Event& event : client.events) {
      if (const auto* leave = std::get_if<LeaveRequested>(&event.what)) {
        before[leave->group] = nullptr;
        ++leaves[leave->group];
      }
      const auto* view = std::get_if<GroupView>(&event.what);
      if (view == nullptr) continue;
      const auto old = before.find(view->group);
      if (is_farewell(*view, client.name) && leaves[view->group] > 0) {
        // A join that was on its way may have been seen done after the client asked to leave.
        --leaves[view->group];
        before[view->group] = nullptr;
        continue;
      }
      const auto [known, is_new] = first.try_emplace({view->group, to_text(view->id)}, view);
      if (!is_new) check_agreement(*view, *known->second, client.name, violations);
      check_self(*view, client.name, violations);
      if (!view->digest_matches) {
        report(violations, fmt::format("views: {} got view {} of {} whose digest is not that of its members",
                                       client.name, to_text(view->id), view->group));
      }
      if (old != before.end() && old->second == nullptr && !is_own_join(*view, client.name)) continue;
      if (old != before.end() && old->second != nullptr) check_change(*old->second, *view, client.name, violations);
      before[view->group] = view;
    }
  }
  return violations;
}

}  // namespace spindled::checkers
