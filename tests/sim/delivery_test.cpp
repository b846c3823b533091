// What is sent arrives as it was sent: services, sizes, destinations.
#include "tests/sim/scenario.h"

#include <algorithm>

namespace spindled::sim {
namespace {

constexpr Service kServices[] = {Service::unreliable, Service::reliable, Service::fifo,
                                 Service::causal,     Service::agreed,   Service::safe};

class Delivery : public Scenario {
 protected:
  static bool all_have(const std::vector<SimClient*>& clients, std::size_t messages) {
    return std::all_of(clients.begin(), clients.end(), [&](auto* each) { return each->messages() >= messages; });
  }
};

TEST_F(Delivery, EveryServiceAndSize) {
  simulate_cluster(61, Shape::line, 3);
  const std::vector<SimClient*> clients = add_members(4, "g");
  await_group_view(clients, "g");
  if (HasFatalFailure()) return;
  std::size_t sent = 0;
  for (const Service service : kServices) {
    for (const std::size_t size : {0u, 1u, 100u, 1399u, 1400u, 1401u, 32767u, 32768u, 32769u, 65536u, 100'000u}) {
      clients[sent % clients.size()]->multicast({"g"}, {.service = service, .size = size});
      ++sent;
      // One at a time: an unreliable message may be dropped at a long queue only.
      await([&] { return all_have(clients, sent); }, 5s, fmt::format("{} bytes", size));
      if (HasFatalFailure()) return;
    }
  }
  sim().run_for(1s);
  check();
  for (const SimClient* client : clients) EXPECT_EQ(client->messages(), sent);
}

TEST_F(Delivery, LargestMessages) {
  simulate_cluster(62, Shape::line, 3);
  const std::vector<SimClient*> clients = add_members(3, "g");
  await_group_view(clients, "g");
  if (HasFatalFailure()) return;
  constexpr std::size_t kLargest = 16u << 20;
  clients[0]->multicast({"g"}, {.service = Service::agreed, .size = kLargest});
  clients[2]->multicast({"g"}, {.service = Service::fifo, .size = kLargest});
  clients[1]->multicast({"g"}, {.service = Service::agreed, .size = 10});
  await([&] { return all_have(clients, 3); }, 30s, "the largest messages");
  check();
}

TEST_F(Delivery, SmallMessagesPassBetweenTheFragmentsOfLargeOnes) {
  simulate_cluster(63, Shape::line, 3);
  const std::vector<SimClient*> clients = add_members(6, "g");
  await_group_view(clients, "g");
  if (HasFatalFailure()) return;
  for (std::size_t round = 0; round < 10; ++round) {
    for (SimClient* client : clients) {
      client->multicast({"g"}, {.service = round % 2 == 0 ? Service::agreed : Service::fifo,
                                .size = sim().random().chance(0.3) ? 200'000u : 200u});
    }
  }
  await([&] { return all_have(clients, 60); }, 30s, "all messages");
  check();
}

TEST_F(Delivery, SeveralGroupsInOneSendArriveOnce) {
  simulate_cluster(64, Shape::star, 4);
  std::vector<SimClient*> clients;
  for (std::size_t i = 0; i < 4; ++i) {
    clients.push_back(&sim().add_client(sim().host(i), fmt::format("c{}", i)));
    if (i != 3) clients[i]->join("x");
    if (i != 0) clients[i]->join("y");
  }
  sim().run_for(1s);
  clients[0]->multicast({"x", "y"});
  clients[1]->multicast({"y"});
  clients[3]->multicast({"x", "empty"});
  await_rest();
  check();
  const std::vector<std::size_t> expected = {2, 3, 3, 2};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(clients[i]->messages(), expected[i]) << i;
}

TEST_F(Delivery, AThousandGroupsInOneSend) {
  simulate_cluster(65, Shape::line, 2);
  SimClient& sender = sim().add_client(sim().host(0), "sender");
  SimClient& receiver = sim().add_client(sim().host(1), "receiver");
  std::vector<std::string> groups;
  for (std::size_t i = 0; i < 1000; ++i) groups.push_back(std::string(200, 'g') + std::to_string(i));
  receiver.join(groups[999]);
  receiver.join(groups[17]);
  await([&] { return receiver.view(groups[999]) != nullptr && receiver.view(groups[17]) != nullptr; }, 5s, "joined");
  sender.multicast(groups, {.service = Service::agreed, .size = 1000});
  sender.multicast(groups, {.service = Service::fifo, .size = 100'000});
  await([&] { return receiver.messages() == 2; }, 5s, "the messages to a thousand groups");
  check();
}

/// The same sender, the same destinations, the same place of delivery: only who is a member changes.
TEST_F(Delivery, WhoJoinsAndLeavesBetweenMessages) {
  simulate_cluster(67, Shape::line, 2);
  SimClient& sender = sim().add_client(sim().host(0), "sender");
  SimClient& first = sim().add_client(sim().host(1), "first");
  SimClient& second = sim().add_client(sim().host(1), "second");
  const auto send = [&] {
    sender.multicast({"g"});
    sim().run_for(1s);
  };
  first.join("g");
  sim().run_for(1s);
  send();
  second.join("g");
  sim().run_for(1s);
  send();
  first.leave("g");
  sim().run_for(1s);
  send();
  check();
  EXPECT_EQ(first.messages(), 2u);
  EXPECT_EQ(second.messages(), 2u);
}

/// A private name is another client's as soon as the one that had it is gone.
TEST_F(Delivery, APrivateNameChangesHands) {
  simulate_cluster(68, Shape::line, 2);
  SimClient& sender = sim().add_client(sim().host(0), "sender");
  SimClient& first = sim().add_client(sim().host(1), "taken");
  await([&] { return first.is_welcome(); }, 5s, "the first client's name");
  const std::string name = first.private_name();
  const auto send = [&] {
    sender.multicast({name});
    sim().run_for(1s);
  };
  send();
  first.bye();
  sim().run_for(1s);
  send();
  SimClient& second = sim().add_client(sim().host(1), "taken");
  await([&] { return second.is_welcome(); }, 5s, "the second client's name");
  ASSERT_EQ(second.private_name(), name);
  send();
  check();
  EXPECT_EQ(first.messages(), 1u);
  EXPECT_EQ(second.messages(), 1u);
}

TEST_F(Delivery, PrivateMessages) {
  simulate_cluster(66, Shape::line, 3);
  const std::vector<SimClient*> clients = add_members(6, "g");
  await_group_view(clients, "g");
  if (HasFatalFailure()) return;
  for (const Service service : kServices) {
    clients[0]->multicast({clients[5]->private_name()}, {.service = service});
    clients[0]->multicast({clients[3]->private_name()}, {.service = service});  // a client of the same daemon
    clients[2]->multicast({clients[2]->private_name()}, {.service = service});  // itself
  }
  clients[1]->multicast({"#nobody#d001"});
  clients[1]->multicast({"#nobody#nowhere"});
  await_rest();
  check();
  const std::vector<std::size_t> expected = {0, 0, 6, 6, 0, 6};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(clients[i]->messages(), expected[i]) << i;
  EXPECT_FALSE(clients[1]->is_closed());
}

TEST_F(Delivery, OpenGroupsAndSelfDiscard) {
  simulate_cluster(67, Shape::line, 3);
  const std::vector<SimClient*> members = add_members(3, "g");
  SimClient& outsider = sim().add_client(sim().host(1), "outsider");
  await_group_view(members, "g");
  if (HasFatalFailure()) return;
  outsider.multicast({"g"});
  members[0]->multicast({"g"}, {.self_discard = true});
  members[0]->multicast({"g"});
  await_rest();
  check();
  EXPECT_EQ(outsider.messages(), 0u);
  EXPECT_EQ(members[0]->messages(), 2u);
  EXPECT_EQ(members[1]->messages(), 3u);
}

TEST_F(Delivery, AClientThatHasLeftGetsNothingMore) {
  simulate_cluster(68, Shape::line, 3);
  const std::vector<SimClient*> members = add_members(3, "g");
  await_group_view(members, "g");
  if (HasFatalFailure()) return;
  members[1]->leave("g");
  await([&] { return members[1]->view("g") == nullptr; }, 5s, "left");
  await_group_view({members[0], members[2]}, "g");
  if (HasFatalFailure()) return;
  EXPECT_EQ(members[0]->view("g")->cause, spindle::ViewCause::leave);
  members[0]->multicast({"g"});
  await_rest();
  check();
  EXPECT_EQ(members[1]->messages(), 0u);
  EXPECT_EQ(members[2]->messages(), 1u);
}

TEST_F(Delivery, RefusalsSayWhy) {
  simulate_cluster(69, Shape::line, 1);
  SimClient& client = sim().add_client(sim().host(0), "c");
  client.join("g");
  sim().run_for(1s);
  client.join("g");
  client.leave("other");
  sim().run_for(1s);
  const auto refusals = events_of<Refused>(client.history());
  ASSERT_EQ(refusals.size(), 2u);
  EXPECT_EQ(static_cast<Errc>(refusals[0]->code), Errc::already_a_member);
  EXPECT_EQ(static_cast<Errc>(refusals[1]->code), Errc::not_a_member);
  SimClient& namesake = sim().add_client(sim().host(0), "c");
  sim().run_for(1s);
  EXPECT_EQ(namesake.close_code(), Errc::name_in_use);
  EXPECT_FALSE(client.is_closed());
}

}  // namespace
}  // namespace spindled::sim
