// What the kernel tells of sockets.
#include "daemon/net/socket.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace spindled {
namespace {

TEST(Socket, TcpKnowsTheShortestRoundTrip) {
  const Result<FileDescriptor> listening = listen_tcp({"127.0.0.1", 0});
  ASSERT_TRUE(listening) << listening.error().message();
  const SocketAddress address = local_address(listening->get());
  const FileDescriptor here(::socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(::connect(here.get(), address.get(), address.size), 0);
  const FileDescriptor there(::accept(listening->get(), nullptr, nullptr));
  ASSERT_TRUE(there.is_open());
  char byte = 'x';
  ASSERT_EQ(::write(here.get(), &byte, 1), 1);
  ASSERT_EQ(::read(there.get(), &byte, 1), 1);
  EXPECT_GT(shortest_round_trip(here.get()), Duration::zero());
  EXPECT_LT(shortest_round_trip(here.get()), 10s);
  EXPECT_GE(round_trip(here.get()), shortest_round_trip(here.get()));
}

TEST(Socket, OthersKnowNoRoundTrip) {
  const FileDescriptor unix_socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_TRUE(unix_socket.is_open());
  EXPECT_EQ(shortest_round_trip(unix_socket.get()), Duration::zero());
  EXPECT_EQ(round_trip(unix_socket.get()), Duration::zero());
}

}  // namespace
}  // namespace spindled
