// What one turn of the driver takes of what has come to a socket.
#include <gtest/gtest.h>

#include <asio/io_context.hpp>
#include <string>

#include "daemon/config/address.h"
#include "daemon/net/datagram_sockets.h"
#include "daemon/net/listener.h"
#include "tests/support/nobody.h"

namespace spindled {
namespace {

/// Runs what is ready, after waiting until something is.
void run_handlers(asio::io_context& io) {
  io.restart();
  io.run_one_for(std::chrono::seconds(5));
  io.poll();
}

TEST(NetTurns, OneReadOfDatagramsATurn) {
  asio::io_context io;
  std::size_t received = 0;
  DatagramSockets sockets(io, [&](std::span<const IncomingDatagram> datagrams) { received += datagrams.size(); });
  DatagramSocket here = std::move(*DatagramSocket::bind({"127.0.0.1", 0}, 0));
  here.stop_segmenting();
  ASSERT_TRUE(sockets.add({"127.0.0.1", 0}));
  sockets.start();
  DatagramAddress to = to_datagram_address(here.bound(), 0);
  to.port = sockets.port_of(here.descriptor());
  const std::string text(100, 'x');
  const std::size_t count = 2 * DatagramReader::kMessages + 5;
  EXPECT_EQ(here.send(std::vector<OutgoingDatagram>(count, {to, spindle::as_bytes(text)})), count);

  run_handlers(io);
  EXPECT_EQ(received, 0u) << "it is only noted that there are some";
  for (const std::size_t expected : {DatagramReader::kMessages, 2 * DatagramReader::kMessages}) {
    EXPECT_TRUE(sockets.is_ready());
    sockets.read_ready();
    EXPECT_EQ(received, expected);
    io.restart();
    EXPECT_EQ(io.poll(), 0u) << "where a read came back full nothing is waited for";
  }
  sockets.read_ready();
  EXPECT_EQ(received, count);
  EXPECT_FALSE(sockets.is_ready());
  sockets.read_ready();
  here.send(std::vector<OutgoingDatagram>(3, {to, spindle::as_bytes(text)}));
  run_handlers(io);
  EXPECT_TRUE(sockets.is_ready());
  sockets.read_ready();
  EXPECT_EQ(received, count + 3);
}

/// Connects so many.
std::vector<FileDescriptor> connect_to(const Listener& listener, int count) {
  const SocketAddress to = make_tcp_address(*parse_address(listener.name()));
  std::vector<FileDescriptor> connections;
  for (int i = 0; i < count; ++i) {
    connections.emplace_back(::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(connections.back().get(), to.get(), to.size), 0);
  }
  return connections;
}

TEST(NetTurns, SoManyConnectionsATurn) {
  asio::io_context io;
  test::Silence log;
  int accepted = 0;
  Listener listener(io, log, Port::link, [&](FileDescriptor, Port, std::string) { ++accepted; });
  ASSERT_TRUE(listener.listen_at(ListenAddress{{"127.0.0.1", 0}, false}));
  listener.start();
  const std::vector<FileDescriptor> waiting = connect_to(listener, Listener::kAcceptsPerTurn + 3);
  run_handlers(io);
  EXPECT_EQ(accepted, 0);
  listener.accept_ready();
  EXPECT_EQ(accepted, Listener::kAcceptsPerTurn);
  EXPECT_TRUE(listener.is_ready());
  io.restart();
  EXPECT_EQ(io.poll(), 0u);
  listener.accept_ready();
  EXPECT_EQ(accepted, Listener::kAcceptsPerTurn + 3);
  EXPECT_FALSE(listener.is_ready());
}

TEST(NetTurns, AListenerThatRestsAcceptsNobody) {
  asio::io_context io;
  test::Silence log;
  int accepted = 0;
  Listener listener(io, log, Port::link, [&](FileDescriptor, Port, std::string) { ++accepted; });
  ASSERT_TRUE(listener.listen_at(ListenAddress{{"127.0.0.1", 0}, false}));
  listener.start();
  const std::vector<FileDescriptor> waiting = connect_to(listener, 2 * AcceptPace::kAcceptsAtOnce);
  run_handlers(io);
  while (listener.is_ready()) listener.accept_ready();
  const int before = accepted;
  EXPECT_GE(before, AcceptPace::kAcceptsAtOnce);
  listener.accept_ready();
  EXPECT_EQ(accepted, before);
  const std::vector<FileDescriptor> another = connect_to(listener, 1);
  while (!listener.is_ready()) run_handlers(io);
  listener.accept_ready();
  EXPECT_GT(accepted, before);
}

}  // namespace
}  // namespace spindled
