// A receiver of bulk content that is given anything in any order: what it says is done is what was offered, and memory
// keeps its bounds.
#include <algorithm>
#include <cstring>
#include <optional>

#include "libclient/bulk/bulk_receiver.h"
#include "libclient/bulk/crc32c.h"
#include "tests/fuzz/bulk_receiver_steps.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/bulk_store.h"
#include "tests/support/known_content.h"
#include "tests/support/repeating_code.h"

namespace spindle_fuzz {

namespace {

using namespace spindle::bulk;
using Bytes = std::vector<std::uint8_t>;

/// Short, and good enough to tell contents apart.
class ToyHasher final : public Hasher {
 public:
  BlockHash hash(ByteView bytes) const override {
    BlockHash hash{};
    const std::uint32_t parts[] = {crc32c(bytes), crc32c(bytes, 1), crc32c(bytes, 77)};
    std::memcpy(hash.data(), parts, sizeof parts);
    return hash;
  }
};

class Transfer {
 public:
  explicit Transfer(Input input)
      : input_(input), content_(spindle::test::content_of(1, (1u + input_.u8() % kBulkSymbolsMax) * kT - 5)) {
    const std::uint8_t limits = input_.u8();
    sealed_ = {kBulkBlockSymbols * kT, kT, content_.size()};
    layout_ = sealed_;
    if ((limits & 2) != 0) layout_.size = kSizeUnknown;
    limits_.symbols = {(limits >> 2) * std::size_t{kT}, (limits >> 3) * std::size_t{kT}, (limits & 1) == 0};
    for (std::uint32_t block = 0; block < sealed_.blocks(); ++block) index_.set(block, hasher_.hash(content_of(block)));
    begin(nullptr);
  }

  void run() {
    while (!input_.empty()) {
      step(static_cast<BulkReceiverStep>(input_.u8() % static_cast<unsigned>(BulkReceiverStep::count_)));
      check();
    }
    recover();
  }

 private:
  static constexpr std::uint16_t kT = kSymbolBytesMin;

  void begin(const ResumeState* state) {
    jobs_.clear();
    receiver_.emplace(layout_, hasher_, limits_, state);
  }

  ByteView content_of(std::uint32_t block) const {
    return ByteView(content_).subspan(sealed_.start_of(block), sealed_.bytes_of(block));
  }

  void step(BulkReceiverStep step) {
    switch (step) {
      case BulkReceiverStep::symbol: {
        const std::uint32_t block = input_.u8();
        return symbol(block, input_.u16());
      }
      case BulkReceiverStep::wrong:
      case BulkReceiverStep::corrupt: {
        const Bytes bytes(kT, 0x33);
        const std::uint32_t crc = crc32c(bytes) + (step == BulkReceiverStep::corrupt ? 1 : 0);
        const std::uint32_t block = input_.u8();
        receiver_->handle_symbol(now_, {0, 0, 0, block, input_.u16(), crc, bytes}, 2);
        return;
      }
      case BulkReceiverStep::block:
        return whole_block(input_.u8());
      case BulkReceiverStep::index: {
        const std::uint32_t first = input_.u8();
        return tell(first, input_.u8());
      }
      case BulkReceiverStep::lie: {
        // The hash of what wrong symbols make.
        const Bytes block(kBulkBlockSymbols * kT, 0x33);
        const BlockHash hash = hasher_.hash(block);
        receiver_->handle_index(now_, {0, input_.u8(), hash});
        return;
      }
      case BulkReceiverStep::seal:
        seal();
        return;
      case BulkReceiverStep::false_seal: {
        const std::uint64_t size = std::uint64_t{input_.u8()} * kT;
        // Another size with that root is nobody's content.
        if (layout_.has_size()) SPINDLE_CHECK(!receiver_->handle_seal(now_, size, root()) || size == content_.size());
        return;
      }
      case BulkReceiverStep::take:
        if (auto job = receiver_->take_job()) jobs_.push_back(std::move(*job));
        return;
      case BulkReceiverStep::run:
      case BulkReceiverStep::fail:
        return run_job(input_.u8(), step == BulkReceiverStep::fail);
      case BulkReceiverStep::need:
        now_ += std::chrono::milliseconds(input_.u8());
        return take_need();
      case BulkReceiverStep::restart: {
        const std::optional<ResumeState> state = ResumeState::decode(receiver_->resume_state().encode());
        SPINDLE_CHECK(state.has_value());
        return begin(&*state);
      }
      case BulkReceiverStep::bad: {
        constexpr std::uint8_t kAll = 0xff;
        const std::uint8_t block = input_.u8();
        return block == kAll ? receiver_->handle_all_lost() : receiver_->handle_bad(block);
      }
      case BulkReceiverStep::count_:
        return;
    }
  }

