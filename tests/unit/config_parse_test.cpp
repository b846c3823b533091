// The configuration parser: what it accepts, and how it names what is wrong.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "daemon/config/parse_config.h"

namespace spindled {
namespace {

/// The errors of `text`, one a line.
std::string errors_of(std::string_view text) {
  const ConfigResult result = parse_config(text, "spindle.toml");
  if (result) return "none";
  std::string all;
  for (const ConfigError& error : result.error()) all += to_string(error) + "\n";
  return all;
}

TEST(ConfigParse, EmptyTextGivesDefaults) {
  const ConfigResult result = parse_config("", "spindle.toml");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->node.cluster, "spindle");
  EXPECT_EQ(result->node.name, "");
  EXPECT_EQ(result->listen.clients, std::vector<std::string>{"127.0.0.1:4803"});
  EXPECT_EQ(result->listen.client_socket, "auto");
  EXPECT_EQ(result->listen.admin_socket, "auto");
  EXPECT_EQ(link_addresses(*result), std::vector<std::string>{});
  EXPECT_EQ(result->tls.bundle, "");
  EXPECT_EQ(result->tls.revocation_lists, "");
  EXPECT_FALSE(result->tls.insecure);
  EXPECT_EQ(result->log.level, LogLevel::info);
}

TEST(ConfigParse, EverySectionIsRead) {
  const ConfigResult result = parse_config(R"(
[daemon]
name = "alpha"
cluster = "trading"
[listen]
clients = ["0.0.0.0:4803", "[::1]:0", "127.0.0.1:0", "127.0.0.1:0"]
client_socket = ""
admin_socket = "/run/spindle/admin"
links = ["192.0.2.1:4804"]
[tls]
bundle = "/etc/spindle/alpha.pem"
revocation_lists = "/etc/spindle/trading.crl"
insecure = true
[[neighbour]]
address = "beta.example.org:4804"
weight = 7
[[neighbour]]
address = "[2001:db8::1]:4804"
[link]
heartbeat_interval_ms = 500
liveness_timeout_ms = 3_000
[view]
gain_hold_down_ms = 0
[order]
retention_max_bytes = 33554432
[admission]
enabled = false
benefit = "fair"
sending_groups = ["bulk.*", "log"]
price_max = 30
fee = 0.5
queue_target_ms = 10
queue_target_packets = 200
update_min_ms = 20
[session]
sessions_max = 12
[log]
level = "debug"
file = "/var/log/spindled.log"
)",
                                           "spindle.toml");
  ASSERT_TRUE(result) << to_string(result.error().front());
  EXPECT_EQ(result->node.name, "alpha");
  EXPECT_EQ(result->node.cluster, "trading");
  EXPECT_EQ(result->listen.clients.size(), 4u);
  EXPECT_EQ(result->listen.client_socket, "");
  EXPECT_EQ(result->listen.admin_socket, "/run/spindle/admin");
  EXPECT_EQ(link_addresses(*result), std::vector<std::string>{"192.0.2.1:4804"});
  EXPECT_EQ(result->tls.bundle, "/etc/spindle/alpha.pem");
  EXPECT_EQ(result->tls.revocation_lists, "/etc/spindle/trading.crl");
  EXPECT_TRUE(result->tls.insecure);
  ASSERT_EQ(result->node.link.neighbours.size(), 2u);
  EXPECT_EQ(result->node.link.neighbours[0].address, "beta.example.org:4804");
  EXPECT_EQ(result->node.link.neighbours[0].weight, 7u);
  EXPECT_EQ(result->node.link.neighbours[1].address, "[2001:db8::1]:4804");
  EXPECT_EQ(result->node.link.neighbours[1].weight, 0u);
  EXPECT_EQ(result->node.link.hello_interval, 500ms);
  EXPECT_EQ(result->node.link.liveness_timeout, 3s);
  EXPECT_EQ(result->node.view.gain_hold_down, 0ms);
  EXPECT_EQ(result->node.order.retention_bytes_max, 32u << 20);
  EXPECT_FALSE(result->node.admission.enabled);
  EXPECT_EQ(result->node.admission.benefit, BenefitKind::fair);
  EXPECT_EQ(result->node.admission.groups_of(BenefitKind::sending), (std::vector<std::string>{"bulk.*", "log"}));
  EXPECT_EQ(result->node.admission.groups_of(BenefitKind::fair), std::vector<std::string>());
  EXPECT_EQ(result->node.admission.price_max, 30);
  EXPECT_EQ(result->node.admission.fee, 0.5);
  EXPECT_EQ(result->node.admission.queue_time, 10ms);
  EXPECT_EQ(result->node.admission.queue_packets, 200u);
  EXPECT_EQ(result->node.admission.update_min, 20ms);
  EXPECT_EQ(result->node.session.sessions_max, 12u);
  EXPECT_EQ(result->log.level, LogLevel::debug);
  EXPECT_EQ(result->log.file, "/var/log/spindled.log");
}

