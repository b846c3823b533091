#include "bench/sim/scenarios/frame_parser.h"

#include <gtest/gtest.h>

namespace spindled::scenarios {
namespace {

std::vector<std::uint8_t> frame(LinkFrame type, const std::vector<std::uint8_t>& body) {
  std::vector<std::uint8_t> bytes(kFrameHeadBytes + body.size());
  Writer writer(bytes.data());
  spindle::write_frame_head(writer, static_cast<std::uint8_t>(type), body.size());
  writer.bytes(body);
  return bytes;
}

/// A data frame from member 3 to members 1 and 5, of which 5 is still to be reached.
std::vector<std::uint8_t> data_frame(std::size_t content) {
  const BodyHead head{.origin = 3, .number = 7};
  const MemberSet left = MemberSet::of(5), all = left | MemberSet::of(1);
  std::vector<std::uint8_t> body(left.encoded_size() + body_head_size(head, all) + content);
  Writer writer(body.data());
  left.write(writer);
  write_body_head(writer, head, all);
  return frame(LinkFrame::data, body);
}

struct Seen {
  LinkFrame type{};
  std::size_t bytes = 0;
  std::optional<Body> body;
};

std::vector<Seen> parse(const std::vector<std::uint8_t>& bytes, std::size_t step) {
  FrameParser parser;
  std::vector<Seen> seen;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    parser.add(ByteView(bytes).subspan(at, std::min(step, bytes.size() - at)), [&](const PassedFrame& passed) {
      seen.push_back({passed.type, passed.bytes, body_of(passed)});
    });
  }
  return seen;
}

TEST(FrameParser, FindsFramesHoweverTheyAreCut) {
  std::vector<std::uint8_t> bytes;
  for (const auto& each : {frame(LinkFrame::ping, {}), data_frame(5000), frame(LinkFrame::price, {1, 2, 3})}) {
    bytes.insert(bytes.end(), each.begin(), each.end());
  }
  for (const std::size_t step : {std::size_t{1}, std::size_t{3}, std::size_t{4}, std::size_t{700}, bytes.size()}) {
    const std::vector<Seen> seen = parse(bytes, step);
    ASSERT_EQ(seen.size(), 3u) << step;
    EXPECT_EQ(seen[0].type, LinkFrame::ping);
    EXPECT_EQ(seen[0].bytes, kFrameHeadBytes);
    EXPECT_EQ(seen[1].type, LinkFrame::data);
    EXPECT_EQ(seen[1].bytes, data_frame(5000).size());
    ASSERT_TRUE(seen[1].body.has_value());
    EXPECT_EQ(seen[1].body->head.origin, 3);
    EXPECT_EQ(seen[1].body->head.number, 7u);
    EXPECT_EQ(seen[2].bytes, kFrameHeadBytes + 3);
    EXPECT_FALSE(seen[2].body.has_value());
  }
}

TEST(FrameParser, SaysNothingOfAFrameThatHasNotEnded) {
  std::vector<std::uint8_t> bytes = data_frame(100);
  bytes.pop_back();
  EXPECT_TRUE(parse(bytes, 10).empty());
}

}  // namespace
}  // namespace spindled::scenarios
