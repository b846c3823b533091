// The mesh's frames as bytes.
#include "daemon/bulk/mesh/mesh_codec.h"

#include <gmock/gmock.h>

#include "libclient/bulk/bulk_frames.h"
#include "libclient/common/framing.h"

namespace spindled::mesh {
namespace {

using ::testing::ElementsAre;
using Bytes = std::vector<std::uint8_t>;

constexpr FrameScope kScope{3, 200};

Bytes body(const Frame& frame) {
  Bytes bytes;
  write_frame(bytes, kScope, frame);
  const auto head = spindle::read_frame_head(bytes);
  EXPECT_TRUE(head && head->length + spindle::kFrameHeadBytes == bytes.size());
  EXPECT_EQ(head->type, static_cast<std::uint8_t>(type_of(frame)));
  bytes.erase(bytes.begin(), bytes.begin() + spindle::kFrameHeadBytes);
  return bytes;
}

template <typename Kind>
Kind again(const Kind& frame) {
  const auto read = read_frame(type_of(frame), body(frame));
  EXPECT_TRUE(read.has_value());
  EXPECT_EQ(read->scope, kScope);
  return std::get<Kind>(read->frame);
}

Holding some() { return {{{2, 5}, {7, 65'536}}, {{5, 12}, {6, 1}, {65'535, 40}}}; }

TEST(MeshCodec, WritesAFrame) {
  EXPECT_THAT(body(BlockDone{300}), ElementsAre(3, 200, 0xac, 0x02));
  EXPECT_THAT(body(PeerRequest{}), ElementsAre(3, 200));
  // Two runs: 2 blocks between, 3 long; 2 between, 1 long. One begun block, 5, with 12 symbols.
  EXPECT_THAT(body(HoldingReport{{{{2, 5}, {7, 8}}, {{5, 12}}}}), ElementsAre(3, 200, 2, 2, 3, 2, 1, 1, 5, 12));
}

TEST(MeshCodec, ReadsWhatItHasWritten) {
  EXPECT_EQ(again(HoldingReport{some()}).holding, some());
  const auto answer = again(PeerAnswer{true, some(), {7, 1'999}});
  EXPECT_TRUE(answer.is_accepted);
  EXPECT_THAT(answer.others, ElementsAre(7, 1'999));
  EXPECT_TRUE(again(PeerLeave{true}).is_sender);
  EXPECT_EQ(again(BlockDone{65'535}).block, 65'535u);

  Sample sample;
  sample.population = 900;
  sample.entries.resize(2);
  sample.entries[0].member = 12;
  sample.entries[0].takes_receivers = true;
  sample.entries[0].ticket.insert({5, 9});
  sample.entries[1].holding = some();
  const auto collected = again(Collect{70'000, sample});
  EXPECT_EQ(collected.epoch, 70'000u);
  EXPECT_EQ(collected.sample.population, 900u);
  ASSERT_EQ(collected.sample.entries.size(), 2u);
  EXPECT_EQ(collected.sample.entries[0].ticket.minima(), sample.entries[0].ticket.minima());
  EXPECT_TRUE(collected.sample.entries[0].takes_receivers);
  EXPECT_TRUE(collected.sample.entries[1].ticket.is_empty());
  EXPECT_EQ(collected.sample.entries[1].holding, some());
  EXPECT_EQ(again(Distribute{1, sample}).sample.entries[0].member, 12);

  Wants wants;
  wants.received = 1'000'000;
  wants.bytes_per_s = 75'000;
  wants.residues = 0xf0;
  HadFilter had(100, 513);
  had.insert(17);
  wants.blocks = {{4, 9, {}}, {6, 0, had}};
  wants.holding = some();
  const auto wanted = again(wants);
  EXPECT_EQ(wanted.residues, 0xf0u);
  ASSERT_EQ(wanted.blocks.size(), 2u);
  EXPECT_EQ(wanted.blocks[0].fresh, 9u);
  EXPECT_TRUE(wanted.blocks[1].had.has(17));
  EXPECT_EQ(wanted.blocks[1].had.salt(), 513);
  EXPECT_EQ(wanted.holding, some());
}

TEST(MeshCodec, KnowsHowLongFramesAre) {
  for (const Frame& frame : {Frame{PeerRequest{}}, Frame{HoldingReport{some()}}, Frame{Distribute{9, {3, {{}, {}}}}}}) {
    Bytes bytes;
    write_frame(bytes, {1, 9}, frame);
    EXPECT_EQ(bytes.size(), encoded_bytes(frame));
  }
}

TEST(MeshCodec, TheLongestFrameFits) {
  Wants wants;
  HadFilter had(1u << 20, 1);
  wants.blocks.assign(Wants::kBlocksMax, {65'535, 0, had});
  wants.holding.complete.assign(Holding::kRunsMax, {});
  for (std::uint32_t i = 0; i < Holding::kRunsMax; ++i) wants.holding.complete[i] = {8'000 * i, 8'000 * i + 7'000};
  EXPECT_LE(body(wants).size(), spindle::bulk::kBulkFrameBytesMax);
  EXPECT_EQ(again(wants).blocks.size(), Wants::kBlocksMax);
}

TEST(MeshCodec, ReadsNothingOfWhatIsMalformed) {
  const auto is_read = [](FrameType type, const Bytes& bytes) { return read_frame(type, bytes).has_value(); };
  // Every part of a frame, and one with more behind it.
  for (const Frame& frame : {Frame{HoldingReport{some()}}, Frame{PeerAnswer{true, some(), {4}}}, Frame{BlockDone{1}}}) {
    Bytes bytes = body(frame);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(is_read(type_of(frame), Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))));
    }
    bytes.push_back(0);
    EXPECT_FALSE(is_read(type_of(frame), bytes));
  }
  const auto holding = [&](Bytes bytes) {
    bytes.insert(bytes.begin(), {3, 200});
    return is_read(FrameType::holding_report, bytes);
  };
  EXPECT_TRUE(holding({1, 0, 1, 0}));
  EXPECT_FALSE(holding({1, 0, 0, 0})) << "a run of nothing";
  EXPECT_FALSE(holding({2, 0, 1, 0, 1, 0})) << "runs that touch";
  EXPECT_FALSE(holding({1, 1, 0x80, 0x80, 0x04, 0})) << "beyond the last block there may be";
  EXPECT_FALSE(holding({9, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0})) << "too many runs";
  EXPECT_FALSE(holding({0, 2, 0xff, 0xff, 0x03, 1, 0, 1})) << "behind the last block there may be";
  EXPECT_FALSE(is_read(FrameType::peer_leave, {3, 200, 2}));
  EXPECT_FALSE(is_read(FrameType::block_done, {0x80, 0x08, 200, 1})) << "the channel's number";
  EXPECT_FALSE(is_read(FrameType::collect, {3, 200, 1, 1, 2, 0, 0, 0, 0, 1, 0, 0, 0})) << "more of it than there are";
  EXPECT_FALSE(is_read(FrameType{24}, {3, 200}));
}

}  // namespace
}  // namespace spindled::mesh
