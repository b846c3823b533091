// Three daemons in a line on loopback, and what their clients are promised while nothing fails.
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <map>
#include <random>
#include <set>

#include "tests/integration/clients.h"

namespace spindle::test {
namespace {

constexpr std::array kServices{Service::unreliable, Service::reliable, Service::fifo,
                               Service::causal,     Service::agreed,   Service::safe};
constexpr int kMessagesEach = 1200;
constexpr int kRounds = 10;  // of a client that comes and goes

std::string join_names(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) result += name + " ";
  return result;
}

/// What one member saw. Messages are "sender index".
struct Transcript {
  std::vector<std::string> ordered;  // causal, agreed and safe messages, and the views among them
  std::map<std::string, std::vector<std::string>> by_sender;  // those that keep their sender's order
  std::multiset<std::string> reliable;
  std::multiset<std::string> unreliable;
  int views = 0;
};

/// Reads until `members` senders' messages and the views of the one that comes and goes are complete.
Transcript record(Connection& client, std::size_t members) {
  Transcript result;
  std::size_t missing = members * kMessagesEach * 5 / 6;
  while (missing != 0 || result.views < 2 * kRounds) {
    const Event event = next_event(client);
    if (const auto* view = event.get_if<GroupView>()) {
      ++result.views;
      result.ordered.push_back("view " + std::to_string(view->id.position) + ": " + join_names(view->members));
    } else if (const auto* message = event.get_if<Message>()) {
      const std::string text(message->text());
      const Service service = message->service();
      if (service == Service::unreliable) {
        result.unreliable.insert(text);
        continue;
      }
      --missing;
      if (service == Service::reliable) result.reliable.insert(text);
      if (service >= Service::fifo) result.by_sender[std::string(message->sender())].push_back(text);
      if (service >= Service::causal) result.ordered.push_back(text);
    } else {
      throw std::runtime_error("neither a message nor a view came");
    }
  }
  return result;
}

std::string text_of(const Connection& sender, int index) {
  return std::string(sender.private_name()) + " " + std::to_string(index);
}

void send_all(Connection& client) {
  for (int i = 0; i < kMessagesEach; ++i) {
    const Service service = kServices[static_cast<std::size_t>(i) % kServices.size()];
    EXPECT_FALSE(client.multicast(service, "news", text_of(client, i)));
  }
}

void come_and_go(Connection& client) {
  const std::string self(client.private_name());
  for (int i = 0; i < kRounds; ++i) {
    EXPECT_FALSE(client.join("news"));
    for (;;) {
      const Event event = next_event(client);
      const auto* view = event.get_if<GroupView>();
      if (view != nullptr && view->my_index) break;
    }
    EXPECT_FALSE(client.leave("news"));
    wait_for_members(client, "news", {});
  }
}

/// One client at each daemon, all members of a group of which they have seen the view with all three.
struct Clients {
  explicit Clients(LineOfThree& line) : all{line.alpha.connect("a"), line.beta.connect("b"), line.gamma.connect("c")} {
    for (Connection& client : all) EXPECT_FALSE(client.join("news"));
    for (Connection& client : all) wait_for_members(client, "news", {"#a#alpha", "#b#beta", "#c#gamma"});
  }
  std::array<Connection, 3> all;
  Connection& a() { return all[0]; }
  Connection& b() { return all[1]; }
  Connection& c() { return all[2]; }
};

void expect_promises(const Transcript& transcript, const std::array<Connection, 3>& senders) {
  std::multiset<std::string> unreliable, reliable;
  for (const Connection& sender : senders) {
    std::vector<std::string> in_order;
    for (int i = 0; i < kMessagesEach; ++i) {
      const Service service = kServices[static_cast<std::size_t>(i) % kServices.size()];
      if (service == Service::unreliable) unreliable.insert(text_of(sender, i));
      if (service == Service::reliable) reliable.insert(text_of(sender, i));
      if (service >= Service::fifo) in_order.push_back(text_of(sender, i));
    }
    EXPECT_EQ(transcript.by_sender.at(std::string(sender.private_name())), in_order);
  }
  EXPECT_EQ(transcript.reliable, reliable);
  EXPECT_TRUE(
      std::includes(unreliable.begin(), unreliable.end(), transcript.unreliable.begin(), transcript.unreliable.end()))
      << "an unreliable message came twice, or nobody had sent it";
}

TEST(Cluster, EveryServiceKeepsItsPromiseUnderConcurrentSendersJoinsAndLeaves) {
  LineOfThree line;
  Clients clients(line);
  Connection visitor = line.gamma.connect("visitor");
  std::vector<std::future<void>> senders;
  std::vector<std::future<Transcript>> receivers;
  const KillAtEnd end(line.all());
  for (Connection& client : clients.all) {
    receivers.push_back(std::async(std::launch::async, [&] { return record(client, clients.all.size()); }));
    senders.push_back(std::async(std::launch::async, [&] { send_all(client); }));
  }
  senders.push_back(std::async(std::launch::async, [&] { come_and_go(visitor); }));
  std::vector<Transcript> transcripts;
  for (std::future<Transcript>& receiver : receivers) transcripts.push_back(receiver.get());
  for (std::future<void>& sender : senders) sender.get();

  for (const Transcript& transcript : transcripts) {
    EXPECT_EQ(transcript.ordered, transcripts[0].ordered);
    expect_promises(transcript, clients.all);
  }
}

TEST(Cluster, ACausalAnswerComesBehindItsQuestion) {
  LineOfThree line;
  Clients clients(line);
  constexpr int kQuestions = 200;
  auto answering = std::async(std::launch::async, [&] {
    for (int answered = 0; answered < kQuestions;) {
      const Message message = next_message(clients.b());
      if (message.text().substr(0, 1) != "?") continue;
      EXPECT_FALSE(clients.b().multicast(Service::causal, "news", "!" + std::string(message.text().substr(1))));
      ++answered;
    }
  });
  const KillAtEnd end(line.all());
  for (int i = 0; i < kQuestions; ++i) {
    EXPECT_FALSE(clients.a().multicast(Service::causal, "news", "?" + std::to_string(i)));
  }
  std::set<std::string> asked;
  for (int answers = 0; answers < kQuestions;) {
    const Message message = next_message(clients.c());
    const std::string number(message.text().substr(1));
    if (message.text().substr(0, 1) == "?") {
      asked.insert(number);
    } else {
      EXPECT_TRUE(asked.contains(number)) << "the answer " << number << " came before the question";
      ++answers;
    }
  }
  answering.get();
}

TEST(Cluster, PrivateMessagesReachOneClientAnywhere) {
  LineOfThree line;
  Clients clients(line);
  Connection outsider = line.alpha.connect("outsider");
  EXPECT_FALSE(outsider.multicast(Service::agreed, "#c#gamma", "for c", {.type = 7}));
  EXPECT_FALSE(outsider.multicast(Service::agreed, {"#b#beta", "#outsider#alpha"}, "for two"));
  EXPECT_FALSE(outsider.multicast(Service::agreed, "news", "for all"));

  const Message to_c = next_message(clients.c());
  EXPECT_EQ(to_c.text(), "for c");
  EXPECT_EQ(to_c.sender(), "#outsider#alpha");
  EXPECT_EQ(to_c.type(), 7);
  EXPECT_EQ(to_c.groups().front(), "#c#gamma");
  EXPECT_EQ(next_message(clients.c()).text(), "for all");
  EXPECT_EQ(next_message(clients.b()).text(), "for two");
  EXPECT_EQ(next_message(clients.b()).text(), "for all");
  EXPECT_EQ(next_message(clients.a()).text(), "for all");
  EXPECT_EQ(next_message(outsider).text(), "for two");
}

TEST(Cluster, AMessageToSeveralGroupsComesOnceAndInOneOrder) {
  LineOfThree line;
  Clients clients(line);
  for (Connection* client : {&clients.b(), &clients.c()}) {
    EXPECT_FALSE(client->join("sports"));
    wait_for_members(
        *client, "sports",
        client == &clients.b() ? std::vector<std::string>{"#b#beta"} : std::vector<std::string>{"#b#beta", "#c#gamma"});
  }
  EXPECT_FALSE(clients.a().multicast(Service::agreed, {"news", "sports"}, "both"));
  EXPECT_FALSE(clients.a().multicast(Service::agreed, "sports", "sports only"));
  EXPECT_FALSE(clients.a().multicast(Service::agreed, "news", "last"));
  for (Connection* client : {&clients.b(), &clients.c()}) {
    const Message both = next_message(*client);
    EXPECT_EQ(both.text(), "both");
    EXPECT_EQ(std::vector<std::string_view>(both.groups().begin(), both.groups().end()),
              (std::vector<std::string_view>{"news", "sports"}));
    EXPECT_EQ(next_message(*client).text(), "sports only");
    EXPECT_EQ(next_message(*client).text(), "last");
  }
  EXPECT_EQ(next_message(clients.a()).text(), "both");
  EXPECT_EQ(next_message(clients.a()).text(), "last");
}

TEST(Cluster, SelfDiscardSparesTheSenderOnly) {
  LineOfThree line;
  Clients clients(line);
  for (const Service service : kServices) {
    EXPECT_FALSE(clients.a().multicast(service, "news", "not for me", {.self_discard = true}));
  }
  EXPECT_FALSE(clients.a().multicast(Service::agreed, "news", "last"));
  EXPECT_EQ(next_message(clients.a()).text(), "last");
  for (Connection* client : {&clients.b(), &clients.c()}) {
    std::size_t others = 0;
    while (next_message(*client).text() != "last") ++others;
    EXPECT_GE(others, kServices.size() - 1);  // the unreliable one may be lost
    EXPECT_LE(others, kServices.size());
  }
}

TEST(Cluster, AMessageMayHave16MiB) {
  LineOfThree line;
  Clients clients(line);
  std::string large(std::size_t{16} << 20, '\0');
  std::mt19937 random(3);
  for (char& byte : large) byte = static_cast<char>(random());
  EXPECT_EQ(clients.a().multicast(Service::agreed, "news", large + "!"), Errc::message_too_large);
  EXPECT_FALSE(clients.a().multicast(Service::agreed, "news", large));
  EXPECT_FALSE(clients.c().multicast(Service::fifo, "news", large));
  for (Connection& client : clients.all) {
    // EXPECT_EQ would print them.
    EXPECT_TRUE(next_message(client).text() == large);
    EXPECT_TRUE(next_message(client).text() == large);
  }
}

TEST(Cluster, AMessageMayGoToAThousandGroups) {
  LineOfThree line;
  Clients clients(line);
  std::vector<std::string> names;
  for (int i = 0; i < 1001; ++i) {
    std::string name = "group " + std::to_string(i);
    name.resize(255, '.');
    names.push_back(std::move(name));
  }
  std::vector<std::string_view> groups(names.begin(), names.end());
  EXPECT_EQ(clients.a().multicast(Service::agreed, groups, "too many"), Errc::too_many_groups);
  groups.pop_back();
  for (Connection& client : clients.all) {
    EXPECT_FALSE(client.join(names[999]));
    EXPECT_FALSE(client.join(names[0]));
  }
  for (Connection& client : clients.all) {
    wait_for_members(client, names[0], {"#a#alpha", "#b#beta", "#c#gamma"});
  }
  EXPECT_FALSE(clients.a().multicast(Service::agreed, groups, "to a thousand"));
  EXPECT_FALSE(clients.a().multicast(Service::agreed, "news", "last"));
  for (Connection& client : clients.all) {
    const Message message = next_message(client);
    EXPECT_EQ(message.text(), "to a thousand");
    EXPECT_EQ(std::vector<std::string_view>(message.groups().begin(), message.groups().end()), groups);
    EXPECT_EQ(next_message(client).text(), "last");
  }
}

TEST(Cluster, ADaemonThatIsRestartedAtOnceIsKnownToBeAnother) {
  LineOfThree line;
  Clients clients(line);
  for (const char* name : {"c1", "c2", "c3"}) {
    line.gamma.kill();
    line.gamma.start();
    clients.c() = line.gamma.connect(name);
    EXPECT_FALSE(clients.c().join("news"));
    // alpha, which is no neighbour of gamma's, hears of lives that began within the same second.
    const std::string newcomer = "#" + std::string(name) + "#gamma";
    for (Connection& client : clients.all) wait_for_members(client, "news", {"#a#alpha", "#b#beta", newcomer});
  }
}

}  // namespace
}  // namespace spindle::test
