// What `spmonitor links` says of datagrams.
#include <gmock/gmock.h>

#include "daemon/admin/admin.pb.h"
#include "tools/spmonitor/render.h"

namespace spmonitor {
namespace {

using testing::HasSubstr;
using testing::Not;

spindle::admin::Reply reply_of(const spindle::admin::Datagrams& datagrams) {
  spindle::admin::Reply reply;
  spindle::admin::Link& link = *reply.mutable_links()->add_links();
  link.set_peer("beta");
  *link.mutable_datagrams() = datagrams;
  reply.mutable_links()->mutable_datagram_sockets()->set_unknown(7);
  return reply;
}

TEST(SpmonitorDatagrams, ShowsHowTheyTravel) {
  spindle::admin::Datagrams datagrams;
  datagrams.set_by_udp(true);
  datagrams.set_encrypted(true);
  datagrams.set_round_trip_us(400);
  datagrams.set_loss_out(0.021);
  datagrams.set_dropped_repeated(3);
  datagrams.set_dropped_behind(1);
  const std::string text = render(reply_of(datagrams), false);
  EXPECT_THAT(text, HasSubstr("udp, encrypted"));
  EXPECT_THAT(text, HasSubstr("2.1 %"));
  EXPECT_THAT(text, HasSubstr("3 repeated, 1 behind others"));
  EXPECT_THAT(text, HasSubstr("one a message (no GSO), 7 of no link, 0 too long, 0 failed"));
  EXPECT_THAT(text, Not(HasSubstr("no udp to")));
}

TEST(SpmonitorDatagrams, SaysWhyTheyDoNot) {
  spindle::admin::Datagrams datagrams;
  datagrams.set_why_not("questions of 1400 bytes are not answered");
  EXPECT_THAT(render(reply_of(datagrams), false),
              HasSubstr("no udp to beta: questions of 1400 bytes are not answered"));
}

TEST(SpmonitorDatagrams, SaysNothingOfADaemonThatDoesNot) {
  spindle::admin::Reply reply;
  reply.mutable_links()->add_links()->set_peer("beta");
  EXPECT_THAT(render(reply, false), Not(HasSubstr("datagrams")));
}

}  // namespace
}  // namespace spmonitor
