// Programs whose connection is lost, with real daemons.
#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "tests/integration/clients.h"
#include "tests/integration/cutting_proxy.h"

namespace spindle::test {
namespace {

using testing::ElementsAre;

/// A daemon that stops waits for its clients as long as one of them may stand still, and no longer than it has to.
constexpr const char* kGoing = "[session]\ngoing_ms = 20000\n";

ConnectOptions returning(const std::string& name, const std::string& address) {
  ConnectOptions options;
  options.name = name;
  options.address = address;
  options.reconnect_timeout = kPatience;
  options.disconnect_timeout = kPatience;
  return options;
}

/// A program at one of the daemons that has gamma to go to.
Connection connect_mover(LineOfThree& line, const std::string& name, const std::string& address) {
  ConnectOptions options = returning(name, address);
  options.more_addresses = {line.gamma.client_address()};
  return Connection::connect(options).value();
}

std::string numbered(std::uint64_t number, std::size_t size) {
  std::string text = std::to_string(number);
  text.resize(std::max(text.size(), size), '.');
  return text;
}

/// Messages of one sender, which have to come in order, each once.
class InOrder {
 public:
  void take(const Message& message) {
    const std::uint64_t number = std::stoull(std::string(message.text()));
    if (number != next_) {
      ADD_FAILURE() << message.sender() << ": " << number << " instead of " << next_;
      next_ = number;
    }
    ++next_;
  }
  std::uint64_t count() const { return next_; }

