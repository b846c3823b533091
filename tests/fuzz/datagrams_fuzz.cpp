// Datagrams between daemons: 0 and a whole datagram, or the type of a frame and its body.
#include "daemon/wire/datagrams.h"

#include <algorithm>

#include "tests/fuzz/fuzz.h"

namespace {

using namespace spindled;
using Bytes = std::vector<std::uint8_t>;

/// A frame that was read is written as the same bytes: there is one encoding.
template <typename Read, typename Write>
void check_one_encoding(ByteView body, std::size_t size_max, Read read, Write write) {
  const auto frame = read(body);
  if (!frame) return;
  Bytes written(size_max);
  Writer writer(written.data());
  write(writer, *frame);
  SPINDLE_CHECK(writer.size() <= size_max && writer.size() == body.size());
  SPINDLE_CHECK(std::equal(body.begin(), body.end(), written.begin()));
}

void fuzz_frame(std::uint8_t type, ByteView body) {
  switch (static_cast<DatagramFrame>(type)) {
    case DatagramFrame::packet:
      if (const auto packet = read_packet(body)) {
        SPINDLE_CHECK(packet_size(*packet) == body.size() && !read_to(*packet).empty());
        check_one_encoding(body, body.size(), read_packet, write_packet);
      }
      break;
    case DatagramFrame::nak:
      check_one_encoding(body, kNakBytesMax, read_nak, write_nak);
      break;
    case DatagramFrame::gone:
      check_one_encoding(body, kShortDatagramFrameBytesMax, read_gone, write_gone);
      break;
    case DatagramFrame::beat:
      check_one_encoding(body, kShortDatagramFrameBytesMax, read_beat, write_beat);
      break;
  }
}

void fuzz_datagram(ByteView bytes) {
  const std::optional<DatagramHead> head = read_datagram_head(bytes);
  if (!head) return;
  Bytes written(bytes.size());
  Writer writer(written.data());
  write_datagram_head(writer, *head);
  SPINDLE_CHECK(writer.size() == kDatagramHeadBytes);
  ByteView rest = bytes.subspan(kDatagramHeadBytes);
  while (const auto frame = next_datagram_frame(rest)) {
    fuzz_frame(frame->type, frame->body);
    write_datagram_frame_head(writer, static_cast<DatagramFrame>(frame->type), frame->body.size());
    writer.bytes(frame->body);
  }
  SPINDLE_CHECK(
      std::equal(written.begin(), written.begin() + static_cast<std::ptrdiff_t>(writer.size()), bytes.begin()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spindle_fuzz::Input input(data, size);
  const std::uint8_t type = input.u8();
  if (type == 0) {
    fuzz_datagram(input.rest());
  } else {
    fuzz_frame(type, input.rest());
  }
  return 0;
}
