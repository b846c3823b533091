// What an administrator sees of feeds.
#include <gmock/gmock.h>

#include "daemon/admin/admin.pb.h"
#include "tests/sim/ask_admin.h"
#include "tests/sim/feed_scenario.h"

namespace spindled::sim {
namespace {

namespace proto = spindle::admin;

class FeedReport : public FeedScenario {
 protected:
  proto::FeedsReply look(std::size_t host, std::uint32_t limit = 0) {
    proto::Request request;
    request.mutable_feeds()->set_limit(limit);
    return ask_admin(sim(), host, request).feeds();
  }
  static std::uint64_t sum(const proto::FeedsReply& reply) {
    std::uint64_t all = 0;
    for (const proto::FeedCount& each : reply.gaps()) all += each.value();
    return all;
  }
};

TEST_F(FeedReport, SaysWhoHearsAFeedAndWhatLimitsIt) {
  start_line(1, 3);
  const Member source = add_member(0, "g", false);
  add_member(1, "g", false);
  add_member(2);
  const auto feed = open(source, {"g", 500ms, 20'000});
  stream(feed, 1'000, 1ms);
  sim().run_for(500ms);
  const proto::FeedsReply origin = look(0), relay = look(1), leaf = look(2);
  for (const proto::FeedsReply* reply : {&origin, &relay, &leaf}) {
    ASSERT_EQ(reply->feeds_size(), 1);
    EXPECT_EQ(reply->total(), 1u);
    EXPECT_FALSE(reply->truncated());
    EXPECT_EQ(reply->feeds(0).group(), "g");
    EXPECT_EQ(reply->feeds(0).source(), "#source#h0");
    EXPECT_EQ(reply->feeds(0).state(), "open");
    EXPECT_EQ(reply->feeds(0).repair_for_seconds(), 0.5);
    EXPECT_TRUE(reply->feeds(0).active());
    EXPECT_GT(reply->feeds(0).packets(), 10u);
    EXPECT_GT(reply->kept_bytes(), 0u);
    EXPECT_GT(reply->kept_seconds(), 0.2);
    EXPECT_EQ(sum(*reply), 0u);
  }
  ASSERT_TRUE(origin.feeds(0).has_own());
  EXPECT_EQ(origin.feeds(0).number(), feed->feed);
  EXPECT_EQ(origin.feeds(0).own().limited_by(), "maximum");
  EXPECT_EQ(origin.feeds(0).own().bytes_per_second(), 20'000u);
  EXPECT_EQ(origin.feeds(0).own().bytes_per_second_max(), 20'000u);
  EXPECT_EQ(origin.feeds(0).own().session(), source.session);
  EXPECT_EQ(origin.feeds(0).own().daemons(), 2u);
  EXPECT_EQ(origin.feeds(0).own().links(), 1u);
  EXPECT_EQ(origin.feeds(0).own().epochs(), 0u);
  EXPECT_EQ(origin.feeds(0).branches(), 1u);
  EXPECT_FALSE(relay.feeds(0).has_own());
  EXPECT_EQ(relay.feeds(0).upstream(), "h0");
  EXPECT_EQ(relay.feeds(0).branches(), 1u);
  EXPECT_EQ(relay.feeds(0).listeners(), 0u);
  EXPECT_EQ(leaf.feeds(0).upstream(), "h1");
  EXPECT_EQ(leaf.feeds(0).branches(), 0u);
  EXPECT_EQ(leaf.feeds(0).listeners(), 1u);
}

TEST_F(FeedReport, CountsRequestsRepairsAndGaps) {
  DatagramPath lossy;
  lossy.loss = 0.05;
  start_line(2, 3, lossy);
  const Member source = add_member(0, "g", false);
  add_member(2);
  const auto feed = open(source, {"g", 30ms, 0});
  stream(feed, 5'000, 2ms);
  sim().run_for(10s);
  const proto::FeedsReply origin = look(0), relay = look(1), leaf = look(2);
  EXPECT_GT(origin.feeds(0).own().epochs(), 0u);
  EXPECT_GT(origin.feeds(0).own().round_trip_us(), 0u);
  EXPECT_GT(origin.feeds(0).own().loss(), 0.01);
  EXPECT_GT(origin.requests_in(), 0u);
  EXPECT_GT(origin.repairs_of_own(), 0u);
  EXPECT_EQ(origin.repairs_for_others(), 0u);
  ASSERT_GE(relay.asked_size(), 1);
  EXPECT_EQ(origin.asked_size(), 0);
  EXPECT_EQ(relay.repairs_of_own(), 0u);
  EXPECT_GT(relay.repairs_for_others(), 0u);
  EXPECT_GT(relay.repairs_from_upstream(), 0u);
  EXPECT_EQ(relay.repairs_from_elsewhere(), 0u);
  EXPECT_EQ(sum(leaf), counted(2, Counter::feed_packets_lost));
  std::uint64_t asked = 0;
  for (const std::uint64_t each : leaf.asked()) asked += each;
  EXPECT_EQ(asked, counted(2, Counter::feed_naks_sent));
}

TEST_F(FeedReport, TellsStatesOfFeedsApart) {
  start_line(3, 2);
  const Member source = add_member(0, "g", false);
  add_member(1);
  const auto first = open(source, {"g", 5s, 0});
  const auto second = open(source, {"g", 5s, 0});
  sim().run_for(100ms);
  send(first);
  send(second);
  sim().run_for(100ms);
  close(first);
  sim().run_for(100ms);
  const proto::FeedsReply origin = look(0);
  ASSERT_EQ(origin.feeds_size(), 2);
  EXPECT_EQ(origin.feeds(0).state(), "closed") << "its packets may still be asked for";
  EXPECT_EQ(origin.feeds(1).state(), "open");
  EXPECT_EQ(look(1).feeds_size(), 1) << "all of the first one has come";
  const proto::FeedsReply page = look(0, 1);
  EXPECT_EQ(page.feeds_size(), 1);
  EXPECT_EQ(page.total(), 2u);
  EXPECT_TRUE(page.truncated());
}

}  // namespace
}  // namespace spindled::sim
