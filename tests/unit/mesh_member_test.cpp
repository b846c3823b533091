// Members of the mesh with each other, without a network: what is sent arrives at once.
#include "daemon/bulk/mesh/mesh_member.h"

#include <gmock/gmock.h>

#include <deque>
#include <map>
#include <memory>
#include <set>

#include "daemon/bulk/mesh/mesh_codec.h"

namespace spindled::mesh {
namespace {

constexpr std::uint32_t kSymbols = 64;

/// A content of some blocks; any symbols that suffice in number give a block.
class Content : public MeshContent {
 public:
  explicit Content(MemberIndex self) : self_(self) {}
  std::uint32_t blocks() const override { return 4; }
  std::uint32_t first_incomplete() const override {
    std::uint32_t block = 0;
    while (is_complete(block)) ++block;
    return block;
  }
  bool is_complete(std::uint32_t block) const override { return held(block).size() >= kSymbols; }
  std::uint32_t source_symbols(std::uint32_t) const override { return kSymbols; }
  std::uint32_t lacking(std::uint32_t block) const override {
    return kSymbols - static_cast<std::uint32_t>(held(block).size());
  }
  std::span<const HeldSymbol> held(std::uint32_t block) const override {
    const auto found = held_.find(block);
    return found == held_.end() ? std::span<const HeldSymbol>() : found->second;
  }
  std::uint32_t fresh_symbol(std::uint32_t) override { return kSymbols + 100 * fresh_++ + self_; }
  Holding holding() const override {
    Holding holding;
    for (const auto& [block, symbols] : held_) {
      if (is_complete(block)) {
        holding.complete.push_back({block, block + 1});
      } else {
        holding.begun.push_back({block, static_cast<std::uint32_t>(symbols.size())});
      }
    }
    return holding;
  }
  SummaryTicket ticket() const override {
    ++tickets_made;
    SummaryTicket ticket;
    for (const SymbolId each : had_) ticket.insert(each);
    return ticket;
  }
  bool take(Time now, SymbolId symbol) {
    if (is_complete(symbol.block) || !had_.insert(symbol).second) return false;
    held_[symbol.block].push_back({symbol.esi, now});
    return true;
  }

  mutable int tickets_made = 0;

 private:
  const MemberIndex self_;
  std::uint32_t fresh_ = 0;
  std::set<SymbolId> had_;
  std::map<std::uint32_t, std::vector<HeldSymbol>> held_;
};

class Net {
 public:
  /// A root with that many children. Each takes so many symbols a second from each that sends to it.
  Net(MemberIndex children, double tree_symbols_per_s, double peer_symbols_per_s, MeshOptions options = {})
      : tree_rate_(tree_symbols_per_s), peer_rate_(peer_symbols_per_s) {
    for (MemberIndex i = 0; i <= children; ++i) nodes_.push_back(std::make_unique<Node>(*this, i, options));
    std::vector<MemberIndex> all;
    for (MemberIndex i = 1; i <= children; ++i) {
      all.push_back(i);
      connect(0, i, tree_rate_);
      nodes_[i]->member.set_place(now_, MemberIndex{0}, {});
    }
    nodes_[0]->member.set_place(now_, std::nullopt, all);
  }
  /// The root gives all blocks, as fast as its children take them.
  void run(Duration time) {
    for (const Time end = now_ + time; now_ < end;) step();
  }
  MeshMember& at(MemberIndex member) { return nodes_[member]->member; }
  Content& content(MemberIndex member) { return nodes_[member]->content; }
  void deliver(MemberIndex from, MemberIndex to, Frame frame) { nodes_[to]->member.frame_received(now_, from, frame); }
  void kill(MemberIndex member) {
    dead_.insert(member);
    for (const auto& node : nodes_) {
      if (dead_.count(node->self) == 0) node->member.lost(now_, member);
    }
  }
  Time now() const { return now_; }
  std::size_t bytes_told(MemberIndex member) const { return nodes_[member]->bytes; }

  std::map<MemberIndex, int> useless;
  std::set<MemberIndex> not_to_be_asked;

