// Datagrams between daemons: what is written is read, and what is malformed is not.
#include "daemon/wire/datagrams.h"

#include <gtest/gtest.h>

#include <functional>

namespace spindled {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes written(std::size_t size_max, const std::function<void(Writer&)>& write) {
  Bytes bytes(size_max);
  Writer writer(bytes.data());
  write(writer);
  bytes.resize(writer.size());
  return bytes;
}

const FeedRef kRef{0x1234, 3, 300};
const Bytes kTo{1, 6};  // members 1 and 2
const Bytes kPayload{'h', 'i'};

Bytes packet_bytes() {
  return written(64, [](Writer& w) { write_packet(w, {kRef, 7, FeedPacket::kRepair, 2, kTo, kPayload}); });
}
FeedNak a_nak() {
  FeedNak nak{kRef, FeedNak::kServed, 2, 31, 5, 1'500, MemberSet::of(4), 0xfffffff0, {}};
  nak.bits.insert(0);
  nak.bits.insert(511);
  return nak;
}
Bytes nak_bytes(const FeedNak& nak) {
  return written(kNakBytesMax, [&](Writer& w) { write_nak(w, nak); });
}
Bytes gone_bytes() {
  return written(64, [](Writer& w) { write_gone(w, {kRef, MemberSet::of(2), 0xfffffffe, 4}); });
}
Bytes beat_bytes() {
  return written(64, [](Writer& w) { write_beat(w, {kRef, 1, MemberSet::of(2), 9, 10}); });
}
Bytes probe_bytes() {
  return written(64, [](Writer& w) { write_probe(w, {Probe::Kind::answer, 99, 10, 12, 5}); });
}

TEST(Datagrams, PacketIsReadAsWritten) {
  const Bytes bytes = packet_bytes();
  const auto packet = read_packet(bytes);
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet_size(*packet), bytes.size());
  EXPECT_EQ(packet->ref, kRef);
  EXPECT_EQ(packet->sequence, 7u);
  EXPECT_TRUE(packet->is_repair());
  EXPECT_EQ(packet->missing, 2);
  EXPECT_EQ(read_to(*packet), MemberSet::of(1) | MemberSet::of(2));
  EXPECT_EQ(Bytes(packet->payload.begin(), packet->payload.end()), kPayload);
}

TEST(Datagrams, OthersAreReadAsWritten) {
  EXPECT_EQ(read_nak(nak_bytes(a_nak())), a_nak());
  EXPECT_EQ(read_gone(gone_bytes()), (FeedGone{kRef, MemberSet::of(2), 0xfffffffe, 4}));
  EXPECT_EQ(read_beat(beat_bytes()), (FeedBeat{kRef, 1, MemberSet::of(2), 9, 10}));
  EXPECT_EQ(read_probe(probe_bytes()), (Probe{Probe::Kind::answer, 99, 10, 12, 5}));
}

TEST(Datagrams, LongestNakFits) {
  FeedNak nak = a_nak();
  nak.ref.feed = UINT32_MAX;
  for (MemberIndex i = 0; i < kMembersMax; i += 2) nak.affected.insert(i);
  nak.affected.insert(kMembersMax - 1);
  EXPECT_EQ(read_nak(nak_bytes(nak)), nak);
}

TEST(Datagrams, CutOffIsMalformed) {
  const Bytes nak = nak_bytes(a_nak());
  for (std::size_t size = 0; size < nak.size(); ++size) EXPECT_FALSE(read_nak(ByteView(nak).first(size))) << size;
  const Bytes gone = gone_bytes(), beat = beat_bytes(), probe = probe_bytes(), packet = packet_bytes();
  for (std::size_t size = 0; size < gone.size(); ++size) EXPECT_FALSE(read_gone(ByteView(gone).first(size))) << size;
  for (std::size_t size = 0; size < beat.size(); ++size) EXPECT_FALSE(read_beat(ByteView(beat).first(size))) << size;
  for (std::size_t size = 0; size < kProbeBytesMin; ++size) {
    EXPECT_FALSE(read_probe(ByteView(probe).first(size))) << size;
  }
  for (std::size_t size = 0; size < packet.size() - kPayload.size(); ++size) {
    EXPECT_FALSE(read_packet(ByteView(packet).first(size))) << size;
  }
}

TEST(Datagrams, TrailingBytesAreMalformed) {
  Bytes nak = nak_bytes(a_nak());
  nak.push_back(0);
  EXPECT_FALSE(read_nak(nak));
  Bytes gone = gone_bytes(), beat = beat_bytes();
  gone.push_back(0);
  beat.push_back(0);
  EXPECT_FALSE(read_gone(gone));
  EXPECT_FALSE(read_beat(beat));
}

TEST(Datagrams, WrongValuesAreMalformed) {
  FeedNak nak = a_nak();
  nak.attempt = 0;
  EXPECT_FALSE(read_nak(nak_bytes(nak)));
  nak = a_nak();
  nak.hops = kNakHopsMax + 1;
  EXPECT_FALSE(read_nak(nak_bytes(nak)));
  nak = a_nak();
  nak.flags = 4;
  EXPECT_FALSE(read_nak(nak_bytes(nak)));
  nak = a_nak();
  nak.bits = {};
  EXPECT_FALSE(read_nak(nak_bytes(nak)));
  nak.bits.insert(1);
  EXPECT_FALSE(read_nak(nak_bytes(nak))) << "the first is not in it";
  EXPECT_FALSE(read_gone(written(64, [](Writer& w) { write_gone(w, {kRef, MemberSet::of(2), 5, 4}); })));
  EXPECT_FALSE(read_gone(written(64, [](Writer& w) { write_gone(w, {kRef, {}, 4, 4}); })));
  EXPECT_FALSE(read_beat(written(64, [](Writer& w) { write_beat(w, {kRef, 0, {}, 4, 4}); })));
  EXPECT_FALSE(read_beat(written(64, [](Writer& w) { write_beat(w, {kRef, 0, MemberSet::of(1), 4, 6}); })));
  Bytes probe = probe_bytes();
  probe.back() = 1;
  EXPECT_FALSE(read_probe(probe));
  probe = probe_bytes();
  probe.front() = 2;
  EXPECT_FALSE(read_probe(probe));
  Bytes packet = packet_bytes();
  packet[9] = 0x10;  // the flags
  EXPECT_FALSE(read_packet(packet));
}

TEST(Datagrams, NumbersHaveOneEncoding) {
  Bytes packet = packet_bytes();
  packet[2] |= 0x80;  // the origin, in two bytes
  packet.insert(packet.begin() + 3, 0);
  EXPECT_FALSE(read_packet(packet));
}

TEST(Datagrams, AreCutIntoFrames) {
  const Bytes bytes = written(256, [](Writer& w) {
    write_datagram_head(w, {1ull << 40, 9});
    for (const Bytes& body : {beat_bytes(), gone_bytes()}) {
      write_datagram_frame_head(w, DatagramFrame::beat, body.size());
      w.bytes(body);
    }
  });
  EXPECT_EQ(read_datagram_head(bytes), (DatagramHead{1ull << 40, 9}));
  ByteView rest = ByteView(bytes).subspan(kDatagramHeadBytes);
  ASSERT_TRUE(next_datagram_frame(rest));
  const auto second = next_datagram_frame(rest);
  ASSERT_TRUE(second);
  EXPECT_EQ(Bytes(second->body.begin(), second->body.end()), gone_bytes());
  EXPECT_TRUE(rest.empty());
  rest = ByteView(bytes).subspan(kDatagramHeadBytes, 10);
  EXPECT_FALSE(next_datagram_frame(rest));
  EXPECT_FALSE(read_datagram_head(ByteView(bytes).first(kDatagramHeadBytes - 1)));
}

TEST(SequenceBits, AreVisitedInOrder) {
  SequenceBits bits;
  EXPECT_TRUE(bits.empty());
  for (const std::size_t i : {511u, 0u, 64u, 63u}) bits.insert(i);
  std::vector<std::size_t> seen;
  bits.for_each([&](std::size_t i) { seen.push_back(i); });
  EXPECT_EQ(seen, (std::vector<std::size_t>{0, 63, 64, 511}));
  EXPECT_EQ(bits.count(), 4u);
  EXPECT_EQ(bits.byte_count(), 64u);
}

}  // namespace
}  // namespace spindled
