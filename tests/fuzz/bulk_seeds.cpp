// Seeds for what is read of bulk channels.
#include "libclient/bulk/bulk_frames.h"
#include "tests/fuzz/seeds.h"

namespace spindle_fuzz {

namespace {

using namespace spindle::bulk;

/// The type of the one frame in `frame`, and what follows its head.
std::string input_of(const BulkBytes& frame) {
  return one_byte(frame[spindle::kFrameHeadBytes - 1]) + as_string(frame).substr(spindle::kFrameHeadBytes);
}

template <typename Value>
std::string input_of(void (*write)(BulkBytes&, Value), std::type_identity_t<Value> value) {
  BulkBytes frame;
  write(frame, value);
  return input_of(frame);
}

std::string symbol_input() {
  const BulkBytes bytes(kSymbolBytesMin, 0x5a);
  const Symbol symbol{3, 1, 2, 70'000 % kBlocksMax, 1'500, 0x01020304, bytes};
  BulkBytes frame(symbol_head_size(symbol));
  spindle::Writer writer(frame.data());
  write_symbol_head(writer, symbol);
  frame.insert(frame.end(), bytes.begin(), bytes.end());
  return input_of(frame);
}

NeedFrame sample_need() {
  NeedFrame frame{5, 1, {}};
  frame.need.complete.add_run(0, 300);
  frame.need.complete.add_run(302, 303);
  frame.need.begun = {{300, 12}, {301, 1'000}, {400, 1}};
  frame.need.serves = true;
  return frame;
}

}  // namespace

void add_bulk_frame_seeds(Seeds& seeds) {
  const auto add = [&](std::string name, std::string bytes) {
    seeds.push_back({"bulk_frames", std::move(name), std::move(bytes)});
  };
  const BulkBytes hashes(2 * kBlockHashBytes, 0x11);
  add("hello", input_of<const BulkHello&>(write_hello, {1, 1, "cluster", "alpha", 7, {}}));
  add("attach", input_of<const BulkAttach&>(write_attach, {1, 1, 9, {}}));
  add("welcome", input_of(write_welcome, kBulkVersion));
  add("close", input_of<const BulkClose&>(write_close, {14, "malformed"}));
  add("open", input_of<const Open&>(write_open, {3, {"alpha", 7, 1}, ContentLayout::of(123'456'789).value()}));
  add("open_stream", input_of<const Open&>(write_open, {3, {"alpha", 7, 1}, ContentLayout{}}));
  add("shut", input_of(write_shut, 3));
  add("symbol", symbol_input());
  add("index", input_of<const IndexPart&>(write_index, {3, 65'534, hashes}));
  add("need", input_of<const NeedFrame&>(write_need, sample_need()));
  add("need_of_nothing", input_of<const NeedFrame&>(write_need, {0, 0, {}}));
  add("grant", input_of<const Grant&>(write_grant, {3, 1, 64}));
  add("release", input_of<const Release&>(write_release, {3, 1}));
}

}  // namespace spindle_fuzz
