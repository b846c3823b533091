// A second connection proves by its token to be of a session.
#include <gtest/gtest.h>

#include "daemon/link/links.h"
#include "daemon/order/order.h"
#include "daemon/overlay/overlay.h"
#include "daemon/session/sessions.h"
#include "libclient/protocol/client_engine.h"
#include "tests/support/nobody.h"

namespace spindled {
namespace {

namespace protocol = spindle::protocol;

class OneClient final : public Driver {
 public:
  ConnectionId dial(std::string_view) override { return ConnectionId{0}; }
  std::size_t write(ConnectionId, std::span<const ByteView> buffers) override {
    std::size_t size = 0;
    for (const ByteView& buffer : buffers) {
      written.insert(written.end(), buffer.begin(), buffer.end());
      size += buffer.size();
    }
    return size;
  }
  void close(ConnectionId) override {}
  void set_reading(ConnectionId, bool) override {}
  std::optional<Secret> draw_secret() override { return Secret{1, 2, 3}; }
  void wake_at(Time) override {}

  std::vector<std::uint8_t> written;
};

class BulkTokens : public testing::Test, private protocol::RequestObserver {
 protected:
  BulkTokens() {
    groups_.attach(order_, sessions_.clients());
    channels_.attach(sessions_.channel_clients());
    client_.observe(this);
    sessions_.handle_accepted(now_, ConnectionId{1}, "a client");
    client_.start({.name = "ann", .wants_channels = true});
    exchange();
  }
  void exchange() {
    const ByteView bytes = client_.output();
    std::copy(bytes.begin(), bytes.end(), sessions_.read_space(ConnectionId{1}).begin());
    sessions_.handle_read(now_, ConnectionId{1}, bytes.size());
    client_.consume(bytes.size());
    sessions_.flush(now_);
    client_.handle_bytes(std::exchange(driver_.written, {}));
  }
  static NodeConfig config() {
    NodeConfig config;
    config.name = "alpha";
    return config;
  }

  std::optional<protocol::BulkToken> token_;

  // RequestObserver
  bool refused(std::uint32_t, const spindle::RequestFailed&) override { return false; }
  void confirmed(std::uint32_t) override {}
  void answered(protocol::Requests::Number, spindle::Answers) override {}
  std::optional<spindle::Event> channel_news(protocol::BulkNews news, std::size_t) override {
    token_ = std::get<protocol::BulkToken>(news);
    return std::nullopt;
  }

  Time now_{1s};
  OneClient driver_;
  test::Silence sink_;
  Context context_{config(), sink_, 1};
  Links links_{context_, driver_};
  Overlay overlay_{context_, links_};
  Groups groups_{context_};
  Order order_{context_, overlay_.streams(), groups_};
  Admission admission_{context_, links_, overlay_, order_, groups_};
  Channels channels_{context_, groups_};
  Feeds feeds_{context_, links_, groups_, admission_.own()};
  Sessions sessions_{context_, driver_, groups_, channels_, feeds_, admission_};
  protocol::ClientEngine client_;
};

TEST_F(BulkTokens, OpenTheSessionThatTheyWereGivenTo) {
  EXPECT_FALSE(sessions_.session_by_token(1, {})) << "it was given none";
  std::uint32_t number = 0;
  ASSERT_FALSE(client_.ask_channel(protocol::BulkTokenRequest{}, number));
  exchange();
  ASSERT_TRUE(token_);
  EXPECT_EQ(token_->request, number);
  EXPECT_EQ(sessions_.session_by_token(token_->session, token_->token), token_->session);
  EXPECT_FALSE(sessions_.session_by_token(token_->session + 1, token_->token));
  SessionToken other = token_->token;
  other.back() ^= 1;
  EXPECT_FALSE(sessions_.session_by_token(token_->session, other));
  client_.bye();
  exchange();
  EXPECT_FALSE(sessions_.session_by_token(token_->session, token_->token)) << "the session is over";
}

}  // namespace
}  // namespace spindled
