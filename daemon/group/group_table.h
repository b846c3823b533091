// Who is a member of what: the same table at every daemon, changed only at places in the order.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/member_set.h"
#include "daemon/base/ring.h"
#include "daemon/group/groups_by_id.h"
#include "daemon/group/operations.h"
#include "daemon/group/session_groups.h"
#include "daemon/group/synchrony.h"
#include "daemon/wire/link_frames.h"
#include "libclient/protocol/client_frames.h"

namespace spindled {

/// A client that is in groups, once in the table however many they are.
struct MemberSession {
  MemberIndex daemon = 0;
  bool is_lost = false;  // its daemon has not come along into the view
  SessionId session = 0;
  std::string name;        // "#client#daemon"
  std::uint64_t hash = 0;  // of the name
  SessionGroups groups;
};

/// A member of a group; valid as long as it is one.
class GroupMember {
 public:
  explicit GroupMember(const MemberSession& session) : session_(&session) {}

  MemberIndex daemon() const { return session_->daemon; }
  SessionId session() const { return session_->session; }
  const std::string& name() const { return session_->name; }
  std::uint64_t hash() const { return session_->hash; }
  bool is_lost() const { return session_->is_lost; }
  bool is_of(MemberIndex daemon) const { return session_->daemon == daemon && !session_->is_lost; }
  const MemberSession& of_session() const { return *session_; }

 private:
  const MemberSession* session_;
};

/// The view of a group that local members were told last. Every group has one: it is small.
class LastView {
 public:
  using Cause = spindle::ViewCause;

  LastView() = default;
  /// `position` is below 2^56.
  LastView(std::shared_ptr<const ViewId> view, std::uint64_t position, Cause cause)
      : view_(std::move(view)), position_and_cause_(position << 8U | static_cast<std::uint64_t>(cause)) {}

  /// Of the daemons, shared by all groups; null where none was told.
  const ViewId* view() const { return view_.get(); }
  /// GroupViewId::position
  std::uint64_t position() const { return position_and_cause_ >> 8U; }
  Cause cause() const { return static_cast<Cause>(position_and_cause_ & 0xff); }

 private:
  std::shared_ptr<const ViewId> view_;
  std::uint64_t position_and_cause_ = 0;
};

/// A client that is to be in a group.
struct NewMember {
  MemberIndex daemon = 0;
  SessionId session = 0;
  std::string name;          // "#client#daemon"
  bool is_newcomer = false;  // in a synchronous group: it has no view of it
};

struct Group {
  GroupId id = 0;
  std::uint64_t since = 0;  // place in the order of its first subscription; 0: there from the start of the view
  std::string name;
  MemberSet subscribers;                 // daemons that the group's messages go to
  std::vector<GroupMember> members;      // by daemon, those of one daemon in the order in which they joined
  std::uint64_t digest = 0;              // of their names: libclient/protocol/member_list.h
  LastView last_view;                    // that those of this daemon were told
  std::unique_ptr<Synchrony> synchrony;  // null: an ordinary group

  /// Those of one daemon, where none is lost.
  std::span<const GroupMember> members_of(MemberIndex daemon) const;
  bool is_synchronous() const { return synchrony != nullptr; }
  bool is_pending() const { return synchrony != nullptr && synchrony->is_pending(); }
  /// Whether the member has been told of a view of the group, and gets its messages: in an ordinary group all have.
  bool has_view(const GroupMember& member) const {
    return synchrony == nullptr || !synchrony->newcomers.contains(&member.of_session());
  }
};

class GroupTable {
  /// Orders groups by their names, which are kept nowhere else: of many groups they are much of the memory.
  struct ByName {
    using is_transparent = void;
    static std::string_view name(const Group& group) { return group.name; }
    static std::string_view name(std::string_view name) { return name; }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return name(a) < name(b);
    }
  };
  using Groups = std::set<Group, ByName>;  // only names are constant

 public:
  /// `version` continues that of an earlier table, so that what was resolved against that one is known to be old.
  explicit GroupTable(MemberIndex self = 0, std::uint64_t version = 0)
      : self_(self), version_(version + 1), all_changed_(version_) {}

  const Group* find(std::string_view name) const;
  const Group* find(GroupId id) const;
  /// The name of a group that is, or lately was, in the table; empty where it is long gone. A message that was sent
  /// while the group had members elsewhere may arrive when it has none.
  std::string_view name_of(GroupId id) const;
  /// This daemon's index in the view.
  MemberIndex self() const { return self_; }
  std::size_t size() const { return by_name_.size(); }
  /// What it takes in memory, roughly.
  std::size_t memory_bytes() const { return size() * kGroupBytes; }
  /// In the order of names. A place holds as long as its group is in the table.
  using Place = Groups::const_iterator;
  Place begin() const { return by_name_.begin(); }
  Place end() const { return by_name_.end(); }
  /// The first group whose name is behind this one.
  Place behind(std::string_view name) const { return by_name_.upper_bound(name); }
  /// The groups that a session is in, in the order of their ids.
  std::vector<GroupId> groups_of(MemberIndex daemon, SessionId session) const;
  bool is_in_groups(MemberIndex daemon, SessionId session) const { return by_session_.contains({daemon, session}); }
  bool is_member(const Group& group, MemberIndex daemon, SessionId session) const;

