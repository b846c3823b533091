// One set of destinations that a client names in several ways: it earns no more by that, and keeps its order.
#include <algorithm>

#include "tests/sim/bottleneck.h"

namespace spindled::sim {
namespace {

/// With and without independent flows.
class OneSet : public Bottleneck, public ::testing::WithParamInterface<bool> {
 protected:
  static constexpr std::size_t kMessageBytes = 1000;

  /// Five under which the client defines it, each with a number of its own.
  static std::vector<std::vector<std::string>> ways() {
    return {{"g", "h"}, {"h", "g"}, {"g", "g", "h"}, {"h", "h", "h", "g"}, {"g", "h", "g"}};
  }
  SimClient& add_sender(const std::string& name) {
    SimClient& sender = sim().add_client(sim().host(0), name, {.independent_flows = GetParam()});
    await([&] { return sender.is_welcome(); }, 1s, "the sender is welcome");
    return sender;
  }
  /// Keeps enough on its way to the daemon, in all of these ways in turn.
  void offer(SimClient& sender, const std::vector<std::vector<std::string>>& ways) {
    const SendOptions options{.service = Service::fifo, .size = kMessageBytes};
    if (GetParam()) {
      for (bool any = true; any;) {
        any = false;
        for (const auto& groups : ways) any = sender.try_multicast(groups, options) || any;
      }
    } else {
      while (sender.unsent_bytes() < 64u << 10) {
        for (const auto& groups : ways) sender.multicast(groups, options);
      }
    }
  }
  std::uint64_t packets(const spindle::admin::FlowReply& reply, const std::string& client) {
    std::uint64_t sum = 0;
    for (const auto& row : reply.flows()) sum += row.client() == client ? row.packets() : 0;
    return sum;
  }
};

TEST_P(OneSet, EarnsOneSalaryHoweverItIsNamed) {
  simulate_bottleneck(71);
  add_receiver({"g", "h"});
  if (HasFatalFailure()) return;
  SimClient& plain = add_sender("plain");
  SimClient& many = add_sender("many");
  const auto run = [&](int seconds) {
    for (int i = 0; i < 100 * seconds; ++i) {
      offer(plain, {ways().front()});
      offer(many, ways());
      sim().run_for(10ms);
    }
  };
  run(20);  // until their salaries are those of the bottleneck
  const spindle::admin::FlowReply before = flow(0);
  run(60);
  const spindle::admin::FlowReply after = flow(0);
  const double of_plain = static_cast<double>(packets(after, "plain") - packets(before, "plain"));
  const double of_many = static_cast<double>(packets(after, "many") - packets(before, "many"));
  EXPECT_GT(of_plain + of_many, 60 * 250 / 2) << "the bottleneck is one";
  EXPECT_NEAR(of_many / of_plain, 1, 0.25);
  EXPECT_EQ(after.total(), 2u);
}

TEST_P(OneSet, KeepsItsOrderHoweverItIsNamed) {
  simulate_bottleneck(72);
  SimClient& far = add_receiver({"g", "h"});
  if (HasFatalFailure()) return;
  SimClient& sender = add_sender("sender");
  for (int i = 0; i < 500; ++i) {
    offer(sender, ways());
    sim().run_for(10ms);
  }
  EXPECT_GT(flow(0).flows(0).blocked_share(), 0.5) << "they wait";
  await_rest();
  EXPECT_EQ(far.messages(), sender.history().events.size()) << "it has done nothing but send";
  check();
}

INSTANTIATE_TEST_SUITE_P(IndependentOrNot, OneSet, ::testing::Bool());

}  // namespace
}  // namespace spindled::sim
