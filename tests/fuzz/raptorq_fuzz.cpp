// A decoder of RaptorQ that is given symbols of all kinds, in any order: right ones make the content, whatever else
// happens.
#include <algorithm>
#include <optional>

#include "libclient/codes/raptorq.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/raptorq_steps.h"
#include "tests/support/known_content.h"

namespace spindle_fuzz {

namespace {

using namespace spindle::codes;
using Bytes = std::vector<std::uint8_t>;

class Transfer {
 public:
  explicit Transfer(Input input)
      : input_(input),
        symbols_(1u + input_.u8() % kRaptorqSymbolsMax),
        bytes_(1u + input_.u8() % kRaptorqSymbolBytesMax),
        content_(spindle::test::content_of(input_.u8(), symbols_ * bytes_)),
        encoder_(EncodingPlan(symbols_), content_.data(), bytes_),
        decoder_(symbols_, bytes_) {}

  void run() {
    while (!input_.empty()) step(static_cast<RaptorqStep>(input_.u8() % static_cast<unsigned>(RaptorqStep::count_)));
    decode();
  }

 private:
  std::uint32_t esi() { return input_.u16() | std::uint32_t{input_.u8()} << 16; }

  void step(RaptorqStep step) {
    switch (step) {
      case RaptorqStep::source:
        return add(input_.u8() % symbols_);
      case RaptorqStep::encoded:
        return add(esi());
      case RaptorqStep::several: {
        const std::uint32_t first = esi();
        for (std::uint32_t i = 0; i < symbols_; ++i) add(first + i);
        return;
      }
      case RaptorqStep::wrong: {
        const std::uint32_t id = esi();
        Bytes symbol(bytes_, input_.u8());
        if (decoder_.symbols() < kMost && decoder_.add(id, symbol.data())) has_wrong_ones_ = true;
        return;
      }
      case RaptorqStep::decode:
      case RaptorqStep::count_:
        return decode();
    }
  }

  void add(std::uint32_t id) {
    if (decoder_.symbols() >= kMost) return;
    Bytes symbol(bytes_);
    encoder_.encode(id, symbol.data());
    decoder_.add(id, symbol.data());
  }

  void decode() {
    Bytes content(content_.size());
    const bool is_there = decoder_.decode(content.data());
    SPINDLE_CHECK(!is_there || has_wrong_ones_ || content == content_);
    SPINDLE_CHECK(is_there || decoder_.symbols() < symbols_ + kEnoughMore || has_wrong_ones_);
  }

  static constexpr std::size_t kMost = 4 * kRaptorqSymbolsMax;
  /// So many more than there are source symbols fail together once in 10^40 times; a fuzzer may draw some on purpose.
  static constexpr std::size_t kEnoughMore = 20;

  Input input_;
  std::uint32_t symbols_;
  std::size_t bytes_;
  Bytes content_;
  BlockEncoder encoder_;
  BlockDecoder decoder_;
  bool has_wrong_ones_ = false;
};

}  // namespace

}  // namespace spindle_fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spindle_fuzz::Transfer(spindle_fuzz::Input(data, std::min<std::size_t>(size, 2'000))).run();
  return 0;
}