TEST(ConfigParse, RulesAndReservedNamesKeepTheirOrder) {
  const ConfigResult result = parse_config(
      "[[access]]\nwho = [\"user:ann\", \"cert:trading-*\"]\ngroups = [\"orders.*\"]\nallow = [\"send\", \"join\"]\n"
      "[[names]]\npattern = \"feed*\"\nwho = [\"cert:feed\"]\n"
      "[[access]]\nwho = [\"anyone\"]\ngroups = [\"*\", \"#*\"]\nallow = [\"create\"]\n"
      "[[access]]\nwho = [\"local\"]\ngroups = [\"never\"]\nallow = []\n",
      "spindle.toml");
  ASSERT_TRUE(result) << to_string(result.error().front());
  const AccessConfig& access = result->node.access;
  ASSERT_EQ(access.rules.size(), 3u);
  EXPECT_EQ(access.rules[0].who, (std::vector<std::string>{"user:ann", "cert:trading-*"}));
  EXPECT_EQ(access.rules[0].groups, std::vector<std::string>{"orders.*"});
  EXPECT_TRUE(access.rules[0].allow.contains(Right::send));
  EXPECT_TRUE(access.rules[0].allow.contains(Right::join));
  EXPECT_FALSE(access.rules[0].allow.contains(Right::create));
  EXPECT_EQ(access.rules[1].groups, (std::vector<std::string>{"*", "#*"}));
  EXPECT_FALSE(access.rules[1].allow.contains(Right::send));
  EXPECT_EQ(access.rules[2].allow, RightSet()) << "a rule that forbids";
  ASSERT_EQ(access.names.size(), 1u);
  EXPECT_EQ(access.names[0].pattern, "feed*");
  EXPECT_EQ(access.names[0].who, std::vector<std::string>{"cert:feed"});
}

TEST(ConfigParse, Quotas) {
  const ConfigResult result = parse_config(
      "[[quota]]\nwho = [\"cert:feed\"]\nbytes_per_s = 1000000\nconnections = 3\n[[quota]]\nwho = [\"anyone\"]\n"
      "memberships = 7\n",
      "spindle.toml");
  ASSERT_TRUE(result) << to_string(result.error().front());
  EXPECT_EQ(result->node.access.quotas,
            (std::vector<QuotaRule>{{{"cert:feed"}, {3, 0, 1'000'000}}, {{"anyone"}, {0, 7, 0}}}));
  EXPECT_EQ(errors_of("[[quota]]\nconnections = 0\nbytes_per_s = 999\nmemberships = \"many\"\n"),
            "spindle.toml:1: quota.who: is missing\n"
            "spindle.toml:2: quota.connections: must be between 1 and 1000000\n"
            "spindle.toml:3: quota.bytes_per_s: must be between 1000 and 1073741824000\n"
            "spindle.toml:4: quota.memberships: must be an integer\n");
}

