// What an administrator sees of bulk channels, and changes.
#include <gmock/gmock.h>

#include "daemon/admin/admin.pb.h"
#include "tests/sim/ask_admin.h"
#include "tests/sim/bulk_client.h"
#include "tests/sim/scenario.h"
#include "tests/support/known_content.h"

namespace spindled::sim {
namespace {

namespace proto = spindle::admin;

/// A line of three daemons with a narrow path at its end, and a member of the group at each.
class BulkReport : public Scenario {
 protected:
  void begin(std::uint64_t seed) {
    simulate_cluster(seed, Shape::line, 3, {});
    PathProperties narrow;
    narrow.bytes_per_second = 500'000;
    narrow.send_buffer = 16u << 10;
    sim().network().set_path(1, 2, narrow);
    for (std::size_t i = 0; i < 3; ++i) {
      members_.push_back(&sim().add_client(sim().host(i), "c" + std::to_string(i), {.wants_channels = true}));
      members_.back()->join("g");
      bulk_.push_back(std::make_unique<BulkClient>(sim().world(), *members_.back(), BulkClient::Options{true, true}));
    }
    await_group_view(members_, "g");
    bulk_[0]->offer("g", spindle::test::content_of(1, 20'000'000));
    await([&] { return members_[0]->channels().size() == 1; }, 10s, "the offer");
    id_ = members_[0]->channels().ids().back();
    sim().run_for(5s);
  }
  proto::BulkReply look(std::size_t host) {
    proto::Request request;
    request.mutable_bulk();
    return ask_admin(sim(), host, request).bulk();
  }
  static const proto::BulkChild* child(const proto::BulkReply& reply, const std::string& daemon) {
    for (const proto::BulkChild& each : reply.channels(0).children()) {
      if (each.daemon() == daemon) return &each;
    }
    return nullptr;
  }
  std::vector<SimClient*> members_;
  std::vector<std::unique_ptr<BulkClient>> bulk_;
  BulkChannelId id_;
};

TEST_F(BulkReport, SaysWhoHasHowMuchAndWhatLimitsThem) {
  begin(1);
  const proto::BulkReply root = look(0), relay = look(1), leaf = look(2);
  for (const proto::BulkReply* reply : {&root, &relay, &leaf}) {
    ASSERT_EQ(reply->channels_size(), 1);
    EXPECT_EQ(reply->channels(0).id(), "1@d000");
    EXPECT_EQ(reply->channels(0).group(), "g");
    EXPECT_EQ(reply->channels(0).source(), "#c0#d000");
    EXPECT_EQ(reply->channels(0).bytes(), 20'000'000u);
    EXPECT_FALSE(reply->truncated());
  }
  EXPECT_EQ(root.channels(0).parent(), "");
  EXPECT_EQ(relay.channels(0).parent(), "d000");
  EXPECT_EQ(leaf.channels(0).parent(), "d001");
  ASSERT_NE(child(relay, "d002"), nullptr);
  EXPECT_EQ(child(relay, "d002")->limited_by(), "the hop to d002");
  EXPECT_NEAR(static_cast<double>(child(relay, "d002")->bytes_per_second()), 500'000, 50'000);
  ASSERT_NE(child(relay, ""), nullptr);
  EXPECT_EQ(child(relay, "")->client(), "c1");
  EXPECT_EQ(child(relay, "")->limited_by(), "") << "it has all";
  EXPECT_EQ(child(relay, "")->blocks(), relay.channels(0).blocks());
  ASSERT_NE(child(leaf, ""), nullptr);
  EXPECT_EQ(child(leaf, "")->limited_by(), "what comes from d001");
  ASSERT_EQ(relay.hops_size(), 2);
  EXPECT_EQ(relay.hops(1).peer(), "d002");
  EXPECT_TRUE(relay.hops(1).open());
  EXPECT_EQ(relay.hops(1).rate(), 0u);
  EXPECT_NEAR(static_cast<double>(relay.hops(1).capacity()), 500'000, 100'000);
  EXPECT_GT(leaf.control_bytes_per_second(), 0u);
}

TEST_F(BulkReport, SaysThatNobodyHasWhatIsLacking) {
  begin(2);
  members_[0]->kill();
  members_[1]->kill();
  sim().run_for(10s);
  const proto::BulkReply reply = look(2);
  ASSERT_EQ(reply.channels_size(), 1);
  EXPECT_TRUE(reply.channels(0).source_gone());
  ASSERT_NE(child(reply, ""), nullptr);
  EXPECT_EQ(child(reply, "")->limited_by(), "nobody has what it lacks");
}

TEST_F(BulkReport, EndsChannelsAndSetsTheirRates) {
  begin(3);
  proto::Request rate;
  rate.mutable_bulk_rate()->set_id("1@d000");
  rate.mutable_bulk_rate()->set_bytes_per_second(1'000'000);
  EXPECT_EQ(ask_admin(sim(), 0, rate).bulk_rate().bytes_per_second(), 1'000'000u);
  sim().run_for(1s);
  EXPECT_EQ(look(2).channels(0).rate_cap(), 1'000'000u);
  proto::Request cancel;
  cancel.mutable_bulk_cancel()->set_id("1@d000");
  EXPECT_EQ(ask_admin(sim(), 0, cancel).bulk_cancel().id(), "1@d000");
  await([&] { return members_[2]->channels().find(id_)->ended.has_value(); }, 5s, "the end of the channel");
  EXPECT_EQ(look(1).channels_size(), 0);
}

TEST_F(BulkReport, RefusesWhatIsForAnotherDaemon) {
  begin(4);
  for (const char* id : {"1@d000", "7@d000"}) {
    proto::Request cancel;
    cancel.mutable_bulk_cancel()->set_id(id);
    Stranger asking(sim().world(), sim().host(1), Port::admin);
    asking.send(admin_frame_of(cancel));
    sim().run_for(1s);
    const auto head = spindle::read_frame_head(asking.received());
    ASSERT_TRUE(head);
    EXPECT_EQ(head->type, static_cast<std::uint8_t>(AdminFrame::error));
  }
  EXPECT_EQ(look(1).channels_size(), 1);
}

}  // namespace
}  // namespace spindled::sim