  void symbol(std::uint32_t block, std::uint32_t esi) {
    Bytes bytes(kT);
    if (block < sealed_.blocks()) {
      const ByteView whole = content_of(block);
      const std::size_t from = esi % sealed_.symbols_of(block) * kT;
      const ByteView part = whole.subspan(from, std::min<std::size_t>(kT, whole.size() - from));
      std::copy(part.begin(), part.end(), bytes.begin());
    }
    receiver_->handle_symbol(now_, {0, 0, 0, block, esi, crc32c(bytes), bytes}, 1);
  }

  void whole_block(std::uint32_t block) {
    for (std::uint32_t esi = 0; esi < kBulkBlockSymbols; ++esi) symbol(block, esi);
  }

  void tell(std::uint32_t first, std::uint32_t most) {
    const ByteView hashes = index_.hashes_from(first, most);
    if (!hashes.empty()) receiver_->handle_index(now_, {0, first, hashes});
  }

  BlockHash root() const { return index_.root(sealed_.blocks(), hasher_).value(); }
  void seal() { SPINDLE_CHECK(receiver_->handle_seal(now_, content_.size(), root())); }

  void run_job(std::size_t which, bool fails) {
    if (jobs_.empty()) return;
    const auto chosen = jobs_.begin() + static_cast<std::ptrdiff_t>(which % jobs_.size());
    ReceiverJob job = std::move(*chosen);
    jobs_.erase(chosen);
    store_.is_broken = fails;
    store_.run(now_, *receiver_, std::move(job));
    store_.is_broken = false;
  }

  void take_need() {
    const std::optional<Need> need = receiver_->take_need(now_);
    if (!need) return;
    SPINDLE_CHECK(need->complete == receiver_->complete());
    for (const Need::Begun& begun : need->begun) SPINDLE_CHECK(begun.held > 0 && !need->complete.contains(begun.block));
  }

  void check() const {
    constexpr std::size_t kBlock = kBulkBlockSymbols * kT;
    const SymbolLimits& symbols = limits_.symbols;
    // Those on their way to their places may be as many again and a block more, those back from a failed job as well.
    SPINDLE_CHECK(receiver_->symbol_memory_bytes() <= symbols.repair_bytes + 2 * symbols.source_bytes + 6 * kBlock);
    SPINDLE_CHECK(receiver_->written() == intersection(receiver_->written(), receiver_->complete()));
    if (receiver_->is_done()) {
      SPINDLE_CHECK(store_.content.size() >= content_.size());
      SPINDLE_CHECK(std::equal(content_.begin(), content_.end(), store_.content.begin()));
    }
  }

  /// Whatever has happened: with the right symbols, index and seal it gets done.
  void recover() {
    seal();
    for (int round = 0; round < 4 && !receiver_->is_done(); ++round) {
      tell(0, sealed_.blocks());
      for (std::uint32_t block = 0; block < sealed_.blocks(); ++block) {
        // Symbols that are wrong may be there, and are found out; those that have room only now come later.
        for (std::uint32_t esi = 0; esi < 2 * kBulkBlockSymbols; ++esi) {
          finish_jobs();
          symbol(block, esi + static_cast<std::uint32_t>(round) * 70'000);
        }
        finish_jobs();
        whole_block(block);
        finish_jobs();
      }
    }
    SPINDLE_CHECK(receiver_->is_done());
    check();
  }

  void finish_jobs() {
    while (!jobs_.empty()) run_job(0, false);
    store_.run_all(now_, *receiver_);
  }

  Input input_;
  const ToyHasher hasher_;
  const spindle::test::RepeatingCode code_;
  spindle::test::BulkStore store_{code_, hasher_};
  Bytes content_;
  ContentLayout layout_, sealed_;
  ReceiverLimits limits_;
  BlockIndex index_;
  std::optional<BulkReceiver> receiver_;
  std::vector<ReceiverJob> jobs_;  // taken
  Nanoseconds now_{};
};

}  // namespace

}  // namespace spindle_fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spindle_fuzz::Transfer(spindle_fuzz::Input(data, std::min<std::size_t>(size, 1'000))).run();
  return 0;
}