TEST(ConfigParse, WhatIsWrongWithRulesAndReservedNames) {
  EXPECT_EQ(errors_of("[[access]]\nwho = [\"anyone\"]\n"),
            "spindle.toml:1: access.groups: is missing\n"
            "spindle.toml:1: access.allow: is missing\n");
  EXPECT_EQ(errors_of("[access]\n"), "spindle.toml:1: access: must be a list of sections, [[access]]\n");
  EXPECT_EQ(errors_of("[[names]]\npattern = \"\"\nwho = \"anyone\"\n"),
            "spindle.toml:2: names.pattern: must have 1 to 255 bytes\n"
            "spindle.toml:3: names.who: must be a list of strings\n");
  EXPECT_EQ(errors_of("[[access]]\nwho = []\ngroups = [\"*\"]\nallow = [1]\n"),
            "spindle.toml:2: access.who: must not be empty\n"
            "spindle.toml:4: access.allow: must be a string\n");
  const auto wrong_who = [](const std::string& who) {
    return errors_of("[[names]]\npattern = \"*\"\nwho = [\"" + who + "\"]\n");
  };
  EXPECT_EQ(wrong_who("ann"),
            "spindle.toml:3: names.who: \"ann\" is nobody: write \"anyone\", \"local\", or \"user:\", \"group:\", "
            "\"uid:\", \"gid:\", \"cert:\", \"operator:\" or \"token:\" and a name\n");
  EXPECT_EQ(wrong_who("user:"), "spindle.toml:3: names.who: \"user:\" lacks a name\n");
  EXPECT_EQ(wrong_who("uid:alice"),
            "spindle.toml:3: names.who: \"uid:alice\" is no number: write \"user:\" for a name\n");
  EXPECT_EQ(wrong_who("gid:ops"), "spindle.toml:3: names.who: \"gid:ops\" is no number: write \"group:\" for a name\n");
  EXPECT_EQ(wrong_who("user:a*"), "spindle.toml:3: names.who: \"user:a*\": a user of this host is named in full\n");
  for (const char* good : {"cert:*", "token:web"}) EXPECT_EQ(wrong_who(good), "none");
  EXPECT_EQ(errors_of("[[access]]\nwho = [\"anyone\"]\ngroups = [\"*\"]\nallow = [\"sned\"]\n"),
            "spindle.toml:4: access.allow: \"sned\" is no right: there are \"send\", \"join\", \"create\"\n");
  EXPECT_EQ(errors_of("[[access]]\nwho = [\"anyone\"]\ngroups = [\"*\"]\nallow = []\nquota = 3\n"),
            "spindle.toml:5: access.quota: unknown key; [[access]] has who, groups, allow\n");
}

TEST(ConfigParse, ListensForLinksOnlyWhereANeighbourIsConfigured) {
  const ConfigResult with_neighbour = parse_config("[[neighbour]]\naddress = \"localhost:1\"\n", "spindle.toml");
  ASSERT_TRUE(with_neighbour);
  EXPECT_EQ(link_addresses(*with_neighbour), std::vector<std::string>{"127.0.0.1:4804"});

  const ConfigResult dials_only =
      parse_config("[listen]\nlinks = []\n[[neighbour]]\naddress = \"localhost:1\"\n", "spindle.toml");
  ASSERT_TRUE(dials_only);
  EXPECT_TRUE(link_addresses(*dials_only).empty());
}

TEST(ConfigParse, SyntaxErrorNamesItsLine) {
  EXPECT_TRUE(errors_of("[daemon]\nname = \"a\nb\"\n").starts_with("spindle.toml:2: "));
  EXPECT_TRUE(errors_of("[daemon]\nname = \"a\"\nname = \"b\"\n").starts_with("spindle.toml:3: "));
  EXPECT_EQ(errors_of("\n\n# \xc3\xa4\n\xff\xfe\n"), "spindle.toml:4: is not valid UTF-8\n");
  EXPECT_EQ(errors_of("# \xc3\n"), "spindle.toml:1: is not valid UTF-8\n");
}

TEST(ConfigParse, SyntaxErrorBehindASectionWithoutAName) { EXPECT_FALSE(parse_config("[]\nred1979-2-075\n", "f")); }

