// The frames of bulk connections. The first byte chooses the frame, the rest is what follows its head.
#include "libclient/bulk/bulk_frames.h"

#include "tests/fuzz/fuzz.h"

namespace {

using namespace spindle::bulk;
using spindle::ByteView;
using spindle::FrameHead;
using spindle::kFrameHeadBytes;
using spindle_fuzz::check_round_trip;

/// What follows the head of the one frame that `write` appends.
template <typename Value>
auto body_writer(void (*write)(BulkBytes&, const Value&)) {
  return [write](const Value& value) {
    BulkBytes frame;
    write(frame, value);
    const std::optional<FrameHead> head = spindle::read_frame_head(frame);
    SPINDLE_CHECK(head.has_value() && head->length + kFrameHeadBytes == frame.size());
    SPINDLE_CHECK(head->length <= kBulkFrameBytesMax);
    frame.erase(frame.begin(), frame.begin() + kFrameHeadBytes);
    return frame;
  };
}

BulkBytes symbol_body(const Symbol& symbol) {
  BulkBytes frame(symbol_head_size(symbol));
  spindle::Writer writer(frame.data());
  write_symbol_head(writer, symbol);
  SPINDLE_CHECK(writer.size() == frame.size());
  frame.erase(frame.begin(), frame.begin() + kFrameHeadBytes);
  frame.insert(frame.end(), symbol.bytes.begin(), symbol.bytes.end());
  return frame;
}

void fuzz_index(ByteView body) {
  const std::optional<IndexPart> index = read_index(body);
  if (!index) return;
  SPINDLE_CHECK(index->count() >= 1 && index->first + index->count() <= kBlocksMax);
  SPINDLE_CHECK(index->hash(index->count() - 1).data() + kBlockHashBytes == body.data() + body.size());
  if (index->count() <= kHashesPerIndexMax) check_round_trip(body, read_index, body_writer(write_index));
}

void fuzz_need(ByteView body) {
  check_round_trip(
      body, [](ByteView bytes) { return read_need(bytes); },
      body_writer(static_cast<void (*)(BulkBytes&, const NeedFrame&)>(write_need)));
  const std::optional<NeedFrame> frame = read_need(body);
  if (!frame) return;
  Need need = frame->need;
  need.seen = 0;  // these two are left to the relay
  need.meshed = false;
  SPINDLE_CHECK(merged(need, need) == need);
  SPINDLE_CHECK(need.complete.count() + need.begun.size() <= kBlocksMax);
  for (const Need::Begun& each : need.begun) SPINDLE_CHECK(!need.complete.contains(each.block));
  // With one that has a part of it, and other blocks.
  Need other;
  other.complete.add_run(0, 9);
  for (const Need::Begun& each : need.begun) {
    if (each.block >= 9) other.begun.push_back({each.block, 3});
  }
  const Need both = merged(need, other);
  SPINDLE_CHECK(both == merged(other, need));
  SPINDLE_CHECK(both.complete.count() <= 9 && both.complete == intersection(need.complete, other.complete));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spindle_fuzz::Input input(data, size);
  const BulkFrame type{input.u8()};
  const ByteView body = input.rest();
  switch (type) {
    case BulkFrame::open:
      check_round_trip(body, read_open, body_writer(write_open));
      break;
    case BulkFrame::shut:
      static_cast<void>(read_shut(body));
      break;
    case BulkFrame::symbol:
      check_round_trip(body, read_symbol, symbol_body);
      break;
    case BulkFrame::index:
      fuzz_index(body);
      break;
    case BulkFrame::need:
      fuzz_need(body);
      break;
    case BulkFrame::grant:
      check_round_trip(body, read_grant, body_writer(write_grant));
      break;
    case BulkFrame::release:
      check_round_trip(body, read_release, body_writer(write_release));
      break;
    case BulkFrame::mark:
      check_round_trip(body, read_mark, body_writer(write_mark));
      break;
    case BulkFrame::ask_index:
      check_round_trip(body, read_ask_index, body_writer(write_ask_index));
      break;
    case BulkFrame::hello:
      check_round_trip(body, read_hello, body_writer(write_hello));
      break;
    case BulkFrame::attach:
      check_round_trip(body, read_attach, body_writer(write_attach));
      break;
    case BulkFrame::welcome:
      static_cast<void>(read_welcome(body));
      break;
    case BulkFrame::close:
      check_round_trip(body, read_close, body_writer(write_close));
      break;
  }
  return 0;
}
