// Datagrams between daemons: what is written is read, and what is malformed is not.
#include "daemon/wire/datagrams.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
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
  FeedNak nak{kRef, FeedNak::kServed, 2, 31, 5, 1'500, MemberSet::of(4), 0xfffffff0, {}, 20'000};
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

TEST(Datagrams, BundleIsReadStrictly) {
  constexpr std::uint8_t kWhole = FeedPacket::kFirst | FeedPacket::kLast;
  const auto is_read = [](std::uint8_t flags, const Bytes& payload) {
    return read_packet(written(64, [&](Writer& w) { write_packet(w, {kRef, 7, flags, 0, kTo, payload}); })).has_value();
  };
  const Bytes bundle{1, 'a', 2, 'b', 'c'};
  EXPECT_TRUE(is_read(kWhole | FeedPacket::kBundle, bundle));
  EXPECT_TRUE(is_read(kWhole | FeedPacket::kBundle | FeedPacket::kRepair, bundle));
  EXPECT_FALSE(is_read(FeedPacket::kFirst | FeedPacket::kBundle, bundle)) << "it is whole";
  EXPECT_FALSE(is_read(kWhole | FeedPacket::kBundle, {1, 'a'})) << "one message is none";
  EXPECT_FALSE(is_read(kWhole | FeedPacket::kBundle, {}));
  EXPECT_FALSE(is_read(kWhole | FeedPacket::kBundle, {1, 'a', 0})) << "an empty one";
  EXPECT_FALSE(is_read(kWhole | FeedPacket::kBundle, {1, 'a', 2, 'b'})) << "too short";
  EXPECT_FALSE(is_read(kWhole | FeedPacket::kBundle, {1, 'a', 0x81, 0, 'b'})) << "a length in two bytes";
}

TEST(Datagrams, OthersAreReadAsWritten) {
  EXPECT_EQ(read_nak(nak_bytes(a_nak())), a_nak());
  EXPECT_EQ(read_gone(gone_bytes()), (FeedGone{kRef, MemberSet::of(2), 0xfffffffe, 4}));
  EXPECT_EQ(read_beat(beat_bytes()), (FeedBeat{kRef, 1, MemberSet::of(2), 9, 10}));
}

TEST(Datagrams, LongestNakFits) {
  FeedNak nak = a_nak();
  nak.ref.feed = UINT32_MAX;
  for (MemberIndex i = 0; i < kMembersMax; i += 2) nak.affected.insert(i);
  nak.affected.insert(kMembersMax - 1);
  EXPECT_EQ(read_nak(nak_bytes(nak)), nak);
}

/// The examples of docs/wire-format.md. A change here is a change there.
TEST(Datagrams, AreLaidOutAsThePageSays) {
  const FeedRef ref{300, 0, 7};
  const MemberSet beta_and_gamma = MemberSet::of(1) | MemberSet::of(2);
  const auto framed = [](DatagramFrame type, const std::function<void(Writer&)>& write) {
    const Bytes body = written(kNakBytesMax, write);
    const Bytes frame = written(kNakBytesMax, [&](Writer& w) {
      write_datagram_frame_head(w, type, body.size());
      w.bytes(body);
    });
    return fmt::format("{:02x}", fmt::join(frame, " "));
  };
  EXPECT_EQ(framed(DatagramFrame::packet,
                   [&](Writer& w) {
                     write_packet(w, {ref, 65'536, FeedPacket::kFirst | FeedPacket::kLast, 1, kTo, kPayload});
                   }),
            "01 0e 00 2c 01 00 07 00 00 01 00 03 01 01 06 68 69");
  FeedNak nak{ref, FeedNak::kDown, 1, 31, 2, 1'500, beta_and_gamma, 65'535, {}, 20'000};
  nak.bits.insert(0);
  nak.bits.insert(2);
  EXPECT_EQ(framed(DatagramFrame::nak, [&](Writer& w) { write_nak(w, nak); }),
            "02 18 00 2c 01 00 07 02 01 1f 02 dc 05 00 00 20 4e 00 00 01 06 ff ff 00 00 01 05");
  EXPECT_EQ(framed(DatagramFrame::gone,
                   [&](Writer& w) {
                     write_gone(w, {ref, beta_and_gamma, 65'535, 65'537});
                   }),
            "03 0e 00 2c 01 00 07 01 06 ff ff 00 00 01 00 01 00");
  EXPECT_EQ(framed(DatagramFrame::beat,
                   [&](Writer& w) {
                     write_beat(w, {ref, 0, beta_and_gamma, 65'537, 65'000});
                   }),
            "04 0f 00 2c 01 00 07 00 01 06 01 00 01 00 e8 fd 00 00");
}

TEST(Datagrams, CutOffIsMalformed) {
  const Bytes nak = nak_bytes(a_nak());
  for (std::size_t size = 0; size < nak.size(); ++size) EXPECT_FALSE(read_nak(ByteView(nak).first(size))) << size;
  const Bytes gone = gone_bytes(), beat = beat_bytes(), packet = packet_bytes();
  for (std::size_t size = 0; size < gone.size(); ++size) EXPECT_FALSE(read_gone(ByteView(gone).first(size))) << size;
  for (std::size_t size = 0; size < beat.size(); ++size) EXPECT_FALSE(read_beat(ByteView(beat).first(size))) << size;
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
  nak.flags = FeedNak::kDown;
  EXPECT_TRUE(read_nak(nak_bytes(nak)));
  nak.affected = {};
  EXPECT_FALSE(read_nak(nak_bytes(nak))) << "who is affected is known on the way down";
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