 private:
  std::uint64_t next_ = 0;
};

// A thousand cuts at whatever byte, with messages of all sizes going both ways.
TEST(Reconnecting, NothingIsLostOrDoubledByAThousandCuts) {
  Daemon daemon({});
  CuttingProxy proxy(daemon.client_address());
  Connection roamer = Connection::connect(returning("roamer", proxy.address())).value();
  Connection home = daemon.connect("home");
  for (Connection* each : {&roamer, &home}) EXPECT_FALSE(each->join("g"));
  for (Connection* each : {&roamer, &home}) wait_for_members(*each, "g", {"#roamer#alpha", "#home#alpha"});

  constexpr std::uint64_t kCuts = 1000;
  std::atomic<bool> stop = false;
  const auto send = [&stop](Connection& from, unsigned seed) {
    std::mt19937 random(seed);
    std::uint64_t sent = 0;
    for (; !stop; ++sent) {
      const std::size_t size = random() % 50 == 0 ? random() % 100'000 : random() % 1'000;
      EXPECT_FALSE(from.multicast(Service::agreed, "g", numbered(sent, size)));
      if (sent % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_FALSE(from.multicast(Service::agreed, "g", numbered(sent, 0), {.type = 1}));  // the last one
    return sent + 1;
  };
  std::uint64_t from_roamer = 0, from_home = 0, reconnections = 0;
  std::thread roamer_sends([&] { from_roamer = send(roamer, 1); });
  std::thread home_sends([&] { from_home = send(home, 2); });
  const auto receive = [](Connection& client, std::map<std::string, InOrder>& got, std::uint64_t& again) {
    for (int ends = 0; ends < 2 && !testing::Test::HasFailure();) {
      const Event event = next_event(client);
      if (const auto* message = event.get_if<Message>()) {
        got[std::string(message->sender())].take(*message);
        if (message->type() == 1) ++ends;
      } else if (const auto* reconnected = event.get_if<Reconnected>()) {
        EXPECT_TRUE(reconnected->resumed);
        ++again;
      } else {
        EXPECT_TRUE(event.is<QueueWarning>()) << "an event of kind " << to_string(event.kind());
      }
    }
  };
  std::map<std::string, InOrder> at_roamer, at_home;
  std::uint64_t none = 0;
  std::thread roamer_receives([&] { receive(roamer, at_roamer, reconnections); });
  std::thread home_receives([&] { receive(home, at_home, none); });

  std::mt19937 random(3);
  while (proxy.cuts() < kCuts && !testing::Test::HasFailure()) {
    const std::uint64_t before = proxy.cuts();
    proxy.cut_after(random() % 100'000);
    while (proxy.cuts() == before && !testing::Test::HasFailure())
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  stop = true;
  for (std::thread* each : {&roamer_sends, &home_sends, &roamer_receives, &home_receives}) each->join();
  for (auto* got : {&at_roamer, &at_home}) {
    EXPECT_EQ((*got)["#roamer#alpha"].count(), from_roamer);
    EXPECT_EQ((*got)["#home#alpha"].count(), from_home);
  }
  EXPECT_GE(reconnections, kCuts / 2) << "some cuts hit one that is just coming back";
  EXPECT_GE(daemon.count("sessions_resumed"), reconnections) << "a cut may take a welcome with it";
  EXPECT_EQ(none, 0u);
}

/// What the sender was told that is unknown, held against what another one got.
TEST(Reconnecting, GoesOnElsewhereAndSaysWhatIsUnknown) {
  LineOfThree line;
  wait_for_one_view(line.all());
  Connection mover = connect_mover(line, "mover", line.alpha.client_address());
  Connection witness = line.beta.connect("witness");
  for (Connection* each : {&mover, &witness}) EXPECT_FALSE(each->join("g"));
  for (Connection* each : {&mover, &witness}) wait_for_members(*each, "g", {"#mover#alpha", "#witness#beta"});

  std::atomic<bool> stop = false;
  std::uint64_t sent = 0;
  std::thread sends([&] {
    for (; !stop; ++sent) {
      EXPECT_FALSE(mover.multicast(Service::agreed, "g", numbered(sent, 500), {.ticket = sent}));
      if (sent % 20 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  line.alpha.process().signal(SIGSTOP);  // it takes nothing more, and answers nothing
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  line.alpha.kill();
  std::optional<Reconnected> again;
  while (!again) {
    const Event event = next_event(mover);
    if (const auto* reconnected = event.get_if<Reconnected>()) again = *reconnected;
    ASSERT_FALSE(event.is<Disconnected>());
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  stop = true;
  sends.join();
  EXPECT_FALSE(again->resumed);
  EXPECT_EQ(again->former_name, "#mover#alpha");
  EXPECT_EQ(again->private_name, "#mover#gamma");
  EXPECT_EQ(mover.private_name(), "#mover#gamma");
  EXPECT_TRUE(again->fenced);
  EXPECT_FALSE(mover.multicast(Service::agreed, "g", "0", {.type = 1}));

  std::set<std::uint64_t> got;
  bool from_gamma = false;
  for (;;) {
    const Message message = next_message(witness);
    if (message.type() == 1) break;
    EXPECT_TRUE(got.insert(std::stoull(std::string(message.text()))).second) << "twice: " << message.text();
    from_gamma = from_gamma || message.sender() == "#mover#gamma";
    EXPECT_EQ(message.sender() == "#mover#gamma", from_gamma) << "none of before comes behind";
  }
  const std::set<std::uint64_t> unknown(again->unknown.begin(), again->unknown.end());
  std::size_t lost_with_the_daemon = 0;
  for (std::uint64_t number = 0; number < sent; ++number) {
    if (!got.contains(number) && !unknown.contains(number)) ++lost_with_the_daemon;
  }
  // What had entered at a daemon that was killed may be lost with it; what was sent anew was not.
  if (!unknown.empty()) {
    for (std::uint64_t number = *unknown.rbegin() + 1; number < sent; ++number)
      EXPECT_TRUE(got.contains(number)) << number;
  }
  EXPECT_LT(lost_with_the_daemon, sent);
}

// Each client sends all the while, and each message comes, once.
TEST(Reconnecting, LosesNothingWhereADaemonIsStopped) {
  LineOfThree line(kGoing);
  wait_for_one_view(line.all());
  std::vector<Connection> movers;
  for (const std::string& address : {line.alpha.client_address(), "unix:" + line.alpha.socket()}) {
    movers.push_back(connect_mover(line, "mover" + std::to_string(movers.size()), address));
  }
  Connection witness = line.beta.connect("witness");
  for (Connection* each : {&movers[0], &movers[1], &witness}) EXPECT_FALSE(each->join("g"));
  wait_for_members(witness, "g", {"#mover0#alpha", "#mover1#alpha", "#witness#beta"});

  std::atomic<bool> stop = false;
  std::vector<std::uint64_t> sent(movers.size());
  std::vector<std::thread> senders;
  for (std::size_t i = 0; i < movers.size(); ++i) {
    senders.emplace_back([&, i] {
      for (; !stop; ++sent[i]) {
        const std::string text = numbered(sent[i], sent[i] % 50 == 0 ? 100'000 : 500);
        EXPECT_FALSE(movers[i].multicast(Service::agreed, "g", text, {.type = static_cast<std::uint16_t>(i)}));
        if (sent[i] % 20 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      EXPECT_FALSE(movers[i].multicast(Service::agreed, "g", numbered(sent[i], 0), {.type = 9}));
    });
  }
  std::map<std::uint16_t, InOrder> got;
  std::thread receives([&] {
    for (int ends = 0; ends < 2 && !testing::Test::HasFailure();) {
      const Message message = next_message(witness);
      message.type() == 9 ? static_cast<void>(++ends) : got[message.type()].take(message);
    }
  });
  std::vector<std::thread> movers_receive;
  for (Connection& mover : movers) {
    movers_receive.emplace_back([&mover] {
      std::optional<Reconnected> again;
      for (;;) {
        const Event event = next_event(mover);
        if (const auto* reconnected = event.get_if<Reconnected>()) {
          EXPECT_FALSE(again) << "it has moved twice";
          again = *reconnected;
        }
        const auto* message = event.get_if<Message>();
        if (event.is<Disconnected>()) ADD_FAILURE() << "it has ended";
        if (event.is<Disconnected>() ||
            (message != nullptr && message->type() == 9 && message->sender() == mover.private_name())) {
          break;
        }
      }
      ASSERT_TRUE(again);
      EXPECT_FALSE(again->resumed);
      EXPECT_TRUE(again->fenced);
      EXPECT_TRUE(again->unknown.empty()) << again->unknown.size();
      EXPECT_TRUE(again->private_name.ends_with("#gamma"));
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(line.alpha.stop(), 0);
  while (movers[0].private_name() == "#mover0#alpha" || movers[1].private_name() == "#mover1#alpha") {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  stop = true;
  for (std::thread& each : senders) each.join();
  for (std::thread& each : movers_receive) each.join();
  receives.join();
  for (std::size_t i = 0; i < movers.size(); ++i) EXPECT_EQ(got[static_cast<std::uint16_t>(i)].count(), sent[i]);
}

// What is held when a program disconnects goes with it, to the other daemon.
TEST(Reconnecting, DisconnectsWhileItsDaemonGoes) {
  LineOfThree line(kGoing);
  wait_for_one_view(line.all());
  Connection mover = connect_mover(line, "mover", line.alpha.client_address());
  Connection witness = line.beta.connect("witness");
  EXPECT_FALSE(witness.join("g"));
  wait_for_members(witness, "g", {"#witness#beta"});
  EXPECT_FALSE(mover.multicast(Service::agreed, "g", "0"));
  EXPECT_EQ(next_message(witness).text(), "0");
  line.alpha.process().signal(SIGTERM);
  for (int i = 1; i < 100; ++i) EXPECT_FALSE(mover.multicast(Service::agreed, "g", std::to_string(i)));
  EXPECT_EQ(mover.disconnect().messages, 0u);
  for (int i = 1; i < 100; ++i) EXPECT_EQ(next_message(witness).text(), std::to_string(i));
  EXPECT_EQ(line.alpha.stop(), 0);
}

TEST(Reconnecting, ComesBackToADaemonThatWasRestarted) {
  Daemon daemon({});
  Connection client = Connection::connect(returning("ann", daemon.socket())).value();
  EXPECT_FALSE(client.join("g"));
  wait_for_members(client, "g", {"#ann#alpha"});
  EXPECT_EQ(daemon.stop(), 0);
  EXPECT_FALSE(client.multicast(Service::agreed, "g", "meanwhile"));
  EXPECT_TRUE(client.is_open());
  daemon.start();
  const Event event = next_event(client);
  ASSERT_TRUE(event.is<Reconnected>()) << to_string(event.kind());
  EXPECT_FALSE(event.get<Reconnected>().resumed);
  EXPECT_TRUE(event.get<Reconnected>().unknown.empty());
  EXPECT_EQ(next_message(client).text(), "meanwhile");
}

TEST(Reconnecting, GivesUpInTime) {
  Daemon daemon({});
  ConnectOptions options = returning("ann", daemon.socket());
  options.reconnect_timeout = std::chrono::milliseconds(300);
  Connection client = Connection::connect(options).value();
  daemon.kill();
  const Disconnected end = wait_for_end(client);
  EXPECT_EQ(end.error, Errc::connect_failed);
  EXPECT_EQ(client.multicast(Service::agreed, "g", "x"), Errc::not_connected);
}

TEST(Reconnecting, DisconnectsWhileItIsAway) {
  Daemon daemon({});
  ConnectOptions options = returning("ann", daemon.socket());
  options.disconnect_timeout = std::chrono::milliseconds(100);
  Connection client = Connection::connect(options).value();
  daemon.kill();
  EXPECT_FALSE(client.multicast(Service::agreed, "g", "x"));
  EXPECT_EQ(client.disconnect().messages, 1u);
  EXPECT_EQ(wait_for_end(client).error, Errc::closed_by_client);
}

TEST(Reconnecting, TriesTheNextServerWhereTheFirstIsNotThere) {
  Daemon daemon({});
  ConnectOptions options = returning("ann", "/nonexistent/spindle");
  options.more_addresses = {daemon.socket()};
  EXPECT_TRUE(Connection::connect(options));
  options.more_addresses = {"/nonexistent/either"};
  EXPECT_EQ(Connection::connect(options).error(), Errc::connect_failed);
  options.more_addresses = {"no address:at all:"};
  const Result<Connection> wrong = Connection::connect(options);
  EXPECT_EQ(wrong.error(), Errc::bad_address);
  EXPECT_NE(wrong.text().find("no address:at all:"), std::string::npos);
}

}  // namespace
}  // namespace spindle::test
