#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <vector>

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

TEST(ClientAddress, SaysWhatToDoWhereNoDaemonIsAtTheDefault) {
  Address address;
  address.path = "/no/such/folder/spindle.4803";
  address.is_default = true;
  std::error_code error;
  std::string text;
  EXPECT_FALSE(connect_socket(address, Deadline::max(), error, text));
  EXPECT_EQ(error, Errc::connect_failed);
  EXPECT_NE(text.find("/tmp/spindle.4803: is spindled running?"), std::string::npos) << text;
  EXPECT_NE(text.find("SPINDLE_ADDRESS"), std::string::npos) << text;
  address.is_default = false;
  EXPECT_FALSE(connect_socket(address, Deadline::max(), error, text));
  EXPECT_EQ(text, "/no/such/folder/spindle.4803: No such file or directory") << "it is the one that was named";
}

/// Listens for one connection at a time, at 127.0.0.1.
struct Listener {
  Listener() : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(::listen(socket.get(), 0), 0);
    socklen_t size = sizeof at;
    EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    one.ai_family = AF_INET;
    one.ai_addr = reinterpret_cast<sockaddr*>(&at);
    one.ai_addrlen = sizeof at;
  }

  Descriptor socket;
  sockaddr_in at{};
  addrinfo one{};
};

TEST(ClientAddress, OneThatSaysNothingLeavesTimeToOthersOfItsHost) {
  using namespace std::chrono_literals;
  const auto in = [](std::chrono::nanoseconds time) { return std::chrono::steady_clock::now() + time; };
  std::error_code error;
  std::string text;
  Listener full, other;
  std::vector<Descriptor> waiting;  // to be accepted: what comes behind them is dropped
  do {
    waiting.push_back(connect_first(&full.one, in(100ms), error, text));
  } while (waiting.back() && waiting.size() < 10);
  if (waiting.back()) GTEST_SKIP() << "the system accepts more than it was told";
  EXPECT_EQ(error, Errc::timed_out);
  std::vector<addrinfo> found(100, other.one);
  found.front() = full.one;
  for (std::size_t i = 1; i < found.size(); ++i) found[i - 1].ai_next = &found[i];
  const Deadline deadline = in(10s);
  EXPECT_TRUE(connect_first(found.data(), deadline, error, text)) << text;
  EXPECT_FALSE(error);
  EXPECT_LT(std::chrono::steady_clock::now(), deadline);
}

}  // namespace
}  // namespace spindle
