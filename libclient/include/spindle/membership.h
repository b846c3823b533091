// The list of a group's members, kept up to date from the group's views.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spindle/event.h"
#include "spindle/export.h"

namespace spindle {

namespace protocol {
class MemberList;
}

/// For programs that want to know all members of a group at any time. In a large group most views name only who joined
/// and who left; this class applies them to the list that came before, and holds the result against the digest in the
/// view. One object for each group, given every view of it in order:
///
///   std::map<std::string, spindle::Membership> groups;
///   ...
///   if (const auto* view = event->get_if<spindle::GroupView>()) {
///     spindle::Membership& group = groups[view->group];
///     if (group.apply(*view) == spindle::Membership::Outcome::ask) connection.request_view(view->group);
///     for (const std::string& member : group.members()) std::cout << member << '\n';
///   }
///
/// A program that applies the views from its join on is never told to ask, unless a daemon is at fault. No function may
/// coincide with another that is not const.
class SPINDLE_EXPORT Membership {
 public:
  enum class Outcome : std::uint8_t {
    current,  ///< the members are those of the view
    ask,      ///< they are not known: call Connection::request_view(). Not said again before the answer has come
    unknown,  ///< they are not known yet: the answer is on its way, or was wrong
    left,     ///< this client is no member any more
  };

  Membership() noexcept;
  Membership(Membership&&) noexcept;
  Membership& operator=(Membership&&) noexcept;
  ~Membership();

  [[nodiscard]] Outcome apply(const GroupView& view);
  /// Forgets everything: the next change says `ask`. For a request that failed.
  void reset();

  /// Whether the members are known.
  bool is_current() const { return list_ != nullptr; }
  /// Private names in the order that all members agree on; none while they are not known.
  const std::vector<std::string>& members() const;
  /// The place of a member in `members()`, found by going through them.
  std::optional<std::size_t> index_of(std::string_view name) const;
  /// After a view with cause network: this client, and the members that came from the former view with it. Otherwise
  /// none.
  std::vector<std::string> vs_set() const;

 private:
  Outcome take_list(const GroupView& view);
  Outcome take_change(const GroupView& view);

  std::unique_ptr<protocol::MemberList> list_;  // null: not known
  std::vector<std::string> none_;               // what the members are then: it stays empty
  GroupViewId id_;                              // of the view that the list is of
  bool network_ = false;                        // the cause of that view
  std::vector<std::string> others_;             // that view's members who are not in its vs set
  bool asked_ = false;
};

}  // namespace spindle
