// A view: the configuration of daemons that agree on everything while it lasts.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "daemon/wire/control.h"

namespace spindled {

/// Immutable once installed. Every member computes its routes from `edges` alone, so all routing tables agree.
struct View {
  ViewId id;
  std::vector<DaemonId> members;  // sorted by name
  std::vector<Edge> edges;        // sorted by (a, b)
  MemberIndex sequencer = 0;
  MemberIndex self = 0;

  std::size_t size() const { return members.size(); }
  std::optional<MemberIndex> index_of(std::string_view name) const;
};

/// The daemon that proposed the view of that id.
inline DaemonId coordinator_of(const ViewId& id) { return {id.coordinator, id.incarnation}; }

/// The place of `daemon`, in this very life, among `members`, which are sorted by name.
std::optional<MemberIndex> index_in(const std::vector<DaemonId>& members, const DaemonId& daemon);

/// The view that `commit` brings about at its member `self`.
View make_view(const Commit& commit, MemberIndex self);

}  // namespace spindled
