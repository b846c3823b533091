// Seeds for what is read of bulk channels.
#include "libclient/bulk/bulk_frames.h"
#include "libclient/bulk/file_list.h"
#include "libclient/bulk/resume_state.h"
#include "tests/fuzz/bulk_holder_steps.h"
#include "tests/fuzz/bulk_receiver_steps.h"
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

template <typename Step>
std::string step(Step kind, std::initializer_list<unsigned> octets = {}) {
  std::string bytes = one_byte(static_cast<unsigned>(kind));
  for (const unsigned octet : octets) bytes += one_byte(octet);
  return bytes;
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
  add("ask_index", input_of<const AskIndex&>(write_ask_index, {3}));
}

void add_bulk_resume_seeds(Seeds& seeds) {
  const auto add = [&](std::string name, const ResumeState& state) {
    std::string file = as_string(state.encode());
    file.resize(file.size() - 4);  // the checksum
    seeds.push_back({"bulk_resume", std::move(name), std::move(file)});
  };
  ResumeState state;
  add("nothing_of_a_stream", state);
  state.layout = ContentLayout::of(100u << 20).value();
  for (const std::uint32_t block : {0u, 1u, 2u, 7u, 12u}) state.index.set(block, BlockHash{});
  state.written.add_run(0, 2);
  state.written.add(12);
  add("some_blocks", state);
  state.root = BlockHash{};
  add("sealed", state);
}

void add_bulk_list_seeds(Seeds& seeds) {
  using Kind = FileListEntry::Kind;
  const auto add = [&](std::string name, unsigned bytes, const FileList& list) {
    seeds.push_back({"bulk_list", std::move(name), one_byte(bytes) + std::string(3, '\0') + as_string(list.encode())});
  };
  add("empty", 0, {});
  add("files", 12, {{{Kind::file, 0, "a", 5}, {Kind::executable, 0, "b", 7}, {Kind::file, 0, "\xc3\xa4", 0}}});
  add("tree", 3,
      {{{Kind::directory, 0, "a", 0},
        {Kind::directory, 1, "b", 0},
        {Kind::file, 2, "c", 3},
        {Kind::directory, 1, "d", 0},
        {Kind::file, 0, "a.txt", 0}}});
  add("out_of_order", 0, {{{Kind::file, 0, "b", 0}, {Kind::file, 0, "a", 0}}});
  add("twice", 0, {{{Kind::directory, 0, "a", 0}, {Kind::file, 0, "a", 0}}});
  add("in_a_file", 0, {{{Kind::file, 0, "a", 0}, {Kind::file, 1, "b", 0}}});
  add("upwards", 0, {{{Kind::directory, 0, "..", 0}, {Kind::file, 1, "b", 0}}});
}

void add_bulk_receiver_seeds(Seeds& seeds) {
  using Step = BulkReceiverStep;
  const auto add = [&](std::string name, std::string bytes) {
    seeds.push_back({"bulk_receiver", std::move(name), std::move(bytes)});
  };
  // Two blocks and a half, much memory.
  const std::string content = one_byte(9) + one_byte(0xfc), stream = one_byte(9) + one_byte(0xfe);
  const std::string index = step(Step::index, {0, 9}), take_and_run = step(Step::take) + step(Step::run, {0});
  const std::string blocks = step(Step::block, {0}) + step(Step::block, {1}) + step(Step::block, {2});
  const std::string jobs = take_and_run + take_and_run + take_and_run + take_and_run + take_and_run + take_and_run;
  add("source_symbols", content + index + blocks + jobs + step(Step::seal));
  add("index_last", content + blocks + step(Step::need, {250}) + index + jobs);
  add("stream", stream + index + blocks + jobs + step(Step::false_seal, {4}) + step(Step::seal) + jobs);
  add("repair_symbols", content + index + step(Step::symbol, {0, 4, 1}) + step(Step::symbol, {0, 5, 1}) +
                            step(Step::symbol, {0, 6, 1}) + step(Step::symbol, {0, 7, 1}) + jobs);
  add("not_enough", content + index + step(Step::symbol, {0, 4, 1}) + step(Step::symbol, {0, 4, 2}) +
                        step(Step::symbol, {0, 6, 1}) + step(Step::symbol, {0, 7, 1}) + jobs);
  add("wrong_symbol", content + index + step(Step::wrong, {0, 1, 0}) + blocks + jobs);
  add("corrupt_symbol", content + index + step(Step::corrupt, {0, 1, 0}) + blocks + jobs);
  std::string lie = content + step(Step::lie, {0}) + step(Step::index, {1, 9});
  for (unsigned esi = 0; esi < kBulkBlockSymbols; ++esi) lie += step(Step::wrong, {0, esi, 0});
  add("wrong_index", lie + blocks + jobs + step(Step::seal) + index + blocks + jobs);
  add("little_memory", one_byte(39) + one_byte(0x10) + blocks + step(Step::block, {3}) + step(Step::take) +
                           step(Step::fail, {0}) + jobs + index + blocks + jobs);
  add("no_store", one_byte(39) + one_byte(0x11) + blocks + step(Step::block, {3}) + index + blocks + jobs);
  add("restart", content + index + blocks + jobs + step(Step::restart) + step(Step::need, {0}) + step(Step::seal));
}

void add_bulk_holder_seeds(Seeds& seeds) {
  using Step = BulkHolderStep;
  const auto add = [&](std::string name, std::string bytes) {
    seeds.push_back({"bulk_holder", std::move(name), std::move(bytes)});
  };
  // Three blocks, with memory for all of them, or for one.
  const std::string source = one_byte(11) + one_byte(0x20), receiver = one_byte(11) + one_byte(0x21);
  const std::string stream = one_byte(11) + one_byte(0x22), little = one_byte(39) + one_byte(0x05);
  const std::string load = step(Step::send, {1}) + step(Step::take) + step(Step::run, {0});
  const std::string some = load + step(Step::send, {9}), all = some + some + some + some;
  const std::string live = step(Step::grant, {0, 20}), child = step(Step::grant, {1, 40});
  add("live", source + live + all);
  add("not_readable", source + live + step(Step::send, {1}) + step(Step::take) + step(Step::fail, {0}) + all);
  add("child_of_source", source + live + child + step(Step::need, {1, 0, 0}) + all + step(Step::wait, {60}) + all);
  add("begun_blocks", receiver + child + step(Step::need, {1, 0, 2, 0, 2, 1, 3}) + all + step(Step::wait, {30}) +
                          step(Step::need, {1, 1, 1, 0, 3}) + all + step(Step::need, {1, 2, 0}) + all);
  add("takes_turns", little + child + step(Step::grant, {2, 40}) + step(Step::need, {1, 0, 0}) +
                         step(Step::need, {2, 3, 1, 0, 1}) + all + step(Step::release, {1}) + all);
  add("stream", stream + live + step(Step::available, {1}) + all + step(Step::available, {2}) + all + step(Step::seal) +
                    step(Step::available, {9}) + step(Step::lose, {1}) + all);
}

}  // namespace spindle_fuzz
