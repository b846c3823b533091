// Headers, and requests with their answers, between real daemons.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/clients.h"
#include "tests/integration/daemon.h"

namespace spindle::test {
namespace {

constexpr std::size_t kAll = RequestOptions::kAllMembers;
/// In which all answers come but the one that never does, however busy the machine is.
constexpr std::chrono::seconds kAllButOne{5};

DaemonOptions neighbour_of(const Daemon& daemon) {
  DaemonOptions options;
  options.name = "beta";
  options.neighbours = {daemon.link_address()};
  return options;
}

/// Answers each request with its own name, until the connection ends.
class Answerer {
 public:
  explicit Answerer(Connection connection)
      : connection_(std::move(connection)), thread_([this] {
          while (auto event = connection_.receive()) {
            const auto* message = event->get_if<Message>();
            if (message == nullptr || !message->is_request()) continue;
            static_cast<void>(connection_.reply(*message, connection_.private_name()));
          }
        }) {}
  ~Answerer() { stop(); }
  void stop() {
    if (!thread_.joinable()) return;
    connection_.disconnect();
    thread_.join();
  }
  std::string name() const { return std::string(connection_.private_name()); }

 private:
  Connection connection_;
  std::thread thread_;
};

std::multiset<std::string> texts(const Answers& answers) {
  std::multiset<std::string> all;
  for (const Message& message : answers.messages) {
    EXPECT_EQ(message.sender(), message.text());
    all.emplace(message.text());
  }
  return all;
}

TEST(Requests, HeadersComeWithMessagesOfAllSizesAndServices) {
  Daemon a({}), b(neighbour_of(a));
  wait_for_one_view({&a, &b});
  for (const bool independent_flows : {false, true}) {
    ConnectOptions options;
    options.address = a.socket();
    options.independent_flows = independent_flows;
    Connection ann = Connection::connect(options).value();
    Connection bob = b.connect("bob");
    const std::string binary("\0\1\xff", 3);
    std::vector<std::string> payloads;
    for (const std::size_t size : {0u, 1u, 100u, 1400u, 70'000u, 3'000'000u}) payloads.emplace_back(size, 'p');
    const auto service_of = [](std::size_t i) { return static_cast<Service>(1 + i % 5); };
    for (std::size_t i = 0; i < payloads.size(); ++i) {
      ASSERT_FALSE(ann.multicast(service_of(i), bob.private_name(), payloads[i],
                                 {.type = 7, .headers = {{"binary", binary}, {"twice", "1"}, {"twice", "2"}}}));
      ASSERT_FALSE(ann.multicast(service_of(i), bob.private_name(), payloads[i]));
    }
    std::size_t with = 0, without = 0;
    for (std::size_t i = 0; i < 2 * payloads.size(); ++i) {  // those of reliable and fifo may overtake
      const Message message = next_message(bob);
      EXPECT_EQ(message.text().find_first_not_of('p'), std::string_view::npos);
      if (message.headers().empty()) {
        ++without;
        EXPECT_FALSE(message.header("binary"));
        continue;
      }
      ++with;
      EXPECT_EQ(message.type(), 7);
      const std::vector<Header> headers(message.headers().begin(), message.headers().end());
      EXPECT_EQ(headers, (std::vector<Header>{{"binary", binary}, {"twice", "1"}, {"twice", "2"}}));
      EXPECT_EQ(message.header("twice"), "1");
      EXPECT_FALSE(message.is_request());
    }
    EXPECT_EQ(with, payloads.size());
    EXPECT_EQ(without, payloads.size());
  }
}

TEST(Requests, HeadersThatAreNotAllowedAreRefused) {
  Daemon daemon({});
  Connection ann = daemon.connect("ann");
  const std::string large(5000, 'x');
  EXPECT_EQ(ann.multicast(Service::agreed, "g", "x", {.headers = {{"$id", "x"}}}), Errc::bad_headers);
  EXPECT_EQ(ann.multicast(Service::agreed, "g", "x", {.headers = {{"", "x"}}}), Errc::bad_headers);
  EXPECT_EQ(ann.multicast(Service::agreed, "g", "x", {.headers = {{"k", large}}}), Errc::bad_headers);
  const std::string huge(16u << 20, 'x');
  EXPECT_EQ(ann.multicast(Service::agreed, "g", huge, {.headers = {{"k", "v"}}}), Errc::message_too_large);
  EXPECT_TRUE(ann.is_open());
}

TEST(Requests, EndWithAsManyAnswersAsWereWanted) {
  Daemon a({}), b(neighbour_of(a));
  wait_for_one_view({&a, &b});
  Connection asking = a.connect("asking");
  Connection one = a.connect("one"), two = b.connect("two"), three = b.connect("three");
  for (Connection* each : {&one, &two, &three}) ASSERT_TRUE(each->join("g", kPatience));
  Answerer first(std::move(one)), second(std::move(two)), third(std::move(three));
  for (int i = 0; i < 20; ++i) {
    for (const std::size_t wanted : {1u, 2u, 3u}) {
      const Answers answers = asking.request("g", "who are you?", kPatience, {.answers = wanted});
      ASSERT_FALSE(answers.error) << answers.error.message();
      const auto all = texts(answers);
      EXPECT_EQ(all.size(), wanted);
      EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), wanted);
    }
  }
  const Answers few = asking.request("g", "who are you?", kAllButOne, {.answers = 4});
  EXPECT_EQ(few.error, Errc::timed_out);
  EXPECT_EQ(few.messages.size(), 3u);
  const Answers alone = asking.request(second.name(), "and you?", kPatience);
  EXPECT_EQ(texts(alone), std::multiset<std::string>{second.name()});
}

TEST(Requests, ToAllMembersWaitForThoseOfTheView) {
  Daemon a({}), b(neighbour_of(a));
  wait_for_one_view({&a, &b});
  Connection asking = a.connect("asking");
  EXPECT_EQ(asking.request("g", "all?", kPatience, {.answers = kAll}).error, Errc::not_a_member);
  ASSERT_TRUE(asking.join("g", kPatience));
  EXPECT_FALSE(asking.request("g", "all?", kPatience, {.answers = kAll, .self_discard = true}).error)
      << "nobody else is there";
  Connection one = a.connect("one"), two = b.connect("two"), silent = b.connect("silent");
  for (Connection* each : {&one, &two}) ASSERT_TRUE(each->join("g", kPatience));
  Answerer first(std::move(one)), second(std::move(two));
  for (int i = 0; i < 20; ++i) {
    const Answers answers = asking.request("g", "all?", kPatience, {.answers = kAll, .self_discard = true});
    ASSERT_FALSE(answers.error) << answers.error.message();
    EXPECT_EQ(texts(answers), (std::multiset<std::string>{first.name(), second.name()}));
    EXPECT_TRUE(answers.missing.empty());
  }
  ASSERT_TRUE(silent.join("g", kPatience));
  const Answers late = asking.request("g", "all?", kAllButOne, {.answers = kAll, .self_discard = true});
  EXPECT_EQ(late.error, Errc::timed_out);
  EXPECT_EQ(late.missing, std::vector<std::string>{std::string(silent.private_name())});
  std::thread leaver([&] {
    while (next_message(silent).text() != "and now?") {
    }
    silent.disconnect();
  });
  const Answers left = asking.request("g", "and now?", kPatience, {.answers = kAll, .self_discard = true});
  leaver.join();
  EXPECT_FALSE(left.error) << left.error.message();
  EXPECT_EQ(left.messages.size(), 2u);
}

TEST(Requests, OfAHandlerAreAnsweredLater) {
  Daemon daemon({});
  Connection asking = daemon.connect("asking"), one = daemon.connect("one");
  const std::string to(one.private_name());
  Answerer answerer(std::move(one));
  std::promise<Answers> outcome;
  std::promise<std::error_code> waiting;
  asking.set_handler([&](Event&&) {
    waiting.set_value(asking.request(to, "?", kPatience).error);
    asking.request_then(to, "?", kPatience, [&](Answers answers) { outcome.set_value(std::move(answers)); });
    asking.set_handler(nullptr);
  });
  ASSERT_FALSE(asking.multicast(Service::agreed, asking.private_name(), "go"));
  EXPECT_EQ(waiting.get_future().get(), Errc::would_block);
  EXPECT_EQ(outcome.get_future().get().messages.size(), 1u);
}

TEST(Requests, WithManyAtATimeEachGetsItsOwnAnswer) {
  Daemon a({}), b(neighbour_of(a));
  wait_for_one_view({&a, &b});
  Connection server = b.connect("server");
  const std::string to(server.private_name());
  std::thread serving([&] {
    while (auto event = server.receive()) {
      const auto* message = event->get_if<Message>();
      if (message != nullptr && message->is_request()) static_cast<void>(server.reply(*message, message->payload()));
    }
  });
  Connection asking = a.connect("asking");
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const std::string text = std::to_string(t) + "/" + std::to_string(i);
        const Answers answers = asking.request(to, text, kPatience);
        if (answers.error || answers.messages.front().text() != text) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  server.disconnect();
  serving.join();
  EXPECT_EQ(asking.request(to, "?", std::chrono::milliseconds(100)).error, Errc::timed_out) << "nobody is there";
}

TEST(Requests, EndWithTheConnection) {
  Daemon daemon({});
  Connection asking = daemon.connect("asking"), silent = daemon.connect("silent");
  std::promise<Answers> outcome;
  asking.request_then(silent.private_name(), "?", kPatience, [&](Answers answers) { outcome.set_value(answers); });
  next_message(silent);
  asking.disconnect();
  EXPECT_EQ(outcome.get_future().get().error, Errc::closed_by_client);
}

}  // namespace
}  // namespace spindle::test
