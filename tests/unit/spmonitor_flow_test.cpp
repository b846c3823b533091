#include <gtest/gtest.h>

#include "tools/spmonitor/render.h"

namespace spmonitor {
namespace {

namespace proto = spindle::admin;

proto::Reply sample() {
  proto::Reply reply;
  proto::FlowReply& flow = *reply.mutable_flow();
  flow.set_enabled(true);
  flow.set_benefit("sending");
  flow.set_salary(10);
  proto::PricedLink& link = *flow.add_links();
  link.set_peer("beta");
  link.set_queued_packets(42);
  link.set_aim_packets(100);
  link.set_price(6.0734);
  link.set_packets_per_second(240.4);
  link.set_queued_bytes(61'000);
  link.set_bytes_out(1'200'000'000);
  flow.add_links()->set_peer("gamma");
  return reply;
}

proto::Flow& add_flow(proto::Reply& reply) {
  proto::Flow& flow = *reply.mutable_flow()->add_flows();
  flow.set_client("ann");
  flow.add_to("news");
  flow.set_to_count(1);
  flow.set_price(7.0734);
  flow.set_budget(-3.5);
  flow.set_salary_period_seconds(0.0481);
  flow.set_packets_per_second(29.6);
  flow.set_blocked(true);
  flow.set_blocked_share(0.973);
  flow.set_packets(51'234);
  flow.set_dollars(312'333.456);
  flow.set_limited_by("link beta-gamma");
  return flow;
}

TEST(SpmonitorFlow, ShowsLinksPricesAndFlows) {
  proto::Reply reply = sample();
  proto::ToldLinkPrice& told = *reply.mutable_flow()->add_told_links();
  told.set_from("beta");
  told.set_to("gamma");
  told.set_price(6.0625);
  proto::ClientPrice& clients = *reply.mutable_flow()->add_clients();
  clients.set_name("news");
  clients.set_daemon("gamma");
  clients.set_price(0.5);
  clients.set_slowest("slow");
  add_flow(reply);
  reply.mutable_flow()->set_total(1);
  EXPECT_EQ(render(reply, false),
            "admission seeks sending, salary 10\n"
            "\n"
            "link to  packets  aim  price   rate  queued     out\n"
            "beta          42  100   6.07  240/s   61 KB  1.2 GB\n"
            "gamma          0    0   0.00      -     0 B     0 B\n"
            "\n"
            "price told                  by     dollars\n"
            "link beta-gamma             beta      6.06\n"
            "client #slow#gamma of news  gamma     0.50\n"
            "\n"
            "client  to    price  budget   period  rate  blocked  now  packets       paid  limited by\n"
            "ann     news   7.07   -3.50  48.1 ms  30/s     97 %  yes    51234  312333.46  link beta-gamma\n");
}

TEST(SpmonitorFlow, SaysWhatThereIsNothingOf) {
  proto::Reply reply;
  reply.mutable_flow();
  EXPECT_EQ(render(reply, false),
            "admission is off: messages wait for room only\n"
            "\n"
            "no links to other daemons of the view\n"
            "\n"
            "no client has sent anything\n");
}

TEST(SpmonitorFlow, SaysWhatIsLeftOut) {
  proto::Reply reply = sample();
  proto::Flow& flow = add_flow(reply);
  for (const char* name : {"b", "c", "d"}) flow.add_to(name);
  flow.set_to_count(40);
  flow.set_salary_period_seconds(2.5e-6);
  flow.set_packets_per_second(0);
  flow.clear_limited_by();
  reply.mutable_flow()->set_total(9);
  reply.mutable_flow()->set_truncated(true);
  reply.mutable_flow()->set_prices_truncated(true);
  const std::string text = render(reply, false);
  EXPECT_NE(text.find("news b c and 37 more"), std::string::npos) << text;
  EXPECT_NE(text.find("2.5 us     -  "), std::string::npos) << text;
  EXPECT_NE(text.find("the most blocked 1 of 9\n"), std::string::npos) << text;
  EXPECT_NE(text.find("and more\n"), std::string::npos) << text;
}

TEST(SpmonitorFlow, JsonHasTheNamesOfTheProtocol) {
  proto::Reply reply = sample();
  add_flow(reply);
  const std::string text = render_json(reply, true);
  for (const char* part : {"\"aim_packets\":100", "\"limited_by\":\"link beta-gamma\"", "\"told_links\":[]",
                           "\"blocked_share\":0.973", "\"packets\":\"51234\""}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  EXPECT_EQ(text.find('\n'), text.size() - 1);
}

}  // namespace
}  // namespace spmonitor
