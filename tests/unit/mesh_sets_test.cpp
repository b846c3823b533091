// The pieces of the mesh: tickets, filters, residues, disjoint send, and whom one receives of and sends to.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "daemon/bulk/mesh/disjoint_send.h"
#include "daemon/bulk/mesh/had_filter.h"
#include "daemon/bulk/mesh/receiver_set.h"
#include "daemon/bulk/mesh/residues.h"
#include "daemon/bulk/mesh/sender_set.h"
#include "daemon/bulk/mesh/summary_ticket.h"

namespace spindled::mesh {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// --- Tickets ---

TEST(SummaryTicket, TellsHowAlikeSetsAre) {
  double sum = 0;
  constexpr int kTrials = 40;
  for (std::uint32_t trial = 0; trial < kTrials; ++trial) {
    SummaryTicket a, b;
    // A third of all are in both.
    for (std::uint32_t esi = 0; esi < 200; ++esi) a.insert({trial, esi});
    for (std::uint32_t esi = 100; esi < 300; ++esi) b.insert({trial, esi});
    sum += a.resemblance(b);
  }
  EXPECT_NEAR(sum / kTrials, 1.0 / 3, 0.05);
}

TEST(SummaryTicket, OfTheSameSetIsTheSameInAnyOrder) {
  SummaryTicket a, b;
  for (std::uint32_t esi = 0; esi < 50; ++esi) {
    a.insert({1, esi});
    b.insert({1, 49 - esi});
  }
  EXPECT_EQ(a.resemblance(b), 1);
  EXPECT_EQ(a.minima(), b.minima());
  SummaryTicket other;
  for (std::uint32_t esi = 0; esi < 50; ++esi) other.insert({2, esi});
  EXPECT_LT(a.resemblance(other), 0.1);
  EXPECT_EQ(SummaryTicket().resemblance(SummaryTicket()), 0);
}

TEST(SummaryTicket, MergesAsIfAllWereInserted) {
  SummaryTicket a, b, both;
  for (std::uint32_t esi = 0; esi < 40; ++esi) {
    (esi % 2 == 0 ? a : b).insert({0, esi});
    both.insert({0, esi});
  }
  a.merge(b);
  EXPECT_EQ(a.minima(), both.minima());
}

// --- Filters ---

TEST(HadFilter, HasWhatWasInserted) {
  HadFilter filter(100, 7);
  for (std::uint32_t esi = 0; esi < 100; ++esi) filter.insert(esi * 37);
  for (std::uint32_t esi = 0; esi < 100; ++esi) EXPECT_TRUE(filter.has(esi * 37));
  EXPECT_EQ(filter.bits().size(), 100u);
}

TEST(HadFilter, SeemsToHaveTwoOfAHundredOthers) {
  HadFilter filter(500, 7);
  for (std::uint32_t esi = 0; esi < 500; ++esi) filter.insert(esi);
  int seeming = 0;
  for (std::uint32_t esi = 10'000; esi < 20'000; ++esi) seeming += filter.has(esi) ? 1 : 0;
  EXPECT_NEAR(seeming, 220, 80);
}

TEST(HadFilter, SeemsToHaveOthersWithAnotherSalt) {
  const auto seeming = [](std::uint16_t salt) {
    HadFilter filter(200, salt);
    for (std::uint32_t esi = 0; esi < 200; ++esi) filter.insert(esi);
    std::set<std::uint32_t> found;
    for (std::uint32_t esi = 1'000; esi < 6'000; ++esi) {
      if (filter.has(esi)) found.insert(esi);
    }
    return found;
  };
  const auto first = seeming(1), second = seeming(2);
  std::vector<std::uint32_t> both;
  std::set_intersection(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(both));
  EXPECT_GT(first.size(), 50u);
  EXPECT_LT(both.size(), first.size() / 4);
}

TEST(HadFilter, StaysBelowItsBound) {
  EXPECT_EQ(HadFilter(1'000'000, 0).bits().size(), HadFilter::kBytesMax);
  EXPECT_EQ(HadFilter(1'000, 0, 100).bits().size(), 100u);
  EXPECT_FALSE(HadFilter().has(3));
  EXPECT_FALSE(HadFilter(std::vector<std::uint8_t>(), 3).has(3));
}

// --- Residues ---

TEST(Residues, AreOneSendersEach) {
  Residues residues;
  std::map<MemberIndex, std::uint64_t> has;
  Time now{};
  for (int round = 0; round < 200; ++round, now += 250ms) {
    const auto sender = static_cast<MemberIndex>(round % 7);
    has[sender] = residues.renew(now, sender, 12);
    std::uint64_t seen = 0;
    for (const auto& [member, bits] : has) {
      EXPECT_EQ(seen & bits, 0u);
      seen |= bits;
    }
  }
}

TEST(Residues, MoveFromSenderToSender) {
  Residues residues;
  std::map<MemberIndex, std::uint64_t> ever;
  Time now{};
  for (int round = 0; round < 200; ++round, now += 250ms) {
    const auto sender = static_cast<MemberIndex>(round % 5);
    ever[sender] |= residues.renew(now, sender, 15);
  }
  for (const auto& [sender, bits] : ever) EXPECT_EQ(bits, UINT64_MAX) << sender;
}

TEST(Residues, RestBeforeTheyAreAnothers) {
  Residues residues;
  EXPECT_EQ(residues.renew(Time(1s), 1, kResidues), UINT64_MAX);
  residues.give_back(Time(2s), 1);
  EXPECT_EQ(residues.renew(Time(2s) + Residues::kRest - 1ms, 2, kResidues), 0u);
  EXPECT_EQ(residues.renew(Time(2s) + Residues::kRest, 2, kResidues), UINT64_MAX);
}

TEST(Residues, AreAllOfTheOnlySender) {
  Residues residues;
  std::uint64_t had = 0;
  for (int round = 0; round < 4; ++round) had = residues.renew(Time(1s * round), 1, kResidues);
  EXPECT_GE(std::popcount(had), 32);
}

// --- Disjoint send ---

class Children {
 public:
  /// So many symbols each child takes in a round.
  explicit Children(std::map<MemberIndex, double> room) : room_(std::move(room)) {
    std::vector<MemberIndex> members;
    for (const auto& [member, each] : room_) members.push_back(member);
    send.set_children(members);
  }
  void rounds(int count, int symbols) {
    for (int round = 0; round < count; ++round) {
      for (auto& [member, each] : room_) credit_[member] = std::min(credit_[member] + each, each + 1);
      for (int i = 0; i < symbols; ++i) {
        const int symbol = next_++;
        const bool is_taken = send.send([&](MemberIndex child) {
          if (credit_[child] < 1) return false;
          credit_[child] -= 1;
          taken[child].insert(symbol);
          return true;
        });
        if (!is_taken) ++without;
      }
    }
  }
  DisjointSend send;
  std::map<MemberIndex, std::set<int>> taken;
  int without = 0;

 private:
  std::map<MemberIndex, double> room_;
  std::map<MemberIndex, double> credit_;
  int next_ = 0;
};

TEST(DisjointSend, GivesAllToWhoHasRoomForAll) {
  Children children({{1, 10}, {2, 10}});
  children.rounds(100, 5);
  EXPECT_EQ(children.taken[1].size(), 500u);
  EXPECT_EQ(children.taken[2].size(), 500u);
  EXPECT_EQ(children.without, 0);
}

TEST(DisjointSend, GivesDifferentOnesWhereRoomIsShort) {
  Children children({{1, 2}, {2, 2}});
  children.rounds(400, 4);
  // Both together have just enough room for all.
  std::set<int> both = children.taken[1];
  both.insert(children.taken[2].begin(), children.taken[2].end());
  EXPECT_GT(both.size(), 0.9 * 1'600);
  EXPECT_LT(children.send.limiting_factor(1), 0.2);
}

TEST(DisjointSend, GivesByDescendants) {
  DisjointSend send;
  send.set_children({1, 2});
  send.begin_epoch([](MemberIndex child) { return child == 1 ? 30 : 10; });
  std::map<MemberIndex, int> owned;
  for (int i = 0; i < 1'000; ++i) {
    bool is_owned = false;
    send.send([&](MemberIndex child) {
      // The owner is offered it first.
      owned[child] += is_owned ? 0 : 1;
      is_owned = true;
      return true;
    });
  }
  EXPECT_NEAR(owned[1], 750, 2);
  EXPECT_NEAR(owned[2], 250, 2);
}

TEST(DisjointSend, AnotherChildStandsIn) {
  Children children({{1, 0}, {2, 5}});
  children.send.begin_epoch([](MemberIndex child) { return child == 1 ? 90 : 1; });
  children.rounds(50, 4);
  EXPECT_EQ(children.without, 0);
  EXPECT_EQ(children.taken[2].size(), 200u);
}

TEST(DisjointSend, WithoutChildrenNobodyTakesAnything) {
  DisjointSend send;
  EXPECT_FALSE(send.send([](MemberIndex) { return true; }));
}

// --- Receivers and senders ---

class Content : public MeshContent {
 public:
  static constexpr std::uint32_t kSymbols = 100;
  std::uint32_t blocks() const override { return 10; }
  std::uint32_t first_incomplete() const override { return complete; }
  bool is_complete(std::uint32_t block) const override { return block < complete; }
  std::uint32_t source_symbols(std::uint32_t) const override { return kSymbols; }
  std::uint32_t lacking(std::uint32_t block) const override {
    return kSymbols - static_cast<std::uint32_t>(held(block).size());
  }
  std::span<const HeldSymbol> held(std::uint32_t block) const override {
    const auto found = begun.find(block);
    return found == begun.end() ? std::span<const HeldSymbol>() : found->second;
  }
  std::uint32_t fresh_symbol(std::uint32_t) override { return kSymbols + fresh++; }
  Holding holding() const override {
    Holding holding;
    if (complete > 0) holding.complete.push_back({0, complete});
    for (const auto& [block, symbols] : begun) {
      holding.begun.push_back({block, static_cast<std::uint32_t>(symbols.size())});
    }
    return holding;
  }
  SummaryTicket ticket() const override {
    SummaryTicket ticket;
    for (const auto& [block, symbols] : begun) {
      for (const HeldSymbol& symbol : symbols) ticket.insert({block, symbol.esi});
    }
    return ticket;
  }
  void hold(std::uint32_t block, std::uint32_t first, std::uint32_t end, Time since = {}) {
    for (std::uint32_t esi = first; esi < end; ++esi) begun[block].push_back({esi, since});
  }

  std::uint32_t complete = 0;
  std::uint32_t fresh = 0;
  std::map<std::uint32_t, std::vector<HeldSymbol>> begun;
};

std::vector<SymbolId> all_of(ReceiverSet& receivers, MemberIndex to) {
  std::vector<SymbolId> symbols;
  while (const auto symbol = receivers.next(to)) symbols.push_back(*symbol);
  return symbols;
}

TEST(ReceiverSet, SendsOfItsResiduesWhatIsLacking) {
  Content content;
  content.hold(0, 0, 100);
  ReceiverSet receivers(content, Random(1));
  receivers.add_peer(Time(1s), 5);
  Wants wants;
  wants.residues = 0b1010;
  BlockWant& want = wants.blocks.emplace_back();
  want.had = HadFilter(4, 1);
  want.had.insert(1);
  receivers.wants_received(Time(10s), 5, wants);
  std::set<std::uint32_t> sent;
  for (const SymbolId symbol : all_of(receivers, 5)) sent.insert(symbol.esi);
  // Those that are 1 or 3 above a multiple of 64.
  EXPECT_THAT(sent, ElementsAre(3, 65, 67));
  EXPECT_THAT(all_of(receivers, 6), IsEmpty());
}

TEST(ReceiverSet, KeepsBackWhatHasJustCome) {
  Content content;
  content.hold(0, 0, 10, Time(1s));
  content.hold(0, 10, 20, Time(9'500ms));
  ReceiverSet receivers(content, Random(1));
  receivers.add_peer(Time(1s), 5);
  Wants wants;
  wants.residues = UINT64_MAX;
  wants.blocks.emplace_back();
  receivers.wants_received(Time(10s), 5, wants);
  EXPECT_EQ(all_of(receivers, 5).size(), 10u);
}

TEST(ReceiverSet, DoesNotRepeatWhatIsUnderWay) {
  Content content;
  content.hold(0, 0, 10);
  ReceiverSet receivers(content, Random(1));
  receivers.add_peer(Time(1s), 5);
  Wants wants;
  wants.residues = UINT64_MAX;
  wants.blocks.emplace_back();
  receivers.wants_received(Time(10s), 5, wants);
  ASSERT_TRUE(receivers.next(5) && receivers.next(5));
  // It has said so before these two came.
  receivers.wants_received(Time(11s), 5, wants);
  EXPECT_EQ(all_of(receivers, 5).size(), 8u);
  // All ten have come, and the filter does not know of them: they were of no use.
  wants.received = 10;
  receivers.wants_received(Time(12s), 5, wants);
  EXPECT_EQ(all_of(receivers, 5).size(), 10u);
}

TEST(ReceiverSet, GivesFreshSymbolsOfCompleteBlocks) {
  Content content;
  content.complete = 2;
  ReceiverSet receivers(content, Random(1));
  receivers.add_peer(Time(1s), 5);
  Wants wants;
  wants.blocks.push_back({1, 3, {}});
  wants.blocks.push_back({4, 3, {}});
  wants.blocks.push_back({4'000'000, 3, {}});
  receivers.wants_received(Time(10s), 5, wants);
  EXPECT_THAT(all_of(receivers, 5), ElementsAre(SymbolId{1, 100}, SymbolId{1, 101}, SymbolId{1, 102}));
  // Who has nothing of it is given source symbols.
  wants.blocks = {{0, Content::kSymbols, {}}};
  receivers.wants_received(Time(10s), 5, wants);
  const auto sent = all_of(receivers, 5);
  ASSERT_EQ(sent.size(), Content::kSymbols);
  for (std::uint32_t esi = 0; esi < Content::kSymbols; ++esi) EXPECT_EQ(sent[esi], (SymbolId{0, esi}));
}

TEST(ReceiverSet, StopsWhenABlockIsDone) {
  Content content;
  content.complete = 1;
  content.hold(1, 0, 10);
  ReceiverSet receivers(content, Random(1));
  receivers.add_peer(Time(1s), 5);
  Wants wants;
  wants.residues = UINT64_MAX;
  wants.blocks.push_back({0, 3, {}});
  wants.blocks.push_back({1, 0, {}});
  receivers.wants_received(Time(10s), 5, wants);
  receivers.block_done(5, 0);
  receivers.block_done(5, 1);
  EXPECT_THAT(all_of(receivers, 5), IsEmpty());
  EXPECT_TRUE(receivers.lacks_nothing_of(5, 1));
  EXPECT_FALSE(receivers.lacks_nothing_of(5, 2));
}

TEST(ReceiverSet, DropsWhoGainsLeast) {
  Content content;
  content.complete = 10;
  ReceiverSet receivers(content, Random(1));
  for (MemberIndex peer = 1; peer <= ReceiverSet::kPeersMax; ++peer) {
    EXPECT_TRUE(receivers.has_room());
    receivers.add_peer(Time(1s), peer);
    Wants wants;
    wants.bytes_per_s = 1'000;
    wants.blocks.push_back({0, peer == 4 ? 1u : 20u, {}});
    receivers.wants_received(Time(2s), peer, wants);
    all_of(receivers, peer);
  }
  EXPECT_FALSE(receivers.has_room());
  EXPECT_EQ(receivers.least_benefiting(Time(0s)), std::nullopt) << "all are on trial";
  for (MemberIndex peer = 1; peer <= ReceiverSet::kPeersMax; ++peer) {
    for (int i = 0; i < (peer == 7 ? 1 : 5); ++i) receivers.pushed(peer, {0, 0});
  }
  EXPECT_EQ(receivers.least_benefiting(Time(30s)), 7);
  receivers.remove(7);
  EXPECT_EQ(receivers.least_benefiting(Time(30s)), std::nullopt) << "there is room";
}

SenderSet with_senders(Content& content, int count) {
  SenderSet senders(content, 1'000, Random(1));
  for (int i = 1; i <= count; ++i) {
    senders.add_peer(static_cast<MemberIndex>(i));
    senders.set_state(Time(1s), static_cast<MemberIndex>(i), SenderSet::State::sends);
  }
  return senders;
}

TEST(SenderSet, AsksEachForOtherResidues) {
  Content content;
  content.hold(0, 0, 50);
  SenderSet senders = with_senders(content, 3);
  Holding theirs;
  theirs.begun.push_back({0, 70});
  std::uint64_t seen = 0;
  for (MemberIndex member = 1; member <= 3; ++member) {
    senders.holding_received(member, theirs);
    const Wants wants = senders.wants_for(Time(2s), member, 10'000);
    EXPECT_EQ(wants.residues & seen, 0u);
    seen |= wants.residues;
    ASSERT_EQ(wants.blocks.size(), 1u);
    EXPECT_EQ(wants.blocks[0].fresh, 0u);
    for (std::uint32_t esi = 0; esi < 50; ++esi) {
      EXPECT_TRUE((wants.residues >> residue_of(esi) & 1) == 0 || wants.blocks[0].had.has(esi));
    }
  }
}

TEST(SenderSet, AsksForNoMoreFreshSymbolsThanItLacks) {
  Content content;
  content.hold(0, 0, 90);
  SenderSet senders = with_senders(content, 2);
  Holding theirs;
  theirs.complete.push_back({0, 1});
  std::uint32_t asked = 0;
  for (MemberIndex member = 1; member <= 2; ++member) {
    senders.holding_received(member, theirs);
    for (const BlockWant& want : senders.wants_for(Time(2s), member, 10'000).blocks) asked += want.fresh;
  }
  EXPECT_EQ(asked, 10u);
  EXPECT_THAT(senders.senders_of(0), ::testing::Not(IsEmpty()));
}

TEST(SenderSet, FiltersFitIntoWhatMayBeTold) {
  Content content;
  for (std::uint32_t block = 0; block < 8; ++block) content.hold(block, 0, 90);
  SenderSet senders = with_senders(content, 1);
  std::size_t bytes = 0;
  for (const BlockWant& want : senders.wants_for(Time(2s), 1, 200).blocks) bytes += want.had.bits().size();
  EXPECT_GT(bytes, 100u);
  EXPECT_LE(bytes, 208u);
}

TEST(SenderSet, DoesWithoutWhoIsOfNoUse) {
  Content content;
  SenderSet senders = with_senders(content, 3);
  for (int i = 0; i < 10; ++i) {
    senders.symbol_received(1, {0, 0}, true);
    senders.symbol_received(2, {0, 0}, i < 4);
    if (i < 2) senders.symbol_received(3, {0, 0}, true);
  }
  EXPECT_EQ(senders.least_useful(Time(0s), false), std::nullopt) << "all are on trial";
  for (int i = 0; i < 10; ++i) {
    senders.symbol_received(1, {0, 0}, true);
    senders.symbol_received(2, {0, 0}, i < 4);
    if (i < 2) senders.symbol_received(3, {0, 0}, true);
  }
  EXPECT_EQ(senders.least_useful(Time(9s), false), 2) << "more than half was useless";
  senders.symbol_received(1, {0, 0}, true);
  senders.symbol_received(2, {0, 0}, true);
  EXPECT_EQ(senders.least_useful(Time(9s), true), std::nullopt);
  senders.symbol_received(1, {0, 0}, true);
  senders.symbol_received(2, {0, 0}, true);
  EXPECT_EQ(senders.least_useful(Time(9s), false), 3);
}

TEST(SenderSet, PrefersWhoHasWhatItLacks) {
  Content content;
  content.hold(0, 0, 50);
  const SenderSet senders(content, 1'000, Random(1));
  Content same = content, other, complete;
  other.hold(0, 50, 100);
  complete.complete = 1;
  const SenderSet::Begun here{senders.begun_symbols(), content.ticket()};
  EXPECT_EQ(here.symbols, 50);
  const auto usefulness = [&](const Content& each) {
    return senders.usefulness({1, true, each.holding(), each.ticket()}, here);
  };
  EXPECT_EQ(usefulness(same), 0);
  EXPECT_GT(usefulness(other), 40);
  EXPECT_EQ(usefulness(complete), 50);
  // What a liar says costs no more time than there are blocks.
  EXPECT_EQ(senders.usefulness({1, true, {{}, {{UINT32_MAX - 1, 5}}}, {}}, here), 0);
  EXPECT_EQ(senders.usefulness({1, true, {{{0, UINT32_MAX}}, {}}, {}}, here), SenderSet::kUsefulEnough);
}

}  // namespace
}  // namespace spindled::mesh
