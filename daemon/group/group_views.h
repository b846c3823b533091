// The group views that tell local members who is in a group.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/group/group_state.h"

namespace spindled {

/// Tells local members of each change of a group: all names in a small group; the names that changed, and a digest, in
/// a large one. Each group view has an id that all daemons give it: the view's, and the number of the change in it.
class GroupViews {
 public:
  using Cause = spindle::ViewCause;

  explicit GroupViews(GroupState& state) : state_(state) {}

  /// A new view has begun: what is told from here on has its id.
  void begin_view() { view_id_ = std::make_shared<const ViewId>(state_.view.id); }

  // One change in a view. Where changes are told with the next view (`GroupState::told`) the first two do nothing.

  /// `local` is the session of the newcomer, where it is of this daemon.
  void tell_join(const Group& group, std::string_view joined, std::optional<SessionId> local);
  void tell_removal(const Group& group, Cause cause, std::string_view left);
  /// Several at once, of a synchronous group: `told` have been told of the view before, `first` of none.
  void tell_changes(const Group& group, Cause cause, std::vector<std::string_view> joined,
                    std::vector<std::string_view> left, std::span<const SessionId> told,
                    std::span<const SessionId> first) {
    tell(group, {cause, std::move(joined), std::move(left), {}}, told, first);
  }
  /// To the one who left.
  void tell_farewell(const Group& group, SessionId session, std::string_view name);

  /// What the change of the network has made of the group: the members of `came_along` have come along with this daemon
  /// since its members were told last. `former`: the group in the table of then; null where it was not there, or where
  /// that table goes on. `is_due`: a view is told also where nothing has changed.
  void tell_network_change(const Group& group, const Group* former, const MemberSet& came_along, bool is_due);
  /// The same, of a group whose local members were told `before`.
  void tell_network_view(const Group& group, const ToldGroup& before, const MemberSet& came_along, bool is_due);

  /// Delivers all members of `group`, as the session was last told of them, to it; nothing on success.
  std::optional<Errc> answer(SessionId session, const std::string& group);

 private:
  using Names = std::vector<std::string_view>;
  /// What a view has to say beside who the members are.
  struct Change {
    Cause cause{};
    Names joined, left, apart;  // as protocol::GroupViewFrame
  };

  /// A new view for all local members: `told` have been told of the one before, `first` of none.
  void tell(const Group& group, const Change& change, std::span<const SessionId> told,
            std::span<const SessionId> first);
  /// To the local members that have had no view of it, or none since they left: for them all others are new or apart.
  void tell_newcomers(const Group& group, const Change& change, const ToldGroup& before);
  void deliver_full(const Group& group, const Change& change, std::span<const SessionId> to);
  void deliver_change(const Group& group, const Change& change, std::span<const SessionId> to);
  spindle::protocol::GroupViewFrame head_of(const Group& group, const Change& change) const;
  /// What has changed from `before` on; members are apart that have not come along.
  Change network_change(const Group& group, const ToldGroup& before, const MemberSet& came_along) const;
  /// Whether there is nothing to tell: the members are those of `before`, and all have come along.
  bool is_as_before(const Group& group, const Group& before, const MemberSet& came_along) const;
  /// Whether what the local members of the group were told last is in `GroupState::told`.
  bool is_told_later(std::string_view group) const;

  void note_told(const Group& group, Cause cause) {
    state_.table.set_last_view(group, {view_id_, state_.changes, cause});
  }
  spindle::GroupViewId id() const {
    const ViewId& view = state_.view.id;
    return {view.number, view.coordinator, view.incarnation, state_.changes};
  }
  bool is_large(const Group& group) const {
    return group.members.size() > state_.context.config.session.full_view_members;
  }

  GroupState& state_;
  std::shared_ptr<const ViewId> view_id_;  // shared by the groups that were told in it
};

}  // namespace spindled
