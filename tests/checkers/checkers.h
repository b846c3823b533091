// The properties that every run is held to. Those here are the clients': each is written from the specification
// (docs/semantics.md) and knows nothing but what clients saw; daemon_checkers.h has the daemons'. Each has a test that
// violates it. A sentence about a violation begins with the property's name and a colon.
#pragma once

#include "tests/checkers/history.h"

namespace spindled::checkers {

class DaemonIndex;

/// No client gets a message twice.
Violations check_no_duplicates(const History& history);

/// Whatever is delivered was sent, by that sender, with that content, service and groups; and it is for the receiver:
/// its private name is among the destinations, or it had asked to join one of them.
Violations check_no_invention(const History& history);

/// Fifo, causal, agreed and safe messages of one sender are delivered in the order sent, at every receiver; those of
/// one with independent flows where they went to the same groups.
Violations check_fifo(const History& history);

/// Any two receivers that both deliver two ordered (causal, agreed, safe) messages deliver them in the same order. Of
/// deliveries behind a transitional signal only those are compared that the network's same view of the group follows at
/// both: who parted before may not agree on what was left open.
Violations check_total_order(const History& history);

/// None but ordered messages have a position. At one client positions of one order grow, and a message is behind the
/// last view of each of its groups that is of that order and before the next one. All receivers of a message that are
/// told a position are told the same one, and of two messages never the same one.
Violations check_positions(const History& history);

/// The same over all clients at once, for what they deliver without a signal: in each group one order fits what its
/// members deliver to it; and one order fits what all clients deliver, but for messages under way to a receiver whose
/// daemon gave the signal meanwhile.
Violations check_one_order(const History& history);

/// With the network's view of a group, members are told exactly who came along: their transitional set (vs set) has
/// the receiver and who was in its last view and whose daemon moved along with the receiver's, nobody else, and two who
/// both get the view say the same of each other. Who left and joined again meanwhile need not be in it, nor a client
/// that has taken over the name of one that was. Who was separated from a member of its group has got the transitional
/// signal before that view; a signal is given only where somebody was separated or a safe message follows, and a view
/// ends it.
Violations check_transitions(const History& history, const DaemonIndex& index, bool at_rest);

/// An ordered message depends on those that its sender had delivered or sent before, and on all that those depend on
/// (with independent flows, of those sent before, on those to the same groups):
/// whoever delivers it and one of those delivers that one first. Looked at for regular deliveries.
Violations check_causality(const History& history);

/// Equal identifiers mean equal group, cause, members and changes; a receiver is a member of the views that it gets,
/// but for that of its own leaving; who is new in, or missing from, a view is what it says has changed; its digest is
/// that of its members.
Violations check_views(const History& history);

/// The views of a group that a client gets have growing places in the order.
Violations check_local_monotonicity(const History& history);

/// A message is delivered to who is a member of one of its groups, behind a view with the receiver in it and before one
/// without; or to who is named by it.
Violations check_member_delivery(const History& history);

/// At the end of a run that has come to rest: what a client that is still connected sent to a group that it had asked
/// to join, and not asked to leave since, came back to it, unless it was sent unreliably or with self-discard, rules
/// denied it, or as many are missing as gaps account for.
Violations check_self_delivery(const History& history);

/// What a client asked for is done in the order asked: it sees itself join and leave in that order, and gets its own
/// messages between the joins and leaves between which it sent them, if it gets them; one to groups of which it asked
/// to be in none it does not get. A synchronous group is joined where its view stands, for which only messages to it
/// wait. With independent flows a message comes behind the joins and leaves of its groups that
/// were asked for before.
Violations check_request_order(const History& history);

/// Members of a synchronous group get a message of another member in the view in which it was sent: the one that its
/// sender had, or, from its answer to a request to flush on, the next one. Nobody gets a new view of such a group
/// without having answered.
Violations check_synchrony(const History& history);

/// Gaps say no more than what was lost: of the messages that were sent to the names of a gap, and that the client has
/// not got, there are as many as all its gaps say, at least.
Violations check_gaps(const History& history);

/// Clients that move together from one view of a group to the next deliver the same ordered messages to it in between,
/// and the same reliable and fifo ones between two views that the network caused. Where one has got a transitional
/// signal, it is the network's next view that says who moves together; one of a synchronous group that stands between
/// two signals is not yet that view, but who is not in its vs set has parted. Of one that was told of gaps in between,
/// as many messages may be missing as the gaps say of the group. `at_rest`: clients that are members at the end of a
/// run that has come to rest, and had the same view last, have delivered the same since.
Violations check_virtual_synchrony(const History& history, bool at_rest = false);

/// At the end of a run that has come to rest: no two clients had one private name at one time, since no other got the
/// name of one that has kept its connection.
Violations check_names(const History& history);
/// A program that goes on in a new session sends nothing twice. As long as the network is whole, what a later session
/// sends as causal, agreed or safe comes behind all that former ones have sent as fifo or more.
Violations check_moves(const History& history);

/// A safe message that a member of a group gets before a transitional signal reaches every client that was told of the
/// same view, before the next one that the network causes, unless that client leaves or closes. `at_rest`: also those
/// that were told of no view since. Nor does it have to reach one that was told of a gap in between.
Violations check_safe_delivery(const History& history, bool at_rest);

/// At the end of a run that has come to rest: who is still connected is a member of the groups that it asked to join,
/// unless that was refused, and of none that it asked to leave or that rules had it leave; and no view that such a
/// member got last has a client that is gone.
Violations check_membership(const History& history);

/// Of bulk channels.
///
/// Nobody is told twice that a channel is offered, sealed or complete, and nothing else of one before it is offered;
/// members are told behind their first view. Members that move together from one view of the group to the next are told
/// in it of the same offers, as of such as they are in time for.
/// Whoever is told that a channel is complete in one view of the daemons is told so at one place, with one list; all in
/// it have been told of the offer in time, have said before what it says of them, and are members (in a synchronous
/// group of the view that may be pending). Who is of the audience all the while is in the list.
/// `at_rest`: a channel that a client was told to be sealed is complete for it, or has ended, unless a member that was
/// told of it in time, and is of it still, has not said what came of it.
Violations check_channels(const History& history, bool at_rest);

/// Of feeds.
///
/// Who listens is told of a feed of a group that it wanted to be in, then of its packets and gaps, and last and once
/// that it is over. What it is given its source has sent, to that feed, in the order of the sequences. From the first
/// packet on each is given once or in one gap, and never both; with ordered delivery one after the other. That a feed
/// was closed by its source is true, and who has seen its own daemon through the same view from the beginning is not
/// told that it was lost. `at_rest`: members hear all feeds that are open, and no others. Where nothing disturbs the
/// run, no packet is missing, and the view of all daemons stays. Sources are never ended for what they send.
Violations check_feeds(const History& history, bool at_rest);

/// Of what bulk channels carry: what a receiver is given is what was offered, block by block, and as a whole where it
/// is done. Of what comes to one that nothing has disturbed it had to get at least about half. `at_rest`: all receivers
/// that are there have got what anybody has that gives it.
Violations check_content(const History& history, bool at_rest);

/// What daemons give each other in meshes of bulk channels: peers give what has come along the tree, as often as that
/// has, and what they are asked for.
Violations check_peers(const History& history);

/// Who reads all that comes, as it comes, is not cut off. With the policy price, by which senders slow down, it is
/// never closed as a slow receiver; with any policy no daemon ends its connection and goes on, and does not say why.
/// `at_rest`: all that clients have sent is taken or refused.
Violations check_reading(const History& history, bool at_rest);

/// Of the rules of access that daemons went by: nobody gets a message, is a member or has a name that the rules of the
/// client's daemon allowed at no moment between request and effect, or uses more than a quota leaves; what they allowed
/// all the time is not refused; and as many messages are told to be refused as were. `at_rest`: also that no client is
/// a member that may not be one in the end.
Violations check_access(const History& history, bool at_rest);

/// All of the above, and of the daemons where their histories are known, that hold at every point of a run; `at_rest`
/// adds what holds once nothing is on its way any more.
Violations check_all(const History& history, bool at_rest);

/// One violation a line.
std::string to_text(const Violations& violations);

}  // namespace spindled::checkers
