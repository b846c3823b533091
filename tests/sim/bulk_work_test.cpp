// What bulk channels have daemons do: counted by the work of turns, and never by time.
#include <gmock/gmock.h>

#include "tests/sim/bulk_client.h"
#include "tests/sim/scenario.h"
#include "tests/support/known_content.h"

namespace spindled::sim {
namespace {

class BulkWork : public Scenario {
 protected:
  void begin(std::uint64_t seed, Shape shape, std::size_t daemons, const NodeConfig& config = {}) {
    members_.clear();
    bulk_.clear();
    simulate_cluster(seed, shape, daemons, config);
    for (std::size_t i = 0; i < daemons; ++i) add(i);
    await_group_view(members_, "g");
  }
  BulkClient& add(std::size_t host) {
    members_.push_back(
        &sim().add_client(sim().host(host), "c" + std::to_string(members_.size()), {.wants_channels = true}));
    members_.back()->join("g");
    bulk_.push_back(std::make_unique<BulkClient>(sim().world(), *members_.back(), BulkClient::Options{}));
    return *bulk_.back();
  }
  /// So many contents, of one block each.
  void offer(std::size_t member, std::size_t contents) {
    for (std::size_t i = 0; i < contents; ++i) {
      bulk_[member]->offer("g", spindle::test::content_of(static_cast<std::uint32_t>(i), 4'000), 8, 60);
      sim().run_for(7ms);  // what is due of them falls together by no chance
    }
    await([&] { return members_[member]->channels().size() == contents; }, 30s, "the offers");
  }
  /// The same, that all members have then.
  void offer_to_end(std::size_t member, std::size_t contents) {
    offer(member, contents);
    await(
        [&] {
          for (const BulkChannelId& id : members_[member]->channels().ids()) {
            if (!members_[member]->channels().find(id)->is_complete()) return false;
          }
          return true;
        },
        30s, "the contents");
  }
  /// The same, that nobody gets for a while.
  void offer_slowly(std::size_t member, std::size_t contents) {
    bulk_[member]->set_cap(1);
    offer(member, contents);
    sim().run_for(1s);
  }
  std::uint64_t work_of(std::size_t host) { return sim().host(host).node().work().so_far; }
  std::uint64_t work_in(std::size_t host, Duration time) {
    const std::uint64_t before = work_of(host);
    sim().run_for(time);
    return work_of(host) - before;
  }

  std::vector<SimClient*> members_;
  std::vector<std::unique_ptr<BulkClient>> bulk_;
};

TEST_F(BulkWork, OfChannelsThatLingerGrowsWithTheirNumber) {
  std::uint64_t few = 0;
  for (const std::size_t channels : {10u, 60u}) {
    begin(301, Shape::line, 2);
    offer_to_end(0, channels);
    sim().run_for(1s);
    const std::uint64_t work = work_in(1, 10s);
    EXPECT_GT(work, channels);
    if (few == 0) few = work;
    EXPECT_LE(work, few * channels / 10 * 3 / 2);
  }
}

/// Who is awaited is looked up once for all that come, and go, in a moment, and not for channels that they have nothing
/// to do with.
TEST_F(BulkWork, OfClientsThatComeGrowsWithTheirNumber) {
  constexpr std::size_t kClients = 20, kChannels = 20;
  begin(302, Shape::line, 2);
  for (std::size_t i = 1; i < kClients; ++i) add(1);
  await_group_view(members_, "g");
  offer_slowly(0, kChannels);
  const std::uint64_t idle = work_in(1, 200ms);
  const std::uint64_t before = work_of(1);
  for (std::size_t i = 0; i < kClients; ++i) bulk_[1 + i]->break_attachment();
  sim().run_for(200ms);
  EXPECT_LE(work_of(1) - before, idle + 10 * kClients * kChannels) << "for each that has come or gone: all at once";
}

TEST_F(BulkWork, OfTreesBehindAChangeOfTheViewIsSharedByTurns) {
  constexpr std::size_t kMax = 130;  // each of 60 trees takes 7
  NodeConfig config;
  config.turn_work_max = kMax;
  begin(303, Shape::full, 12, config);
  offer_slowly(0, 60);
  const auto plans = [&] { return sim().host(0).node().counters().value(Counter::bulk_plans_made); };
  const std::uint64_t before = plans();
  sim().host(2).crash();
  await([&] { return plans() >= before + 60; }, 10s, "other trees");
  EXPECT_LT(sim().host(0).node().work().largest_turn, 2 * kMax);
}

}  // namespace
}  // namespace spindled::sim
