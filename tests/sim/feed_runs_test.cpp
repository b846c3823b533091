// Feeds in runs that are drawn from seeds: graphs, losses, disorder, views that change, daemons without caches. Each
// sequence is delivered to each listener or lost there, and only once; what should not be lost is not.
#include <gmock/gmock.h>

#include <map>

#include "tests/sim/feed_net.h"

namespace spindled::sim {
namespace {

/// A run: what is drawn, and what has come of it.
class FeedRun {
 public:
  explicit FeedRun(std::uint64_t seed)
      : random_(seed), graph_(draw_graph()), options_(draw_options()), net_(graph_, options_) {
    for (const MemberIndex each : graph_.receivers) {
      if (random_.chance(0.2)) late_.insert(each);
    }
    loss_ = random_.chance(0.2) ? 0 : 0.08 * random_.real();
    const Duration jitter = random_.chance(0.5) ? 0ms : 6ms;
    net_.lose([this](const FeedCrossing&) { return losses_.chance(is_calm_ ? 0 : loss_); });
    net_.delay([this, jitter](const FeedCrossing&) {
      return jitter == 0ms ? 0ms : Duration(losses_.between(0, static_cast<std::uint64_t>(jitter.count())));
    });
  }

  void go() {
    net_.open(late_);
    const std::uint64_t packets = 150 + random_.below(150);
    const std::uint64_t changes_at = random_.chance(0.5) ? random_.below(packets) : packets;
    const std::uint64_t late_until = random_.below(packets / 2);
    for (std::uint64_t i = 0; i < packets; ++i) {
      net_.send(i < late_until ? net_.receivers() - late_ : net_.receivers());
      net_.run_for(Duration(random_.below(8'000'000)));
      if (i == changes_at) change();
      if (random_.chance(0.02)) net_.run_for(300ms);
    }
    sent_ = packets;
    // Of a lost tail beats are to show the end.
    is_calm_ = true;
    net_.run_for(options_.repair_for + 30s);
  }

  void check() const {
    std::map<MemberIndex, std::map<std::uint64_t, int>> seen;
    for (const FeedNet::Delivery& each : net_.deliveries) ++seen[each.daemon][each.sequence];
    std::uint64_t lost = 0;
    for (const FeedNet::Loss& each : net_.losses) {
      for (std::uint64_t i = 0; i < each.count; ++i) ++seen[each.daemon][each.first + i];
      lost += each.count;
    }
    for (const MemberIndex member : graph_.receivers) {
      const auto& own = seen[member];
      ASSERT_FALSE(own.empty()) << member;
      const std::uint64_t first = late_.contains(member) ? own.begin()->first : 0;
      for (std::uint64_t i = first; i < sent_; ++i) {
        const auto times = own.find(i);
        ASSERT_TRUE(times != own.end()) << "neither delivered nor lost: " << i << " at " << member;
        ASSERT_EQ(times->second, 1) << i << " at " << member;
      }
      ASSERT_EQ(own.rbegin()->first, sent_ - 1) << member;
    }
    // Where all daemons keep packets, and for long, hardly anything has to be lost.
    if (options_.repair_for >= 2s && options_.config.cache == FeedCache::all && options_.without_cache.empty()) {
      EXPECT_LE(lost, sent_ * graph_.receivers.size() / 1'000);
    }
  }

  std::uint64_t delivered_as_repairs() const {
    std::uint64_t count = 0;
    for (const FeedNet::Delivery& each : net_.deliveries) count += each.is_repair ? 1 : 0;
    return count;
  }

 private:
  Graph draw_graph() {
    const GraphDelays delays{20ms, 2ms};
    switch (random_.below(3)) {
      case 0:
        return binary_tree(3, delays);
      case 1:
        return transit_stub_graph(random_, random_, 12, delays);
      default:
        return random_graph(random_, random_, 15, 0.2, 12, delays);
    }
  }
  FeedNetOptions draw_options() {
    FeedNetOptions options;
    options.config.cache = random_.chance(0.5) ? FeedCache::all : FeedCache::members;
    options.config.steer_by_losses = random_.chance(0.8);
    options.config.cache_bytes = random_.chance(0.2) ? 4u << 10 : 256u << 10;
    options.repair_for = random_.chance(0.5) ? 5s : random_.chance(0.2) ? 0s : 100ms;
    options.first = random_.chance(0.5) ? 0 : UINT32_MAX - static_cast<std::uint32_t>(random_.below(100));
    const bool mixed = random_.chance(0.3);
    for (std::size_t i = 0; i < graph_.nodes; ++i) {
      if (mixed && random_.chance(0.2)) options.without_cache.push_back(static_cast<MemberIndex>(i));
    }
    if (options.config.cache_bytes < (64u << 10)) options.repair_for = std::min<Duration>(options.repair_for, 100ms);
    return options;
  }
  /// Other paths between the same daemons.
  void change() {
    Graph next = graph_;
    for (Edge& edge : next.edges) edge.weight += static_cast<std::uint32_t>(random_.below(50'000));
    net_.change(next, [this](MemberIndex) { return Duration(losses_.below(30'000'000)); });
    net_.run_for(40ms);
  }

  Random random_;
  Random losses_{random_.next()};
  Graph graph_;
  FeedNetOptions options_;
  FeedNet net_;
  MemberSet late_;
  double loss_ = 0;
  bool is_calm_ = false;
  std::uint64_t sent_ = 0;
};

TEST(FeedRuns, DeliverOrLoseEverySequenceOnce) {
  std::uint64_t repaired = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    FeedRun run(seed);
    run.go();
    run.check();
    repaired += run.delivered_as_repairs();
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(repaired, 1'000u);
}

}  // namespace
}  // namespace spindled::sim
