#include "daemon/wire/datagram_envelope.h"

#include <algorithm>

#include "daemon/base/check.h"

namespace spindled {

void write_datagram_head(Writer& writer, const DatagramHead& head) {
  writer.u64(head.token);
  writer.u32(head.sequence);
}

std::optional<DatagramHead> read_datagram_head(ByteView datagram) {
  Reader reader(datagram);
  DatagramHead head;
  head.token = reader.u64();
  head.sequence = reader.u32();
  if (!reader.ok()) return std::nullopt;
  return head;
}

void write_datagram_frame_head(Writer& writer, std::uint8_t type, std::size_t length) {
  SPINDLE_CHECK(length <= kDatagramFrameBytesMax);
  writer.u8(type);
  writer.u16(static_cast<std::uint16_t>(length));
}

std::optional<DatagramFrameView> next_datagram_frame(ByteView& rest) {
  Reader reader(rest);
  DatagramFrameView frame;
  frame.type = reader.u8();
  frame.body = reader.bytes(reader.u16());
  if (!reader.ok()) return std::nullopt;
  rest = reader.rest();
  return frame;
}

void write_probe(Writer& writer, const Probe& probe) {
  writer.u8(static_cast<std::uint8_t>(probe.kind));
  writer.u64(probe.mark);
  writer.u32(probe.received);
  writer.u32(probe.highest);
  std::fill_n(writer.at(), probe.padding, std::uint8_t{0});
}

std::optional<Probe> read_probe(ByteView body) {
  Reader reader(body);
  Probe probe;
  const std::uint8_t kind = reader.u8();
  probe.kind = Probe::Kind{kind};
  probe.mark = reader.u64();
  probe.received = reader.u32();
  probe.highest = reader.u32();
  const ByteView padding = reader.rest();
  probe.padding = padding.size();
  const bool is_zero = std::all_of(padding.begin(), padding.end(), [](std::uint8_t byte) { return byte == 0; });
  if (!reader.ok() || kind > 1 || !is_zero || (kind == 1 && probe.padding != 0)) return std::nullopt;
  return probe;
}

}  // namespace spindled
