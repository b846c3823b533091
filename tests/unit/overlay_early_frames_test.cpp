#include <gtest/gtest.h>

#include "daemon/overlay/early_frames.h"
#include "daemon/overlay/limits.h"

namespace spindled {
namespace {

struct EarlyFramesTest : ::testing::Test {
  EarlyFrames::Frame frame(std::uint16_t link, std::uint8_t content) {
    const std::uint8_t bytes[]{content};
    return {LinkId{link}, LinkFrame::data, arena.copy(bytes)};
  }

  std::vector<int> take(const ViewId& view) {
    std::vector<int> contents;
    for (const EarlyFrames::Frame& each : early.take(view)) contents.push_back(each.body.data()[0]);
    return contents;
  }

  SlabPool slabs;
  SlabWriter arena{slabs};
  EarlyFrames early;
};

TEST_F(EarlyFramesTest, GivesBackTheFramesOfOneViewInTheirOrder) {
  early.add({5, "a"}, frame(1, 1));
  early.add({5, "a"}, frame(0, 2));
  early.add({5, "b"}, frame(0, 3));
  early.add({5, "a"}, frame(1, 4));
  EXPECT_EQ(take({5, "a"}), (std::vector<int>{2, 1, 4}));
  EXPECT_EQ(take({5, "a"}), (std::vector<int>{}));
  EXPECT_EQ(take({5, "b"}), (std::vector<int>{3}));
  EXPECT_EQ(early.bytes(), 0u);
}

TEST_F(EarlyFramesTest, ForgetsLowerViewsAndLinks) {
  early.add({4, "z"}, frame(0, 1));
  early.add({5, "a"}, frame(0, 2));
  early.add({5, "b"}, frame(0, 3));
  early.add({5, "b"}, frame(1, 4));
  early.add({6, "a"}, frame(0, 5));
  EXPECT_EQ(early.drop_below({5, "b"}), 2u);
  early.drop_link(LinkId{0});
  EXPECT_EQ(take({5, "b"}), (std::vector<int>{4}));
  EXPECT_EQ(take({6, "a"}), (std::vector<int>{}));
  EXPECT_EQ(early.bytes(), 0u);
}

TEST_F(EarlyFramesTest, HoldsABoundedNumberOfBytes) {
  const std::vector<std::uint8_t> large(kDataFrameBytesMax);
  const Slice body = arena.copy(large);
  std::size_t added = 0;
  while (early.add({5, "a"}, {LinkId{0}, LinkFrame::data, body})) ++added;
  EXPECT_EQ(added, kEarlyBytesMax / (kDataFrameBytesMax + EarlyFrames::kFrameCost));
  EXPECT_LE(early.bytes(), kEarlyBytesMax);
  early.take({5, "a"});
  EXPECT_TRUE(early.add({6, "a"}, {LinkId{0}, LinkFrame::data, body}));

  EarlyFrames empty_ones;
  std::size_t count = 0;
  while (empty_ones.add({5, "a"}, {LinkId{0}, LinkFrame::data, {}})) ++count;
  EXPECT_EQ(count, kEarlyBytesMax / EarlyFrames::kFrameCost) << "frames without bytes are bounded too";
}

}  // namespace
}  // namespace spindled
