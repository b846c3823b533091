// What `spmonitor flow` tells of daemons whose links, or whose clients, are too slow for what is sent.
#include <algorithm>

#include "tests/sim/bottleneck.h"

namespace spindled::sim {
namespace {

namespace proto = spindle::admin;

class FlowReport : public Bottleneck {
 protected:
  static const proto::Flow* find(const proto::FlowReply& reply, std::string_view client) {
    const auto at = std::find_if(reply.flows().begin(), reply.flows().end(),
                                 [&](const proto::Flow& flow) { return flow.client() == client; });
    return at == reply.flows().end() ? nullptr : &*at;
  }
};

TEST_F(FlowReport, NamesTheLinkThatLimitsASender) {
  simulate_bottleneck(501);
  SimClient& far = sim().add_client(sim().host(2), "far");
  far.join("far");
  SimClient& near = sim().add_client(sim().host(1), "near");
  near.join("near");
  await([&] { return far.view("far") != nullptr && near.view("near") != nullptr; }, 5s, "the groups are there");
  if (HasFatalFailure()) return;
  add_flooder(0, "eager", "far", 20'000);
  SimClient& calm = sim().add_client(sim().host(0), "calm");
  calm.multicast({"near"}, {.size = 1000});
  SimClient& silent = sim().add_client(sim().host(0), "silent");
  // The price goes up and down with the queue, and the sender may have to wait for room in its window, too: the report
  // is looked at until the price is what the sender waits for.
  proto::FlowReply reply;
  await(
      [&] {
        reply = flow(0);
        const proto::Flow* eager = find(reply, "eager");
        return reply.told_links_size() != 0 && eager != nullptr && eager->blocked() && eager->packets() > 100 &&
               eager->limited_by() != "room";
      },
      20s, "the sender is blocked by a price");
  if (HasFatalFailure()) return;

  EXPECT_TRUE(reply.enabled());
  EXPECT_EQ(reply.benefit(), "sending");
  EXPECT_EQ(reply.salary(), 10);
  ASSERT_EQ(reply.links_size(), 1);
  EXPECT_EQ(reply.links(0).peer(), "d001");
  EXPECT_GT(reply.links(0).bytes_out(), 1000u);
  ASSERT_EQ(reply.told_links_size(), 1);
  EXPECT_EQ(reply.told_links(0).from(), "d001");
  EXPECT_EQ(reply.told_links(0).to(), "d002");
  EXPECT_GT(reply.told_links(0).price(), 0);

  // Two have sent; the one that is blocked comes first, and the third does not count.
  EXPECT_TRUE(silent.is_welcome());
  EXPECT_EQ(reply.total(), 2u);
  ASSERT_EQ(reply.flows_size(), 2);
  EXPECT_FALSE(reply.truncated());
  const proto::Flow& eager = reply.flows(0);
  EXPECT_EQ(eager.client(), "eager");
  ASSERT_EQ(eager.to_size(), 1);
  EXPECT_EQ(eager.to(0), "far");
  EXPECT_EQ(eager.limited_by(), "link d001-d002");
  EXPECT_EQ(eager.benefit(), "sending");
  EXPECT_NEAR(eager.price(), 1 + reply.told_links(0).price(), 1e-9);
  EXPECT_GT(eager.blocked_share(), 0);
  EXPECT_GT(eager.salary_period_seconds(), 0);
  EXPECT_GE(eager.dollars(), static_cast<double>(eager.packets()));
  EXPECT_GT(eager.packets_per_second(), 0);
  // The answer took its time: there may be more by now.
  const Counters& counters = sim().host(0).node().counters();
  EXPECT_GE(counters.value(Counter::packets_paid), eager.packets());
  EXPECT_GE(counters.value(Counter::cents_paid), 99 * eager.dollars()) << "each message is rounded";
  const proto::Flow& calm_flow = reply.flows(1);
  EXPECT_EQ(calm_flow.client(), "calm");
  EXPECT_EQ(calm_flow.packets(), 1u);
  EXPECT_FALSE(calm_flow.blocked());
  EXPECT_TRUE(calm_flow.limited_by().empty());
  EXPECT_EQ(calm_flow.price(), 1);

  const proto::FlowReply first = flow(0, 1);
  EXPECT_EQ(first.flows_size(), 1);
  EXPECT_TRUE(first.truncated());
  EXPECT_EQ(first.total(), 2u);
}

TEST_F(FlowReport, TheDaemonInTheMiddleShowsItsQueue) {
  simulate_bottleneck(502);
  add_receiver({"far"});
  if (HasFatalFailure()) return;
  add_flooder(0, "eager", "far", 20'000);
  proto::FlowReply reply;
  await(
      [&] {
        reply = flow(1);
        const proto::PricedLink link = narrow_link(reply);
        return link.queued_packets() > 0 && link.packets_per_second() > 0 && link.price() > 0;
      },
      20s, "packets wait for the narrow link");
  const proto::PricedLink link = narrow_link(reply);
  EXPECT_GE(link.aim_packets(), 50);
  EXPECT_GT(link.price(), 0);
  EXPECT_GT(link.queued_bytes(), 1000u);
  EXPECT_TRUE(reply.told_links().empty()) << "its own price is not told to it";
  EXPECT_TRUE(reply.flows().empty()) << "relays keep nothing for a flow";
}

TEST_F(FlowReport, SmallMessagesOfOneMomentShareThePriceOfAPacket) {
  simulate_bottleneck(503);
  add_receiver({"far"});
  if (HasFatalFailure()) return;
  SimClient& sender = sim().add_client(sim().host(0), "sender");
  await([&] { return sender.is_welcome(); }, 5s, "the sender is welcome");
  constexpr std::size_t kMessages = 24;  // of which twelve fit into a packet
  for (std::size_t i = 0; i < kMessages; ++i) sender.multicast({"far"}, {.size = 100});
  proto::FlowReply reply;
  await(
      [&] {
        reply = flow(0);
        return find(reply, "sender") != nullptr &&
               sim().host(2).node().counters().value(Counter::messages_delivered) == kMessages;
      },
      20s, "all have arrived");
  if (HasFatalFailure()) return;
  EXPECT_EQ(find(reply, "sender")->packets(), 2u);
  EXPECT_EQ(find(reply, "sender")->dollars(), 2);
  const Counters& counters = sim().host(0).node().counters();
  EXPECT_EQ(counters.value(Counter::messages_sent), kMessages);
  EXPECT_EQ(counters.value(Counter::messages_bundled), kMessages);
  EXPECT_EQ(counters.value(Counter::packets_paid), 2u);
}

}  // namespace
}  // namespace spindled::sim
