// Which daemons relay a channel, and who is whose parent.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "daemon/base/member_set.h"
#include "daemon/base/slab.h"
#include "daemon/overlay/view.h"
#include "libclient/bulk/channel_id.h"

namespace spindled {

/// The deepest that a tree is to be, where all receivers can be reached so: the root has depth 0.
inline constexpr std::size_t kTreeDepthMax = 16;

/// A daemon's place in a tree.
struct TreePlace {
  MemberIndex member = 0;
  MemberIndex parent = 0;                            // of the root: itself
  std::optional<MemberIndex> backup = std::nullopt;  // who is asked where the parent is gone; never below the member

  bool operator==(const TreePlace&) const = default;
};

/// A plan of the tree of one channel. Its edges are links of the view.
struct TreePlan {
  /// Counts the plans of a channel, and wraps: symbols travel by the plan that they name.
  std::uint8_t generation = 0;
  std::vector<TreePlace> places;  // the root first, each behind its parent and its backup

  const TreePlace* find(MemberIndex member) const;
  bool operator==(const TreePlan&) const = default;
};

/// What a plan is made of.
struct TreeInput {
  const View& view;
  MemberIndex root = 0;
  MemberSet receivers;
  /// Of `view.edges`, in bytes a second, in both directions; 0: not known, which counts as the median of those that
  /// are.
  std::span<const std::uint64_t> capacities;
  /// Of members: what they send in all; 0, or not there: no bound is known.
  std::span<const std::uint64_t> egress = {};
};

/// A tree of widest paths (ROMA, section VI-C: of all members that can be attached, the one that has the largest rate),
/// where a parent's egress is shared by its children (Bullet, section 4.1). Of members whose rates differ by less than
/// a tenth the one that would be less deep comes first. Daemons without receivers are in it where they lead to some.
///
/// Receivers that cannot be reached within kTreeDepthMax come behind the others, as deep as they are. Those that cannot
/// be reached at all are left out. Where no one is reached the root is alone.
TreePlan plan_tree(const TreeInput& input);

/// How many times as fast some member of `plan` would get the content by the other plan: the largest of these gains.
double largest_gain(const TreePlan& plan, const TreePlan& other, const TreeInput& input);

// A plan as it is told:
///
///   ...     channel id
///   u8      generation
///   varint  count of places, and of each:
///     varint  member
///     varint  parent
///     varint  backup, and one; 0: none
std::vector<std::uint8_t> write_tree_plan(const spindle::bulk::BulkChannelId& channel, const TreePlan& plan);

struct ToldTreePlan {
  spindle::bulk::BulkChannelId channel;
  TreePlan plan;
};
/// Nothing where the bytes are not exactly one plan, for a view of so many members, in which every place is behind its
/// parent and its backup.
std::optional<ToldTreePlan> read_tree_plan(ByteView content, std::size_t members);

}  // namespace spindled
