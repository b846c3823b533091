// Names of other daemons, and attempts to connect to them.
#include "daemon/net/dialler.h"

#include <gtest/gtest.h>

namespace spindled {
namespace {

TEST(Dialler, ANameIsLookedUpOnceAtATime) {
  asio::io_context io;
  std::map<std::uint64_t, int> told;
  Dialler dialler(io, [&](ConnectionId id, Result<FileDescriptor> socket) {
    EXPECT_FALSE(socket);
    ++told[static_cast<std::uint64_t>(id)];
  });
  // Nobody listens at these ports.
  dialler.dial(ConnectionId{1}, "localhost:1");
  dialler.dial(ConnectionId{2}, "localhost:1");
  EXPECT_TRUE(dialler.cancel(ConnectionId{2}));
  dialler.dial(ConnectionId{3}, "localhost:1");
  EXPECT_EQ(dialler.lookups(), 1u);
  dialler.dial(ConnectionId{4}, "localhost:2");
  EXPECT_EQ(dialler.lookups(), 2u);
  io.run();
  EXPECT_EQ(told, (std::map<std::uint64_t, int>{{1, 1}, {3, 1}, {4, 1}}));
  EXPECT_EQ(dialler.lookups(), 0u);
}

}  // namespace
}  // namespace spindled
