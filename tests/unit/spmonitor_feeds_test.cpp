// How spmonitor shows feeds.
#include <gtest/gtest.h>

#include "tools/spmonitor/render.h"

namespace spmonitor {
namespace {

namespace proto = spindle::admin;

TEST(SpmonitorFeeds, ShowsFeedsRatesAndRepair) {
  proto::Reply reply;
  proto::FeedsReply& feeds = *reply.mutable_feeds();
  feeds.set_total(3);
  feeds.set_truncated(true);
  proto::Feed& own = *feeds.add_feeds();
  own.set_number(4);
  own.set_group("load");
  own.set_source("#meter#alpha");
  own.set_state("open");
  own.set_repair_for_seconds(0.2);
  own.set_listeners(1);
  own.set_active(true);
  own.set_packets(5'000);
  own.set_branches(2);
  proto::FeedSource& source = *own.mutable_own();
  source.set_bytes_per_second(1'250'000);
  source.set_limited_by("link");
  source.set_round_trip_us(12'500);
  source.set_loss(0.0125);
  source.set_epochs(7);
  source.set_waiting_bytes(2'400);
  source.set_daemons(3);
  source.set_links(2);
  proto::Feed& other = *feeds.add_feeds();
  other.set_number(9);
  other.set_group("load");
  other.set_source("#pump#gamma");
  other.set_state("ending");
  other.set_repair_for_seconds(1);
  other.set_active(true);
  other.set_packets(812);
  other.set_missing(3);
  other.set_upstream("beta");
  for (const std::uint64_t asked : {20U, 3U, 1U}) feeds.add_asked(asked);
  feeds.set_requests_in(31);
  feeds.set_requests_passed_on(4);
  feeds.set_requests_refused(2);
  feeds.set_requests_crossed(1);
  feeds.set_repairs_of_own(25);
  feeds.set_repairs_for_others(6);
  feeds.set_repairs_refused(5);
  feeds.set_repairs_from_upstream(18);
  feeds.set_repairs_from_elsewhere(2);
  feeds.set_needless_repairs(8);
  proto::FeedCount& gaps = *feeds.add_gaps();
  gaps.set_name("too late");
  gaps.set_value(11);
  proto::FeedCount& slow = *feeds.add_gaps();
  slow.set_name("slow");
  slow.set_value(40);
  feeds.set_kept_bytes(1'048'576);
  feeds.set_kept_seconds(3.2);
  EXPECT_EQ(render(reply, false),
            "feed  source        group  state   repair for  from    packets  missing  links out  listeners\n"
            "   4  #meter#alpha  load   open        200 ms  client     5000        0          2          1\n"
            "   9  #pump#gamma   load   ending       1.0 s  beta        812        3          0          0\n"
            "the first 2 of 3\n"
            "\n"
            "own       rate  limited by  round trip    loss  epochs  waiting  daemons  links\n"
            "  4  1.25 MB/s  link           12.5 ms  1.25 %       7   2.4 KB        3      2\n"
            "\n"
            "requests   20 3 1 by try; 31 came, 4 passed on, 2 refused, 1 crossed by a repair\n"
            "repairs    25 of own feeds, 6 of others, 5 refused; 18 came from upstream, 2 from elsewhere, 8 needless\n"
            "given up   11 too late, 40 slow\n"
            "kept       1.05 MB, the oldest packet for 3.2 s\n");
}

TEST(SpmonitorFeeds, SaysThatThereAreNone) {
  proto::Reply reply;
  reply.mutable_feeds();
  EXPECT_EQ(render(reply, false),
            "no feeds\n"
            "\n"
            "requests   0 by try; 0 came, 0 passed on, 0 refused, 0 crossed by a repair\n"
            "repairs    0 of own feeds, 0 of others, 0 refused; 0 came from upstream, 0 from elsewhere, 0 needless\n"
            "given up   0\n"
            "kept       0 B\n");
}

TEST(SpmonitorFeeds, ShowsWhatIsNotKnownAsSuch) {
  proto::Reply reply;
  reply.mutable_feeds()->set_total(1);
  proto::Feed& feed = *reply.mutable_feeds()->add_feeds();
  feed.set_number(1);
  feed.set_group("g");
  feed.set_source("#a#b");
  feed.set_state("open");
  const std::string text = render(reply, false);
  EXPECT_NE(text.find("open         0 ms  -           -        -          -          0\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace spmonitor
