// Clients that read slowly, or not at all.
#include <algorithm>
#include <set>

#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

class SlowClient : public Scenario {
 protected:
  SlowClient() {
    config.session.queue_soft_bytes = 128u << 10;
    config.session.queue_hard_bytes = 1u << 20;
    config.session.stall_timeout = 2s;
    config.session.send_window_bytes = 256u << 10;
  }
  /// Keeps the sender's requests coming for as long as it is connected.
  void flood(SimClient& sender, std::size_t messages, std::size_t size) {
    for (std::size_t i = 0; i < messages; ++i) sender.multicast({"g"}, {.size = size});
  }

  /// Has `sender` send a message to `groups` every `interval`, unless what it sent before is still on its way to its
  /// daemon, from now on until `stop_at`.
  void send_every(Duration interval, SimClient& sender, const std::vector<std::string>& groups, std::size_t size,
                  Time stop_at) {
    if (sim().now() >= stop_at) return;
    if (sender.unsent_bytes() < 4 * size) sender.multicast(groups, {.size = size});
    sim().after(interval, [=, this, &sender] { send_every(interval, sender, groups, size, stop_at); });
  }
  std::size_t queue_at(std::size_t host) { return sim().host(host).node().memory().session_queue; }

  NodeConfig config;
};

TEST_F(SlowClient, ThatReadsSlowlyIsHeldBackForAndKeepsEverything) {
  simulate_cluster(71, Shape::line, 3, config);
  const std::vector<SimClient*> clients = add_members(3, "g");
  await_group_view(clients, "g");
  if (HasFatalFailure()) return;
  clients[2]->set_read_rate(500'000);
  // Six times what the daemon would queue before it cuts the client off.
  flood(*clients[0], 6000, 1000);
  await([&] { return clients[2]->messages() == 6000; }, 60s, "the slow client has everything");
  await_rest();
  check();
  for (const SimClient* client : clients) {
    EXPECT_FALSE(client->is_closed()) << client->private_name();
    EXPECT_EQ(client->messages(), 6000u);
  }
}

// The largest messages, of five daemons at once, are more than the hard limit before anybody has heard a price.
TEST_F(SlowClient, ThatReadsIsNotCutOffForWhatManySendAtOnceLarge) {
  simulate_cluster(77, Shape::star, 7);
  const std::vector<SimClient*> senders = add_members(6, "senders");
  SimClient& reader = sim().add_client(sim().host(6));
  reader.join("g");
  await([&] { return reader.view("g") != nullptr; }, 5s, "the join");
  if (HasFatalFailure()) return;
  reader.set_read_rate(20'000'000);
  constexpr std::size_t kEach = 2;
  for (SimClient* sender : senders) {
    for (std::size_t i = 0; i < kEach; ++i) sender->multicast({"g"}, {.size = 16u << 20});
  }
  std::size_t most = 0;
  const auto has_all = [&] {
    most = std::max(most, queue_at(6));
    return reader.messages() == kEach * senders.size() || reader.is_closed();
  };
  await(has_all, 60s, "all messages");
  EXPECT_FALSE(reader.is_closed());
  EXPECT_GT(most, SessionConfig().queue_hard_bytes) << "the limit was never passed";
  await_rest();
  check();
}

TEST_F(SlowClient, ThatNeverReadsIsCutOffWhileOthersGoOn) {
  simulate_cluster(72, Shape::line, 3, config);
  std::vector<SimClient*> clients = add_members(4, "g");  // the last one at the same daemon as the first
  await_group_view(clients, "g");
  if (HasFatalFailure()) return;
  SimClient& deaf = *clients[3];
  const std::string gone = deaf.private_name();
  deaf.set_read_rate(0);
  flood(*clients[1], 3000, 1000);
  clients.pop_back();
  await_group_view(clients, "g", 15s);
  if (HasFatalFailure()) return;
  EXPECT_EQ(clients[0]->view("g")->cause, spindle::ViewCause::disconnect);
  EXPECT_EQ(clients[0]->view("g")->changed, std::vector<std::string>{gone});
  EXPECT_GE(sim().log().count(spindle::describe(Errc::slow_receiver)) +
                sim().log().count(spindle::to_string(Errc::slow_receiver)),
            1u)
      << "the log does not say why";
  await([&] { return clients[0]->messages() == 3000 && clients[2]->messages() == 3000; }, 30s, "the others got all");
  // The message behind the last that it read is the reason, where there was room for one; it is gone in any case.
  deaf.set_read_rate(std::nullopt);
  await([&] { return deaf.is_closed(); }, 5s, "the deaf client sees that it was cut off");
  EXPECT_TRUE(deaf.close_code() == Errc::slow_receiver || deaf.close_code() == Errc::connection_lost);
  await_rest();
  check();
  for (const SimClient* client : clients) EXPECT_FALSE(client->is_closed());
}

// There is no room for the reason, and the daemon does not wait for ever.
TEST_F(SlowClient, ThatIsCutOffAndDoesNotReadWhyHasLostItsConnection) {
  simulate_cluster(78, Shape::line, 2, config);
  const std::vector<SimClient*> clients = add_members(2, "g");
  await_group_view(clients, "g");
  if (HasFatalFailure()) return;
  SimClient& deaf = *clients[1];
  deaf.set_read_rate(0);
  flood(*clients[0], 3000, 1000);
  await([&] { return sim().host(1).node().memory().sessions == 0; }, 15s, "the daemon has let the client go");
  deaf.set_read_rate(std::nullopt);
  await([&] { return deaf.is_closed(); }, 5s, "the client sees that it was cut off");
  EXPECT_EQ(deaf.close_code(), Errc::connection_lost);
  EXPECT_EQ(deaf.history().ends_untold.size(), 1u) << "what the checker of reading asks of a client that reads";
  await_rest();
  check();
}

TEST_F(SlowClient, ThatIsGoneByTheTimeItsPatienceEndsIsLetGoOnce) {
  simulate_cluster(74, Shape::line, 2);
  const std::vector<SimClient*> clients = add_members(2, "g");
  await_group_view(clients, "g");
  if (HasFatalFailure()) return;
  clients[1]->set_read_rate(0);
  flood(*clients[0], 30, 100'000);
  sim().run_for(500ms);
  // Its last words cannot be written; then the daemon stalls, and finds both the end of the connection and of its
  // patience when it goes on.
  clients[1]->bye();
  sim().run_for(100ms);
  sim().host(1).pause();
  sim().run_for(500ms);
  clients[1]->kill();
  sim().run_for(3s);
  sim().host(1).resume();
  await([&] { return have_one_view(sim().hosts()); }, 30s, "one view again");
  await_rest();
  check();
}

TEST_F(SlowClient, OfOneGroupDoesNotStopAnother) {
  simulate_cluster(73, Shape::line, 3, config);
  const std::vector<SimClient*> slow_group = add_members(3, "g");
  await_group_view(slow_group, "g");
  const std::vector<SimClient*> fast_group = add_members(3, "h");
  await_group_view(fast_group, "h");
  if (HasFatalFailure()) return;
  slow_group[2]->set_read_rate(0);
  flood(*slow_group[0], 3000, 1000);
  sim().run_for(500ms);
  fast_group[1]->multicast({"h"});
  await([&] { return fast_group[0]->messages() == 1 && fast_group[2]->messages() == 1; }, 10s,
        "a message of the other group");
}

// 4 MB/s, 1,000 messages a second, are offered to a group of which one member reads a tenth of that. What is held here
// is the mean: second by second the sender's rate swings, between nothing and about four times what the client reads,
// as its queue is filled up to the soft limit and drained again.
TEST_F(SlowClient, ThatReadsATenthOfALargeFlowSlowsItsSendersOnly) {
  simulate_cluster(75, Shape::line, 3);
  const std::vector<SimClient*> slow_group = add_members(3, "g");
  await_group_view(slow_group, "g");
  const std::vector<SimClient*> fast_group = add_members(3, "h");
  await_group_view(fast_group, "h");
  if (HasFatalFailure()) return;
  const Duration length = 10min;
  const Time start = sim().now(), stop_at = start + length;
  slow_group[2]->set_read_rate(400'000);
  send_every(1ms, *slow_group[0], {"g"}, 4000, stop_at);
  send_every(10ms, *fast_group[0], {"h"}, 4000, stop_at);

  // The member in the middle reads as fast as it can: what it gets is what the sender may send.
  const auto rate_from = [&](std::size_t messages_before, Time since) {
    return static_cast<double>(slow_group[1]->messages() - messages_before) / to_seconds(sim().now() - since);
  };
  sim().run_for(1s);
  const std::size_t in_first_second = slow_group[1]->messages();
  std::size_t queue_max = 0, last = 0;
  std::size_t slack_seconds = 0, seconds = 0;  // those in which less than half of what the client reads enters, of all
  while (sim().now() < stop_at) {
    sim().run_for(100ms);
    queue_max = std::max(queue_max, queue_at(2));
    if ((sim().now() - start) % 1s == Duration::zero()) {
      ++seconds;
      const std::size_t before = std::exchange(last, slow_group[1]->messages());
      if (last - before < 50) ++slack_seconds;
    }
    if (sim().now() == start + 11s) {
      // In ten seconds no more than it reads, and what its queue takes up.
      const double swing = static_cast<double>(SessionConfig().queue_full_price_bytes) / 4000 / 10;
      EXPECT_LE(rate_from(in_first_second, start + 1s), 100 + swing) << "from the first second on";
    }
  }
  EXPECT_LE(rate_from(0, start), 105);
  EXPECT_LE(slack_seconds, seconds / 50) << "its senders hardly swing about what it reads";
  EXPECT_GE(static_cast<double>(slow_group[2]->messages()) / to_seconds(length), 95) << "it is given what it can read";
  EXPECT_GE(static_cast<double>(fast_group[2]->messages()) / to_seconds(length), 95) << "of the 100 that are offered";
  EXPECT_LE(queue_max, SessionConfig().queue_hard_bytes / 16);
  EXPECT_EQ(slow_group[2]->warnings().size(), 0u);
  slow_group[2]->set_read_rate(std::nullopt);
  const std::size_t sent = events_of<Sent>(slow_group[0]->history()).size();
  await([&] { return slow_group[2]->messages() == sent; }, 10s, "what still waited, once the client reads as it comes");
  await_rest();
  check();
}

// Every message that does not arrive is in a gap, at its place and under its group.
TEST_F(SlowClient, WithPolicyDropLosesTheOldestMessagesAndIsToldOfEach) {
  config.session.slow_policy = SlowPolicy::drop;
  simulate_cluster(76, Shape::line, 3, config);
  const std::vector<SimClient*> clients = add_members(3, "g");
  await_group_view(clients, "g");
  const std::vector<SimClient*> others = add_members(3, "h");
  await_group_view(others, "h");
  if (HasFatalFailure()) return;
  SimClient& slow = *clients[2];
  slow.join("h");
  await_group_view({others[0], others[1], others[2], &slow}, "h");
  slow.set_read_rate(300'000);
  const Time stop_at = sim().now() + 10s;
  send_every(2ms, *clients[0], {"g"}, 1000, stop_at);
  send_every(50ms, *others[1], {"g", "h"}, 50'000, stop_at);
  // Views stand between the messages, and are not lost with them.
  for (int i = 0; i < 20; ++i) {
    sim().run_for(500ms);
    SimClient& newcomer = sim().add_client(sim().host(1));
    newcomer.join("h");
  }
  slow.set_read_rate(std::nullopt);
  await_rest();
  EXPECT_FALSE(slow.is_closed());

  std::uint64_t lost = 0, bytes = 0;
  std::map<std::string, std::uint64_t> by_group;
  for (const spindle::Gap& gap : slow.gaps()) {
    lost += gap.messages;
    bytes += gap.bytes;
    EXPECT_EQ(gap.unlisted, 0u);
    for (const spindle::Gap::Name& each : gap.names) by_group[each.name] += each.messages;
  }
  const std::size_t all_messages = clients[0]->messages(), messages_to_h = others[0]->messages();
  EXPECT_GT(lost, 100u);
  EXPECT_GT(slow.gaps().size(), 10u);
  EXPECT_EQ(slow.messages() + lost, all_messages);
  EXPECT_EQ(slow.bytes() + bytes, clients[0]->bytes());
  const std::vector<const Delivered*> got = events_of<Delivered>(slow.history());
  const std::size_t got_of_h = static_cast<std::size_t>(
      std::count_if(got.begin(), got.end(), [](const Delivered* each) { return each->message.groups.size() == 2; }));
  EXPECT_EQ(by_group["g"], lost);
  EXPECT_EQ(by_group["h"], messages_to_h - got_of_h);
  const std::vector<const GroupView*> views = events_of<GroupView>(slow.history());
  EXPECT_EQ(std::count_if(views.begin(), views.end(), [](const GroupView* view) { return view->group == "h"; }),
            1 + 20);
  ASSERT_FALSE(slow.warnings().empty());
  EXPECT_EQ(slow.warnings()[0].limit_bytes, config.session.queue_soft_bytes);

  // What did arrive came in the order of all.
  const std::vector<std::uint64_t> all = digests_of(*clients[0]), part = digests_of(slow);
  std::size_t at = 0;
  for (const std::uint64_t digest : all) at += at < part.size() && digest == part[at] ? 1 : 0;
  EXPECT_EQ(at, part.size());
}

TEST_F(SlowClient, WithPolicyDisconnectIsWarnedAndCutOffAfterAWhileAboveTheSoftLimit) {
  config.session.slow_policy = SlowPolicy::disconnect;
  simulate_cluster(77, Shape::line, 3, config);
  const std::vector<SimClient*> clients = add_members(3, "g");
  await_group_view(clients, "g");
  if (HasFatalFailure()) return;
  clients[2]->set_read_rate(200'000);
  send_every(2ms, *clients[0], {"g"}, 1000, sim().now() + 20s);
  await([&] { return clients[2]->is_closed(); }, 30s, "the slow client is cut off");
  EXPECT_EQ(clients[2]->close_code(), Errc::slow_receiver);
  const std::string& text = std::get<Closed>(clients[2]->history().events.back().what).text;
  EXPECT_NE(text.find("session.queue_soft_bytes"), std::string::npos) << text;
  ASSERT_EQ(clients[2]->warnings().size(), 2u);
  EXPECT_EQ(clients[2]->warnings()[0].percent, 50u);
  EXPECT_EQ(clients[2]->warnings()[1].percent, 80u);
  EXPECT_FALSE(clients[0]->is_closed());
}

}  // namespace
}  // namespace spindled::sim
