// Those of whom a member asks what it lacks.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/base/random.h"
#include "daemon/bulk/mesh/mesh_output.h"
#include "daemon/bulk/mesh/residues.h"

namespace spindled::mesh {

/// Senders are peers, of which there are some at most, and the parent in the tree. Each of them is told now and then
/// what to send, one after the other: symbols of its residues of blocks that nobody has all of, and so many fresh
/// symbols of blocks that it has all of.
class SenderSet {
 public:
  static constexpr std::size_t kPeersMax = 10;
  /// Each sender is told anew after so long.
  static constexpr Duration kInterval = 2500ms;
  /// Who has more symbols of use than these is no better: otherwise all would ask the same ones.
  static constexpr double kUsefulEnough = 64;

  enum class State : std::uint8_t { dialling, asked, sends };

  SenderSet(MeshContent& content, double symbol_bytes, Random random)
      : content_(content), symbol_bytes_(symbol_bytes), random_(random) {}

  std::size_t peers() const;
  bool has(MemberIndex member) const { return find(member) != nullptr; }
  bool is_peer(MemberIndex member) const;
  std::optional<State> state(MemberIndex member) const;
  void add_peer(MemberIndex peer);
  void set_state(Time now, MemberIndex peer, State state);
  void remove(Time now, MemberIndex member);
  void set_parent(Time now, std::optional<MemberIndex> parent);

  void holding_received(MemberIndex from, Holding holding);
  void symbol_received(MemberIndex from, SymbolId symbol, bool is_useful);
  /// Those that are still to send some of that block.
  std::vector<MemberIndex> senders_of(std::uint32_t block) const;

  /// Who is to be told anew by now.
  std::optional<MemberIndex> due(Time now) const;
  Time next_due() const;
  /// What to tell it, in no more than so many bytes of filters.
  Wants wants_for(Time now, MemberIndex sender, std::size_t filter_bytes);
  void put_off(MemberIndex sender, Time until);

  /// Of the peers that have sent for as long as this was not asked, whom to do without: one of whom more than half was
  /// useless, else the one of whom the least was useful. Counting begins anew.
  std::optional<MemberIndex> least_useful(Time before, bool only_wasteful);
  /// The peers that have sent since then or longer.
  std::vector<MemberIndex> sending_since(Time before) const;
  /// Those that have been asked before then, and have not answered.
  std::vector<MemberIndex> unanswered(Time before) const;
  /// What is here of blocks that are not complete. To make it takes time by all of these symbols.
  struct Begun {
    double symbols = 0;
    SummaryTicket ticket;
  };
  double begun_symbols() const;
  /// How many symbols of use a member has, that holds this; no more than `kUsefulEnough`. `here`: as of now.
  double usefulness(const MemberSummary& candidate, const Begun& here) const;

  /// Useful symbols a second, of all.
  double rate() const;

 private:
  struct Sender {
    MemberIndex member = 0;
    bool is_parent = false;
    State state = State::dialling;
    Time since{};
    Time due_at = kNever;
    Holding holding;
    std::uint32_t received = 0;    // symbols, ever
    std::uint32_t since_told = 0;  // symbols, since it was told what to send
    Time told_at{};
    double rate = 0;                        // symbols a second
    std::uint64_t useful = 0, useless = 0;  // lately
    struct Outstanding {
      std::uint32_t block = 0;
      std::uint32_t fresh = 0;
    };
    std::vector<Outstanding> outstanding;
    std::vector<std::uint32_t> blocks;  // of which it sends residues
  };

  const Sender* find(MemberIndex member) const;
  Sender* find(MemberIndex member) { return const_cast<Sender*>(std::as_const(*this).find(member)); }
  std::uint32_t horizon() const;
  void measure(Time now, Sender& sender);
  std::uint32_t outstanding_elsewhere(const Sender& sender, std::uint32_t block) const;

  MeshContent& content_;
  const double symbol_bytes_;
  Random random_;
  std::vector<Sender> senders_;
  Residues residues_;
  std::uint16_t salt_ = 0;
};

}  // namespace spindled::mesh