TEST(ConfigParse, SyntaxErrorNamesItsKey) {
  const auto begins = [](std::string_view text, std::string_view with) {
    EXPECT_TRUE(errors_of(text).starts_with(with)) << errors_of(text);
  };
  begins("[daemon]\nname = alpha\n", "spindle.toml:2: daemon.name: ");
  begins("[listen]\nclients = []\n\n[[neighbour]]\n  address = b:1\n", "spindle.toml:5: neighbour.address: ");
  begins("[daemon]\nname = \"a\"\nname = \"b\"\n", "spindle.toml:3: daemon.name: ");
  begins("cluster = x\n", "spindle.toml:1: cluster: ");
  begins("[daemon]\n?\n", "spindle.toml:2: ");
}

TEST(ConfigParse, UnknownKeysAndSections) {
  EXPECT_EQ(errors_of("[log]\nlevle = \"info\"\n"), "spindle.toml:2: log.levle: unknown key; did you mean level?\n");
  EXPECT_EQ(errors_of("[logs]\nlevel = \"info\"\n"), "spindle.toml:1: logs: unknown section; did you mean [log]?\n");
  EXPECT_EQ(errors_of("[[neighbor]]\naddress = \"[::1]:1\"\n"),
            "spindle.toml:1: neighbor: unknown section; did you mean [[neighbour]]?\n");
  EXPECT_EQ(errors_of("[neighbor]\naddress = \"[::1]:1\"\n"),
            "spindle.toml:1: neighbor: unknown section; did you mean [[neighbour]]?\n");
  EXPECT_EQ(
      errors_of("[network]\n"),
      "spindle.toml:1: network: unknown section; there are [daemon], [listen], [tls], [[neighbour]], [limits], [link], "
      "[view], [order], [admission], [session], [bulk], [feed], [[access]], [[names]], "
      "[[quota]], [[token]], [admin], [log]\n");
  EXPECT_EQ(errors_of("name = \"alpha\"\n"), "spindle.toml:1: name: must be in a section; did you mean daemon.name?\n");
  EXPECT_EQ(errors_of("colour = 1\n"), "spindle.toml:1: colour: must be in a section\n");
  EXPECT_EQ(errors_of("[daemon]\nlinks = []\n"),
            "spindle.toml:2: daemon.links: unknown key; did you mean links, in [listen]?\n");
  EXPECT_EQ(errors_of("[[neighbour]]\naddress = \"[::1]:1\"\ncost = 1\n"),
            "spindle.toml:3: neighbour.cost: unknown key; [[neighbour]] has address, weight\n");
  EXPECT_EQ(errors_of("[tls]\ncertificate = \"/a.pem\"\n"),
            "spindle.toml:2: tls.certificate: unknown key; [tls] has bundle, revocation_lists, insecure\n");
}

TEST(ConfigParse, WrongTypes) {
  EXPECT_EQ(errors_of("[link]\nheartbeat_interval_ms = \"250\"\n"),
            "spindle.toml:2: link.heartbeat_interval_ms: must be an integer\n");
  EXPECT_EQ(errors_of("[link]\nheartbeat_interval_ms = 250.0\n"),
            "spindle.toml:2: link.heartbeat_interval_ms: must be an integer\n");
  EXPECT_EQ(errors_of("[daemon]\nname = 5\n"), "spindle.toml:2: daemon.name: must be a string\n");
  EXPECT_EQ(errors_of("[listen]\nclients = \"127.0.0.1:1\"\n"),
            "spindle.toml:2: listen.clients: must be a list of strings\n");
  EXPECT_EQ(errors_of("[listen]\nclients = [\n  4803\n]\n"), "spindle.toml:3: listen.clients: must be a string\n");
  EXPECT_EQ(errors_of("link = 3\n"), "spindle.toml:1: link: must be a section, [link]\n");
  EXPECT_EQ(errors_of("[neighbour]\naddress = \"[::1]:1\"\n"),
            "spindle.toml:1: neighbour: must be a list of sections, [[neighbour]]\n");
}

