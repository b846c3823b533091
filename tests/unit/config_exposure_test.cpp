// What a configuration may not leave open to other hosts, and how it is told.
#include "daemon/config/exposure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/config/address.h"
#include "daemon/config/parse_config.h"

namespace spindled {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kWaysOut =
    "set tls.bundle (or --bundle) to the file that `spmonitor pki issue` makes; or, where everybody on the network is "
    "trusted, tls.insecure = true (or --insecure)\n";

/// The errors of `text`, one a line.
std::string errors_of(std::string_view text, const ConfigOverlay& overlay = {}) {
  const ConfigResult result = parse_config(text, "spindle.toml", overlay);
  if (result) return "none";
  std::string all;
  for (const ConfigError& error : result.error()) all += to_string(error) + "\n";
  return all;
}

std::string at_clients(const std::string& address) { return "[listen]\nclients = [\"" + address + "\"]\n"; }
std::string at_links(const std::string& address) { return "[listen]\nlinks = [\"" + address + "\"]\n"; }
std::string dialling(const std::string& address) { return "[[neighbour]]\naddress = \"" + address + "\"\n"; }
constexpr const char* kBundle = "[tls]\nbundle = \"/etc/spindle/alpha.pem\"\n";
constexpr const char* kInsecure = "[tls]\ninsecure = true\n";

TEST(ListenAddress, WithAndWithoutTls) {
  const ListenAddress plain{{"127.0.0.1", 4803}, false}, by_tls{{"::", 0}, true};
  EXPECT_EQ(parse_listen_address("127.0.0.1:4803"), plain);
  EXPECT_EQ(parse_listen_address("tls:[::]:0"), by_tls);
  EXPECT_EQ(to_string(plain), "127.0.0.1:4803");
  EXPECT_EQ(to_string(by_tls), "tls:[::]:0");
  for (const char* bad : {"", "tls:", "tls:4803", "tls:localhost:1", "tls:tls:[::1]:1", "TLS:[::1]:1", "tls: [::1]:1",
                          "tcp:127.0.0.1:1", "localhost:1", "127.0.0.1"}) {
    EXPECT_EQ(parse_listen_address(bad), std::nullopt) << bad;
  }
}

TEST(ListenAddress, WhatIsLoopback) {
  for (const char* host : {"127.0.0.1", "127.0.0.0", "127.255.255.255", "::1", "0:0:0:0:0:0:0:1"}) {
    EXPECT_TRUE(is_loopback(host)) << host;
  }
  for (const char* host : {"126.255.255.255", "128.0.0.0", "0.0.0.0", "::", "::2", "::ffff:127.0.0.1", "10.0.0.1",
                           "localhost", "127.0.0.1.example.org", ""}) {
    EXPECT_FALSE(is_loopback(host)) << host;
  }
}

TEST(ConfigExposure, ThisHostAloneNeedsNoProtection) {
  EXPECT_EQ(errors_of(""), "none");
  for (const std::string host : {"127.0.0.1", "127.8.9.1", "[::1]"}) {
    EXPECT_EQ(errors_of(at_clients(host + ":4803")), "none");
    EXPECT_EQ(errors_of(at_links(host + ":4804")), "none");
    EXPECT_EQ(errors_of(dialling(host + ":4804")), "none");
  }
  EXPECT_EQ(errors_of(dialling("localhost:4804")), "none");
}

TEST(ConfigExposure, PlainClientsOfOtherHostsAreRefused) {
  for (const std::string address : {"0.0.0.0:4803", "[::]:4803", "192.0.2.1:0", "[2001:db8::1]:4803"}) {
    const std::string error = "spindle.toml:2: listen.clients: \"" + address +
                              "\" takes clients of other hosts without protection: write \"tls:" + address + "\" and " +
                              std::string(kWaysOut);
    EXPECT_EQ(errors_of(at_clients(address)), error);
    EXPECT_EQ(errors_of(at_clients(address) + kBundle), error) << "a bundle alone does not protect a plain address";
    EXPECT_EQ(errors_of(at_clients(address) + kInsecure), "none");
    EXPECT_EQ(errors_of(at_clients("tls:" + address) + kBundle), "none");
  }
}

TEST(ConfigExposure, LinksOfOtherHostsAreRefusedWithoutABundle) {
  for (const std::string address : {"0.0.0.0:4804", "[::]:4804", "192.0.2.1:0"}) {
    EXPECT_EQ(errors_of(at_links(address)),
              "spindle.toml:2: listen.links: \"" + address +
                  "\" takes links of other hosts without protection: " + std::string(kWaysOut));
    EXPECT_EQ(errors_of(at_links(address) + kBundle), "none");
    EXPECT_EQ(errors_of(at_links(address) + kInsecure), "none");
  }
}

TEST(ConfigExposure, NeighboursOnOtherHostsAreRefusedWithoutABundle) {
  for (const std::string address : {"beta:4804", "192.0.2.1:4804", "[2001:db8::1]:4804", "localhost.example.org:1"}) {
    EXPECT_EQ(errors_of(dialling(address)),
              "spindle.toml:2: neighbour.address: \"" + address +
                  "\" is another host, and the link to it has no protection: " + std::string(kWaysOut));
    EXPECT_EQ(errors_of(dialling(address) + kBundle), "none");
    EXPECT_EQ(errors_of(dialling(address) + kInsecure), "none");
  }
}

TEST(ConfigExposure, EachAddressIsNamedWithItsLine) {
  const ConfigResult result = parse_config(
      "[listen]\nclients = [\n  \"127.0.0.1:1\",\n  \"0.0.0.0:2\",\n  \"[::]:3\",\n]\nlinks = [\"192.0.2.1:4\"]\n" +
          dialling("beta:5") + dialling("localhost:6") + dialling("gamma:7"),
      "spindle.toml");
  ASSERT_FALSE(result);
  std::vector<std::string> places;
  for (const ConfigError& error : result.error()) places.push_back(std::to_string(error.line) + " " + error.key);
  EXPECT_THAT(places, ElementsAre("4 listen.clients", "5 listen.clients", "7 listen.links", "9 neighbour.address",
                                  "13 neighbour.address"));
}

TEST(ConfigExposure, WhatNeedsABundle) {
  EXPECT_EQ(
      errors_of(at_clients("tls:127.0.0.1:4803")),
      "spindle.toml:2: listen.clients: \"tls:127.0.0.1:4803\" needs a certificate: set tls.bundle (or --bundle) to "
      "the file that `spmonitor pki issue` makes\n");
  EXPECT_NE(errors_of(at_clients("tls:127.0.0.1:4803") + kInsecure), "none");
  const std::string at_admin = "[listen]\nadmin = [\"tls:127.0.0.1:4805\"]\n";
  EXPECT_EQ(errors_of(at_admin),
            "spindle.toml:2: listen.admin: \"tls:127.0.0.1:4805\" needs a certificate: set tls.bundle (or --bundle) to "
            "the file that `spmonitor pki issue` makes\n");
  EXPECT_NE(errors_of(at_admin + kInsecure), "none");
  EXPECT_EQ(errors_of(at_admin + kBundle), "none");
  EXPECT_EQ(errors_of("[tls]\nrevocation_lists = \"/etc/spindle/trading.crl\"\n"),
            "spindle.toml:2: tls.revocation_lists: is of no use without tls.bundle: set that, too\n");
  EXPECT_EQ(errors_of(kBundle + std::string("revocation_lists = \"/etc/spindle/trading.crl\"\n")), "none");
}

TEST(ConfigExposure, ValuesOfTheSection) {
  EXPECT_EQ(errors_of("[tls]\nbundle = \"alpha.pem\"\n"),
            "spindle.toml:2: tls.bundle: must be an absolute path, or empty for none\n");
  EXPECT_EQ(errors_of("[tls]\nrevocation_lists = \"/a\\u0000b\"\n"),
            "spindle.toml:2: tls.revocation_lists: must not contain a zero byte\n");
  EXPECT_EQ(errors_of("[tls]\ninsecure = \"yes\"\n"), "spindle.toml:2: tls.insecure: must be true or false\n");
  EXPECT_EQ(errors_of("[tls]\nbundle = 7\n" + dialling("beta:4804")), "spindle.toml:2: tls.bundle: must be a string\n")
      << "what hangs on a value that is wrong is not blamed";
}

TEST(ConfigExposure, LinkAddressesHaveNoPrefix) {
  EXPECT_EQ(
      errors_of(at_links("tls:0.0.0.0:4804") + kBundle),
      "spindle.toml:2: listen.links: write \"0.0.0.0:4804\" instead of \"tls:0.0.0.0:4804\": with tls.bundle every "
      "link is protected\n");
}

TEST(ConfigExposure, TheCommandLineCountsAsWell) {
  const std::string exposed = at_clients("tls:0.0.0.0:4803") + dialling("beta:4804");
  EXPECT_EQ(errors_of(exposed, [](DaemonConfig& config) { config.tls.bundle = "/alpha.pem"; }), "none");
  EXPECT_EQ(errors_of(dialling("beta:4804"), [](DaemonConfig& config) { config.tls.insecure = true; }), "none");
  EXPECT_EQ(errors_of(at_links("0.0.0.0:4804"), [](DaemonConfig& config) { config.listen.links = {"127.0.0.1:0"}; }),
            "none");
  // What it adds is for it to answer for.
  const ConfigResult result =
      parse_config("", "spindle.toml", [](DaemonConfig& config) { config.listen.links = {"0.0.0.0:4804"}; });
  ASSERT_TRUE(result);
  ASSERT_EQ(find_exposed(*result).size(), 1u);
  EXPECT_EQ(find_exposed(*result).front().address, "0.0.0.0:4804");
}

TEST(ConfigExposure, ListsWhatIsLeftUnprotected) {
  DaemonConfig config;
  EXPECT_EQ(list_unprotected(config), "");
  config.tls.insecure = true;
  EXPECT_EQ(list_unprotected(config), "");
  config.listen.clients = {"127.0.0.1:4803", "0.0.0.0:4803", "tls:[::]:4803"};
  config.node.link.neighbours = {{"beta:4804", 0}, {"localhost:4805", 0}};
  EXPECT_EQ(list_unprotected(config),
            "listen.clients 0.0.0.0:4803, listen.links 0.0.0.0:4804, neighbour.address beta:4804");
  EXPECT_THAT(find_exposed(config), IsEmpty());
  config.tls.bundle = "/etc/spindle/alpha.pem";
  EXPECT_EQ(list_unprotected(config), "listen.clients 0.0.0.0:4803");
}

TEST(ConfigExposure, WhatIsNoAddressExposesNothing) {
  DaemonConfig config;
  config.listen.clients = {"", "nowhere"};
  config.listen.links = {"tls:"};
  config.node.link.neighbours = {{"nobody", 0}};
  EXPECT_THAT(find_exposed(config), IsEmpty());
}

TEST(ConfigExposure, LinksGoBeyondThisHostOnlyWhereTheyMay) {
  DaemonConfig config;
  const std::vector<std::string> everywhere{"0.0.0.0:4804"}, here{"127.0.0.1:4804"};
  config.tls.insecure = true;
  EXPECT_THAT(link_addresses(config), IsEmpty()) << "nobody is to be linked with";
  config.node.link.neighbours = {{"localhost:4805", 0}};
  EXPECT_EQ(link_addresses(config), everywhere);
  config.tls.insecure = false;
  EXPECT_EQ(link_addresses(config), here);
  config.tls.bundle = "/etc/spindle/alpha.pem";
  EXPECT_EQ(link_addresses(config), everywhere);
}

}  // namespace
}  // namespace spindled
