// What this daemon and the sequencer say to each other.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "daemon/order/order_state.h"
#include "daemon/order/ready_line.h"
#include "daemon/order/sequencer.h"

namespace spindled {

/// Every daemon reports its ordered messages to the sequencer, in runs, with how far it has been through the order
/// (RunReport). The sequencer appends them to the order and tells all (OrderRecord); that puts the order in this
/// daemon's OrderLog. Both are messages of their sender's stream: recovery brings them like any other. Where this
/// daemon is the sequencer, a Sequencer collects what all report, and this daemon's own runs go there without a
/// message.
///
/// An order record carries two lines beside the order. The horizon is the position that all origins had been through
/// when they sent what is ordered from here on. The safe line is the position up to which every member has what is
/// addressed to it: a safe message is delivered once the line has reached it. Members say so up to where they are ready
/// (ReadyLine) with the frame Ready, and only while safe messages wait.
///
/// Order of calls: `restart` with each view. What is sent and what comes in is noted at once. At the end of a turn,
/// `begin_round`, then `next_message` until there is none; all of it once more where the layers above have sent
/// something in answer; `send_ready_line` in the end.
class Sequencing {
 public:
  explicit Sequencing(OrderState& state) : state_(state) {}

  /// A new view.
  void restart();

  // What comes in.

  /// A message of class `order`.
  void take(const Delivery& message);
  /// To the sequencer: a member is ready up to some position.
  void take_ready(const Ready& ready);

  // What is to be sent.

  /// This daemon has originated message `number`, which is to be ordered.
  void note_sent(bool safe, std::uint64_t number, const MemberSet& destinations) {
    append_message(unreported_, state_.view.self, safe, number, destinations);
  }
  /// Progress through the order is reported even where there are no runs to report.
  void want_progress() { progress_wanted_ = true; }
  bool has_unreported() const { return !unreported_.empty(); }

  /// The sequencer's own share goes in.
  void begin_round();
  /// The content of the next message of class `order`, a run report or an order record, and where it goes.
  std::optional<std::vector<std::uint8_t>> next_message();
  const MemberSet& destinations() const { return destinations_; }
  void send_ready_line();

  // What the order records have said.

  std::uint64_t safe_line() const { return safe_line_; }
  std::uint64_t horizon() const { return horizon_; }
  /// Whether the horizon has advanced since the last call.
  bool take_horizon_news() { return std::exchange(handed_up_horizon_, horizon_) != horizon_; }

 private:
  std::uint64_t ready_line();

  OrderState& state_;
  MemberSet destinations_;              // of order messages: all for the sequencer, the sequencer for all others
  std::optional<Sequencer> sequencer_;  // where this daemon is the sequencer
  std::vector<Run> unreported_;         // own ordered messages that the sequencer has yet to hear of
  bool progress_wanted_ = false;
  std::uint64_t horizon_ = 0;
  std::uint64_t handed_up_horizon_ = 0;
  std::uint64_t safe_line_ = 0;
  ReadyLine ready_line_;
  std::uint64_t told_ready_ = 0;  // to the sequencer
};

}  // namespace spindled
