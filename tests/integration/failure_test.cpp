// Daemons that die and links that fail, each daemon in a network namespace of its own. How long it takes is printed,
// and asserted nowhere but in the simulator: a machine that others use can stand still for seconds.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "tests/integration/clients.h"
#include "tests/integration/namespaces.h"
#include "tests/integration/needs.h"

namespace spindle::test {
namespace {

constexpr const char* kGroup = "watchers";

/// a, b and c, each joined to both others: b can go without splitting the rest.
class Failure : public ::testing::Test {
 protected:
  void SetUp() override {
    SPINDLE_TEST_NEEDS(Namespaces::unavailable());
    hosts_ = std::make_unique<Namespaces>(std::vector<std::string>{"a", "b", "c"});
    hosts_->connect("a", "b");
    hosts_->connect("b", "c");
    hosts_->connect("a", "c");
    c_ = std::make_unique<Daemon>(options("c", {}));
    a_ = std::make_unique<Daemon>(options("a", {"c"}));
    b_ = std::make_unique<Daemon>(options("b", {"a", "c"}));
    at_a_ = a_->connect("watcher");
    at_b_ = b_->connect("watcher");
    at_c_ = c_->connect("watcher");
    for (Connection* client : {&at_a_, &at_b_, &at_c_}) EXPECT_FALSE(client->join(kGroup));
    for (Connection* client : {&at_a_, &at_b_, &at_c_}) wait_for_members(*client, kGroup, all_);
  }

  DaemonOptions options(const std::string& name, const std::vector<std::string>& dialled) const {
    DaemonOptions result;
    result.name = name;
    result.link_address = "0.0.0.0:4804";
    result.insecure = true;
    for (const std::string& peer : dialled) result.neighbours.push_back(hosts_->address(peer, name) + ":4804");
    result.process.network_namespace = hosts_->name(name);
    return result;
  }

  /// Waits for the view of `members` at both clients; the time by when both had it.
  static Clock::time_point wait_at_both(Connection& first, Connection& second,
                                        const std::vector<std::string>& members) {
    const GroupView one = wait_for_members(first, kGroup, members);
    const GroupView other = wait_for_members(second, kGroup, members);
    const Clock::time_point seen = Clock::now();
    EXPECT_EQ(one.id, other.id);
    EXPECT_EQ(one.members, other.members);
    EXPECT_NE(one.cause, ViewCause::leave);
    EXPECT_NE(one.cause, ViewCause::disconnect);
    return seen;
  }

  static void note_time(const char* what, Clock::duration taken) {
    const double seconds = std::chrono::duration<double>(taken).count();
    RecordProperty(what, std::to_string(seconds));
    std::cout << what << ": " << seconds << " s\n";
  }

  /// Messages flow both ways between two clients.
  static void expect_conversation(Connection& first, Connection& second) {
    for (Connection* sender : {&first, &second}) {
      EXPECT_FALSE(sender->multicast(Service::safe, kGroup, sender->private_name()));
      EXPECT_EQ(next_message(first).text(), sender->private_name());
      EXPECT_EQ(next_message(second).text(), sender->private_name());
    }
  }

  const std::vector<std::string> all_{"#watcher#a", "#watcher#b", "#watcher#c"};
  const std::vector<std::string> without_b_{"#watcher#a", "#watcher#c"};
  std::unique_ptr<Namespaces> hosts_;
  std::unique_ptr<Daemon> c_, a_, b_;
  Connection at_a_, at_b_, at_c_;
};

TEST_F(Failure, TheOthersHaveANewViewAfterADaemonIsKilledAndAgainAfterItsRestart) {
  const Clock::time_point killed = Clock::now();
  b_->kill();
  note_time("view_after_kill", wait_at_both(at_a_, at_c_, without_b_) - killed);
  EXPECT_EQ(wait_for_end(at_b_).error, Errc::connection_lost);
  expect_conversation(at_a_, at_c_);

  b_->start();
  at_b_ = b_->connect("watcher");
  EXPECT_FALSE(at_b_.join(kGroup));
  const Clock::time_point link_up = b_->process().wait_for_line("link to ").at;
  note_time("view_after_link", wait_at_both(at_a_, at_c_, all_) - link_up);
  wait_for_members(at_b_, kGroup, all_);
  expect_conversation(at_a_, at_b_);
}

TEST_F(Failure, ADaemonThatIsCutOffWithoutAWordIsMissedAfterTheLivenessTimeAndFoundAgain) {
  hosts_->set_up("b", "a", false);
  hosts_->set_up("b", "c", false);
  const Clock::time_point cut = Clock::now();
  note_time("view_after_cut", wait_at_both(at_a_, at_c_, without_b_) - cut);
  const GroupView alone = wait_for_members(at_b_, kGroup, {"#watcher#b"});
  EXPECT_EQ(alone.cause, ViewCause::network);
  EXPECT_EQ(alone.left.size(), 2u);
  expect_conversation(at_a_, at_c_);

  hosts_->set_up("b", "a", true);
  hosts_->set_up("b", "c", true);
  wait_at_both(at_a_, at_b_, all_);
  const GroupView healed = wait_for_members(at_c_, kGroup, all_);
  std::vector<std::string> together = healed.vs_set;
  std::sort(together.begin(), together.end());
  EXPECT_EQ(together, without_b_);
  expect_conversation(at_b_, at_c_);
}

TEST_F(Failure, AFailedLinkBesideAnotherPathChangesNoGroup) {
  hosts_->set_up("a", "c", false);
  // Both notice, and go by b from then on.
  a_->process().wait_for_line("link to c (");
  a_->process().wait_for_line("down: silent_peer");
  c_->process().wait_for_line("down: silent_peer");
  EXPECT_FALSE(at_a_.multicast(Service::safe, kGroup, "by another path"));
  for (Connection* client : {&at_a_, &at_b_, &at_c_}) {
    const Event event = next_event(*client);
    const auto* message = event.get_if<Message>();
    ASSERT_NE(message, nullptr) << "something other than the message came";
    EXPECT_EQ(message->text(), "by another path");
  }
}

}  // namespace
}  // namespace spindle::test
