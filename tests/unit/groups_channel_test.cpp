// Operations of channels beside the groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/group/groups.h"
#include "tests/support/nobody.h"
#include "tests/unit/order_cluster.h"

namespace spindled {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint8_t kKnown = 200, kUnknown = 201;

NodeConfig config_of_alpha() {
  NodeConfig config;
  config.name = "alpha";
  return config;
}

/// A daemon that is alone in its view.
class ChannelOperations : public testing::Test {
 protected:
  ChannelOperations() {
    groups.attach(order, no_clients);
    groups.handle(kKnown, [this](Time, const Delivery& message, ByteView content) {
      handled.emplace_back(spindle::as_text(content));
      positions.push_back(message.position);
      return content.size() > 2;
    });
    order.install(now, {{1, "alpha"}, {{"alpha", 1}}, {}, 0, 0}, {});
    flush();
    EXPECT_TRUE(groups.is_ready());
  }
  void flush() {
    for (int i = 0; i < 3; ++i) {
      order.flush(now);
      context.turn.end_turn();
    }
  }

  Time now{1s};
  test::SilentSink sink;
  Context context{config_of_alpha(), sink, 1};
  test::NoTransport transport;
  test::NoClients no_clients;
  Groups groups{context};
  Order order{context, transport, groups};
  std::vector<std::string> handled;
  std::vector<std::uint64_t> positions;
};

TEST_F(ChannelOperations, ComeInTheirOrderToWhoHandlesThem) {
  groups.originate(now, kKnown, spindle::as_bytes("first"));
  groups.originate(now, kKnown, spindle::as_bytes("second"));
  flush();
  EXPECT_THAT(handled, ElementsAre("first", "second"));
  EXPECT_LT(positions[0], positions[1]);
  EXPECT_THAT(sink.errors, IsEmpty());
}

TEST_F(ChannelOperations, AreDroppedWhereNobodyFindsSenseInThem) {
  groups.originate(now, kKnown, spindle::as_bytes("no"));
  groups.originate(now, kUnknown, spindle::as_bytes("of nobody"));
  groups.originate(now, kKnown, spindle::as_bytes("still works"));
  flush();
  EXPECT_THAT(handled, ElementsAre("no", "still works"));
  EXPECT_EQ(sink.errors.size(), 2u);
}

}  // namespace
}  // namespace spindled
