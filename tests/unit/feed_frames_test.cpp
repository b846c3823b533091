// The frames of feeds between client and daemon: the examples of docs/wire-format.md, and what is refused.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <fstream>

#include "libclient/protocol/feed_frames.h"

namespace spindle::protocol {
namespace {

using Frame = std::vector<std::uint8_t>;

const ByteView kHello = as_bytes("hello");

std::vector<FeedNews> news() {
  return {FeedReady{7, 3, 20'000},
          FeedRoom{3, 1200},
          FeedFlow{3, 1'250'000, 40'000, 655, FeedLimit::link},
          FeedOpened{3, 200'000, "news", "#ann#alpha", true},
          FeedPacket{3, 300, FeedPacket::kFirst | FeedPacket::kLast, kHello},
          FeedGap{3, 301, 4, FeedGapCause::slow},
          FeedEnded{3, FeedEnd::lost},
          FeedEnded{3, FeedEnd::left}};
}

Frame written(const FeedNews& each) {
  Frame frame;
  write_feed_news(frame, each);
  return frame;
}

/// What a client sends, with what reads it.
struct Request {
  Frame frame;
  bool (*reads)(ByteView);
};
std::vector<Request> requests() {
  std::vector<Request> all(5);
  write_feed_open(all[0].frame, {7, "news", 200'000, 0});
  all[0].reads = [](ByteView body) { return read_feed_open(body).has_value(); };
  write_feed_send(all[1].frame, {3, kHello});
  all[1].reads = [](ByteView body) { return read_feed_send(body).has_value(); };
  write_feed_close(all[2].frame, {3});
  all[2].reads = [](ByteView body) { return read_feed_close(body).has_value(); };
  write_listen(all[3].frame, ClientFrame::listen, {8, "news"});
  write_listen(all[4].frame, ClientFrame::stop_listening, {9, "news"});
  all[3].reads = all[4].reads = [](ByteView body) { return read_listen(body).has_value(); };
  return all;
}

ByteView body_of(const Frame& frame) { return ByteView(frame).subspan(kFrameHeadBytes); }
ClientFrame type_of(const Frame& frame) { return static_cast<ClientFrame>(read_frame_head(frame)->type); }

std::optional<FeedNews> read_back(const FeedNews& each) {
  const Frame frame = written(each);
  return read_feed_news(type_of(frame), body_of(frame));
}

/// All bytes of the page that stand where examples do: four blanks in front.
std::string examples_of_page() {
  std::ifstream file(std::string(SPINDLE_SOURCE_FOLDER) + "/docs/wire-format.md");
  std::string bytes, line;
  while (std::getline(file, line)) {
    if (!line.starts_with("    ")) continue;
    for (const char c : line) {
      if (c != ' ') bytes += c;
    }
  }
  return bytes;
}

TEST(FeedFrames, AreAsThePageShowsThem) {
  const std::string page = examples_of_page();
  const auto expect_on_page = [&](const Frame& frame) {
    EXPECT_NE(page.find(fmt::format("{:02x}", fmt::join(frame, ""))), std::string::npos)
        << fmt::format("{:02x}", fmt::join(frame, " "));
  };
  for (const Request& request : requests()) expect_on_page(request.frame);
  for (const FeedNews& each : news()) expect_on_page(written(each));
}

TEST(FeedFrames, ComeBackAsTheyWere) {
  const std::vector<Request> all = requests();
  EXPECT_EQ(read_feed_open(body_of(all[0].frame)), (FeedOpen{7, "news", 200'000, 0}));
  const auto send = read_feed_send(body_of(all[1].frame));
  ASSERT_TRUE(send);
  EXPECT_EQ(send->feed, 3u);
  EXPECT_EQ(as_text(send->payload), "hello");
  EXPECT_EQ(read_feed_close(body_of(all[2].frame)), FeedClose{3});
  EXPECT_EQ(read_listen(body_of(all[3].frame))->request, 8u);
  EXPECT_EQ(read_listen(body_of(all[4].frame))->group, "news");
  EXPECT_EQ(type_of(all[4].frame), ClientFrame::stop_listening);
  for (const FeedNews& each : news()) {
    const Frame frame = written(each);
    const auto read = read_feed_news(type_of(frame), body_of(frame));
    ASSERT_TRUE(read) << each.index();
    ASSERT_EQ(read->index(), each.index());
    EXPECT_EQ(written(*read), frame);
  }
}

TEST(FeedFrames, AHeadGoesWithAPayloadInPieces) {
  Frame pieces;
  write_feed_send_head(pieces, 3, kHello.size());
  pieces.insert(pieces.end(), kHello.begin(), kHello.end());
  EXPECT_EQ(pieces, requests()[1].frame);
}

/// Of a frame that ends with its payload any length is one, but none.
bool ends_with_payload(ClientFrame type) { return type == ClientFrame::feed_send || type == ClientFrame::feed_packet; }

TEST(FeedFrames, AreReadStrictly) {
  const auto expect_strict = [](const Frame& frame, std::size_t payload, const auto& reads) {
    const ByteView body = body_of(frame);
    ASSERT_TRUE(reads(body));
    for (std::size_t size = 0; size + payload < body.size() + (payload == 0 ? 0 : 1); ++size) {
      const Frame cut(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size));  // on the heap
      EXPECT_FALSE(reads(cut)) << size << " of " << body.size();
    }
    if (payload != 0) return;
    Frame longer(body.begin(), body.end());
    longer.push_back(0);
    EXPECT_FALSE(reads(longer));
  };
  for (const Request& request : requests()) {
    expect_strict(request.frame, ends_with_payload(type_of(request.frame)) ? kHello.size() : 0, request.reads);
  }
  for (const FeedNews& each : news()) {
    const Frame frame = written(each);
    expect_strict(frame, ends_with_payload(type_of(frame)) ? kHello.size() : 0,
                  [&](ByteView body) { return read_feed_news(type_of(frame), body).has_value(); });
  }
}

TEST(FeedFrames, HaveLimits) {
  const auto reads_send = [](FeedNumber feed, std::size_t bytes) {
    Frame frame;
    const Frame payload(bytes, 'x');
    write_feed_send(frame, {feed, payload});
    return read_feed_send(body_of(frame)).has_value();
  };
  EXPECT_TRUE(reads_send(1, 1));
  EXPECT_TRUE(reads_send(UINT32_MAX, kFeedMessageBytesMax));
  EXPECT_FALSE(reads_send(1, 0));
  EXPECT_FALSE(reads_send(1, kFeedMessageBytesMax + 1));
  EXPECT_FALSE(reads_send(0, 1)) << "no feed has number 0";

  Frame open;
  write_feed_open(open, {1, "news", kRepairForMaxUs + 1, 0});
  EXPECT_FALSE(read_feed_open(body_of(open)));

  EXPECT_FALSE(read_back(FeedGap{3, 1, 0, FeedGapCause::lost}));
  EXPECT_FALSE(read_back(FeedGap{3, kFeedSequenceMax + 1, 1, FeedGapCause::lost}));
  EXPECT_FALSE(read_back(FeedGap{3, 1, kFeedSequenceMax + 1, FeedGapCause::lost}));
  EXPECT_FALSE(read_back(FeedGap{3, 1, 1, FeedGapCause{2}}));
  EXPECT_FALSE(read_back(FeedEnded{3, FeedEnd{4}}));
  EXPECT_FALSE(read_back(FeedFlow{3, 0, 0, 0, FeedLimit{5}}));
  EXPECT_FALSE(read_back(FeedPacket{3, 0, 4, kHello}));
  EXPECT_FALSE(read_back(FeedPacket{3, kFeedSequenceMax + 1, 0, kHello}));
  EXPECT_FALSE(read_back(FeedOpened{3, 0, "#ann#alpha", "#ann#alpha"}));
  EXPECT_FALSE(read_back(FeedOpened{3, 0, "news", "ann"}));
  EXPECT_TRUE(read_back(FeedOpened{3, 0, "news", "#ann#alpha"}));

  Frame open_before = written(FeedOpened{3, 0, "news", "#ann#alpha", false});
  const auto read = read_feed_news(ClientFrame::feed_opened, body_of(open_before));
  ASSERT_TRUE(read);
  EXPECT_FALSE(std::get<FeedOpened>(*read).is_new);
  open_before.back() = 2;
  EXPECT_FALSE(read_feed_news(ClientFrame::feed_opened, body_of(open_before)));
}

}  // namespace
}  // namespace spindle::protocol
