#include <gtest/gtest.h>

#include <cstdlib>

#include "libclient/common/defaults.h"
#include "libclient/io/default_socket.h"
#include "libclient/src/socket.h"

namespace spindle {
namespace {

Address parse(std::string_view text) {
  Address address;
  EXPECT_TRUE(parse_address(text, address)) << text;
  return address;
}

void expect_tcp(std::string_view text, std::string_view host, std::string_view port) {
  const Address address = parse(text);
  EXPECT_EQ(address.path, "") << text;
  EXPECT_EQ(address.host, host) << text;
  EXPECT_EQ(address.port, port) << text;
}

TEST(ClientAddress, Forms) {
  EXPECT_EQ(parse("/run/x.sock").path, "/run/x.sock");
  EXPECT_EQ(parse("unix:/run/x.sock").path, "/run/x.sock");
  EXPECT_EQ(parse("unix:relative").path, "relative");
  expect_tcp("host", "host", "4803");
  expect_tcp("host:9", "host", "9");
  expect_tcp("tcp:host:65535", "host", "65535");
  expect_tcp("tcp:host", "host", "4803");
  expect_tcp("[::1]", "::1", "4803");
  expect_tcp("tcp:[fe80::1%eth0]:77", "fe80::1%eth0", "77");
}

TEST(ClientAddress, WhatIsNotAnAddress) {
  Address address;
  for (const std::string_view text : {"unix:", "tcp:", ":1", "host:", "host:0", "host:65536", "host:x", "host:1x",
                                      "::1", "[::1", "[]", "[::1]x", "[::1]:"}) {
    EXPECT_FALSE(parse_address(text, address)) << text;
  }
  EXPECT_FALSE(parse_address("/" + std::string(200, 'x'), address));
}

TEST(ClientAddress, TheDefault) {
  ::unsetenv("SPINDLE_ADDRESS");
  EXPECT_EQ(parse("").path, find_default_socket(kClientSocketName).path);
  ::setenv("SPINDLE_ADDRESS", "elsewhere:5", 1);
  expect_tcp("", "elsewhere", "5");
  ::unsetenv("SPINDLE_ADDRESS");
}

}  // namespace
}  // namespace spindle
