// How spmonitor shows bulk channels.
#include <gtest/gtest.h>

#include "tools/spmonitor/render.h"

namespace spmonitor {
namespace {

namespace proto = spindle::admin;

TEST(SpmonitorBulk, ShowsChannelsChildrenAndHops) {
  proto::Reply reply;
  proto::BulkReply& bulk = *reply.mutable_bulk();
  bulk.set_total(1);
  bulk.set_ring_bytes(1'048'576);
  bulk.set_control_bytes_per_second(2'000);
  proto::BulkChannel& channel = *bulk.add_channels();
  channel.set_id("4@alpha");
  channel.set_name("image.iso");
  channel.set_group("hosts");
  channel.set_source("#ann#alpha");
  channel.set_bytes(4'000'000'000);
  channel.set_blocks(477);
  channel.set_state("sealed");
  channel.set_rate_cap(50'000'000);
  channel.set_weight(10);
  proto::BulkOutcomeCount& count = *channel.add_outcomes();
  count.set_outcome("accepted");
  count.set_receivers(3);
  channel.set_parent("alpha");
  channel.set_generation(2);
  channel.set_ring_bytes(1'048'576);
  channel.set_index_bytes(15'264);
  proto::BulkChild& child = *channel.add_children();
  child.set_daemon("gamma");
  child.set_blocks(12);
  child.set_bytes_per_second(11'000'000);
  child.set_symbols(13'000);
  child.set_overwritten(7);
  child.set_behind(true);
  child.set_limited_by("the hop to gamma");
  proto::BulkChild& client = *channel.add_children();
  client.set_client("bob");
  client.set_blocks(477);
  client.set_symbols(488'000);
  proto::BulkChild& peer = *channel.add_children();
  peer.set_daemon("delta");
  peer.set_peer(true);
  peer.set_blocks(11);
  peer.set_symbols(6'000);
  proto::BulkMesh& mesh = *channel.mutable_mesh();
  mesh.set_senders(2);
  mesh.set_receivers(1);
  mesh.set_symbols(5'000);
  mesh.set_useless(12);
  mesh.set_told_bytes(3'000);
  mesh.set_left_useless(1);
  proto::BulkHop& hop = *bulk.add_hops();
  hop.set_peer("gamma");
  hop.set_open(true);
  hop.set_bytes_per_second(11'000'000);
  hop.set_capacity(12'000'000);
  hop.set_bytes_out(107'000'000);
  EXPECT_EQ(render(reply, false),
            "channels 1, rings 1.05 MB, control 2 KB/s\n"
            "4@alpha  image.iso of #ann#alpha to hosts, 4 GB, sealed\n"
            "    receivers 3 accepted; weight 10, rate cap 50 MB/s\n"
            "    tree 2: parent alpha, backup -; ring 1.05 MB, index 15.3 KB, needless 0\n"
            "    mesh: senders 2, receivers 1; came 5000, useless 12; told 3 KB; left 1 as useless, 0 as wrong\n"
            "\n"
            "channel  to             blocks     rate  symbols  overwritten  behind  limited by\n"
            "4@alpha  daemon gamma   12/477  11 MB/s    13000            7  yes     the hop to gamma\n"
            "4@alpha  client bob    477/477        -   488000            0  no      -\n"
            "4@alpha  peer delta     11/477        -     6000            0  no      -\n"
            "\n"
            "hop to  state     rate  limit     path     out\n"
            "gamma   open   11 MB/s      -  12 MB/s  107 MB\n");
}

TEST(SpmonitorBulk, SaysWhatItHasChanged) {
  proto::Reply reply;
  reply.mutable_bulk();
  EXPECT_EQ(render(reply, false), "no bulk channels\n");
  reply.mutable_bulk_cancel()->set_id("4@alpha");
  EXPECT_EQ(render(reply, false), "channel 4@alpha is cancelled\n");
  reply.mutable_bulk_rate()->set_id("4@alpha");
  EXPECT_EQ(render(reply, false), "channel 4@alpha has no rate cap\n");
  reply.mutable_bulk_rate()->set_bytes_per_second(1'500'000);
  EXPECT_EQ(render(reply, false), "channel 4@alpha has a rate cap of 1.5 MB/s\n");
}

}  // namespace
}  // namespace spmonitor
