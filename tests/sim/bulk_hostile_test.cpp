// What strangers and bad clients send on bulk connections costs them the connection, and nobody else anything.
#include "daemon/base/random.h"
#include "libclient/bulk/bulk_frames.h"
#include "tests/sim/bulk_client.h"
#include "tests/sim/scenario.h"
#include "tests/sim/stranger.h"
#include "tests/support/known_content.h"

namespace spindled::sim {
namespace {

namespace bulk = spindle::bulk;
using Bytes = std::vector<std::uint8_t>;

class BulkHostile : public Scenario {
 protected:
  /// Three daemons in a line with a member each, and a content that the first offers.
  void begin(std::uint64_t seed) {
    simulate_cluster(seed, Shape::line, 3, {});
    for (std::size_t i = 0; i < 3; ++i) {
      members_.push_back(&sim().add_client(sim().host(i), "c" + std::to_string(i), {.wants_channels = true}));
      members_.back()->join("g");
      bulk_.push_back(std::make_unique<BulkClient>(sim().world(), *members_.back(), BulkClient::Options{}));
    }
    await_group_view(members_, "g");
    view_ = sim().host(1).node().view().id;
  }
  BulkChannelId offer(std::size_t size) {
    content_ = spindle::test::content_of(5, size);
    const std::size_t before = members_[0]->channels().size();
    bulk_[0]->offer("g", content_);
    await([&] { return members_[0]->channels().size() > before; }, 10s, "the offer");
    return members_[0]->channels().ids().back();
  }
  void expect_service(const BulkChannelId& id) {
    await(
        [&] {
          return std::all_of(bulk_.begin() + 1, bulk_.end(), [&](const auto& each) {
            const auto* received = each->received(id);
            return received != nullptr && *received == content_;
          });
        },
        60s, "the content");
    EXPECT_EQ(sim().host(1).node().view().id, view_);
  }
  void expect_closed(Stranger& stranger, Duration bound = 1s) {
    await([&] { return stranger.is_closed(); }, bound, "the end of the connection");
  }
  /// What its connection was closed for, as the last frame says.
  static std::optional<Errc> reason_of(const Stranger& stranger) {
    ByteView left = stranger.received();
    while (const auto head = spindle::read_frame_head(left)) {
      const ByteView body = left.subspan(spindle::kFrameHeadBytes, head->length);
      left = left.subspan(spindle::kFrameHeadBytes + head->length);
      if (head->type != static_cast<std::uint8_t>(bulk::BulkFrame::close)) continue;
      const auto close = bulk::read_close(body);
      return close ? std::optional(static_cast<Errc>(close->code)) : std::nullopt;
    }
    return std::nullopt;
  }
  const protocol::BulkToken& token_of(SimClient& client) {
    await([&] { return client.channels().token().has_value(); }, 5s, "a token");
    return *client.channels().token();
  }
  static Bytes hello(std::string_view cluster, std::string_view daemon, std::uint64_t incarnation) {
    Bytes frame;
    bulk::write_hello(frame, {1, 1, cluster, daemon, incarnation, {}});
    return frame;
  }