 private:
  struct Node : MeshOutput {
    Node(Net& net_, MemberIndex self_, const MeshOptions& options)
        : net(net_), self(self_), content(self_), member(self_, *this, content, Random(self_ + 1), options) {}
    bool may_ask(MemberIndex peer) const override { return net.not_to_be_asked.count(peer) == 0; }
    void dial(MemberIndex peer) override { net.dialled_.emplace_back(self, peer); }
    void close(MemberIndex peer) override {
      net.credit_.erase({self, peer});
      net.credit_.erase({peer, self});
    }
    void send(MemberIndex to, const Frame& frame) override {
      bytes += encoded_bytes(frame);
      net.frames_.push_back({self, to, frame});
    }
    bool send_symbol(MemberIndex to, SymbolId symbol) override { return net.put(self, to, symbol); }
    Net& net;
    const MemberIndex self;
    Content content;
    MeshMember member;
    std::size_t bytes = 0;
  };
  struct Credit {
    double rate = 0, symbols = 0;
  };
  struct FrameOnItsWay {
    MemberIndex from, to;
    Frame frame;
  };

  void connect(MemberIndex from, MemberIndex to, double rate) { credit_[{from, to}] = {rate, 0}; }
  bool put(MemberIndex from, MemberIndex to, SymbolId symbol) {
    const auto found = credit_.find({from, to});
    if (found == credit_.end() || found->second.symbols < 1) return false;
    found->second.symbols -= 1;
    symbols_.push_back({from, {to, symbol}});
    return true;
  }
  void step() {
    now_ += 100ms;
    for (auto& [way, each] : credit_) each.symbols = std::min(each.symbols + each.rate / 10, each.rate + 1);
    for (const auto& [from, sent] : std::exchange(symbols_, {})) {
      const auto& [to, symbol] = sent;
      if (dead_.count(from) + dead_.count(to) > 0) continue;
      Node& node = *nodes_[to];
      const bool is_useful = node.content.take(now_, symbol);
      if (!is_useful) ++useless[to];
      node.member.symbol_received(now_, from, symbol, is_useful);
      if (is_useful && node.content.is_complete(symbol.block)) node.member.block_completed(now_, symbol.block);
    }
    for (auto& each : std::exchange(frames_, {})) {
      if (dead_.count(each.from) + dead_.count(each.to) == 0) deliver(each.from, each.to, std::move(each.frame));
    }
    for (const auto& [from, to] : std::exchange(dialled_, {})) {
      if (dead_.count(to) != 0) {
        nodes_[from]->member.lost(now_, to);
        continue;
      }
      connect(to, from, peer_rate_);
      nodes_[from]->member.connected(now_, to);
    }
    Node& root = *nodes_[0];
    while (next_.block < root.content.blocks() && root.member.originate(now_, next_)) {
      root.content.take(now_, next_);
      if (++next_.esi == kSymbols) next_ = {next_.block + 1, 0};
    }
    for (const auto& node : nodes_) {
      if (dead_.count(node->self) == 0) node->member.tick(now_);
    }
    for (auto& [way, each] : credit_) {
      while (each.symbols >= 1 && dead_.count(way.first) == 0) {
        const auto symbol = nodes_[way.first]->member.next(way.second);
        if (!symbol) break;
        put(way.first, way.second, *symbol);
      }
    }
  }

