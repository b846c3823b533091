// What one connection asks for takes effect in the order in which it is asked: joins, leaves and messages alike.
#include <algorithm>

#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

class RequestOrder : public Scenario {
 protected:
  static constexpr Service kServices[] = {Service::unreliable, Service::reliable, Service::fifo,
                                          Service::causal,     Service::agreed,   Service::safe};

  SimClient& add(HostIndex host, const std::string& name, bool independent = false) {
    SimClient& client = sim().add_client(sim().host(host), name, {.independent_flows = independent});
    await([&] { return client.is_welcome(); }, 1s, "the client is welcome");
    return client;
  }
  SimClient& add_member(HostIndex host, const std::string& name, const std::string& group) {
    SimClient& client = add(host, name);
    client.join(group);
    await_group_view({&client}, group);
    return client;
  }
  /// What a client was told and got, one word each: "+g" for a view of g with the client in it that was not there
  /// before, "-g" for a view without it, and the size of each message.
  static std::vector<std::string> told(const SimClient& client) {
    std::vector<std::string> words;
    std::set<std::string> in;
    for (const Event& event : client.history().events) {
      if (const auto* view = std::get_if<GroupView>(&event.what)) {
        const bool is_member = is_in(view->members, client.private_name());
        if (is_member && in.insert(view->group).second) words.push_back("+" + view->group);
        if (!is_member && in.erase(view->group) != 0) words.push_back("-" + view->group);
      } else if (const auto* delivered = std::get_if<Delivered>(&event.what)) {
        words.push_back(std::to_string(delivered->message.size));
      }
    }
    return words;
  }
  static bool is_in(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  using Words = std::vector<std::string>;
};

TEST_F(RequestOrder, AMessageToAGroupWaitsForTheJoinOfItsSender) {
  for (const std::size_t daemons : {1u, 3u}) {
    simulate_cluster(31, Shape::line, daemons);
    for (const Service service : kServices) {
      const std::string group = "g" + std::to_string(static_cast<int>(service));
      SimClient& client = sim().add_client(sim().host(static_cast<HostIndex>(daemons - 1)));
      client.join(group);
      client.multicast({group}, {.service = service, .size = 10});
      client.multicast({group}, {.service = service, .size = 20});
      await_rest();
      EXPECT_EQ(told(client), (Words{"+" + group, "10", "20"})) << "at " << daemons << " daemons";
    }
    check();
  }
}

TEST_F(RequestOrder, JoinsAreDoneInTheOrderAsked) {
  simulate_cluster(32, Shape::line, 3);
  add_member(2, "other", "g0");  // so that this daemon gets the messages of g0 already
  SimClient& client = add(2, "client");
  for (const char* group : {"g1", "g2", "g0", "g3"}) client.join(group);
  client.multicast({"g0"}, {.size = 10});
  await_rest();
  EXPECT_EQ(told(client), (Words{"+g1", "+g2", "+g0", "+g3", "10"}));
  check();
}

TEST_F(RequestOrder, ALeaveComesBehindTheJoinsBeforeIt) {
  simulate_cluster(33, Shape::line, 3);
  SimClient& client = add_member(2, "client", "g0");
  client.multicast({"g0"}, {.size = 10});
  client.join("g1");
  client.leave("g0");
  client.multicast({"g0"}, {.size = 20});
  client.multicast({"g0"}, {.service = Service::reliable, .size = 30});
  client.join("g2");
  client.leave("g2");
  client.multicast({"g1", "g2"}, {.size = 40});
  await_rest();
  EXPECT_EQ(told(client), (Words{"+g0", "10", "+g1", "-g0", "+g2", "-g2", "40"}));
  check();
}

TEST_F(RequestOrder, OthersSeeTheJoinBeforeTheMessagesBehindIt) {
  simulate_cluster(34, Shape::line, 3);
  SimClient& witness = add_member(0, "witness", "g");
  witness.join("h");
  await_group_view({&witness}, "h");
  SimClient& client = add(2, "client");
  client.join("g");
  client.multicast({"h"}, {.size = 10});
  await_rest();
  const std::vector<Event>& events = witness.history().events;
  const auto joined = std::find_if(events.begin(), events.end(), [&](const Event& event) {
    const auto* view = std::get_if<GroupView>(&event.what);
    return view != nullptr && is_in(view->members, client.private_name());
  });
  const auto delivered = std::find_if(events.begin(), events.end(),
                                      [](const Event& event) { return std::holds_alternative<Delivered>(event.what); });
  EXPECT_LT(joined, delivered);
  EXPECT_NE(delivered, events.end());
  check();
}

TEST_F(RequestOrder, ARequestForTheViewWaitsForTheJoin) {
  simulate_cluster(35, Shape::line, 3);
  SimClient& client = add(2, "client");
  client.join("g");
  client.request_view("g");
  await_rest();
  EXPECT_EQ(client.refused_requests(), 0u);
  EXPECT_EQ(client.views_of(spindle::ViewForm::answer), 1u);
}

TEST_F(RequestOrder, HoldsThroughAChangeOfViews) {
  simulate_cluster(36, Shape::line, 3);
  SimClient& client = add_member(2, "client", "g0");
  // Without the sequencer nothing more gets its place before the view ends.
  sim().network().partition({{0, 1}, {2}});
  for (const char* group : {"g1", "g2"}) client.join(group);
  client.leave("g0");
  client.multicast({"g0", "g1"}, {.size = 10});
  await([&] { return client.messages() == 1; }, 10s, "the message came back");
  EXPECT_EQ(told(client), (Words{"+g0", "+g1", "+g2", "-g0", "10"}));
  sim().network().heal();
  await_rest();
  check();
}

TEST_F(RequestOrder, OneThatEndsWithRequestsOpenIsAMemberOfNothing) {
  for (const Duration after : {0ms, 1ms, 2ms, 5ms, 10ms, 15ms, 20ms, 30ms}) {
    simulate_cluster(37, Shape::line, 3);
    SimClient& witness = add_member(0, "witness", "g");
    SimClient& client = add_member(2, "client", "h");
    for (int i = 0; i < 5; ++i) {
      client.join("g");
      client.join("i" + std::to_string(i));
      client.leave("g");
    }
    client.leave("h");
    client.join("h");
    sim().run_for(after);
    client.kill();
    await_rest();
    ASSERT_NE(witness.view("g"), nullptr);
    EXPECT_EQ(witness.view("g")->members, std::vector<std::string>{witness.private_name()});
    for (const SimHost* host : sim().hosts()) {
      EXPECT_NE(host->node().dump().find("groups: ready true, 1 in the table"), std::string::npos)
          << host->node().dump();
    }
    check();
  }
}

TEST_F(RequestOrder, AnOrderlyEndComesBehindWhatWasAskedBefore) {
  simulate_cluster(38, Shape::line, 3);
  SimClient& witness = add_member(0, "witness", "g");
  SimClient& client = add(2, "client");
  client.join("g");
  await_group_view({&witness, &client}, "g");
  client.join("h");
  client.leave("g");
  client.bye();
  await([&] { return client.is_closed(); }, 1s, "the client has left");
  await_rest();
  ASSERT_NE(witness.view("g"), nullptr);
  EXPECT_EQ(witness.view("g")->cause, spindle::ViewCause::leave);
  check();
}

TEST_F(RequestOrder, WithIndependentFlowsMessagesWaitForTheJoinOfTheirGroupOnly) {
  simulate_cluster(39, Shape::line, 3);
  SimClient& reader = add_member(2, "reader", "h");
  SimClient& client = add(2, "client", true);
  sim().network().set_stalled(1, 2, true);  // for less than the liveness time
  client.join("g");
  for (const Service service : kServices) client.multicast({"g"}, {.service = service, .size = 10});
  client.multicast({"h"}, {.service = Service::reliable, .size = 20});
  await([&] { return reader.messages() == 1; }, 100ms, "a message to another group");
  EXPECT_EQ(client.messages(), 0u);
  sim().network().set_stalled(1, 2, false);
  await_rest();
  EXPECT_EQ(client.messages(), std::size(kServices));
  EXPECT_EQ(told(client).front(), "+g");
  check();
}

TEST_F(RequestOrder, ManyJoinsOfOneClientShareTheirRoundTrips) {
  constexpr std::size_t kGroups = 20'000;
  simulate_cluster(40, Shape::line, 3);
  SimClient& client = add(2, "client");
  for (std::size_t i = 0; i < kGroups; ++i) client.join("g" + std::to_string(i));
  client.multicast({"g" + std::to_string(kGroups - 1)});
  await([&] { return client.messages() == 1; }, 2s, "the message behind all joins");
  EXPECT_EQ(client.views_of(spindle::ViewForm::full), kGroups);
}

}  // namespace
}  // namespace spindled::sim
