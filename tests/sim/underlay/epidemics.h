// The epidemic ways to disseminate content that the paper has beside its mesh (section 4.4). All know all others.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "daemon/base/random.h"
#include "daemon/bulk/mesh/had_filter.h"
#include "tests/sim/underlay/tree_stream.h"

namespace spindled::sim::underlay {

/// Symbols of a stream by number, of which the last ones are remembered.
class RecentSymbols {
 public:
  /// Whether it is new.
  bool insert(std::uint32_t number);
  bool has(std::uint32_t number) const;
  std::uint32_t end() const { return end_; }
  /// Below that it remembers nothing.
  std::uint32_t begin() const { return end_ > kWindow ? end_ - kWindow : 0; }

  static constexpr std::uint32_t kWindow = 4'096;

 private:
  std::vector<bool> had_ = std::vector<bool>(kWindow);
  std::uint32_t end_ = 0;
};

struct EpidemicSettings {
  std::uint64_t seed = 1;
  double symbols_per_s = 0;
  std::size_t peers = 5;
  /// Peers are drawn anew after so long, which gives connections the time to find their rates.
  Duration epoch = 20s;
};

/// Each participant passes on what it receives for the first time, at once, to the peers that it has drawn.
class Gossip : public Dissemination {
 public:
  Gossip(OverlayNet& net, Participant root, std::size_t participants, const EpidemicSettings& settings);

  void received(Time now, Participant at, Participant from, SymbolId symbol) override;
  void step(Time now) override;
  std::optional<SymbolId> next(Time, Participant, Participant) override { return std::nullopt; }

 private:
  void draw_peers(Participant participant);
  void pass_on(Participant from, SymbolId symbol);

  OverlayNet& net_;
  const Participant root_;
  const EpidemicSettings settings_;
  Random random_;
  Pace pace_;
  Time drawn_at_{};
  std::uint32_t next_ = 0;
  std::vector<std::vector<Participant>> peers_;
  std::vector<RecentSymbols> had_;
};

/// A stream down a tree, and what is missing from others: in each epoch a participant sends a filter of what it has to
/// some that it draws, and each of these sends it what is not in there, the oldest first.
class AntiEntropy : public Dissemination {
 public:
  AntiEntropy(OverlayNet& net, const Tree& tree, const EpidemicSettings& settings);

  void received(Time now, Participant at, Participant from, SymbolId symbol) override;
  void step(Time now) override;
  std::optional<SymbolId> next(Time now, Participant from, Participant to) override;

 private:
  struct Owed {
    Participant to;
    std::deque<std::uint32_t> symbols;
  };
  void pass_on(Participant from, SymbolId symbol);
  void ask(Participant participant);

  OverlayNet& net_;
  const Tree& tree_;
  const EpidemicSettings settings_;
  Random random_;
  Pace pace_;
  Time asked_at_{};
  std::uint32_t next_ = 0;
  std::uint16_t salt_ = 0;
  std::vector<RecentSymbols> had_;
  std::vector<std::vector<Owed>> owed_;  // by whom
};

}  // namespace spindled::sim::underlay
