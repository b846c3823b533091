// Feeds over a line of real daemons, whatever happens to these.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "spindle/feed.h"
#include "tests/integration/clients.h"

namespace spindle::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;

/// A listener. Of each feed that it is told of each packet has to be in one message or in one gap, from the first that
/// it hears of, and nothing comes behind its end.
class Ear {
 public:
  Ear(Daemon& daemon, const std::string& name) : connection_(daemon.connect(name)) {
    EXPECT_FALSE(connection_.listen("g"));
    EXPECT_FALSE(connection_.join("g"));
    hear_until([this] { return is_member_; });
  }
  template <typename Condition>
  void hear_until(Condition condition) {
    while (!condition()) handle(next_event(connection_));
  }
  /// Another feed is heard, and so many messages of it.
  void hear_another(std::size_t messages) {
    const std::size_t before = opened_;
    hear_until([&] { return opened_ > before; });
    hear(messages);
  }
  void hear(std::size_t messages) {
    const std::size_t wanted = messages_ + messages;
    hear_until([&] { return messages_ >= wanted; });
  }
  void hear_end(FeedClosed::Why why) {
    hear_until([this] { return heard_.empty(); });
    EXPECT_EQ(last_end_, why);
  }
  const std::vector<std::string>& broken() const { return broken_; }
  std::size_t feeds() const { return opened_; }
  std::uint64_t missing() const { return missing_; }

 private:
  void handle(const Event& event) {
    event.visit([this](const auto& value) { handle(value); });
  }
  void handle(const GroupView& view) { is_member_ = is_member_ || view.group == "g"; }
  void handle(const FeedOpened& opened) {
    ++opened_;
    if (!heard_.emplace(opened.feed, std::nullopt).second) broken_.push_back("a feed is told of twice");
  }
  void handle(const FeedPacket& packet) {
    ++messages_;
    follow(packet.feed, packet.sequence, packet.packets);
  }
  void handle(const FeedGap& gap) {
    missing_ += gap.count;
    follow(gap.feed, gap.first, gap.count);
  }
  void handle(const FeedClosed& closed) {
    if (heard_.erase(closed.feed) == 0) broken_.push_back("the end of a feed that is not known");
    last_end_ = closed.why;
  }
  void handle(const Disconnected&) { broken_.push_back("disconnected"); }
  void handle(const auto&) {}

  void follow(FeedId feed, std::uint64_t first, std::uint64_t count) {
    const auto heard = heard_.find(feed);
    if (heard == heard_.end()) return broken_.push_back("a packet of a feed that is not known");
    if (heard->second && *heard->second != first) {
      broken_.push_back(std::to_string(first) + " behind " + std::to_string(*heard->second));
    }
    heard->second = first + count;
  }

  Connection connection_;
  std::map<FeedId, std::optional<std::uint64_t>> heard_;  // that are open, and what comes next of each
  std::vector<std::string> broken_;
  FeedClosed::Why last_end_{};
  bool is_member_ = false;
  std::size_t opened_ = 0;
  std::size_t messages_ = 0;
  std::uint64_t missing_ = 0;
};

class FeedsOverALine : public testing::Test {
 protected:
  void SetUp() override { wait_for_one_view(line_.all()); }
  /// A program that sends so many messages a second to the group, without an end.
  static Process source_at(Daemon& daemon, const std::string& rate = "500", const std::string& size = "1000") {
    ProcessOptions options;
    options.arguments = {"--connect", daemon.socket(), "feed", "g", "--rate", rate, "--size", size};
    return Process(SPUSER_PATH, options);
  }
  /// Packets, as a client has not read them.
  std::uint64_t dropped_at(Daemon& daemon) {
    admin::Request request;
    request.mutable_feeds();
    const admin::FeedsReply feeds = daemon.ask(request).feeds();
    for (const admin::FeedCount& each : feeds.gaps()) {
      if (each.name() == "slow") return each.value();
    }
    return 0;
  }
  LineOfThree line_;
};

TEST_F(FeedsOverALine, AreHeardAgainAfterADaemonWasStopped) {
  Ear far(line_.gamma, "far");
  Process source = source_at(line_.alpha);
  far.hear_another(50);
  line_.beta.process().signal(SIGSTOP);
  far.hear_end(FeedClosed::Why::lost);
  line_.beta.process().signal(SIGCONT);
  far.hear_another(50);
  source.signal(SIGKILL);
  far.hear_end(FeedClosed::Why::closed);
  EXPECT_THAT(far.broken(), IsEmpty());
}

TEST_F(FeedsOverALine, EndWithTheirDaemon) {
  Ear far(line_.gamma, "far");
  Process source = source_at(line_.alpha, "100", "20000");
  far.hear_another(5);
  line_.alpha.kill();
  far.hear_end(FeedClosed::Why::lost);
  EXPECT_THAT(far.broken(), IsEmpty());
  EXPECT_EQ(far.feeds(), 1u);
}

TEST_F(FeedsOverALine, GoOnForAllWhileOneListenerStandsStill) {
  ProcessOptions options;
  options.arguments = {"--connect", line_.gamma.socket(), "listen", "g", "--stats"};
  Ear far(line_.gamma, "far");
  Process source = source_at(line_.alpha, "3000");
  Process slow(SPUSER_PATH, options);
  slow.wait_for_line("1 feeds");
  slow.signal(SIGSTOP);
  while (dropped_at(line_.gamma) < 1'000) far.hear(100);
  slow.signal(SIGCONT);
  source.signal(SIGKILL);
  far.hear_end(FeedClosed::Why::closed);
  EXPECT_THAT(far.broken(), IsEmpty());
  line_.gamma.expect_serving();
}

TEST_F(FeedsOverALine, AreShownToAdministrators) {
  EXPECT_THAT(run_spmonitor(line_.alpha, {"feeds"}).out, HasSubstr("no feeds\n"));
  Ear far(line_.gamma, "far");
  Process source = source_at(line_.alpha, "200", "100");
  far.hear_another(20);
  const Finished origin = run_spmonitor(line_.alpha, {"feeds"});
  EXPECT_EQ(origin.code, 0) << origin.error;
  EXPECT_THAT(origin.out,
              AllOf(ContainsRegex("#alpha +g +open +200 ms +client +[0-9]+ +0 +1 +0\n"),
                    ContainsRegex("own +rate +limited by"), ContainsRegex("kept +[0-9.]+ .?B, the oldest")));
  EXPECT_THAT(run_spmonitor(line_.beta, {"feeds"}).out, ContainsRegex("#alpha +g +open +200 ms +alpha .* 1 +0\n"));
  EXPECT_THAT(run_spmonitor(line_.gamma, {"feeds"}).out, ContainsRegex("#alpha +g +open +200 ms +beta .* 0 +1\n"));
  const Finished json = run_spmonitor(line_.alpha, {"feeds", "--json", "--limit", "1"});
  EXPECT_EQ(json.code, 0) << json.error;
  EXPECT_THAT(json.out,
              AllOf(HasSubstr("\"group\": \"g\""), HasSubstr("\"limited_by\": \"s"), HasSubstr("\"daemons\": 1,")));
  EXPECT_EQ(run_spmonitor(line_.alpha, {"feeds", "--limit", "0"}).code, 2);
}

}  // namespace
}  // namespace spindle::test
