// Receivers of bulk channels whose disks are full, break, spoil what is on them, or were left in the middle.
#include <gmock/gmock.h>

#include "tests/sim/bulk_client.h"
#include "tests/sim/scenario.h"
#include "tests/support/known_content.h"

namespace spindled::sim {
namespace {

constexpr std::uint32_t kBlockSymbols = 8;
constexpr std::size_t kBlockBytes = kBlockSymbols << 10;

class BulkDisk : public Scenario {
 protected:
  void begin(std::uint64_t seed, std::size_t daemons) {
    simulate_cluster(seed, Shape::line, daemons, {});
    for (std::size_t i = 0; i < daemons; ++i) add(i, std::make_shared<ContentDisk>());
    await_group_view(members_, "g");
  }
  BulkClient& add(std::size_t host, std::shared_ptr<ContentDisk> disk,
                  const spindle::bulk::ReceiverLimits& limits = {}) {
    members_.push_back(
        &sim().add_client(sim().host(host), "c" + std::to_string(members_.size()), {.wants_channels = true}));
    members_.back()->join("g");
    bulk_.push_back(std::make_unique<BulkClient>(sim().world(), *members_.back(),
                                                 BulkClient::Options{.disk = std::move(disk), .limits = limits}));
    return *bulk_.back();
  }
  BulkChannelId offer(std::size_t blocks) {
    content_ = spindle::test::content_of(blocks, blocks * kBlockBytes - 100);
    bulk_[0]->offer("g", content_, kBlockSymbols, 60);
    await([&] { return members_[0]->channels().size() > 0; }, 10s, "the offer");
    return members_[0]->channels().ids().back();
  }
  bool has(std::size_t member, const BulkChannelId& id) const {
    const auto* received = bulk_[member]->received(id);
    return received != nullptr && *received == content_;
  }
  void await_content(std::size_t member, const BulkChannelId& id, Duration bound = 30s) {
    await([&] { return has(member, id); }, bound, "the content");
  }

