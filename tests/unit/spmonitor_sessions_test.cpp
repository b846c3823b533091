// How spmonitor shows clients.
#include <gtest/gtest.h>

#include "tools/spmonitor/render.h"

namespace spmonitor {
namespace {

namespace proto = spindle::admin;

TEST(SpmonitorSessions, ShowsWhoTheyAre) {
  proto::Reply reply;
  proto::SessionsReply& sessions = *reply.mutable_sessions();
  sessions.set_total(3);
  sessions.set_truncated(true);
  proto::Session& known = *sessions.add_sessions();
  known.set_name("#ann#alpha");
  known.set_peer("192.0.2.7:41000");
  known.set_identity("cert:feed-of-prices");
  known.set_state("open");
  known.set_open_seconds(75);
  known.set_groups(2);
  known.set_messages_in(1'000);
  known.set_messages_out(20);
  known.set_bytes_in(1'500'000);
  known.set_bytes_out(30);
  known.set_queued_bytes(2'000);
  known.set_waiting(true);
  proto::Session& stranger = *sessions.add_sessions();
  stranger.set_peer("198.51.100.1:5000");
  stranger.set_state("handshake");
  EXPECT_EQ(render(reply, false),
            "client      peer               identity             state        open  groups"
            "  messages in  out  bytes in   out  queued  waiting  slow\n"
            "#ann#alpha  192.0.2.7:41000    cert:feed-of-prices  open       1m 15s       2"
            "         1000   20    1.5 MB  30 B    2 KB  yes      no\n"
            "-           198.51.100.1:5000  -                    handshake    0 ms       0"
            "            0    0       0 B   0 B     0 B  no       no\n"
            "the first 2 of 3\n");
}

}  // namespace
}  // namespace spmonitor
