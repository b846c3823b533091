// The phases of a view change and the moves between them; `docs/architecture.md`, "Views", tells the story. What a
// daemon does in them stands in participant.h and coordinator.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace spindled {

/// Of every daemon, as a member of views:
///
///   steady ──Propose──> answered ──Commit──> recovering ──Install──> steady
///                        │    ^                   │
///                        └────┴──higher Propose───┘
///
/// There is no way back from `answered` to the old view: others may have counted on the answer.
enum class MemberPhase : std::uint8_t {
  steady,      // in an installed view, whose messages flow
  answered,    // frozen; has said what it holds of the old view; waits for the Commit
  recovering,  // has pushed what others lack; waits for what others push, says when it is there, waits for the Install
};

/// Of the one that proposes, which is a member as well:
///
///   idle ──> gathering ──all states──> collecting ──all done──> confirming ──all received──> closing ──> idle
///
/// from `collecting` straight to `closing` where nothing was pushed; `closing` ends as the view is installed here. From
/// each to `gathering` with a new proposal, or to `idle` when another's proposal wins.
enum class CoordinatorPhase : std::uint8_t {
  idle,
  gathering,   // has proposed; waits for the state of every member
  collecting,  // has committed; waits until every member has pushed
  confirming,  // has told all how much was pushed; waits until every member has received as much
  closing,     // has told all to install
};

constexpr bool may_follow(MemberPhase from, MemberPhase to) {
  switch (to) {
    case MemberPhase::steady:
      return from == MemberPhase::recovering;
    case MemberPhase::answered:
      return true;
    case MemberPhase::recovering:
      return from == MemberPhase::answered;
  }
  return false;
}

constexpr bool may_follow(CoordinatorPhase from, CoordinatorPhase to) {
  switch (to) {
    case CoordinatorPhase::idle:
      return from != CoordinatorPhase::idle;
    case CoordinatorPhase::gathering:
      return true;
    case CoordinatorPhase::collecting:
      return from == CoordinatorPhase::gathering;
    case CoordinatorPhase::confirming:
      return from == CoordinatorPhase::collecting;
    case CoordinatorPhase::closing:
      return from == CoordinatorPhase::collecting || from == CoordinatorPhase::confirming;
  }
  return false;
}

constexpr std::string_view to_string(MemberPhase phase) {
  switch (phase) {
    case MemberPhase::steady:
      return "steady";
    case MemberPhase::answered:
      return "answered";
    case MemberPhase::recovering:
      return "recovering";
  }
  return "unknown";
}

constexpr std::string_view to_string(CoordinatorPhase phase) {
  switch (phase) {
    case CoordinatorPhase::idle:
      return "idle";
    case CoordinatorPhase::gathering:
      return "gathering";
    case CoordinatorPhase::collecting:
      return "collecting";
    case CoordinatorPhase::confirming:
      return "confirming";
    case CoordinatorPhase::closing:
      return "closing";
  }
  return "unknown";
}

}  // namespace spindled
