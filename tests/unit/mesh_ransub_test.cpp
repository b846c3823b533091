// RanSub: whom members hear of, and who is waited for.
#include "daemon/bulk/mesh/ransub.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>

#include "daemon/bulk/mesh/mesh_codec.h"
#include "libclient/common/framing.h"

namespace spindled::mesh {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Sample sample_of(std::uint32_t population, std::vector<MemberIndex> members) {
  Sample sample;
  sample.population = population;
  for (const MemberIndex member : members) {
    MemberSummary& entry = sample.entries.emplace_back();
    entry.member = member;
  }
  return sample;
}

TEST(Compact, KeepsAllWhereTheyFit) {
  Random random(1);
  const Sample a = sample_of(2, {1, 2}), b = sample_of(1, {3}), nobody;
  const Sample all = compact(random, std::vector<const Sample*>{&a, &b, &nobody}, 10);
  EXPECT_EQ(all.population, 3u);
  std::set<MemberIndex> members;
  for (const MemberSummary& entry : all.entries) members.insert(entry.member);
  EXPECT_THAT(members, ::testing::ElementsAre(1, 2, 3));
}

TEST(Compact, DrawsByPopulationAndNotByEntries) {
  Random random(1);
  // Nine of ten members are behind the second one, though both have as many entries.
  const Sample few = sample_of(10, {1, 2, 3, 4, 5}), many = sample_of(90, {11, 12, 13, 14, 15});
  std::map<bool, int> drawn;
  for (int i = 0; i < 4'000; ++i) {
    const Sample one = compact(random, std::vector<const Sample*>{&few, &many}, 1);
    ASSERT_THAT(one.entries, SizeIs(1));
    EXPECT_EQ(one.population, 100u);
    ++drawn[one.entries[0].member > 10];
  }
  EXPECT_NEAR(drawn[true], 3'600, 100);
}

TEST(Compact, HasNoMoreThanAllDaemonsThatThereMayBe) {
  Random random(1);
  const Sample own = sample_of(1, {1}), false_one = sample_of(kMembersMax, {2});
  const Sample all = compact(random, std::vector<const Sample*>{&own, &false_one, &false_one}, 10);
  EXPECT_EQ(all.population, kMembersMax);
  std::vector<std::uint8_t> frame;
  write_frame(frame, {}, Collect{1, all});
  EXPECT_TRUE(read_frame(FrameType::collect, ByteView(frame).subspan(spindle::kFrameHeadBytes))) << "by its parent";
}

TEST(Compact, NamesNobodyTwice) {
  Random random(1);
  const Sample a = sample_of(1'000, {1, 2, 3}), b = sample_of(3, {4, 5, 6});
  for (int i = 0; i < 100; ++i) {
    const Sample all = compact(random, std::vector<const Sample*>{&a, &b}, 6);
    std::set<MemberIndex> members;
    for (const MemberSummary& entry : all.entries) members.insert(entry.member);
    EXPECT_EQ(members.size(), all.entries.size());
  }
}

/// Members in a tree that are told each other's messages at once, but those of who is dead.
class Net {
 public:
  explicit Net(std::map<MemberIndex, MemberIndex> parents, RanSub::Options options = {})
      : parents_(std::move(parents)) {
    std::set<MemberIndex> all{0};
    for (const auto& [child, parent] : parents_) all.insert(child);
    for (const MemberIndex member : all) nodes_.emplace(member, std::make_unique<Node>(*this, member, options));
    for (const MemberIndex member : all) place(member);
  }
  void run(Duration time) {
    const Time end = now_ + time;
    while (true) {
      deliver();
      Time next = kNever;
      for (const auto& [member, node] : nodes_) {
        if (dead.count(member) == 0) next = std::min(next, node->ransub.next_deadline());
      }
      if (next > end) break;
      now_ = std::max(now_, next);
      for (const auto& [member, node] : nodes_) {
        if (dead.count(member) == 0) node->ransub.tick(now_);
      }
    }
    now_ = end;
  }
  RanSub& at(MemberIndex member) { return nodes_.at(member)->ransub; }
  /// Those that a member was told of, epoch by epoch.
  const std::vector<std::set<MemberIndex>>& told(MemberIndex member) const { return nodes_.at(member)->told; }
  bool is_below(MemberIndex member, MemberIndex above) const {
    while (member != 0) {
      if (member == above) return true;
      member = parents_.at(member);
    }
    return above == 0;
  }

  std::set<MemberIndex> dead;
  std::size_t summaries_to_tell = 1'000;

 private:
  struct Node : RanSubOutput {
    Node(Net& net_, MemberIndex self_, RanSub::Options options)
        : net(net_), self(self_), ransub(*this, Random(self_ + 1), options) {}
    void send_collect(MemberIndex parent, Collect collect) override {
      net.sent_.push_back({self, parent, std::move(collect)});
    }
    void send_distribute(MemberIndex child, Distribute distribute) override {
      net.sent_.push_back({self, child, std::move(distribute)});
    }
    MemberSummary own_summary() override { return {self, true, {}, {}}; }
    std::size_t summaries_to_tell() override { return net.summaries_to_tell; }
    void distributed(std::uint32_t, const Sample& sample) override {
      auto& members = told.emplace_back();
      for (const MemberSummary& entry : sample.entries) members.insert(entry.member);
    }
    Net& net;
    const MemberIndex self;
    std::vector<std::set<MemberIndex>> told;
    RanSub ransub;
  };
  struct Sent {
    MemberIndex from, to;
    std::variant<Collect, Distribute> message;
  };

  void place(MemberIndex member) {
    std::vector<MemberIndex> children;
    for (const auto& [child, parent] : parents_) {
      if (parent == member) children.push_back(child);
    }
    const auto parent = parents_.find(member);
    at(member).set_place(now_, parent == parents_.end() ? std::nullopt : std::optional(parent->second), children);
  }
  void deliver() {
    while (!sent_.empty()) {
      Sent sent = std::move(sent_.front());
      sent_.pop_front();
      if (dead.count(sent.to) != 0) continue;
      if (auto* collect = std::get_if<Collect>(&sent.message)) {
        at(sent.to).collect_received(now_, sent.from, std::move(*collect));
      } else {
        at(sent.to).distribute_received(now_, sent.from, std::move(std::get<Distribute>(sent.message)));
      }
    }
  }

  std::map<MemberIndex, MemberIndex> parents_;
  std::map<MemberIndex, std::unique_ptr<Node>> nodes_;
  std::deque<Sent> sent_;
  Time now_{};
};

/// 40 members, of which each has three children.
std::map<MemberIndex, MemberIndex> threes(MemberIndex count = 40) {
  std::map<MemberIndex, MemberIndex> parents;
  for (MemberIndex i = 1; i < count; ++i) parents[i] = static_cast<MemberIndex>((i - 1) / 3);
  return parents;
}

TEST(RanSub, TellsOfAllButDescendants) {
  Net net(threes());
  net.run(300s);
  for (const MemberIndex member : std::vector<MemberIndex>{0, 1, 5, 20}) {
    const auto& told = net.told(member);
    ASSERT_GE(told.size(), 60u);
    std::map<MemberIndex, int> counts;
    for (const auto& members : told) {
      EXPECT_LE(members.size(), 10u);
      for (const MemberIndex each : members) {
        EXPECT_FALSE(net.is_below(each, member)) << each << " at " << member;
        ++counts[each];
      }
    }
    if (member == 0) {
      EXPECT_THAT(counts, IsEmpty()) << "all are below the root";
    } else {
      for (MemberIndex other = 0; other < 40; ++other) {
        EXPECT_TRUE(net.is_below(other, member) || counts[other] > 0) << other << " at " << member;
      }
    }
  }
}

TEST(RanSub, ChildrenOfAMemberWithManyShareWhatMayBeTold) {
  std::map<MemberIndex, MemberIndex> star;
  for (MemberIndex i = 1; i <= 17; ++i) star[i] = 0;
  Net net(star);
  net.summaries_to_tell = 26;
  net.run(500s);
  for (MemberIndex member = 1; member <= 17; ++member) {
    const auto& told = net.told(member);
    ASSERT_GE(told.size(), 100u);
    std::set<MemberIndex> heard_of;
    std::size_t all = 0;
    for (const auto& members : told) {
      EXPECT_THAT(members.size(), ::testing::AnyOf(1u, 2u));
      heard_of.insert(members.begin(), members.end());
      all += members.size();
    }
    EXPECT_THAT(heard_of, SizeIs(17)) << "all but itself";
    EXPECT_NEAR(static_cast<double>(all), 26.0 / 17 * static_cast<double>(told.size()), 3);
  }
  Net few(star);
  few.summaries_to_tell = 3;
  few.run(500s);
  EXPECT_GE(few.at(17).epoch(), 100u) << "epochs go on also where it hears of nobody";
  EXPECT_GT(std::count_if(few.told(17).begin(), few.told(17).end(), [](const auto& each) { return !each.empty(); }),
            10);
}

TEST(RanSub, AllAreAlikeLikely) {
  Net net(threes());
  net.run(5'000s);
  std::map<MemberIndex, int> counts;
  const auto& told = net.told(20);
  for (const auto& members : told) {
    for (const MemberIndex each : members) ++counts[each];
  }
  const double expected = 10.0 / 39 * static_cast<double>(told.size());
  for (const auto& [member, count] : counts) EXPECT_NEAR(count, expected, 0.3 * expected) << member;
}

TEST(RanSub, CountsDescendants) {
  Net net(threes());
  net.run(6s);
  EXPECT_EQ(net.at(0).descendants(1), 13u);
  EXPECT_EQ(net.at(1).descendants(4), 4u);
  EXPECT_EQ(net.at(4).descendants(13), 1u);
}

TEST(RanSub, AnEpochTakesFiveSeconds) {
  Net net(threes());
  net.run(51s);
  EXPECT_EQ(net.at(0).epoch(), 11u);
  EXPECT_EQ(net.at(39).epoch(), 11u);
}

TEST(RanSub, WaitsOnceForAChildThatIsSilent) {
  Net net(threes());
  net.run(21s);
  EXPECT_EQ(net.at(0).epoch(), 5u);
  net.dead.insert(1);
  net.run(50s);
  // The others miss nothing, as its parent waits no longer than an epoch lasts.
  EXPECT_EQ(net.at(0).epoch(), 15u);
  EXPECT_EQ(net.at(2).epoch(), 15u);
  EXPECT_LT(net.at(4).epoch(), 7u) << "below it";
  // Who was below it is named no more.
  for (const MemberIndex each : net.told(2).back()) EXPECT_FALSE(net.is_below(each, 1)) << each;
}

TEST(RanSub, WithoutPatienceForOneAllWait) {
  Net net(threes(), {.patience = Duration::max()});
  net.run(21s);
  net.dead.insert(1);
  net.run(50s);
  EXPECT_LE(net.at(0).epoch(), 6u);
}

TEST(RanSub, HearsAChildAgain) {
  Net net(threes());
  net.dead.insert(1);
  net.run(30s);
  EXPECT_EQ(net.at(0).descendants(1), 1u);
  net.dead.clear();
  net.run(30s);
  EXPECT_EQ(net.at(0).descendants(1), 13u);
}

TEST(RanSub, HearsNobodyElse) {
  Net net(threes());
  net.run(6s);
  const std::uint32_t epoch = net.at(5).epoch();
  net.at(5).distribute_received(Time(7s), 2, {epoch + 5, {}});
  EXPECT_EQ(net.at(5).epoch(), epoch) << "not its parent";
  net.at(0).collect_received(Time(7s), 39, {net.at(0).epoch(), sample_of(1'000, {7})});
  EXPECT_EQ(net.at(0).descendants(1), 13u);
  net.at(0).collect_received(Time(7s), 1, {net.at(0).epoch() + 1, sample_of(1'000, {7})});
  EXPECT_EQ(net.at(0).descendants(1), 13u) << "an epoch that has not begun";
}

}  // namespace
}  // namespace spindled::mesh
