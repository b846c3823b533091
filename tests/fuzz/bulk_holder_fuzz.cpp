// A holder of bulk content with children of all kinds: it sends right symbols only, of blocks that are there, no more
// than was granted, and in the end whatever a child lacks.
#include <algorithm>
#include <array>
#include <optional>

#include "libclient/bulk/bulk_holder.h"
#include "libclient/bulk/crc32c.h"
#include "tests/fuzz/bulk_holder_steps.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/known_content.h"
#include "tests/support/repeating_code.h"

namespace spindle_fuzz {

namespace {

using namespace spindle::bulk;
using Bytes = std::vector<std::uint8_t>;

class NoHasher final : public Hasher {
 public:
  BlockHash hash(ByteView) const override { return {}; }
};

class Holding {
 public:
  explicit Holding(Input input)
      : input_(input), content_(spindle::test::content_of(1, (1u + input_.u8() % kHeldSymbolsMost) * kT - 5)) {
    const std::uint8_t kind = input_.u8();
    sealed_ = {kHeldBlockSymbols * kT, kT, content_.size()};
    ContentLayout layout = sealed_;
    if ((kind & 2) != 0) layout.size = kSizeUnknown;
    is_source_ = (kind & 1) == 0;
    holder_.emplace(is_source_ ? BulkHolder::Kind::source : BulkHolder::Kind::receiver, layout, RepairIds(3, 4),
                    HolderLimits{std::size_t{kind} >> 2});
    if (layout.has_size()) set_available(sealed_.blocks());
  }

  void run() {
    while (!input_.empty())
      step(static_cast<BulkHolderStep>(input_.u8() % static_cast<unsigned>(BulkHolderStep::count_)));
    serve_all();
  }

 private:
  static constexpr std::uint16_t kT = kSymbolBytesMin;

  void set_available(std::uint32_t blocks) {
    // Without a size only whole blocks are there.
    const std::uint32_t whole = static_cast<std::uint32_t>(content_.size() / sealed_.block_bytes);
    available_ = BlockSet::of_first(std::min(blocks, holder_->layout().has_size() ? sealed_.blocks() : whole));
    holder_->handle_available(available_);
  }

  void step(BulkHolderStep step) {
    switch (step) {
      case BulkHolderStep::grant: {
        const std::uint8_t stream = input_.u8(), symbols = input_.u8();
        granted_[stream] += symbols;
        return holder_->handle_grant(stream, symbols);
      }
      case BulkHolderStep::need:
        return need();
      case BulkHolderStep::release: {
        const std::uint8_t stream = input_.u8();
        if (stream != kLiveStream) granted_[stream] = 0;
        return holder_->handle_release(stream);
      }
      case BulkHolderStep::available:
        return set_available(input_.u8());
      case BulkHolderStep::lose:
        available_.remove(input_.u8());
        return holder_->handle_available(available_);
      case BulkHolderStep::seal:
        return seal();
      case BulkHolderStep::take:
        if (auto job = next_job()) jobs_.push_back(std::move(*job));
        return;
      case BulkHolderStep::run:
      case BulkHolderStep::fail:
        return run_job(input_.u8(), step == BulkHolderStep::fail);
      case BulkHolderStep::send:
        for (unsigned i = input_.u8(); i > 0 && send(); --i) continue;
        return;
      case BulkHolderStep::wait:
        static_cast<void>(input_.u8());
        while (holder_->take_finished()) continue;
        return;
      case BulkHolderStep::count_:
        return;
    }
  }

  void need() {
    const std::uint8_t stream = input_.u8();
    Need need{BlockSet::of_first(input_.u8()), {}, false};
    std::uint32_t block = need.complete.count();
    for (unsigned i = input_.u8() % 8; i > 0; --i) {
      block += input_.u8();
      need.begun.push_back({block++, 1u + input_.u8()});
    }
    holder_->handle_need(stream, need);
    if (stream != kLiveStream) return;
    unwanted_ = need.complete;
    pass_over();
  }

  void pass_over() {
    if (!is_source_ || live_ % kHeldBlockSymbols != 0) return;
    const std::uint64_t block = live_ / kHeldBlockSymbols;
    if (block >= holder_->layout().blocks()) return;
    const std::uint32_t wanted = unwanted_.first_missing(static_cast<std::uint32_t>(block));
    live_ = std::min(wanted, holder_->layout().blocks()) * kHeldBlockSymbols;
  }

