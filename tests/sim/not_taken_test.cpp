// What a client is told of its messages that have not entered the network when its connection ends.
#include "tests/sim/scenario.h"

namespace spindled::sim {
namespace {

class NotTaken : public Scenario {
 protected:
  /// A reader at one end of a line that takes 100 KB a second, and a sender at the other.
  void start(std::uint64_t seed, bool independent_flows) {
    simulate_cluster(seed, Shape::line, 3);
    reader_ = &sim().add_client(sim().host(0), "reader");
    other_ = &sim().add_client(sim().host(1), "other");
    sender_ = &sim().add_client(sim().host(2), "sender", {.independent_flows = independent_flows, .tell_taken = true});
    reader_->join("g");
    other_->join("h");
    await_group_view({reader_}, "g");
    if (HasFatalFailure()) return;
    reader_->set_read_rate(100'000);
  }
  SimClient* reader_ = nullptr;
  SimClient* other_ = nullptr;
  SimClient* sender_ = nullptr;
};

TEST_F(NotTaken, IsNothingForOneThatWaitsForTheAnswerToItsGoodbye) {
  start(81, false);
  if (HasFatalFailure()) return;
  for (int i = 0; i < 1000; ++i) sender_->multicast({"g"}, {.size = 1000});
  sender_->bye();
  await([&] { return sender_->is_closed(); }, 60s, "the goodbye is answered");
  EXPECT_EQ(sender_->not_taken().messages, 0u);
  EXPECT_TRUE(sender_->not_taken().exact);
  await([&] { return reader_->messages() == 1000; }, 60s, "the reader has everything");
  check();
}

// The client gives up; what it knows then is what its daemon has told it last.
TEST_F(NotTaken, IsABoundForOneThatGivesUp) {
  for (const bool independent_flows : {false, true}) {
    start(82, independent_flows);
    if (HasFatalFailure()) return;
    std::size_t sent = 0;
    await([&] { return sender_->is_welcome(); }, 10s, "the sender is welcome");
    for (int i = 0; i < 300; ++i) {
      if (independent_flows) {
        while (sender_->try_multicast({"g"}, {.size = 1000})) ++sent;
      } else {
        for (const std::size_t more = sent + 20; sent < more; ++sent) sender_->multicast({"g"}, {.size = 1000});
      }
      sim().run_for(10ms);
    }
    const spindle::NotTaken before = sender_->not_taken();
    sender_->kill();
    EXPECT_FALSE(before.exact);
    sim().run_for(100s);
    EXPECT_GE(reader_->messages() + before.messages, sent) << "no more than that is lost";
    EXPECT_LE(reader_->messages() + before.messages, sent + 64) << "and little less";
    EXPECT_LT(reader_->messages(), sent) << "something was";
    check();
  }
}

}  // namespace
}  // namespace spindled::sim
