// Calls that wait for the daemon: joining, confirming, draining.
#include <gtest/gtest.h>

#include "tests/integration/clients.h"
#include "tests/integration/daemon.h"

namespace spindle::test {
namespace {

TEST(Calls, JoiningGivesTheFirstView) {
  Daemon daemon({});
  Connection ann = daemon.connect("ann"), bob = daemon.connect("bob");
  const Result<GroupView> first = ann.join("news", kPatience);
  ASSERT_TRUE(first) << first.text();
  EXPECT_EQ(first->members, std::vector<std::string>{std::string(ann.private_name())});
  const Result<GroupView> second = bob.join("news", kPatience);
  ASSERT_TRUE(second) << second.text();
  EXPECT_EQ(second->members.size(), 2u);
  EXPECT_EQ(second->joined, std::vector<std::string>{std::string(bob.private_name())});
  EXPECT_EQ(bob.join("news", kPatience).error(), Errc::already_a_member);
  EXPECT_FALSE(bob.leave("news"));
  EXPECT_TRUE(bob.join("news", kPatience)) << "again, behind the leave";
}

TEST(Calls, ConfirmEndsOnceTheNetworkHasTakenAll) {
  for (const bool independent_flows : {false, true}) {
    Daemon daemon({});
    ConnectOptions options;
    options.address = daemon.socket();
    options.independent_flows = independent_flows;
    Connection sender = Connection::connect(options).value();
    for (int i = 0; i < 1000; ++i) {
      ASSERT_FALSE(sender.multicast(Service::agreed, sender.private_name(), std::to_string(i)));
    }
    const NotTaken not_taken = sender.confirm(kPatience);
    EXPECT_EQ(not_taken.messages, 0u);
    EXPECT_TRUE(not_taken.exact);
    EXPECT_EQ(next_message(sender).text(), "0");
  }
}

TEST(Calls, MessagesTellAllReceiversTheSamePosition) {
  Daemon daemon({});
  Connection ann = daemon.connect("ann"), bob = daemon.connect("bob");
  ASSERT_TRUE(ann.join("news", kPatience));
  const GroupView view = bob.join("news", kPatience).value();
  for (const Service service : {Service::fifo, Service::causal, Service::agreed, Service::safe}) {
    for (int i = 0; i < 10; ++i) ASSERT_FALSE(ann.multicast(service, "news", std::to_string(i)));
  }
  std::optional<MessagePosition> last;
  for (int i = 0; i < 40; ++i) {
    const Message at_ann = next_message(ann), at_bob = next_message(bob);
    EXPECT_EQ(at_ann.position().has_value(), at_ann.service() >= Service::causal);
    if (at_ann.position()) {
      EXPECT_TRUE(at_ann.position()->is_behind(view.id));
      EXPECT_TRUE(!last || *last < *at_ann.position());
      last = at_ann.position();
    }
    EXPECT_EQ(at_ann.position(), at_bob.position());
  }
}

TEST(Calls, DrainingLosesNothingEitherWay) {
  Daemon daemon({});
  Connection ann = daemon.connect("ann"), bob = daemon.connect("bob");
  ASSERT_TRUE(ann.join("news", kPatience));
  ASSERT_TRUE(bob.join("news", kPatience));
  for (int i = 0; i < 100; ++i) {
    ASSERT_FALSE(ann.multicast(Service::agreed, "news", "from ann"));
    ASSERT_FALSE(bob.multicast(Service::agreed, "news", "from bob"));
  }
  ASSERT_EQ(bob.confirm(kPatience).messages, 0u);
  const NotTaken not_taken = ann.drain(kPatience);
  EXPECT_EQ(not_taken.messages, 0u);
  EXPECT_TRUE(not_taken.exact);
  int received = 0;
  ViewForm last_form{};
  while (const auto event = ann.receive()) {
    received += event->is<Message>();
    if (const auto* view = event->get_if<GroupView>()) last_form = view->form;
  }
  EXPECT_EQ(received, 200);
  EXPECT_EQ(last_form, ViewForm::farewell);
  for (int i = 0; i < 200; ++i) next_message(bob);
  wait_for_members(bob, "news", {std::string(bob.private_name())});
}

}  // namespace
}  // namespace spindle::test
