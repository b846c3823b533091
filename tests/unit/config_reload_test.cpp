// What becomes of a configuration that is changed while the daemon runs.
#include "daemon/config/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/config/schema.h"

namespace spindled {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ConfigReload, TakesLiveKeysAndNamesTheOthers) {
  DaemonConfig running;
  running.node.name = "alpha";
  running.node.incarnation = 7;
  running.listen.links = {"127.0.0.1:4804"};
  DaemonConfig next = running;
  next.node.session.slow_policy = SlowPolicy::drop;
  next.node.admission.groups_of(BenefitKind::fair) = {"news*"};
  next.node.admission.enabled = !running.node.admission.enabled;
  next.node.link.neighbours = {{"beta:4804", 0}};
  next.log.level = LogLevel::warning;
  const Reload result = reload(running, next);
  EXPECT_EQ(result.config.node.session.slow_policy, SlowPolicy::drop);
  EXPECT_EQ(result.config.node.admission.groups_of(BenefitKind::fair), std::vector<std::string>{"news*"});
  EXPECT_EQ(result.config.node.admission.enabled, running.node.admission.enabled);
  EXPECT_TRUE(result.config.node.link.neighbours.empty());
  EXPECT_EQ(result.config.log.level, LogLevel::warning);
  EXPECT_EQ(result.config.node.incarnation, 7u);
  EXPECT_THAT(result.changed, ElementsAre("admission.fair_groups = [\"news*\"]", "session.slow_policy = \"drop\"",
                                          "log.level = \"warning\""));
  EXPECT_THAT(result.needs_restart, ElementsAre("admission.enabled", "neighbour"));
}

TEST(ConfigReload, RulesOfAccessAreTakenAsAWhole) {
  DaemonConfig running;
  running.node.name = "alpha";
  running.node.access.rules = {{{"anyone"}, {"*"}, RightSet::all()}};
  DaemonConfig next = running;
  next.node.access.rules.push_back({{"uid:1000"}, {"news"}, {}});
  next.node.access.names = {{"feed*", {"cert:feed"}}};
  const Reload result = reload(running, next);
  EXPECT_EQ(result.config.node.access, next.node.access);
  EXPECT_THAT(result.changed, ElementsAre("entries: [[access]] 2, [[names]] 1, [[quota]] 0"));
  EXPECT_THAT(result.needs_restart, IsEmpty());
}

TEST(ConfigReload, TokensAreTakenAsAWhole) {
  DaemonConfig running;
  running.node.name = "alpha";
  running.tokens = {{"web", std::string(64, 'a'), std::nullopt}, {"feed", std::string(64, 'b'), std::nullopt}};
  DaemonConfig next = running;
  next.tokens.pop_back();
  const Reload result = reload(running, next);
  EXPECT_EQ(result.config.tokens, next.tokens);
  EXPECT_THAT(result.changed, ElementsAre("entries: [[token]] 1"));
  EXPECT_THAT(result.needs_restart, IsEmpty());
}

TEST(ConfigReload, TheSameIsNoNews) {
  DaemonConfig running;
  running.node.name = "alpha";
  const Reload result = reload(running, running);
  EXPECT_THAT(result.changed, IsEmpty());
  EXPECT_THAT(result.needs_restart, IsEmpty());
}

TEST(ConfigReload, AnotherBundleTakesThePlaceOfOne) {
  DaemonConfig running;
  running.node.name = "alpha";
  running.tls.bundle = "/etc/spindle/alpha.pem";
  DaemonConfig next = running;
  next.tls = {"/etc/spindle/alpha-2.pem", "/etc/spindle/trading.crl", true};
  const Reload result = reload(running, next);
  EXPECT_EQ(result.config.tls.bundle, "/etc/spindle/alpha-2.pem");
  EXPECT_EQ(result.config.tls.revocation_lists, "/etc/spindle/trading.crl");
  EXPECT_FALSE(result.config.tls.insecure);
  EXPECT_THAT(result.changed, ElementsAre("tls.bundle = \"/etc/spindle/alpha-2.pem\"",
                                          "tls.revocation_lists = \"/etc/spindle/trading.crl\""));
  EXPECT_THAT(result.needs_restart, ElementsAre("tls.insecure"));
}

TEST(ConfigReload, TheFirstBundleAndTheLastTakeARestart) {
  DaemonConfig without, with;
  without.node.name = with.node.name = "alpha";
  with.tls.bundle = "/etc/spindle/alpha.pem";
  with.tls.revocation_lists = "/etc/spindle/trading.crl";
  const auto expect_restart = [](const DaemonConfig& running, const DaemonConfig& next) {
    const Reload result = reload(running, next);
    EXPECT_EQ(result.config.tls.bundle, running.tls.bundle);
    EXPECT_EQ(result.config.tls.revocation_lists, running.tls.revocation_lists);
    EXPECT_THAT(result.changed, IsEmpty());
    EXPECT_THAT(result.needs_restart, ElementsAre("tls.bundle", "tls.revocation_lists"));
  };
  expect_restart(without, with);
  expect_restart(with, without);
}

TEST(ConfigReload, EveryValueCanBeCopied) {
  for (const Key& key : schema()) {
    if (key.section == kNeighbourSection) continue;
    DaemonConfig from, to;
    from.node.name = "alpha";
    from.listen.links = {"127.0.0.1:1"};
    copy_value(key, from, to);
    EXPECT_EQ(value_text(key, to), value_text(key, from)) << key.full_name();
  }
}

}  // namespace
}  // namespace spindled