  std::optional<LoadJob> next_job() {
    auto job = holder_->take_job();
    return job ? std::move(job) : holder_->take_hash_job(false);
  }

  void seal() { SPINDLE_CHECK(holder_->handle_seal(content_.size())); }

  void run_job(std::size_t which, bool fails) {
    if (jobs_.empty()) return;
    const auto chosen = jobs_.begin() + static_cast<std::ptrdiff_t>(which % jobs_.size());
    LoadJob job = std::move(*chosen);
    jobs_.erase(chosen);
    const auto read = [&](std::uint64_t start, std::span<std::uint8_t> to) {
      SPINDLE_CHECK(start + to.size() <= content_.size());
      std::copy_n(content_.begin() + static_cast<std::ptrdiff_t>(start), to.size(), to.begin());
      return !fails;
    };
    holder_->handle_loaded(spindle::bulk::run(std::move(job), read, code_, hasher_));
  }

  /// One symbol, if any can be sent: whose stream it is of.
  std::optional<std::uint8_t> send() {
    while (const std::optional<IndexPart> index = holder_->take_index()) {
      SPINDLE_CHECK(is_source_ && index->count() > 0 && index->first + index->count() <= sealed_.blocks());
    }
    const std::optional<Symbol> symbol = holder_->next_symbol();
    if (!symbol) return std::nullopt;
    SPINDLE_CHECK(granted_[symbol->stream]-- > 0);
    SPINDLE_CHECK(symbol->block < sealed_.blocks());
    const std::uint32_t symbols = sealed_.symbols_of(symbol->block);
    Bytes expected(kT);
    const std::size_t from = sealed_.start_of(symbol->block) + symbol->esi % symbols * kT;
    std::copy_n(content_.begin() + static_cast<std::ptrdiff_t>(from), std::min<std::size_t>(kT, content_.size() - from),
                expected.begin());
    SPINDLE_CHECK(std::equal(expected.begin(), expected.end(), symbol->bytes.begin(), symbol->bytes.end()));
    SPINDLE_CHECK(symbol->crc == crc32c(symbol->bytes));
    if (symbol->stream == kLiveStream) {
      SPINDLE_CHECK(is_source_ && symbol->esi < symbols && live_ == symbol->block * kHeldBlockSymbols + symbol->esi);
      live_ = symbol->esi + 1 == symbols ? (symbol->block + 1) * kHeldBlockSymbols : live_ + 1;
      pass_over();
    }
    return symbol->stream;
  }

  /// With everything there, the live stream comes to its end, and a child that has nothing gets all.
  void serve_all() {
    seal();
    set_available(sealed_.blocks());
    for (unsigned stream = 1; stream < 256; ++stream) holder_->handle_release(static_cast<std::uint8_t>(stream));
    granted_[kLiveStream] += 1'000;
    granted_[7] = 1'000;
    holder_->handle_grant(kLiveStream, 1'000);
    send_all();
    if (is_source_) {
      SPINDLE_CHECK(holder_->is_live_over());
      SPINDLE_CHECK(holder_->index().known().first_missing() >= sealed_.blocks());
    }
    holder_->handle_need(7, {});
    holder_->handle_grant(7, 1'000);
    std::uint64_t symbols = 0;
    for (std::uint32_t block = 0; block < sealed_.blocks(); ++block) symbols += sealed_.symbols_of(block);
    SPINDLE_CHECK(send_all() == symbols);
  }

  /// How many symbols of the stream 7 there were.
  std::uint64_t send_all() {
    std::uint64_t sent = 0;
    while (true) {
      while (!jobs_.empty()) run_job(0, false);
      if (const auto stream = send()) {
        sent += *stream == 7 ? 1 : 0;
        continue;
      }
      auto job = next_job();
      if (!job) return sent;
      jobs_.push_back(std::move(*job));
    }
  }

  Input input_;
  const NoHasher hasher_;
  const spindle::test::RepeatingCode code_;
  Bytes content_;
  ContentLayout sealed_;
  bool is_source_ = true;
  std::optional<BulkHolder> holder_;
  BlockSet available_;
  std::vector<LoadJob> jobs_;  // taken
  std::array<std::uint64_t, 256> granted_{};
  std::uint64_t live_ = 0;  // symbols
  BlockSet unwanted_;       // of the live stream
};

}  // namespace

}  // namespace spindle_fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  spindle_fuzz::Holding(spindle_fuzz::Input(data, std::min<std::size_t>(size, 1'000))).run();
  return 0;
}
