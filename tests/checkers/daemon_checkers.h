// The properties that every run of daemons is held to, view by view, each written from the specification: Moser, Amir,
// Melliar-Smith, Agarwal, "Extended Virtual Synchrony" (1994), and Vitenberg, Keidar, Chockler, Dolev, "Group
// Communication Specifications" (2001). They know nothing but what the order layers of the daemons did. Each has a test
// that violates it in each way.
//
// "Regular" is what is handed up in a view before its transitional signal, "transitional" what follows the signal.
// "Lossless" is every service but unreliable.
#pragma once

#include "tests/checkers/daemon_index.h"

namespace spindled::checkers {

/// Agreement on views: those with one number, of one coordinator's life, have the same members. Self-inclusion: a
/// daemon is a member of the views that it installs. Local monotonicity: their numbers grow while it lives.
Violations check_daemon_views(const DaemonIndex& index);

/// Who came along is exactly who was in the same view before, and all of them agree on it; a signal is given where
/// others were left behind, only there, once, and names those who came along.
Violations check_daemon_transitional_sets(const DaemonIndex& index);

/// Daemons that move together from one view to the next hand up, of the lossless messages of the old view, the same as
/// far as they are addressed to them, and all that one of them originated. Ordered ones stand on the same side of the
/// signal, but for those behind a message that is lost or comes behind the signal itself, and is not for all.
Violations check_daemon_virtual_synchrony(const DaemonIndex& index);

/// What is handed up was originated in the same view.
Violations check_daemon_sending_view(const DaemonIndex& index);

/// Nothing is handed up twice.
Violations check_daemon_no_duplicates(const DaemonIndex& index);

/// What is handed up was originated by that origin, with that service and content, and for this daemon.
Violations check_daemon_no_invention(const DaemonIndex& index);

/// Fifo and stronger messages of one sender are handed up in the order in which they were originated; regular ones
/// without leaving any out that was for this daemon.
Violations check_daemon_fifo(const DaemonIndex& index);

/// One order holds for all ordered (causal, agreed, safe) messages handed up as regular, at all members of a view,
/// those that part included; positions say which, and nothing for a daemon is left out before what it hands up as
/// regular. Those who move together have one order for the transitional ones too.
Violations check_daemon_total_order(const DaemonIndex& index);

/// An ordered message comes behind all that its origin had handed up or originated before, and all that those come
/// behind; wherever any two of them are handed up.
Violations check_daemon_causality(const DaemonIndex& index);

/// Behind the signal, nothing of those who did not come along is handed up that stands in the order behind a message
/// that is lost: it may depend on that. A message counts as lost that is for all who move together, so that none of
/// them can have gone past it, and that none of them has.
Violations check_daemon_holes(const DaemonIndex& index);

/// A safe message that is handed up as regular by anybody is handed up, in the same view, by every member of that view
/// that it is for, unless that member ends in it.
Violations check_daemon_safe_delivery(const DaemonIndex& index);

/// A daemon hands up, before the view ends, what it originated in it for itself, other than unreliably.
Violations check_daemon_self_delivery(const DaemonIndex& index);

/// At rest: the last view of a running daemon consists of running daemons that are all in it, and what was originated
/// in it, other than unreliably, has been handed up by all that it is for. That there is one such view for each
/// component of the network is for the run to demand, which knows the network.
Violations check_daemon_liveness(const DaemonIndex& index);

}  // namespace spindled::checkers
