// What disconnecting says of messages that the network has not taken.
#include <gtest/gtest.h>

#include "tests/integration/clients.h"

namespace spindle::test {
namespace {

using namespace std::chrono_literals;

/// Messages of one sender to a reader that does not read, so that the network takes only some.
struct Flood {
  static constexpr std::size_t kMessages = 20'000;

  explicit Flood(std::chrono::milliseconds disconnect_timeout) {
    wait_for_one_view(line.all());
    reader = Connection::connect({.address = line.gamma.socket(), .name = "reader", .receive_buffer_bytes = 1}).value();
    EXPECT_FALSE(reader.join("news"));
    wait_for_members(reader, "news", {"#reader#gamma"});
    sender = Connection::connect({.address = line.alpha.socket(),
                                  .name = "sender",
                                  .reconnect_timeout = {},  // its end is looked at
                                  .disconnect_timeout = disconnect_timeout,
                                  .send_buffer_bytes = std::size_t{64} << 20})
                 .value();
    for (std::size_t i = 0; i < kMessages; ++i) {
      EXPECT_FALSE(sender.multicast(Service::agreed, "news", std::to_string(i) + std::string(1000, ' ')));
    }
  }
  void wait_until_some_are_taken() {
    wait_until("messages that are taken", [&] { return sender.confirm(1ms).messages < kMessages; });
  }
  /// Those that come to the reader, which have to be the first ones.
  std::size_t read_all() {
    Connection last = line.alpha.connect("last");
    EXPECT_FALSE(last.multicast(Service::agreed, "news", "end"));
    for (std::size_t count = 0;; ++count) {
      const Message message = next_message(reader);
      if (message.text() == "end") return count;
      EXPECT_EQ(std::stoul(std::string(message.text())), count);
    }
  }

  LineOfThree line;
  Connection reader;
  Connection sender;
};

TEST(NotTaken, IsABoundWhereTheTimeIsOver) {
  Flood flood(500ms);
  flood.wait_until_some_are_taken();
  const NotTaken not_taken = flood.sender.disconnect();
  const std::size_t arrived = flood.read_all();
  EXPECT_LT(arrived, Flood::kMessages) << "the network took all: nothing was tested";
  EXPECT_FALSE(not_taken.exact);
  EXPECT_GE(arrived + not_taken.messages, Flood::kMessages);
  EXPECT_LT(not_taken.messages, Flood::kMessages) << "some were taken, and the daemon has said so";
  const Disconnected end = wait_for_end(flood.sender);
  EXPECT_EQ(end.not_taken.messages, not_taken.messages);
}

TEST(NotTaken, IsNothingWhereTheClientWaits) {
  Flood flood(60s);
  std::size_t arrived = 0;
  std::thread reading([&] {
    while (arrived < Flood::kMessages) {
      next_message(flood.reader);
      ++arrived;
    }
  });
  const NotTaken not_taken = flood.sender.disconnect();
  reading.join();
  EXPECT_EQ(not_taken.messages, 0u);
  EXPECT_TRUE(not_taken.exact);
}

TEST(NotTaken, IsExactWhereTheDaemonStops) {
  Flood flood(60s);
  flood.wait_until_some_are_taken();
  EXPECT_EQ(flood.line.alpha.stop(), 0);
  const Disconnected end = wait_for_end(flood.sender);
  EXPECT_EQ(end.error, Errc::daemon_stopping) << end.text;
  EXPECT_TRUE(end.not_taken.exact);
  EXPECT_GT(end.not_taken.messages, 0u);
  EXPECT_LT(end.not_taken.messages, Flood::kMessages);
}

// What was read before is still sent, for as long as that takes.
TEST(NotTaken, PublishingThatFailsSaysSoBeforeAllIsTaken) {
  Flood flood(60s);
  flood.wait_until_some_are_taken();
  const TemporaryDirectory directory;
  const std::string lines = directory.path("lines"), missing = directory.path("missing");
  std::string text;
  for (int i = 0; i < 500; ++i) text += std::to_string(i) + std::string(1000, ' ') + "\n";
  write_file(lines, text);
  ProcessOptions options;
  options.arguments = {"publish", "news", "--connect", flood.line.alpha.socket(), "--file", lines, "--file", missing};
  Process publisher(SPUSER_PATH, options);
  publisher.wait_for_line("spuser: cannot open " + missing);
  std::size_t published = 0;
  for (std::size_t count = 0; count < Flood::kMessages + 500; ++count) {
    if (next_message(flood.reader).sender() != "#sender#alpha") ++published;
  }
  EXPECT_EQ(published, 500u);
  EXPECT_EQ(publisher.wait(), 3);
  EXPECT_EQ(publisher.output(Process::Stream::error),
            "spuser: cannot open " + missing + ": No such file or directory\n");
}

}  // namespace
}  // namespace spindle::test
