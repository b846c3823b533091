// Events of bulk channels, which come by another thread than the connection's, and a program that has a handler.
#include <gtest/gtest.h>
#include <poll.h>

#include <future>

#include "libclient/protocol/bulk_requests.h"
#include "spindle/bulk.h"
#include "tests/unit/client_fake_daemon.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using test::Bytes;
using test::FakeDaemon;

Bytes offered_frame() {
  protocol::BulkOffered offered;
  offered.channel = {"fake", 7, 8};
  offered.group = "news";
  offered.source = "#peer#fake";
  offered.terms.name = "content";
  offered.terms.layout = *bulk::ContentLayout::of(1'000);
  Bytes bytes;
  protocol::write_bulk_news(bytes, offered);
  return bytes;
}

// The event comes when the thread has looked for what the handler is to be given, and has not gone to sleep yet.
TEST(BulkEvents, ThatComeWhileTheThreadIsBusyReachTheHandler) {
  FakeDaemon daemon;
  std::promise<ChannelId> offered;  // they outlive the connection
  std::promise<std::error_code> received;
  std::promise<int> waited;
  Connection connection = daemon.connect({.keepalive = 0ms, .disconnect_timeout = 1ms, .bulk = true});
  BulkOptions options;
  options.keep_hashes = false;
  Result<Bulk> bulk = Bulk::open(connection, options);
  ASSERT_TRUE(bulk) << bulk.text();
  connection.set_handler([&](Event event) {
    if (const auto* offer = event.get_if<BulkOffered>()) offered.set_value(offer->channel);
    if (const auto* end = event.get_if<BulkReceived>()) received.set_value(end->error);
  });
  daemon.write(offered_frame());
  const ChannelId channel = offered.get_future().get();
  connection.confirm_then(1h, [&](NotTaken) {
    pollfd arrived{connection.descriptor(), POLLIN, 0};
    EXPECT_FALSE(bulk->accept(channel, BulkSink::file("/dev/null/content")));  // in what is no directory
    waited.set_value(::poll(&arrived, 1, 20'000));
  });
  daemon.write(test::confirmed_frame(daemon.read(), 0));
  EXPECT_EQ(waited.get_future().get(), 1);
  std::future<std::error_code> error = received.get_future();
  ASSERT_EQ(error.wait_for(20s), std::future_status::ready);
  EXPECT_EQ(error.get(), Errc::file_failed);
}

}  // namespace
}  // namespace spindle
