// A stream down a tree: each participant passes on what it receives, and what a connection does not take at once is
// gone for those behind it.
#pragma once

#include "tests/sim/underlay/overlay_net.h"
#include "tests/sim/underlay/trees.h"

namespace spindled::sim::underlay {

/// Symbols of a stream, as many as come due.
class Pace {
 public:
  explicit Pace(double symbols_per_s) : per_s_(symbols_per_s) {}
  /// How many more are due; asked once a step. What was not taken stays due, for a second.
  std::uint32_t due(Duration step) {
    due_ = std::min(due_ + per_s_ * to_seconds(step), std::max(per_s_, 1.0));
    return static_cast<std::uint32_t>(due_);
  }
  void taken() { due_ -= 1; }

 private:
  double per_s_;
  double due_ = 0;
};

class TreeStream : public Dissemination {
 public:
  TreeStream(OverlayNet& net, const Tree& tree, double symbols_per_s) : net_(net), tree_(tree), pace_(symbols_per_s) {
    for (std::size_t i = 0; i < tree.children.size(); ++i) {
      for (const Participant child : tree.children[i]) net.open(static_cast<Participant>(i), child);
    }
  }
  void received(Time now, Participant at, Participant, SymbolId symbol) override {
    net_.meter().count(now, at, true, true);
    pass_on(at, symbol);
  }
  void step(Time) override {
    for (std::uint32_t due = pace_.due(OverlayNet::kStep); due > 0; --due) {
      pace_.taken();
      pass_on(tree_.root, {0, next_++});
    }
  }
  std::optional<SymbolId> next(Time, Participant, Participant) override { return std::nullopt; }

 private:
  void pass_on(Participant from, SymbolId symbol) {
    for (const Participant child : tree_.children[from]) net_.send(from, child, symbol);
  }

  OverlayNet& net_;
  const Tree& tree_;
  Pace pace_;
  std::uint32_t next_ = 0;
};

}  // namespace spindled::sim::underlay
