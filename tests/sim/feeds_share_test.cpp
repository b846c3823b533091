// Feeds beside ordered messages, and what is counted of feeds.
#include "tests/sim/feed_scenario.h"

namespace spindled::sim {
namespace {

class FeedShare : public FeedScenario {
 protected:
  static constexpr std::uint64_t kCapacity = 1'000'000;  // bytes a second, of the connection

  /// A feed that has 4 MB/s to send, beside ordered messages that want all of the connection.
  std::shared_ptr<Source> run_beside_messages(double link_share) {
    start_line(51, 2, {}, {.link_share = link_share});
    PathProperties narrow;
    narrow.bytes_per_second = kCapacity;
    sim().network().set_path(0, 1, narrow);
    const Member source = add_member(0, "g", false);
    listener = add_member(1);
    SimClient& sender = sim().add_client(sim().host(0), "sender");
    SimClient& receiver = sim().add_client(sim().host(1), "receiver");
    receiver.join("messages");
    await([&] { return receiver.view("messages") != nullptr; }, 10s, "a member");
    auto feed = open(source, {"g", 0s, 0});
    stream(feed, 80'000, 250us, 1'000);
    sim().run_for(5s);
    before = feed->sent;
    sender.keep_sending({"messages"}, {.service = Service::agreed, .size = 1'000}, 50'000);
    sim().run_for(5s);
    const std::size_t messages = receiver.messages();
    const std::uint64_t packets = heard_by(listener).packets.size();
    sim().run_for(5s);
    messages_per_s = static_cast<double>(receiver.messages() - messages) / 5;
    packets_per_s = static_cast<double>(heard_by(listener).packets.size() - packets) / 5;
    return feed;
  }

  Member listener;
  std::uint64_t before = 0;
  double messages_per_s = 0;
  double packets_per_s = 0;
};

TEST_F(FeedShare, IsWhatIsLeftToFeedsWhileMessagesWait) {
  const auto feed = run_beside_messages(0.2);
  EXPECT_GT(before, 10'000u) << "alone it has all that it wants";
  EXPECT_GT(messages_per_s, 700);
  EXPECT_LT(packets_per_s, 0.25 * messages_per_s);
  EXPECT_GT(packets_per_s, 0.02 * messages_per_s);
  EXPECT_GT(counted(0, Counter::feed_packets_yielded), 0u);
  bool was_told = false;
  for (const FeedFlow& each : ear(0).sources[feed->feed].flows) was_told |= each.limited_by == FeedLimit::share;
  EXPECT_TRUE(was_told);
}

TEST_F(FeedShare, IsThatOfTheConfigurationThatHoldsNow) {
  run_beside_messages(0.2);
  const double little = packets_per_s;
  sim().host(0).config().feed.link_share = 1'000;
  sim().host(0).reload();
  sim().run_for(2s);
  const std::uint64_t packets = heard_by(listener).packets.size();
  sim().run_for(3s);
  EXPECT_GT(static_cast<double>(heard_by(listener).packets.size() - packets) / 3, 2 * little);
}

}  // namespace
}  // namespace spindled::sim