  // Changes. Each says whether it changed anything; what makes no sense (a second join, an unsubscription with members)
  // changes nothing.
  bool subscribe(const std::string& group, MemberIndex daemon, std::uint64_t position);
  bool unsubscribe(const std::string& group, MemberIndex daemon);
  /// The first member says whether the group is synchronous; one that says otherwise does not join.
  bool join(const std::string& group, const NewMember& member, bool synchronous = false);
  bool leave(GroupId group, MemberIndex daemon, SessionId session);
  /// In a view that begins: `daemon` has those members, not in the table yet, in the group. `id` is the group's where
  /// it is new and another daemon has numbered it; 0: it gets the next one. Where some say that the group is
  /// synchronous and others that it is not, it is not. Costs little where names come in their order.
  void announce(std::string_view group, GroupId id, MemberIndex daemon, std::span<const NewMember> members,
                bool synchronous = false);

  // Of synchronous groups, which are in the table.

  /// The view of the group is pending, or goes on to be, for this reason too.
  void pend(const Group& group, spindle::ViewCause cause);
  /// The members of the daemon have stopped sending in the view of `round`. False where that is known, or over.
  bool flush(const Group& group, MemberIndex daemon, std::uint64_t round);
  /// Daemons with members that have a view and have yet to stop sending in it, where one is pending.
  static std::vector<MemberIndex> flushing(const Group& group);
  /// Whether the view is pending, and there are none.
  static bool is_due(const Group& group);
  /// The view stands at that place of the order.
  void stand(const Group& group, std::uint64_t position);
  /// Groups whose view is pending.
  const std::set<GroupId>& pending() const { return pending_; }
  /// Whether there may be daemons that have not come to the place where the view of the group stood.
  bool is_fresh(const Group& group) const {
    return group.synchrony != nullptr && group.synchrony->since > known_to_all_;
  }

  // From one view to the next. `carry_over` begins it; then each group in turn.

  /// What the indices of daemons become; none: the daemon has not come along, and its members are gone.
  using Renumbering = std::vector<std::optional<MemberIndex>>;
  /// Members of daemons that have not come along are lost from here on, though still in their groups; former groups are
  /// forgotten. The version grows beyond `version`.
  void carry_over(MemberIndex self, const Renumbering& to, std::uint64_t version);
  /// Whether the group, not carried over yet, loses members.
  static bool is_losing(const Group& group);
  /// Subscribers without members are subscribed no more; without members the group goes. The next group.
  Place carry_over(Place at);
  /// Of the groups carried over since the table was: who is in what, under which number.
  std::uint64_t digest() const { return digest_; }
  GroupId next_id() const { return next_id_; }
  void set_next_id(GroupId id) { next_id_ = std::max(next_id_, id); }
  /// Takes a group out, without a trace: of a table that is not needed any more, which is too large to go at once.
  void discard_first();

  /// The local members of `group`, which is in the table, were told of this view.
  void set_last_view(const Group& group, LastView view) { by_id_.find(group.id)->last_view = std::move(view); }

  /// Every origin and destination has been through the order up to `position`: groups up to there are known to all.
  void known_to_all(std::uint64_t position);
  bool is_known_to_all(const Group& group) const { return group.since <= known_to_all_; }

  /// Grows with every change that can make a message go elsewhere, or be addressed otherwise.
  std::uint64_t version() const { return version_; }
  /// Whether that may have been a change of one of these groups since the table had the version.
  bool has_changed_since(std::uint64_t version, const std::vector<std::string>& groups) const;
  /// All groups count as changed.
  void renew() { all_changed_ = ++version_; }

 private:
  /// Of a group with a name of 20 bytes and one member, as measured.
  static constexpr std::size_t kGroupBytes = 330;
  /// Names of emptied groups that are remembered.
  static constexpr std::size_t kFormerNamesMax = 4096;
  static constexpr std::size_t kChangePlaces = 1024;

  Group* find_mutable(std::string_view name);
  Place place_for(std::string_view name) const;
  Place add(Place before, std::string_view name, GroupId id = 0);
  /// False where it is there.
  bool add_member(Group& group, const NewMember& member);
  static Group& changeable(Place at) { return const_cast<Group&>(*at); }
  void remove(Group& group);
  void make_ordinary(Group& group);
  /// Where the last change of a group, or of another one that shares its place, is noted.
  static std::size_t place_of_change(std::string_view name);
  void note_change(std::size_t place) { changed_[place] = ++version_; }

  MemberIndex self_;
  std::uint64_t version_;
  GroupId next_id_ = 1;
  std::uint64_t known_to_all_ = 0;
  Ring<std::pair<std::uint64_t, std::uint16_t>, 16> unknown_;  // not known to all: its place, and that of the change
  std::uint64_t all_changed_ = 0;                              // the version from which on nothing is as it was
  std::vector<std::uint64_t> changed_ = std::vector<std::uint64_t>(kChangePlaces);  // and single groups
  std::uint64_t digest_ = 0;
  Groups by_name_;
  GroupsById by_id_;
  std::map<std::pair<MemberIndex, SessionId>, MemberSession> by_session_;
  std::vector<decltype(by_session_)::node_type> lost_;  // until no group has them any more
  std::map<GroupId, std::string> former_names_;         // the latest to be emptied
  std::optional<Place> announced_;                      // the last one
  std::set<GroupId> pending_;
};

}  // namespace spindled
