// The configuration as text, what it names that is not there, and words that were misspelt.
#include "daemon/config/print_config.h"

#include <gtest/gtest.h>

#include "daemon/config/find_unusable.h"
#include "daemon/config/parse_config.h"
#include "daemon/config/schema.h"
#include "daemon/config/suggestion.h"

namespace spindled {
namespace {

TEST(ConfigPrint, IsReadBackAsItWas) {
  DaemonConfig config;
  config.node.name = "alpha";
  config.listen.clients = {"0.0.0.0:4803", "[::1]:0"};
  config.listen.admin = {"tls:[::]:4805"};
  config.listen.client_socket = "/run/with \"quotes\" and \\backslash\x01/socket";
  config.tls = {"/etc/spindle/alpha.pem", "/etc/spindle/\"our\".crl", true};
  config.node.link.neighbours = {{"beta:4804", 0}, {"gamma.example.org:4804", 7}};
  config.node.admission.fee = 0.25;
  config.node.session.slow_policy = SlowPolicy::drop;
  config.node.access.rules = {{{"uid:1000", "cert:a \"b\""}, {"news*"}, RightSet::all()}, {{"anyone"}, {"*"}, {}}};
  config.node.access.names = {{"feed*", {"cert:feed"}}};
  config.node.access.quotas = {{{"anyone"}, {0, 7, 5000}}};
  config.tokens = {{"a\"b\"", std::string(64, 'a'), std::nullopt},
                   {"web", std::string(64, 'f'), std::chrono::sys_days(std::chrono::year(2028) / 2 / 29)}};
  config.log.level = LogLevel::warning;
  const std::string text = print_config(config);
  const ConfigResult read = parse_config(text, "printed");
  ASSERT_TRUE(read) << text << to_string(read.error().front());
  EXPECT_EQ(print_config(*read), text);
  EXPECT_EQ(read->listen.client_socket, config.listen.client_socket);
  EXPECT_EQ(read->listen.clients, config.listen.clients);
  EXPECT_EQ(read->listen.admin, config.listen.admin);
  EXPECT_EQ(read->tls.bundle, config.tls.bundle);
  EXPECT_EQ(read->tls.revocation_lists, config.tls.revocation_lists);
  EXPECT_TRUE(read->tls.insecure);
  EXPECT_EQ(read->node.link.neighbours[1].weight, 7u);
  EXPECT_EQ(read->node.admission.fee, 0.25);
  EXPECT_EQ(read->node.session.slow_policy, SlowPolicy::drop);
  EXPECT_EQ(read->node.access, config.node.access);
  EXPECT_EQ(read->tokens, config.tokens);
  EXPECT_EQ(link_addresses(*read), std::vector<std::string>{"0.0.0.0:4804"});
}

TEST(ConfigPrint, RulesHaveADigest) {
  AccessConfig access;
  EXPECT_EQ(rules_digest(access), 0u);
  access.quotas = {{{"anyone"}, {1, 2, 3000}}};
  EXPECT_EQ(rules_digest(access), 0u) << "quotas are each daemon's own";
  access.rules = {{{"anyone"}, {"a"}, RightSet::all()}, {{"local"}, {"*"}, {}}};
  const std::uint64_t digest = rules_digest(access);
  EXPECT_NE(digest, 0u);
  EXPECT_EQ(rules_digest(access), digest);
  std::swap(access.rules[0], access.rules[1]);
  EXPECT_NE(rules_digest(access), digest) << "the first one that matches decides";
  std::swap(access.rules[0], access.rules[1]);
  access.names = {{"a", {}}};
  EXPECT_NE(rules_digest(access), digest);
}

TEST(ConfigPrint, NamesEveryKey) {
  DaemonConfig config;
  config.node.name = "alpha";
  config.node.link.neighbours = {{"beta:4804", 0}};
  config.node.access.rules = {{{"anyone"}, {"*"}, RightSet::all()}};
  config.node.access.names = {{"feed*", {"uid:1000"}}};
  config.node.access.quotas = {{{"anyone"}, {1, 7, 5000}}};
  config.tokens = {{"web", std::string(64, 'f'), std::chrono::sys_days(std::chrono::year(2028) / 2 / 29)}};
  const std::string text = print_config(config);
  for (const Key& key : schema()) {
    EXPECT_NE(text.find("\n" + std::string(key.name) + " = "), std::string::npos) << key.full_name();
  }
}

/// The keys of what is unusable, and what is said of them.
std::string unusable(const DaemonConfig& config) {
  std::string all;
  for (const ConfigError& error : find_unusable(config, "spindle.toml")) all += to_string(error) + "\n";
  return all;
}

TEST(ConfigUnusable, DefaultsAreUsable) { EXPECT_EQ(unusable({}), ""); }

TEST(ConfigUnusable, FoldersFilesAndAddresses) {
  DaemonConfig config;
  config.listen.clients = {"127.0.0.1:4803", "192.0.2.1:4803", "tls:192.0.2.1:4805"};
  config.listen.client_socket = "/no/such/folder/socket";
  config.listen.admin_socket = "/dev/null";
  config.listen.admin = {"tls:198.51.100.2:4805"};
  config.listen.links = {"198.51.100.1:4804"};
  config.tls.bundle = "/no/such/folder/alpha.pem";
  config.tls.revocation_lists = "/dev";
  config.log.file = "/dev/null/log";
  EXPECT_EQ(unusable(config),
            "spindle.toml: listen.clients: this host does not have the address of \"192.0.2.1:4803\"\n"
            "spindle.toml: listen.clients: this host does not have the address of \"tls:192.0.2.1:4805\"\n"
            "spindle.toml: listen.client_socket: the folder /no/such/folder: No such file or directory\n"
            "spindle.toml: listen.admin_socket: /dev/null exists and is not a socket\n"
            "spindle.toml: listen.admin: this host does not have the address of \"tls:198.51.100.2:4805\"\n"
            "spindle.toml: listen.links: this host does not have the address of \"198.51.100.1:4804\"\n"
            "spindle.toml: tls.bundle: /no/such/folder/alpha.pem cannot be read: No such file or directory\n"
            "spindle.toml: tls.revocation_lists: /dev is a folder\n"
            "spindle.toml: log.file: Not a directory\n");
  config = {};
  config.log.file = "/dev";
  EXPECT_EQ(unusable(config), "spindle.toml: log.file: /dev is a folder\n");
}

TEST(Suggestion, DistancesCountSlips) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("neighbor", "neighbour"), 1u);
  EXPECT_EQ(edit_distance("levle", "level"), 1u);
  EXPECT_EQ(edit_distance("cluster", "clusters"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Suggestion, TheNearestWordOrNone) {
  const std::string_view words[] = {"daemon", "listen", "neighbour", "link", "log"};
  EXPECT_EQ(nearest_word("neighbor", words), "neighbour");
  EXPECT_EQ(nearest_word("links", words), "link");
  EXPECT_EQ(nearest_word("logging", words), "");
  EXPECT_EQ(nearest_word("", words), "");
  EXPECT_EQ(nearest_word(std::string(100'000, 'x'), words), "");
}

}  // namespace
}  // namespace spindled
