#include "bench/micro/instructions/feed_relay.h"

#include <map>

#include "daemon/base/check.h"

namespace spindled::bench {

namespace {

// Members of the view: the origin, the relay, and those with listeners.
constexpr MemberIndex kOrigin = 0, kRelay = 1, kFirstMember = 2;

FeedRoutes routes_of_relay(std::size_t members) {
  View view;
  view.id = {300, "a", 1};
  std::map<DaemonId, LinkId> neighbours;
  for (std::size_t i = 0; i < kFirstMember + members; ++i) {
    const DaemonId id{std::string(1, static_cast<char>('a' + i)), 1};
    view.members.push_back(id);
    const auto member = static_cast<MemberIndex>(i);
    if (member == kRelay) continue;
    view.edges.push_back({std::min(member, kRelay), std::max(member, kRelay), 1, 20'000});
    neighbours[id] = LinkId{member};
  }
  view.self = kRelay;
  return {view, neighbours};
}

RepairConfig config() {
  RepairConfig config;
  config.cache = FeedCache::members;
  return config;
}

}  // namespace

FeedRelay::FeedRelay(Meter& meter, std::size_t members, std::size_t bytes)
    : meter_(meter),
      members_(members),
      payload_(bytes),
      routes_(routes_of_relay(members)),
      repair_(config(), *this),
      in_(bytes + 64),
      out_(bytes + kNakBytesMax) {
  repair_.install(now_, routes_);
  forward_packet();
}

void FeedRelay::forward_packet() {
  MemberSet to;
  for (std::size_t i = 0; i < members_; ++i) to.insert(static_cast<MemberIndex>(kFirstMember + i));
  const EncodedSet encoded(to);
  const FeedPacket packet{ref(), next_++, FeedPacket::kFirst | FeedPacket::kLast, 0, encoded.view(), payload_};
  Writer writer(in_.data());
  write_packet(writer, packet);
  const ByteView body(in_.data(), writer.size());
  now_ += 1ms;
  sent_ = 0;
  meter_.counted([&] { repair_.handle(now_, LinkId{kOrigin}, *read_packet(body)); });
  SPINDLE_CHECK(sent_ == members_);
}

void FeedRelay::turn_nak() {
  FeedNak nak{ref(), 0, 1, kNakHopsMax, kFirstMember + 1, 0, {}, next_, {}};
  nak.bits.insert(0);
  Writer writer(in_.data());
  write_nak(writer, nak);
  const ByteView body(in_.data(), writer.size());
  now_ += 1ms;
  sent_ = 0;
  meter_.counted([&] { repair_.handle(now_, LinkId{kFirstMember + 1}, std::move(*read_nak(body))); });
  SPINDLE_CHECK(sent_ == 1);
}

void FeedRelay::send(LinkId, const FeedPacket& packet) {
  Writer writer(out_.data());
  write_datagram_frame_head(writer, DatagramFrame::packet, packet_size(packet));
  write_packet(writer, packet);
  ++sent_;
}

void FeedRelay::send(LinkId link, const FeedNak& nak) {
  SPINDLE_CHECK(link == LinkId{kFirstMember} && nak.is_down());
  // The length is known afterwards.
  Writer writer(out_.data() + kDatagramFrameHeadBytes);
  write_nak(writer, nak);
  Writer head(out_.data());
  write_datagram_frame_head(head, DatagramFrame::nak, writer.size());
  ++sent_;
}

}  // namespace spindled::bench