TEST(ConfigParse, ValuesOutOfRange) {
  EXPECT_EQ(errors_of("[link]\n\nheartbeat_interval_ms = 9\n"),
            "spindle.toml:3: link.heartbeat_interval_ms: must be between 10 and 60000\n");
  EXPECT_EQ(errors_of("[link]\nheartbeat_interval_ms = -9223372036854775808\n"),
            "spindle.toml:2: link.heartbeat_interval_ms: must be between 10 and 60000\n");
  EXPECT_EQ(errors_of("[[neighbour]]\naddress = \"[::1]:1\"\nweight = 1000001\n"),
            "spindle.toml:3: neighbour.weight: must be between 0 and 1000000\n");
  EXPECT_EQ(errors_of("[session]\nsessions_max = 0\n"),
            "spindle.toml:2: session.sessions_max: must be between 1 and 1000000\n");
  EXPECT_EQ(errors_of("[log]\nlevel = \"loud\"\n"),
            "spindle.toml:2: log.level: must be \"debug\", \"info\", \"warning\" or \"error\"\n");
}

TEST(ConfigParse, BadAmountsAndChoices) {
  for (const std::string bad : {"0", "-1", "0.0009", "1000001", "inf", "nan"}) {
    EXPECT_EQ(errors_of("[admission]\nfee = " + bad + "\n"),
              "spindle.toml:2: admission.fee: must be between 0.001 and 1000000\n");
  }
  for (const std::string bad : {"\"1\"", "true", "[1]", "1979-05-27"}) {
    EXPECT_EQ(errors_of("[admission]\nfee = " + bad + "\n"), "spindle.toml:2: admission.fee: must be a number\n");
  }
  for (const std::string bad : {"\"Fair\"", "\"\"", "2", "[\"fair\"]"}) {
    EXPECT_EQ(errors_of("[admission]\nbenefit = " + bad + "\n"),
              "spindle.toml:2: admission.benefit: must be one of \"sending\", \"receiving\", \"fair\"\n");
  }
}

TEST(ConfigParse, BadNamesAndPaths) {
  const std::string rule = "must have 1 to 64 printable ASCII characters other than '#' and space\n";
  EXPECT_EQ(errors_of("[daemon]\nname = \"a#b\"\n"), "spindle.toml:2: daemon.name: " + rule);
  EXPECT_EQ(errors_of("[daemon]\nname = \"\"\n"), "spindle.toml:2: daemon.name: " + rule);
  EXPECT_EQ(errors_of("[daemon]\ncluster = \"a b\"\n"), "spindle.toml:2: daemon.cluster: " + rule);
  EXPECT_EQ(errors_of("[listen]\nclient_socket = \"here\"\n"),
            "spindle.toml:2: listen.client_socket: must be \"auto\", an absolute path, or empty for none\n");
  EXPECT_EQ(errors_of("[listen]\nadmin_socket = \"/" + std::string(107, 'x') + "\"\n"),
            "spindle.toml:2: listen.admin_socket: must not be longer than 107 bytes\n");
  EXPECT_EQ(errors_of("[listen]\nadmin_socket = \"/a\\u0000b\"\n"),
            "spindle.toml:2: listen.admin_socket: must not contain a zero byte\n");
  EXPECT_EQ(errors_of("[listen]\nclient_socket = \"/tmp/a\"\nadmin_socket = \"/tmp/a\"\n"),
            "spindle.toml:3: listen.admin_socket: must differ from the path of the other socket\n");
}

TEST(ConfigParse, SocketsAmongAddresses) {
  for (const std::string bad : {"unix:/run/spindle/s", "/run/spindle/s"}) {
    EXPECT_EQ(errors_of("[listen]\nclients = [\"" + bad + "\"]\n"),
              "spindle.toml:2: listen.clients: \"" + bad + "\": a unix socket has its own key, listen.client_socket\n");
    EXPECT_EQ(errors_of("[listen]\nadmin = [\"" + bad + "\"]\n"),
              "spindle.toml:2: listen.admin: \"" + bad + "\": a unix socket has its own key, listen.admin_socket\n");
  }
}

