// `spmonitor flow` on real daemons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/clients.h"

namespace spindle::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST(SpmonitorFlowCommand, ShowsWhoSendsWhatAndWhere) {
  LineOfThree line;
  Connection sender = line.alpha.connect("ann");
  Connection receiver = line.gamma.connect("bob");
  for (Connection* client : {&sender, &receiver}) EXPECT_FALSE(client->join("news"));
  for (Connection* client : {&sender, &receiver}) wait_for_members(*client, "news", {"#ann#alpha", "#bob#gamma"});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(sender.multicast(Service::agreed, "news", std::string(2000, 'x')));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(next_message(receiver).text().size(), 2000u);

  const Finished text = run_spmonitor(line.alpha, {"flow"});
  EXPECT_EQ(text.code, 0) << text.error;
  EXPECT_THAT(text.out, HasSubstr("admission seeks sending, salary 10"));
  EXPECT_THAT(text.out, ContainsRegex("link to +packets +aim"));
  EXPECT_THAT(text.out, ContainsRegex("beta +0 +24 "));
  EXPECT_THAT(text.out, ContainsRegex("ann +news +1.00 .* 6 +6.00 +-")) << "two packets a message, a dollar each";
  EXPECT_THAT(run_spmonitor(line.gamma, {"flow"}).out, HasSubstr("no client has sent anything"));

  const Finished json = run_spmonitor(line.alpha, {"flow", "--json", "--limit", "1"});
  EXPECT_EQ(json.code, 0) << json.error;
  EXPECT_THAT(json.out, HasSubstr("\"client\": \"ann\""));
  EXPECT_THAT(json.out, HasSubstr("\"packets\": \"6\""));
  EXPECT_EQ(run_spmonitor(line.alpha, {"flow", "--limit", "0"}).code, 2);
}

TEST(SpmonitorFlowCommand, SaysWhenAdmissionIsOff) {
  DaemonOptions options;
  options.configuration = "[admission]\nenabled = false\n";
  Daemon daemon(options);
  EXPECT_THAT(run_spmonitor(daemon, {"flow"}).out, HasSubstr("admission is off"));
}

TEST(SpmonitorAdmissionCommand, SwitchesAdmissionOfARunningDaemon) {
  Daemon daemon({});
  EXPECT_THAT(run_spmonitor(daemon, {"admission", "on"}).out, HasSubstr("admission was on at this daemon already"));
  const Finished off = run_spmonitor(daemon, {"admission", "off"});
  EXPECT_EQ(off.code, 0) << off.error;
  EXPECT_THAT(off.out, HasSubstr("admission is off at this daemon, while it runs"));
  EXPECT_THAT(run_spmonitor(daemon, {"flow"}).out, HasSubstr("admission is off"));
  EXPECT_THAT(run_spmonitor(daemon, {"admission", "on", "--json"}).out, HasSubstr("\"changed\": true"));
  EXPECT_THAT(run_spmonitor(daemon, {"flow"}).out, HasSubstr("admission seeks sending"));
}

TEST(SpmonitorAdmissionCommand, TakesOnAndOffOnlyAndIsNotRepeated) {
  Daemon daemon({});
  EXPECT_EQ(run_spmonitor(daemon, {"admission", "maybe"}).code, 2);
  EXPECT_EQ(run_spmonitor(daemon, {"admission"}).code, 2);
  EXPECT_EQ(run_spmonitor(daemon, {"admission", "off", "--watch", "1"}).code, 2);
  EXPECT_THAT(run_spmonitor(daemon, {"flow"}).out, HasSubstr("admission seeks sending")) << "nothing was changed";
}

}  // namespace
}  // namespace spindle::test
