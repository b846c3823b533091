// The hand-laid frames between daemons. The first byte chooses the frame, the rest is what follows its head.
#include "daemon/bulk/hop_invitation.h"
#include "daemon/bulk/tree_plan.h"
#include "daemon/wire/datagram_envelope.h"
#include "daemon/wire/frame_traits.h"
#include "daemon/wire/link_frames.h"

#include "tests/fuzz/fuzz.h"

namespace {

using namespace spindled;
using spindle_fuzz::check_round_trip;
using Bytes = std::vector<std::uint8_t>;

void fuzz_body(ByteView bytes) {
  const std::optional<Body> body = read_body(bytes);
  if (!body) return;
  SPINDLE_CHECK(body->content_offset <= bytes.size());
  const MemberSet destinations = read_destinations(*body);
  Bytes head(body_head_size(body->head, destinations));
  Writer writer(head.data());
  write_body_head(writer, body->head, destinations);
  SPINDLE_CHECK(writer.size() == head.size());
  const std::optional<Body> again = read_body(head);
  SPINDLE_CHECK(again.has_value());
  SPINDLE_CHECK(again->content_offset == head.size());
  SPINDLE_CHECK(again->head.origin == body->head.origin && again->head.number == body->head.number);
  SPINDLE_CHECK(again->head.after == body->head.after && again->head.service == body->head.service);
  SPINDLE_CHECK(again->head.seen == body->head.seen);
  SPINDLE_CHECK(read_destinations(*again) == destinations);
}

void fuzz_datagram(ByteView bytes) {
  const auto write = [](const Probe& probe) {
    Bytes written(kProbeBytesMin + probe.padding);
    Writer writer(written.data());
    write_probe(writer, probe);
    SPINDLE_CHECK(writer.size() + probe.padding == written.size());
    return written;
  };
  while (const std::optional<DatagramFrameView> frame = next_datagram_frame(bytes)) {
    check_round_trip(frame->body, read_probe, write);
  }
}

void fuzz_push(ByteView bytes) {
  ByteView rest;
  const std::optional<Push> push = read_push(bytes, rest);
  if (!push) return;
  SPINDLE_CHECK(rest.size() <= bytes.size());
  Bytes written(push_size(*push));
  Writer writer(written.data());
  write_push(writer, *push);
  SPINDLE_CHECK(writer.size() == written.size());
  const std::optional<Push> again = read_push(written, rest);
  SPINDLE_CHECK(again.has_value() && rest.empty());
  SPINDLE_CHECK(again->proposal == push->proposal && again->old_view == push->old_view);
  fuzz_body(rest);
}

/// For the frames that are written into a buffer of at most kShortFrameBytesMax.
template <typename Frame>
auto writer_of(std::size_t (*write)(std::uint8_t*, const Frame&)) {
  return [write](const Frame& frame) {
    Bytes bytes(kShortFrameBytesMax);
    bytes.resize(write(bytes.data(), frame));
    return bytes;
  };
}

void fuzz_member_set(ByteView bytes) {
  const auto read = [](ByteView encoded) -> std::optional<MemberSet> {
    Reader reader(encoded);
    MemberSet set = MemberSet::read(reader);
    if (!reader.ok()) return std::nullopt;
    return set;
  };
  check_round_trip(bytes, read, [](const MemberSet& set) {
    Bytes encoded(set.encoded_size());
    Writer writer(encoded.data());
    set.write(writer);
    SPINDLE_CHECK(writer.size() == encoded.size());
    return encoded;
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spindle_fuzz::Input input(data, size);
  const std::uint8_t choice = input.u8();
  const ByteView bytes = input.rest();
  switch (choice) {
    case 0:
      fuzz_member_set(bytes);
      break;
    case static_cast<int>(LinkFrame::view):
      check_round_trip(bytes, read_view_id, write_view_id);
      break;
    case static_cast<int>(LinkFrame::data):
      fuzz_body(bytes);
      break;
    case static_cast<int>(LinkFrame::acknowledgement):
      check_round_trip(bytes, read_acknowledgement, writer_of(write_acknowledgement));
      break;
    case static_cast<int>(LinkFrame::stable):
      check_round_trip(bytes, read_stable, writer_of(write_stable));
      break;
    case static_cast<int>(LinkFrame::ready):
      check_round_trip(bytes, read_ready, writer_of(write_ready));
      break;
    case static_cast<int>(LinkFrame::push):
      fuzz_push(bytes);
      break;
    case static_cast<int>(LinkFrame::ping):
      static_cast<void>(read_ping(bytes));
      break;
    case static_cast<int>(LinkFrame::close):
      check_round_trip(bytes, read_link_close, write_link_close);
      break;
    case static_cast<int>(LinkFrame::bulk_plan):
      if (const auto told = read_tree_plan(bytes, kMembersMax)) write_tree_plan(told->channel, told->plan);
      break;
    case static_cast<int>(LinkFrame::bulk_invitation):
      check_round_trip(
          bytes, [](ByteView each) { return read_hop_invitation(each, kMembersMax); }, write_hop_invitation);
      break;
    case static_cast<int>(LinkFrame::datagram):
      fuzz_datagram(bytes);
      break;
    case static_cast<int>(LinkFrame::price):
      check_round_trip(bytes, read_price, write_price);
      break;
    default:
      break;
  }
  return 0;
}