TEST(ConfigParse, BadAddresses) {
  for (const std::string bad :
       {"127.0.0.1", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:", ":4803", "localhost:4803", "[::1]", "::1:4803",
        "[127.0.0.1]:4803", "127.0.0.1:4803 ", "256.0.0.1:1", "[::1:4803"}) {
    EXPECT_EQ(errors_of("[listen]\nclients = [\"" + bad + "\"]\n"),
              "spindle.toml:2: listen.clients: \"" + bad +
                  "\" is not an IP address and a port from 0 to 65535, such as \"127.0.0.1:4803\", \"[::1]:4803\" or, "
                  "with TLS, \"tls:0.0.0.0:4803\"\n");
    EXPECT_EQ(errors_of("[listen]\nlinks = [\"" + bad + "\"]\n"),
              "spindle.toml:2: listen.links: \"" + bad +
                  "\" is not an IP address and a port from 0 to 65535, such as \"127.0.0.1:4804\" or \"[::1]:4804\"\n");
  }
  for (const std::string bad : {"beta", "beta:0", "beta:70000", "be ta:1", "-beta:1", "[beta]:1", "tcp://beta:1"}) {
    EXPECT_EQ(errors_of("[[neighbour]]\naddress = \"" + bad + "\"\n"),
              "spindle.toml:2: neighbour.address: \"" + bad +
                  "\" is not a host and a port from 1 to 65535, such as \"alpha.example.org:4804\"\n");
  }
}

TEST(ConfigParse, AdministrationGoesOverTcpWithTlsOnly) {
  EXPECT_EQ(errors_of("[listen]\nadmin = [\"127.0.0.1:4805\"]\n"),
            "spindle.toml:2: listen.admin: write \"tls:127.0.0.1:4805\" instead of \"127.0.0.1:4805\": administration "
            "goes over TCP with TLS only; for this host alone there is listen.admin_socket\n");
  for (const std::string bad : {"", "tls:", "tls:localhost:4805", "tls:127.0.0.1"}) {
    EXPECT_EQ(errors_of("[listen]\nadmin = [\"" + bad + "\"]\n"),
              "spindle.toml:2: listen.admin: \"" + bad +
                  "\" is not \"tls:\" with an IP address and a port from 0 to 65535, such as \"tls:0.0.0.0:4805\"\n");
  }
}

TEST(ConfigParse, DuplicatesAndMissingKeys) {
  EXPECT_EQ(errors_of("[[neighbour]]\naddress = \"[::1]:1\"\n[[neighbour]]\naddress = \"[::1]:1\"\n"),
            "spindle.toml:4: neighbour.address: \"[::1]:1\" is configured twice\n");
  EXPECT_EQ(errors_of("[[neighbour]]\nweight = 1\n"), "spindle.toml:1: neighbour.address: is missing\n");
  EXPECT_EQ(errors_of("[listen]\nlinks = [\"127.0.0.1:1\",\n\"127.0.0.1:1\"]\n"),
            "spindle.toml:3: listen.links: \"127.0.0.1:1\" is listed twice\n");
}

TEST(ConfigParse, ValuesThatDoNotGoTogether) {
  EXPECT_EQ(
      errors_of("[link]\nheartbeat_interval_ms = 600\n"),
      "spindle.toml:2: link.heartbeat_interval_ms: must be at most half of link.liveness_timeout_ms, which is 750\n");
  EXPECT_EQ(
      errors_of("[link]\nheartbeat_interval_ms = 600\nliveness_timeout_ms = 1100\n"),
      "spindle.toml:3: link.liveness_timeout_ms: must be at least twice link.heartbeat_interval_ms, which is 600\n");
  EXPECT_EQ(errors_of("[session]\nqueue_hard_bytes = 131072\n"),
            "spindle.toml:2: session.queue_hard_bytes: must be at least session.queue_soft_bytes, which is 1048576\n");
  EXPECT_EQ(
      errors_of("[session]\nqueue_full_price_bytes = 67108865\n"),
      "spindle.toml:2: session.queue_full_price_bytes: must be at most session.queue_hard_bytes, which is 67108864\n");
  EXPECT_EQ(errors_of("[admission]\nsavings_max = 0.5\n"),
            "spindle.toml:2: admission.savings_max: must be at least admission.fee, which is 1\n");
  EXPECT_EQ(errors_of("[admission]\nfee = 2.5\n"),
            "spindle.toml:2: admission.fee: must be at most admission.price_threshold, which is 2\n");
  EXPECT_EQ(errors_of("[admission]\nupdate_max_ms = 40\n"),
            "spindle.toml:2: admission.update_max_ms: must be at least admission.update_min_ms, which is 50\n");
}

