// Bulk channels at the sessions of one daemon, frame by frame.
#include "libclient/protocol/bulk_requests.h"

#include "tests/unit/sessions_harness.h"

namespace spindled::test {
namespace {

class ChannelSessions : public SessionsTest {
 protected:
  ConnectionId connect(bool wants_channels) {
    settle();
    const ConnectionId connection = accept();
    std::vector<std::uint8_t> frames;
    protocol::write_hello(frames, {.name = "ann", .wants_channels = wants_channels});
    protocol::write_group_request(frames, ClientFrame::join, {1, "news"});
    read(connection, frames);
    for (int i = 0; i < 3; ++i) turn();
    driver_.written.clear();
    return connection;
  }
  void ask(ConnectionId connection, const protocol::BulkRequest& request) {
    std::vector<std::uint8_t> frames;
    protocol::write_bulk_request(frames, request);
    read(connection, frames);
    for (int i = 0; i < 3; ++i) turn();
  }
  /// The frames that have come.
  std::vector<std::pair<ClientFrame, std::vector<std::uint8_t>>> frames(ConnectionId connection) {
    std::vector<std::pair<ClientFrame, std::vector<std::uint8_t>>> all;
    const std::string written = std::exchange(driver_.written[connection], {});
    for (ByteView left = spindle::as_bytes(written); !left.empty();) {
      const auto head = *spindle::read_frame_head(left);
      const ByteView body = left.subspan(spindle::kFrameHeadBytes, head.length);
      all.emplace_back(static_cast<ClientFrame>(head.type), std::vector<std::uint8_t>(body.begin(), body.end()));
      left = left.subspan(spindle::kFrameHeadBytes + head.length);
    }
    return all;
  }
  static protocol::BulkOffer offer(const std::string& group) {
    protocol::BulkOffer offer{3, group, {}};
    offer.terms.layout = *protocol::ContentLayout::of(1000);
    return offer;
  }
};

TEST_F(ChannelSessions, AnswerAnOfferWithItsNumber) {
  const ConnectionId ann = connect(true);
  ask(ann, offer("news"));
  const auto got = frames(ann);
  ASSERT_EQ(got.size(), 1u);
  bool more = false;
  const auto news = protocol::read_bulk_news(got[0].first, got[0].second, more);
  ASSERT_TRUE(news);
  const auto& offered = std::get<protocol::BulkOffered>(*news);
  EXPECT_EQ(offered.request, 3u);
  EXPECT_EQ(offered.channel, (protocol::BulkChannelId{"alpha", 1, 1}));
  EXPECT_EQ(offered.source, "#ann#alpha");
}

TEST_F(ChannelSessions, CloseThoseWhoDoNotHearOfChannels) {
  const ConnectionId ann = connect(false);
  ask(ann, offer("news"));
  const auto got = frames(ann);
  ASSERT_FALSE(got.empty());
  EXPECT_EQ(got.back().first, ClientFrame::close);
  EXPECT_EQ(protocol::read_close(got.back().second)->code, static_cast<std::uint16_t>(Errc::unexpected_frame));
}

TEST_F(ChannelSessions, GiveOneTokenForAllTheSession) {
  const ConnectionId ann = connect(true);
  ask(ann, protocol::BulkTokenRequest{4});
  ask(ann, protocol::BulkTokenRequest{5});
  const auto got = frames(ann);
  ASSERT_EQ(got.size(), 2u);
  bool more = false;
  const auto first = std::get<protocol::BulkToken>(*protocol::read_bulk_news(got[0].first, got[0].second, more));
  const auto second = std::get<protocol::BulkToken>(*protocol::read_bulk_news(got[1].first, got[1].second, more));
  EXPECT_EQ(first.request, 4u);
  EXPECT_EQ(second.request, 5u);
  EXPECT_EQ(first.token, second.token);
  EXPECT_EQ(first.session, second.session);
}

TEST_F(ChannelSessions, RefuseWhatIsOfNoChannel) {
  const ConnectionId ann = connect(true);
  ask(ann, protocol::BulkCancel{6, {"alpha", 1, 5}});
  const auto got = frames(ann);
  ASSERT_EQ(got.size(), 1u);
  ASSERT_EQ(got[0].first, ClientFrame::reply);
  EXPECT_EQ(protocol::read_reply(got[0].second)->code, static_cast<std::uint16_t>(Errc::unknown_channel));
}

}  // namespace
}  // namespace spindled::test
