// A row of the table of connections; used by the sources of Links only.
#pragma once

#include "daemon/link/links.h"

namespace spindled {

struct Links::Entry {
  Entry(Context& context, Driver& driver, ConnectionId connection, std::string address, bool dialled, Time now)
      : link(context, driver, connection, std::move(address), dialled, now) {}

  Link link;
  std::optional<LinkId> slot;                  // from establishment until `link_down` has returned
  std::optional<Neighbours::Index> neighbour;  // whom this side dialled
  Time deadline = kNever;                      // as in `deadlines_`
  bool touched = false;                        // as in `touched_`
};

}  // namespace spindled
