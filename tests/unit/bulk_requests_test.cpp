// The frames of bulk channels between client and daemon: the examples of docs/wire-format.md, and what is refused.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <numeric>

#include "libclient/protocol/bulk_requests.h"

namespace spindle::protocol {
namespace {

using ::testing::ElementsAre;

const BulkChannelId kChannel{"alpha", 7, 3};

ContentRoot root() {
  ContentRoot root;
  std::iota(root.begin(), root.end(), std::uint8_t{0x10});
  return root;
}

ContentTerms terms() {
  ContentTerms terms;
  terms.name = "map";
  terms.layout = *ContentLayout::of(100'000);
  terms.kind = ContentKind::file;
  return terms;
}

std::vector<BulkRequest> requests() {
  return {BulkOffer{1, "news", terms()},
          BulkSeal{2, kChannel, 100'000, root()},
          BulkOutcomeSaid{3, kChannel, BulkOutcome::failed, 30},
          BulkCancel{4, kChannel},
          BulkSetRate{5, kChannel, 1'000'000},
          BulkTokenRequest{6}};
}

std::vector<BulkNews> news() {
  BulkOffered offered{kChannel, 1, false, false, "news", "#ann#alpha", terms(), std::nullopt};
  BulkComplete complete{kChannel, {300, "alpha", 7, 1000}, {"#bob#beta"}, {{"#eve#gamma", 30}}, {}, {2, 0, 0, 1}};
  BulkToken token{6, 9, {}};
  std::iota(token.token.begin(), token.token.end(), std::uint8_t{0x10});
  return {offered, BulkSealed{kChannel, 100'000, root()},  complete, BulkEnded{kChannel, BulkEnd::over},
          token,   BulkReturned{kChannel, {1, 0, 0, 3}, 2}};
}

std::vector<std::uint8_t> written(const BulkRequest& request) {
  std::vector<std::uint8_t> frame;
  write_bulk_request(frame, request);
  return frame;
}

std::vector<std::uint8_t> written(const BulkNews& news) {
  std::vector<std::uint8_t> frames;
  write_bulk_news(frames, news);
  return frames;
}

ClientFrame type_in(ByteView frame) { return static_cast<ClientFrame>(read_frame_head(frame)->type); }

/// All bytes of the page that stand where examples do: four blanks in front.
std::string examples_of_page() {
  std::ifstream file(std::string(SPINDLE_SOURCE_FOLDER) + "/docs/wire-format.md");
  std::string examples, line;
  while (std::getline(file, line)) {
    if (line.starts_with("    ")) examples += line + "\n";
  }
  std::string bytes;
  for (const char c : examples) {
    if (c != ' ' && c != '\n') bytes += c;
  }
  return bytes;
}

TEST(BulkRequests, ComeBackAsTheyWere) {
  for (const BulkRequest& request : requests()) {
    const std::vector<std::uint8_t> frame = written(request);
    EXPECT_EQ(read_bulk_request(type_in(frame), ByteView(frame).subspan(kFrameHeadBytes)), request);
  }
  for (const BulkNews& each : news()) {
    const std::vector<std::uint8_t> frame = written(each);
    bool more = true;
    EXPECT_EQ(read_bulk_news(type_in(frame), ByteView(frame).subspan(kFrameHeadBytes), more), each);
    EXPECT_FALSE(more);
  }
}

TEST(BulkRequests, AreAsThePageShowsThem) {
  const std::string page = examples_of_page();
  const auto expect_on_page = [&](const std::vector<std::uint8_t>& frame) {
    const std::string hex = fmt::format("{:02x}", fmt::join(frame, ""));
    EXPECT_NE(page.find(hex), std::string::npos) << fmt::format("{:02x}", fmt::join(frame, " "));
  };
  for (const BulkRequest& request : requests()) expect_on_page(written(request));
  for (const BulkNews& each : news()) expect_on_page(written(each));
}

TEST(BulkRequests, AreReadStrictly) {
  for (const BulkRequest& request : requests()) {
    std::vector<std::uint8_t> frame = written(request);
    const ClientFrame type = type_in(frame);
    const ByteView body = ByteView(frame).subspan(kFrameHeadBytes);
    for (std::size_t size = 0; size < body.size(); ++size) EXPECT_FALSE(read_bulk_request(type, body.first(size)));
    frame.push_back(0);
    EXPECT_FALSE(read_bulk_request(type, ByteView(frame).subspan(kFrameHeadBytes)));
  }
  for (const BulkNews& each : news()) {
    std::vector<std::uint8_t> frame = written(each);
    const ClientFrame type = type_in(frame);
    const ByteView body = ByteView(frame).subspan(kFrameHeadBytes);
    bool more = false;
    for (std::size_t size = 0; size < body.size(); ++size) EXPECT_FALSE(read_bulk_news(type, body.first(size), more));
    frame.push_back(0);
    EXPECT_FALSE(read_bulk_news(type, ByteView(frame).subspan(kFrameHeadBytes), more));
  }
}

TEST(BulkRequests, AreRefusedWhereTheyMakeNoSense) {
  const auto is_read = [](const BulkRequest& request) {
    const std::vector<std::uint8_t> frame = written(request);
    return read_bulk_request(type_in(frame), ByteView(frame).subspan(kFrameHeadBytes)).has_value();
  };
  BulkOffer offer{1, "news", terms()};
  EXPECT_TRUE(is_read(offer));
  offer.terms.weight = 0;
  EXPECT_FALSE(is_read(offer));
  offer.terms.weight = 101;
  EXPECT_FALSE(is_read(offer));
  offer.terms.weight = 100;
  offer.terms.name = "\xff";
  EXPECT_FALSE(is_read(offer));
  offer.terms.name.clear();
  EXPECT_TRUE(is_read(offer));
  offer.group = "#ann#alpha";
  EXPECT_FALSE(is_read(offer));
  EXPECT_FALSE(is_read(BulkOutcomeSaid{1, kChannel, BulkOutcome::none, 0}));
  EXPECT_FALSE(is_read(BulkCancel{1, {"alpha", 7, 0}}));
  bool more = false;
  const auto more_present = written(BulkReturned{kChannel, {0, 0, 0, 1}, 2});
  EXPECT_FALSE(read_bulk_news(type_in(more_present), ByteView(more_present).subspan(kFrameHeadBytes), more));
}

TEST(BulkRequests, ALongListOfNamesGoesInSeveralFrames) {
  BulkComplete complete;
  complete.channel = kChannel;
  complete.place = {300, "alpha", 7, 1000};
  complete.gone = {5, 6, 7, 8};
  for (int i = 0; i < 10'000; ++i) complete.done.push_back(fmt::format("#client{}#alpha", i));
  for (std::uint16_t i = 0; i < 10; ++i) complete.failed.push_back({fmt::format("#failed{}#alpha", i), i});
  const std::vector<std::uint8_t> frames = written(complete);
  BulkComplete all;
  bool more = true;
  std::size_t count = 0;
  for (ByteView left = frames; !left.empty(); ++count) {
    EXPECT_TRUE(more);
    const std::size_t length = read_frame_head(left)->length;
    EXPECT_LT(length, UINT16_MAX);
    const auto read = read_bulk_news(type_in(left), left.subspan(kFrameHeadBytes, length), more);
    ASSERT_TRUE(read);
    const auto& part = std::get<BulkComplete>(*read);
    all.channel = part.channel;
    all.place = part.place;
    all.gone = part.gone;
    all.done.insert(all.done.end(), part.done.begin(), part.done.end());
    all.failed.insert(all.failed.end(), part.failed.begin(), part.failed.end());
    left = left.subspan(kFrameHeadBytes + length);
  }
  EXPECT_FALSE(more);
  EXPECT_GT(count, 2u);
  EXPECT_EQ(all, complete);
}

}  // namespace
}  // namespace spindle::protocol