  const double tree_rate_, peer_rate_;
  Time now_{};
  SymbolId next_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<std::pair<MemberIndex, MemberIndex>, Credit> credit_;
  std::vector<std::pair<MemberIndex, std::pair<MemberIndex, SymbolId>>> symbols_;
  std::vector<FrameOnItsWay> frames_;
  std::vector<std::pair<MemberIndex, MemberIndex>> dialled_;
  std::set<MemberIndex> dead_;
};

TEST(MeshMember, ChildrenGetFromEachOtherWhatTheRootGivesOthers) {
  // 256 symbols; the tree alone would take 128 s. The paper's example with A and B.
  Net net(4, 2, 10);
  net.run(60s);
  for (MemberIndex child = 1; child <= 4; ++child) {
    EXPECT_EQ(net.content(child).first_incomplete(), 4u) << child;
    EXPECT_LT(net.useless[child], 13) << child;
  }
}

TEST(MeshMember, WithoutPeersThereIsTheTree) {
  MeshOptions options;
  options.has_peers = false;
  Net net(4, 2, 10, options);
  net.run(60s);
  for (MemberIndex child = 1; child <= 4; ++child) {
    EXPECT_LT(net.content(child).first_incomplete(), 4u);
    EXPECT_EQ(net.at(child).senders().peers(), 0u);
  }
  EXPECT_EQ(net.bytes_told(0), 0u);
}

TEST(MeshMember, HasNoMorePeersThanItMay) {
  Net net(30, 2, 10);
  for (int i = 0; i < 12; ++i) {
    net.run(5s);
    for (MemberIndex member = 0; member <= 30; ++member)
      EXPECT_LE(net.at(member).senders().peers(), SenderSet::kPeersMax);
  }
  EXPECT_EQ(net.at(0).senders().peers(), 0u) << "the root lacks nothing";
}

TEST(MeshMember, ComparesAllThatItIsToldOfInAnEpochWithOneTicket) {
  Net net(12, 2, 10);
  net.run(60s);
  EXPECT_GE(net.content(3).tickets_made, 10);
  EXPECT_LE(net.content(3).tickets_made, 13) << "an epoch takes 5 s";
}

TEST(MeshMember, StaysWithinItsBudget) {
  MeshOptions options;
  options.control_bytes_per_s = 400;
  Net net(12, 2, 10, options);
  net.run(60s);
  // RanSub does not shrink; wants do.
  EXPECT_LT(net.bytes_told(3), 2 * 400u * 60);
  EXPECT_GT(net.bytes_told(3), 0u);
}

TEST(MeshMember, GoesOnWithoutAPeerThatIsGone) {
  Net net(6, 2, 10);
  net.run(20s);
  net.kill(3);
  net.run(90s);
  for (const MemberIndex child : std::vector<MemberIndex>{1, 2, 4, 5, 6}) {
    EXPECT_FALSE(net.at(child).senders().has(3));
    EXPECT_FALSE(net.at(child).receivers().has(3));
    EXPECT_EQ(net.content(child).first_incomplete(), 4u) << child;
  }
}

TEST(MeshMember, AsksNobodyWhoMayNotBeAskedThoughItGivesHimSomething) {
  Net net(4, 2, 10);
  net.not_to_be_asked = {2};
  bool is_given = false;
  for (int i = 0; i < 60; ++i) {
    net.run(1s);
    for (const MemberIndex child : std::vector<MemberIndex>{1, 3, 4}) {
      EXPECT_FALSE(net.at(child).senders().has(2)) << child;
      is_given = is_given || net.at(child).receivers().is_peer(2);
    }
  }
  EXPECT_TRUE(is_given);
}

TEST(MeshMember, TakesNothingOfWhoItHasNotAsked) {
  Net net(3, 2, 10);
  net.run(2s);
  const std::size_t before = net.bytes_told(1);
  net.deliver(2, 1, PeerAnswer{true, {{{0, 4}}, {}}, {3}});
  EXPECT_FALSE(net.at(1).senders().has(2));
  Wants wants;
  wants.residues = UINT64_MAX;
  wants.blocks.push_back({0, 1'000'000, {}});
  net.deliver(2, 1, wants);
  net.deliver(2, 1, BlockDone{UINT32_MAX});
  net.deliver(2, 1, PeerLeave{true});
  net.deliver(2, 1, PeerLeave{false});
  net.deliver(2, 1, HoldingReport{{{{0, UINT32_MAX}}, {}}});
  EXPECT_EQ(net.at(1).next(2), std::nullopt);
  EXPECT_EQ(net.bytes_told(1), before);
}

TEST(MeshMember, ALiarsHoldingCostsNothing) {
  Net net(3, 2, 10);
  net.run(12s);
  ASSERT_TRUE(net.at(1).senders().has(0));
  net.deliver(0, 1, HoldingReport{{{{0, UINT32_MAX}}, {{UINT32_MAX - 1, 7}}}});
  net.run(100s);
  EXPECT_EQ(net.content(1).first_incomplete(), 4u);
}

}  // namespace
}  // namespace spindled::mesh
