#include "daemon/wire/datagrams.h"

#include <algorithm>

#include "daemon/base/check.h"
#include "libclient/common/feed_bundle.h"

namespace spindled {

using spindle::varint_size;

namespace {

std::size_t ref_size(const FeedRef& ref) { return 2 + varint_size(ref.origin) + varint_size(ref.feed); }

void put_ref(Writer& writer, const FeedRef& ref) {
  writer.u16(ref.view);
  writer.varint(ref.origin);
  writer.varint(ref.feed);
}

/// A varint in the fewest bytes.
std::uint64_t take_shortest(Reader& reader, std::uint64_t limit) {
  const std::size_t before = reader.remaining();
  const std::uint64_t value = reader.varint_up_to(limit);
  if (reader.ok() && before - reader.remaining() != varint_size(value)) reader.fail();
  return value;
}

MemberIndex take_index(Reader& reader) { return static_cast<MemberIndex>(take_shortest(reader, kMembersMax - 1)); }

FeedRef take_ref(Reader& reader) {
  FeedRef ref;
  ref.view = reader.u16();
  ref.origin = take_index(reader);
  ref.feed = static_cast<std::uint32_t>(take_shortest(reader, UINT32_MAX));
  return ref;
}

std::uint8_t take_flags(Reader& reader, std::uint8_t known) {
  const std::uint8_t flags = reader.u8();
  if ((flags & ~known) != 0) reader.fail();
  return flags;
}

MemberSet take_someone(Reader& reader) {
  MemberSet set = MemberSet::read(reader);
  if (set.empty()) reader.fail();
  return set;
}

}  // namespace

std::size_t packet_size(const FeedPacket& packet) {
  return ref_size(packet.ref) + 4 + 1 + 1 + packet.to.size() + packet.payload.size();
}

void write_packet(Writer& writer, const FeedPacket& packet) {
  put_ref(writer, packet.ref);
  writer.u32(packet.sequence);
  writer.u8(packet.flags);
  writer.u8(packet.missing);
  writer.bytes(packet.to);
  writer.bytes(packet.payload);
}

std::optional<FeedPacket> read_packet(ByteView body) {
  Reader reader(body);
  FeedPacket packet;
  packet.ref = take_ref(reader);
  packet.sequence = reader.u32();
  packet.flags = take_flags(reader, FeedPacket::kFlags);
  packet.missing = reader.u8();
  const std::size_t before = reader.remaining();
  Reader ahead = reader;
  take_someone(ahead);
  if (!ahead.ok()) return std::nullopt;
  packet.to = reader.bytes(before - ahead.remaining());
  packet.payload = reader.rest();
  if ((packet.flags & FeedPacket::kBundle) != 0) {
    constexpr std::uint8_t kWhole = FeedPacket::kFirst | FeedPacket::kLast;
    if ((packet.flags & kWhole) != kWhole || !spindle::is_bundle(packet.payload)) return std::nullopt;
  }
  return packet;
}

MemberSet read_to(const FeedPacket& packet) {
  Reader reader(packet.to);
  MemberSet set = MemberSet::read(reader);
  SPINDLE_CHECK(reader.done());
  return set;
}

void write_nak(Writer& writer, const FeedNak& nak) {
  put_ref(writer, nak.ref);
  writer.u8(nak.flags);
  writer.u8(nak.attempt);
  writer.u8(nak.hops);
  writer.varint(nak.reporter);
  writer.u32(nak.held_us);
  writer.u32(nak.way_us);
  nak.affected.write(writer);
  writer.u32(nak.first);
  nak.bits.write(writer);
}

std::optional<FeedNak> read_nak(ByteView body) {
  Reader reader(body);
  std::optional<FeedNak> nak(std::in_place);
  nak->ref = take_ref(reader);
  const ByteView three = reader.bytes(3);
  if (!three.empty()) {
    nak->flags = three[0];
    nak->attempt = three[1];
    nak->hops = three[2];
  }
  nak->reporter = take_index(reader);
  nak->held_us = reader.u32();
  nak->way_us = reader.u32();
  nak->affected = MemberSet::read(reader);
  nak->first = reader.u32();
  nak->bits = SequenceBits::read(reader);
  const bool is_known = !nak->is_down() || !nak->affected.empty();
  const bool is_sound = (nak->flags & ~FeedNak::kFlags) == 0 && nak->attempt != 0 && nak->hops <= kNakHopsMax;
  if (!reader.done() || !is_known || !is_sound) nak.reset();
  return nak;
}

void write_gone(Writer& writer, const FeedGone& gone) {
  put_ref(writer, gone.ref);
  gone.to.write(writer);
  writer.u32(gone.first);
  writer.u32(gone.last);
}

std::optional<FeedGone> read_gone(ByteView body) {
  Reader reader(body);
  std::optional<FeedGone> gone(std::in_place);
  gone->ref = take_ref(reader);
  gone->to = take_someone(reader);
  gone->first = reader.u32();
  gone->last = reader.u32();
  if (!reader.done() || gone->last - gone->first > INT32_MAX) gone.reset();
  return gone;
}

void write_beat(Writer& writer, const FeedBeat& beat) {
  put_ref(writer, beat.ref);
  writer.u8(beat.missing);
  beat.to.write(writer);
  writer.u32(beat.highest);
  writer.u32(beat.oldest);
}

std::optional<FeedBeat> read_beat(ByteView body) {
  Reader reader(body);
  std::optional<FeedBeat> beat(std::in_place);
  beat->ref = take_ref(reader);
  beat->missing = reader.u8();
  beat->to = take_someone(reader);
  beat->highest = reader.u32();
  beat->oldest = reader.u32();
  // The oldest is one more than the highest where the origin has nothing left.
  if (!reader.done() || beat->highest + 1 - beat->oldest > INT32_MAX) beat.reset();
  return beat;
}

}  // namespace spindled
