// Mistakes that a test build can switch on, to see whether the hunt finds them: docs/simulator.md, "Broken variants".
// Everywhere else `broken` is false at compile time, and nothing of this is left in what is built.
#pragma once

#include <cstdint>

// X(name, what the daemon then does wrong), from the ground up.
#define SPINDLE_BROKEN_VARIANTS_TABLE(X)                                                                               \
  X(outdated_frames_taken, "frames of a view before the installed one are taken for frames of that one")               \
  X(marker_kept, "what comes on a link still counts as of the installed view when another one is installed")           \
  X(lost_link_kept, "a link that was lost stays in the routes of the view, and is used when it is back")               \
  X(frozen_accepts, "a daemon that has told its state goes on accepting messages of the view that ends")               \
  X(lower_proposal_answered, "a proposal is answered although a higher one was")                                       \
  X(install_before_pushes, "a member says that it has received all as soon as it knows how much was pushed")           \
  X(safe_before_line, "safe messages are delivered as agreed ones are")                                                \
  X(ready_before_arrival, "a daemon reports to be ready up to the end of the order, whether the messages are there")   \
  X(safe_line_ignored, "at the end of a view, safe messages beyond the safe line are delivered before the signal")     \
  X(agreed_on_arrival, "agreed messages are delivered on arrival")                                                     \
  X(fifo_overtakes, "fifo messages do not wait for earlier ordered ones of their sender")                              \
  X(fifo_behind_exact, "a fifo message waits for the last ordered one before it only, not for those before that")      \
  X(stable_at_first_report, "a message counts as stable once one of its destinations has reported it")                 \
  X(push_skipped, "messages of daemons that are gone are not pushed")                                                  \
  X(fragment_not_pushed, "only the first fragment of a message is pushed")                                             \
  X(hole_ignored, "behind a hole, messages of daemons that are gone are delivered although they may depend on it")     \
  X(hole_already_passed, "a lost message counts as a hole although some member has gone past it already")              \
  X(unordered_from_self, "what was never ordered is delivered from each daemon's own messages on, not from the first") \
  X(seen_ignored, "what was never ordered is delivered origin by origin, whatever had been seen of the order")         \
  X(signal_forgotten, "the transitional signal is not delivered")                                                      \
  X(wrong_transitional_set, "whoever was in the old view counts as having come along from it")                         \
  X(horizon_of_fastest, "the horizon is as far as the fastest origin is, not the slowest")                             \
  X(join_without_subscription, "a daemon's first member of a group joins without waiting for the subscription")        \
  X(join_at_subscription, "a daemon's first member of a group joins when the subscription is ordered")                 \
  X(leave_overtakes, "a leave does not wait for the joins that its client asked for before")                           \
  X(message_overtakes_join, "a message does not wait for the joins and leaves that its sender asked for before")       \
  X(leave_at_once, "a leave is applied where it is asked for before its place in the order")                           \
  X(stale_destinations, "destinations once resolved are kept when the group table has changed")                        \
  X(id_before_known, "a message names a group by its number before all daemons can know it")                           \
  X(two_groups_twice, "a client in two of a message's groups gets it twice")                                           \
  X(early_unordered_dropped, "unordered messages that come before the group table is complete are dropped")            \
  X(lost_members_kept, "members of daemons that did not come along stay in the group table of who did")                \
  X(loss_untold, "a group that has lost members with a daemon is not told")                                            \
  X(deferred_lost, "leaves and disconnections during a view change are forgotten")                                     \
  X(announcement_missed, "the group table is built without the last announcement")                                     \
  X(vs_set_of_all, "the vs set has all members that were in the last view, wherever they come from")                   \
  X(short_view_forgotten, "who came along is asked of the last view, also where its members were never told of it")    \
  X(bundle_end_lost, "the last message of a bundle is not delivered")                                                  \
  X(services_bundled, "a message is bundled with one before it that was sent with another service")                    \
  X(slow_client_passed_over, "messages pass over a client whose connection takes nothing at the moment")               \
  X(rank_of_old_view, "a fifo message waits for the number of an ordered one of its sender in an earlier view")        \
  X(gap_counts_once, "a gap counts one message for each name")                                                         \
  X(gap_forgotten, "a gap before a view or an answer is not told")                                                     \
  X(flow_overtakes, "a message enters as soon as it can pay, also where earlier ones of its flow wait")                \
  X(partition_for_ever, "an imposed partition is not lifted when its time has passed")                                 \
  X(window_ignored, "messages enter whatever the daemon keeps of its own")                                             \
  X(queue_without_limit, "what waits for a client that does not read has no limit")                                    \
  X(discards_bundled, "a message is bundled with one before it that is not to come back to its sender")                \
  X(late_table_unsignalled, "who is told of a view when it ends already gets no signal behind it")                     \
  X(furthest_stands_still, "who was furthest in the order is taken to have stopped there as the view ended")           \
  X(told_behind_furthest, "a view that is completed as it ends goes on telling changes one by one")                    \
  X(short_view_unsignalled, "who parts in a view that nobody was told of gets no signal")                              \
  X(disconnect_forgotten, "a client whose connection has ended stays in its groups")                                   \
  X(turn_without_end, "a turn goes on whatever it has done already")                                                   \
  X(held_overtaken, "messages are delivered although some before them wait for work that is not done")                 \
  X(announced_unheard, "who builds the group table anew does not wait for what the keepers announce")                  \
  X(announced_in_part, "the group table is built when of each daemon the first part of its announcement is there")     \
  X(parts_not_repeated, "a daemon that gets a member while a message enters is not sent what went ahead of it")        \
  X(parts_left_behind, "what went ahead of a message that never comes is kept")                                        \
  X(parts_of_old_view, "what went ahead of a message is kept when the view ends, although it begins anew")

namespace spindled {

enum class Broken : std::uint8_t {
  none,
#define SPINDLE_BROKEN_VARIANT(name, text) name,
  SPINDLE_BROKEN_VARIANTS_TABLE(SPINDLE_BROKEN_VARIANT)
#undef SPINDLE_BROKEN_VARIANT
      count_
};

#ifdef SPINDLE_BROKEN_VARIANTS
/// Whether `variant` is the one switched on. The program that hunts defines it.
bool broken(Broken variant);
#else
constexpr bool broken(Broken) { return false; }
#endif

}  // namespace spindled
