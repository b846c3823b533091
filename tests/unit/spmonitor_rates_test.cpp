// What `spmonitor links --interval` makes of two samples.
#include "tools/spmonitor/rates.h"

#include <gtest/gtest.h>

namespace spmonitor {
namespace {

using spindle::admin::Link;
using spindle::admin::LinksReply;

LinksReply sample(const std::string& address, double up_seconds, std::uint64_t bytes_in, std::uint64_t bytes_out,
                  std::uint64_t frames_in, std::uint64_t frames_out) {
  LinksReply reply;
  Link& link = *reply.add_links();
  link.set_peer("beta");
  link.set_address(address);
  link.set_up_seconds(up_seconds);
  link.set_bytes_in(bytes_in);
  link.set_bytes_out(bytes_out);
  link.set_frames_in(frames_in);
  link.set_frames_out(frames_out);
  return reply;
}

const LinksReply kBefore = sample("10.0.0.2:4804", 1, 1'000, 2'000, 10, 20);

TEST(SpmonitorRates, AreWhatHasComeOnALinkSince) {
  LinksReply now = sample("10.0.0.2:4804", 3, 5'000, 2'000, 30, 24);
  add_rates(kBefore, 2, now);
  const Link& link = now.links(0);
  EXPECT_EQ(link.bytes_in_per_second(), 2'000);
  EXPECT_EQ(link.bytes_out_per_second(), 0);
  EXPECT_EQ(link.frames_in_per_second(), 10);
  EXPECT_EQ(link.frames_out_per_second(), 2);
}

TEST(SpmonitorRates, OfALinkThatWasDialledAnewAreNotTold) {
  for (LinksReply now :
       {sample("10.0.0.2:4804", 1.5, 500, 2'500, 30, 30), sample("10.0.0.2:4804", 1.5, 1'500, 500, 30, 30),
        sample("10.0.0.2:4804", 1.5, 1'500, 2'500, 3, 30), sample("10.0.0.2:4804", 1.5, 1'500, 2'500, 30, 3),
        sample("10.0.0.2:4804", 0.5, 1'500, 2'500, 30, 30), sample("10.0.0.3:4804", 3, 1'500, 2'500, 30, 30)}) {
    const std::string before = now.DebugString();
    add_rates(kBefore, 2, now);
    EXPECT_EQ(now.DebugString(), before);
  }
}

}  // namespace
}  // namespace spmonitor