  std::vector<SimClient*> members_;
  std::vector<std::unique_ptr<BulkClient>> bulk_;
  Bytes content_;
  ViewId view_;
};

TEST_F(BulkHostile, DaemonsThatWereNotInvitedAreTurnedAway) {
  begin(201);
  const BulkChannelId id = offer(2'000'000);
  const NodeConfig& config = sim().host(1).config();
  for (const Bytes& bytes : {hello(config.cluster, "d000", sim().host(0).incarnation()), hello("other", "d000", 1),
                             hello(config.cluster, "nobody", 1)}) {
    Stranger stranger(sim().world(), sim().host(1), Port::link);
    stranger.send(bytes);
    expect_closed(stranger);
  }
  expect_service(id);
}

/// Members of the view that there is no link to may be invited; until they are they are nobody.
TEST_F(BulkHostile, StrangersThatWereNotInvitedAreTurnedAway) {
  begin(206);
  const BulkChannelId id = offer(2'000'000);
  for (SimHost* host : {&sim().host(0), &sim().host(2)}) {
    SimHost& other = sim().host(host == &sim().host(0) ? 2 : 0);
    for (const std::uint64_t incarnation : {other.incarnation(), other.incarnation() + 1}) {
      Stranger stranger(sim().world(), *host, Port::link);
      stranger.send(hello(host->config().cluster, other.config().name, incarnation));
      expect_closed(stranger);
    }
    EXPECT_LE(host->node().counters().value(Counter::bulk_hops_opened), 1u) << "the one to its neighbour";
  }
  expect_service(id);
}

TEST_F(BulkHostile, ClientsWithoutATokenAreTurnedAway) {
  begin(202);
  const BulkChannelId id = offer(2'000'000);
  for (const std::uint64_t session : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{77}}) {
    Stranger stranger(sim().world(), sim().host(1), Port::client);
    Bytes attach;
    bulk::write_attach(attach, {1, 1, session, {}});
    stranger.send(attach);
    expect_closed(stranger);
  }
  expect_service(id);
}

TEST_F(BulkHostile, WhoBeginsAndSaysNothingMoreIsForgotten) {
  begin(203);
  const Bytes whole = hello(sim().host(1).config().cluster, "d000", 1);
  Stranger half(sim().world(), sim().host(1), Port::link);
  half.send(ByteView(whole).first(9));
  Stranger other(sim().world(), sim().host(1), Port::client);
  Bytes attach;
  bulk::write_attach(attach, {1, 1, 1, {}});
  other.send(ByteView(attach).first(9));
  expect_closed(half, 12s);
  expect_closed(other, 12s);
}

TEST_F(BulkHostile, GarbageOfAClientCostsItsAttachment) {
  begin(204);
  const BulkChannelId id = offer(6'000'000);
  Random random(9);
  for (int round = 0; round < 60; ++round) {
    const protocol::BulkToken token = token_of(*members_[1]);
    Stranger stranger(sim().world(), sim().host(1), Port::client);
    Bytes bytes;
    bulk::write_attach(bytes, {1, 1, token.session, token.token});
    bulk::write_open(bytes, {0, id, members_[1]->channels().find(id)->offered.terms.layout});
    for (int i = 0; i < 20; ++i) {
      const std::size_t size = random.below(40);
      Bytes frame(spindle::kFrameHeadBytes + size);
      spindle::Writer writer(frame.data());
      spindle::write_frame_head(writer, static_cast<std::uint8_t>(1 + random.below(9)), size);
      for (std::size_t at = spindle::kFrameHeadBytes; at < frame.size(); ++at) {
        frame[at] = static_cast<std::uint8_t>(random.chance(0.5) ? 0 : random.next());
      }
      bytes.insert(bytes.end(), frame.begin(), frame.end());
    }
    stranger.send(bytes);
    sim().run_for(20ms);
  }
  expect_service(id);
}

/// Each would have all receivers answer at once.
TEST_F(BulkHostile, MarksOfASourceCostItsAttachment) {
  begin(207);
  const BulkChannelId id = offer(2'000'000);
  expect_service(id);
  const protocol::BulkToken token = token_of(*members_[0]);
  Stranger stranger(sim().world(), sim().host(0), Port::client);
  Bytes bytes;
  bulk::write_attach(bytes, {1, 1, token.session, token.token});
  bulk::write_open(bytes, {0, id, members_[0]->channels().find(id)->offered.terms.layout});
  bulk::write_mark(bytes, {0, 1, 0});
  stranger.send(bytes);
  expect_closed(stranger);
  EXPECT_EQ(reason_of(stranger), Errc::unexpected_frame);
}

TEST_F(BulkHostile, SymbolsThatNobodyAskedForAreDropped) {
  begin(205);
  const BulkChannelId id = offer(2'000'000);
  expect_service(id);
  const protocol::BulkToken token = token_of(*members_[2]);
  Stranger stranger(sim().world(), sim().host(2), Port::client);
  Bytes bytes;
  bulk::write_attach(bytes, {1, 1, token.session, token.token});
  const bulk::ContentLayout& layout = members_[2]->channels().find(id)->offered.terms.layout;
  bulk::write_open(bytes, {0, id, layout});
  const Bytes content(layout.symbol_bytes, 0x77);
  for (std::uint32_t esi = 0; esi < 2'000; ++esi) {
    const bulk::Symbol symbol{0, 1, bulk::kLiveStream, 0, esi, 0, content};
    const std::size_t at = bytes.size();
    bytes.resize(at + bulk::symbol_head_size(symbol));
    spindle::Writer writer(bytes.data() + at);
    bulk::write_symbol_head(writer, symbol);
    bytes.insert(bytes.end(), content.begin(), content.end());
  }
  stranger.send(bytes);
  sim().run_for(500ms);
  EXPECT_LE(sim().host(2).node().memory().used, 64u << 20);
  expect_service(id);
}

}  // namespace
}  // namespace spindled::sim