  std::vector<SimClient*> members_;
  std::vector<std::unique_ptr<BulkClient>> bulk_;
  std::vector<std::uint8_t> content_;
};

TEST_F(BulkDisk, WhatCannotBeWrittenIsFetchedAnew) {
  for (const std::size_t blocks : {1u, 20u}) {
    SCOPED_TRACE(blocks);
    members_.clear();
    bulk_.clear();
    begin(1, 3);
    bulk_[1]->disk()->writes_to_fail = 2;
    bulk_[2]->disk()->writes_to_fail = 1;
    const BulkChannelId id = offer(blocks);
    await_content(1, id);
    await_content(2, id);
    EXPECT_EQ(bulk_[1]->counters(id)->failed_stores, 2u);
    EXPECT_EQ(bulk_[2]->counters(id)->failed_stores, 1u);
  }
}

/// Nobody else knows that it lacks what had come.
TEST_F(BulkDisk, WhatCannotBeReadBackIsFetchedAnew) {
  begin(9, 2);
  const auto disk = std::make_shared<ContentDisk>();
  disk->reads_to_fail = 2;
  add(1, disk, {.symbols = {.source_bytes = 3 << 10}});  // the rest of a block is stored
  await_group_view(members_, "g");
  const BulkChannelId id = offer(20);
  await_content(2, id);
  EXPECT_EQ(bulk_[2]->counters(id)->failed_stores, 2u);
}

TEST_F(BulkDisk, WhoHasTooLittleSaysSoAtOnce) {
  begin(2, 3);
  bulk_[2]->disk()->capacity = 19 * kBlockBytes;
  const BulkChannelId id = offer(20);
  await([&] { return members_[0]->channels().find(id)->is_complete(); }, 10s, "the completion");
  const protocol::BulkComplete& complete = *members_[0]->channels().find(id)->complete;
  EXPECT_THAT(complete.done, testing::ElementsAre(members_[1]->private_name()));
  ASSERT_EQ(complete.failed.size(), 1u);
  EXPECT_EQ(complete.failed[0].name, members_[2]->private_name());
  EXPECT_EQ(complete.failed[0].code, static_cast<std::uint16_t>(Errc::limit_exceeded));
  EXPECT_FALSE(bulk_[2]->counters(id));
}

TEST_F(BulkDisk, OneThatFillsUpLaterHoldsUpNobodyAndGoesOn) {
  begin(3, 3);
  bulk_[1]->disk()->fills_at = 5 * kBlockBytes;
  const BulkChannelId id = offer(20);
  await_content(2, id);
  sim().run_for(1s);
  const std::uint64_t before = bulk_[1]->counters(id)->useful;
  EXPECT_LE(bulk_[1]->counters(id)->failed_stores, 20u);
  sim().run_for(12s);
  EXPECT_LE(bulk_[1]->counters(id)->useful - before, 3 * 20u * kBlockSymbols);
  EXPECT_FALSE(has(1, id));
  bulk_[1]->disk()->fills_at = SIZE_MAX;
  await_content(1, id, 10s);
}

TEST_F(BulkDisk, WhoRunsAgainAsksForWhatItLacksOnly) {
  for (const bool is_torn : {false, true}) {
    SCOPED_TRACE(is_torn);
    members_.clear();
    bulk_.clear();
    begin(4, 2);
    PathProperties slow;
    slow.bytes_per_second = 1'000'000;
    sim().network().set_path(0, 1, slow);
    const BulkChannelId id = offer(40);
    await([&] { return bulk_[1]->counters(id) && bulk_[1]->counters(id)->useful > 20u * kBlockSymbols; }, 10s,
          "half of it");
    const auto written = bulk_[1]->histories().back().blocks.size();
    members_[1]->kill();
    sim().run_for(300ms);
    const auto disk = bulk_[1]->disk();
    if (is_torn) disk->tear_states();
    add(1, disk);
    await_content(2, id);
    const checkers::ContentHistory history = bulk_[2]->histories().back();
    EXPECT_GE(history.resumed_blocks, written - (is_torn ? 2 : 0));
    EXPECT_LE(history.blocks.size(), 40 - written + (is_torn ? 2 : 0));
  }
}

TEST_F(BulkDisk, BlocksThatWentBadAreGivenToNobodyAndFetchedAnew) {
  begin(7, 2);
  const auto disk = bulk_[1]->disk();
  disk->fills_at = 200 * kBlockBytes;
  const BulkChannelId id = offer(400);
  await([&] { return bulk_[1]->histories().size() == 1 && bulk_[1]->histories()[0].blocks.size() == 200; }, 30s,
        "the half of it");
  members_[1]->kill();
  bulk_[0]->set_reading(false);  // nothing more comes of the source
  disk->fills_at = SIZE_MAX;
  disk->reads_to_spoil = 3;
  add(1, disk);
  add(1, std::make_shared<ContentDisk>());
  await([&] { return disk->reads_to_spoil == 0; }, 10s, "blocks that are read for the one that has none");
  bulk_[0]->set_reading(true);
  await_content(2, id);
  await_content(3, id);
  EXPECT_EQ(bulk_[2]->histories().back().resumed_blocks, 200u);
  EXPECT_EQ(bulk_[2]->histories().back().blocks.size(), 200u + 3);
  EXPECT_EQ(bulk_[3]->counters(id)->wrong_blocks, 0u);
}

TEST_F(BulkDisk, WhoHasItWholeCeasesToGiveItWhereABlockWentBad) {
  begin(8, 3);
  const BulkChannelId id = offer(400);
  await_content(1, id);
  await_content(2, id);
  members_[0]->kill();
  sim().run_for(1s);
  bulk_[2]->disk()->reads_to_spoil = 1;
  add(2, std::make_shared<ContentDisk>());
  await_content(3, id);  // the other one gives it
  EXPECT_EQ(bulk_[2]->disk()->reads_to_spoil, 0u);
  EXPECT_FALSE(bulk_[2]->histories().back().gives);
  EXPECT_TRUE(bulk_[1]->histories().back().gives);
  EXPECT_EQ(bulk_[3]->counters(id)->wrong_blocks, 0u);
}

TEST_F(BulkDisk, ForgedBlocksAreFetchedAnew) {
  begin(5, 3);
  const BulkChannelId id = offer(400);  // more than a relay keeps
  await_content(1, id);
  await_content(2, id);
  members_[0]->kill();
  sim().run_for(1s);
  bulk_[1]->disk()->blocks_to_forge = bulk_[2]->disk()->blocks_to_forge = 5;
  add(2, std::make_shared<ContentDisk>());
  await_content(3, id);
  EXPECT_GE(bulk_[3]->counters(id)->wrong_blocks, 1u);
  // Nothing wrong was ever given to it.
  const checkers::ContentHistory late = bulk_[3]->histories().back(), other = bulk_[2]->histories().back();
  EXPECT_EQ(late.blocks.size(), 400u);
  for (const checkers::ContentHistory::Block& block : late.blocks) {
    EXPECT_TRUE(std::any_of(other.blocks.begin(), other.blocks.end(), [&](const auto& each) {
      return each.number == block.number && each.digest == block.digest;
    })) << block.number;
  }
}

}  // namespace
}  // namespace spindled::sim
