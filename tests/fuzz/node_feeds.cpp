#include "tests/fuzz/node_feeds.h"

#include <algorithm>

#include "daemon/feed/feed_repair.h"
#include "daemon/wire/datagrams.h"

namespace spindle_fuzz {

using namespace spindled;

namespace {

using Bytes = std::vector<std::uint8_t>;

/// The bits say which members, of those that there are.
MemberSet members_of(const View& view, unsigned bits) {
  MemberSet set;
  for (std::size_t i = 0; i < std::min<std::size_t>(view.size(), 8); ++i) {
    if ((bits >> i & 1) != 0) set.insert(static_cast<MemberIndex>(i));
  }
  if (set.empty()) set.insert(view.self);
  return set;
}

/// Bit 0 is always in it.
SequenceBits sequences_of(unsigned bits) {
  SequenceBits sequences;
  sequences.insert(0);
  for (std::size_t i = 1; i < 8; ++i) {
    if ((bits >> i & 1) != 0) sequences.insert(i * i);
  }
  return sequences;
}

template <typename Write>
Bytes frame_of(DatagramFrame type, std::size_t bytes_max, Write&& write) {
  Bytes body(bytes_max);
  Writer writer(body.data());
  write(writer);
  body.resize(writer.size());
  Bytes frame(kDatagramFrameHeadBytes);
  Writer head(frame.data());
  write_datagram_frame_head(head, type, body.size());
  frame.insert(frame.end(), body.begin(), body.end());
  return frame;
}

}  // namespace

std::vector<std::uint8_t> feed_frame(const Node& node, Input& input) {
  const View& view = node.view();
  const auto type = static_cast<DatagramFrame>(1 + input.u8() % 4);
  const std::uint8_t where = input.u8();
  const std::uint8_t feed = input.u8();
  const std::uint32_t sequence = input.u16();
  const std::uint8_t flags = input.u8(), count = input.u8();
  const MemberSet to = members_of(view, input.u8());
  const ByteView content = input.bytes(input.u8());
  FeedRef ref;
  // Now and then one of another view.
  ref.view = static_cast<std::uint16_t>(view.id.number + (where >> 6));
  ref.origin = view.size() == 0 ? MemberIndex{0} : static_cast<MemberIndex>((where & 0x3f) % view.size());
  ref.feed = feed;
  switch (type) {
    case DatagramFrame::packet: {
      Bytes set(to.encoded_size());
      Writer writer(set.data());
      to.write(writer);
      const FeedPacket packet{ref,   sequence, static_cast<std::uint8_t>(flags & FeedPacket::kFlags),
                              count, set,      content};
      return frame_of(type, packet_size(packet), [&](Writer& w) { write_packet(w, packet); });
    }
    case DatagramFrame::nak: {
      FeedNak nak{ref,
                  static_cast<std::uint8_t>(flags & FeedNak::kFlags),
                  static_cast<std::uint8_t>(1 + (flags >> 4)),
                  kNakHopsMax,
                  ref.origin,
                  count,
                  {},
                  sequence,
                  sequences_of(count),
                  sequence};
      if (!content.empty()) nak.reporter = static_cast<MemberIndex>(content[0] % std::max<std::size_t>(view.size(), 1));
      if (content.size() > 1) nak.affected = to;
      return frame_of(type, kNakBytesMax, [&](Writer& w) { write_nak(w, nak); });
    }
    case DatagramFrame::gone:
      return frame_of(type, kShortDatagramFrameBytesMax, [&](Writer& w) {
        write_gone(w, {ref, to, sequence, sequence + count});
      });
    case DatagramFrame::beat:
      break;
  }
  return frame_of(type, kShortDatagramFrameBytesMax, [&](Writer& w) {
    write_beat(w, {ref, flags, to, sequence, sequence + 1 - std::min<std::uint32_t>(count, sequence + 1)});
  });
}

}  // namespace spindle_fuzz
