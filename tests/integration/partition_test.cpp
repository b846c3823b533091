// `spmonitor partition` and `heal` on real daemons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/clients.h"

namespace spindle::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kGroup = "watchers";

class ImposedPartition : public ::testing::Test {
 protected:
  void join() {
    at_alpha_ = line_.alpha.connect("watcher");
    at_beta_ = line_.beta.connect("watcher");
    at_gamma_ = line_.gamma.connect("watcher");
    for (Connection* client : {&at_alpha_, &at_beta_, &at_gamma_}) EXPECT_FALSE(client->join(kGroup));
    wait_for_all();
  }
  void wait_for_all() {
    for (Connection* client : {&at_alpha_, &at_beta_, &at_gamma_}) {
      wait_for_members(*client, kGroup, {"#watcher#alpha", "#watcher#beta", "#watcher#gamma"});
    }
  }
  void wait_for_split() {
    for (Connection* client : {&at_alpha_, &at_beta_}) {
      EXPECT_EQ(wait_for_members(*client, kGroup, {"#watcher#alpha", "#watcher#beta"}).cause, ViewCause::network);
    }
    EXPECT_EQ(wait_for_members(at_gamma_, kGroup, {"#watcher#gamma"}).cause, ViewCause::network);
  }

  LineOfThree line_;
  Connection at_alpha_, at_beta_, at_gamma_;
};

TEST_F(ImposedPartition, IsImposedByOneDaemonAndHealedByAnother) {
  join();
  const Finished imposed = run_spmonitor(line_.alpha, {"partition", "alpha,beta", "/", "gamma", "--for", "20m"});
  EXPECT_EQ(imposed.code, 0) << imposed.error;
  EXPECT_THAT(imposed.out, HasSubstr("partition 1@alpha: alpha,beta / gamma; imposed for a field test, ends in "));
  wait_for_split();
  for (Daemon* daemon : line_.all()) {
    daemon->process().wait_for_line("partition 1@alpha is imposed for a field test");
    EXPECT_THAT(run_spmonitor(*daemon, {"status"}).out, HasSubstr("partition   1@alpha: alpha,beta / gamma;"));
  }
  const Finished links = run_spmonitor(line_.gamma, {"links"});
  EXPECT_THAT(links.out, HasSubstr("partition 1@alpha, imposed for a field test, holds beta and gamma apart"));
  EXPECT_THAT(links.out, HasSubstr("partition 1@alpha: alpha,beta / gamma; imposed for a field test, ends in "));
  line_.beta.process().wait_for_line("down: partitioned: partition 1@alpha");

  const Finished healed = run_spmonitor(line_.gamma, {"heal"});
  EXPECT_EQ(healed.code, 0) << healed.error;
  EXPECT_EQ(healed.out, "healed partition 1@alpha: alpha,beta / gamma\n");
  wait_for_all();
  for (Daemon* daemon : line_.all()) {
    daemon->process().wait_for_line("partition 1@alpha is healed by order 2@gamma");
    EXPECT_THAT(run_spmonitor(*daemon, {"status"}).out, Not(HasSubstr("partition")));
  }
}

TEST_F(ImposedPartition, EndsByItself) {
  join();
  EXPECT_EQ(run_spmonitor(line_.beta, {"partition", "gamma", "--for", "6s"}).code, 0);
  wait_for_split();
  wait_for_all();
  for (Daemon* daemon : line_.all()) daemon->process().wait_for_line("partition 1@beta is over: its time has passed");
}

TEST_F(ImposedPartition, WhatMakesNoSenseIsRefused) {
  join();
  const Finished unknown = run_spmonitor(line_.alpha, {"partition", "alpha,omega", "/", "gamma"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.error, HasSubstr("there is no daemon omega; known are alpha beta gamma (bad_argument)"));
  EXPECT_EQ(run_spmonitor(line_.alpha, {"partition", "alpha", "--for", "61m"}).code, 1);
  EXPECT_EQ(run_spmonitor(line_.alpha, {"partition", "alpha", "--for", "soon"}).code, 2);
  EXPECT_EQ(run_spmonitor(line_.alpha, {"partition"}).code, 2);
  EXPECT_EQ(run_spmonitor(line_.alpha, {"--watch", "1", "partition", "alpha"}).code, 2);
  EXPECT_THAT(run_spmonitor(line_.beta, {"heal"}).out, HasSubstr("this daemon knew of no partition"));
}

TEST(ImposedPartitionAlone, TheConfigurationCanForbidIt) {
  DaemonOptions options;
  options.configuration = "[admin]\nallow_partition = false\n";
  Daemon daemon(options);
  const Finished refused = run_spmonitor(daemon, {"partition", "alpha"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.error, HasSubstr("admin.allow_partition is false"));
}

}  // namespace
}  // namespace spindle::test