TEST(ConfigParse, ReportsAllErrorsInTheOrderOfTheirLines) {
  EXPECT_EQ(
      errors_of(
          "[session]\nsessions_max = 0\n[link]\nredial_min_ms = 1\nheartbeat_interval_ms = true\n[daemon]\nx = 1\n"),
      "spindle.toml:2: session.sessions_max: must be between 1 and 1000000\n"
      "spindle.toml:4: link.redial_min_ms: must be between 10 and 60000\n"
      "spindle.toml:5: link.heartbeat_interval_ms: must be an integer\n"
      "spindle.toml:7: daemon.x: unknown key; [daemon] has name, cluster\n");
}

TEST(ConfigParse, RefusesWhatIsTooLargeOrTooDeep) {
  EXPECT_EQ(errors_of(std::string(kConfigBytesMax + 1, '#')), "spindle.toml: is larger than 1048576 bytes\n");
  EXPECT_EQ(errors_of(std::string(kConfigBytesMax, '#')), "none");

  std::string dotted = "a";
  for (int i = 0; i < 100'000; ++i) dotted += ".a";
  EXPECT_EQ(errors_of("\n" + dotted + " = 1\n"), "spindle.toml:2: a key has too many parts\n");
  EXPECT_EQ(errors_of("[" + dotted + "]\n"), "spindle.toml:1: a key has too many parts\n");
  EXPECT_EQ(errors_of("x = \"\\\"#\" \n\"\\\\\"." + dotted + " = 1\n"), "spindle.toml:2: a key has too many parts\n");
  EXPECT_EQ(errors_of("x = \"\"\"\n\"\"\"\n" + dotted + " = 1\n"),
            "spindle.toml:1: multi-line strings are not supported\n");
  EXPECT_EQ(errors_of("# " + dotted + "\n[log]\nfile = \"" + dotted + "\" # " + dotted), "none");
  EXPECT_NE(errors_of("a = " + std::string(200'000, '[')), "none");

  std::string many;
  for (int i = 0; i < 1000; ++i) many += "[x" + std::to_string(i) + "]\n";
  EXPECT_EQ(parse_config(many, "spindle.toml").error().size(), 100u);
}

TEST(ConfigLoad, ReadsAFileAndSaysWhyItCannot) {
  const std::filesystem::path directory = std::filesystem::path(testing::TempDir()) / "spindle_config_load";
  std::filesystem::create_directories(directory);
  const std::string file = directory / "spindle.toml";
  std::ofstream(file) << "[daemon]\nname = \"alpha\"\n";
  const ConfigResult result = load_config(file);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->node.name, "alpha");

  std::ofstream(file) << std::string(kConfigBytesMax + 1, '\n');
  EXPECT_EQ(to_string(load_config(file).error().front()), file + ": is larger than 1048576 bytes");

  EXPECT_TRUE(to_string(load_config(directory).error().front()).starts_with(directory.string() + ": cannot be read"));
  std::filesystem::remove_all(directory);
  EXPECT_EQ(to_string(load_config(file).error().front()), file + ": cannot be opened: No such file or directory");
}

TEST(ConfigName, HostNameBecomesADaemonName) {
  EXPECT_EQ(default_daemon_name("alpha.example.org"), "alpha.example.org");
  EXPECT_EQ(default_daemon_name("a#b c\xc3\xa4"), "a-b-c--");
  EXPECT_EQ(default_daemon_name(""), "daemon");
  EXPECT_EQ(default_daemon_name(std::string(100, 'h')), std::string(64, 'h'));
}

}  // namespace
}  // namespace spindled
