// Content from a holder to receivers, through pipes that are slow, and lose and damage symbols.
#include <gtest/gtest.h>

#include "libclient/codes/counting_code.h"
#include "libclient/codes/raptorq_code.h"
#include "tests/support/bulk_pipe.h"
#include "tests/support/known_content.h"
#include "tests/support/sha256.h"

namespace spindle::bulk {
namespace {

using namespace std::chrono_literals;
using test::PipedReceiver;
using test::PipeFaults;
using test::PipeShape;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint16_t kT = 1024;
constexpr std::size_t kLive = 4;  // symbols a millisecond

class BulkTransfers : public testing::Test {
 protected:
  void offer(std::uint32_t block_symbols, std::size_t size, bool is_stream = false) {
    content_ = test::content_of(7, size);
    sealed_ = {block_symbols * kT, kT, size};
    layout_ = sealed_;
    if (is_stream) layout_.size = kSizeUnknown;
    holder_.emplace(BulkHolder::Kind::source, layout_, RepairIds(77, 1234));
    if (!is_stream) holder_->handle_available(BlockSet::of_first(layout_.blocks()));
  }
  PipedReceiver& add(const PipeShape& shape) {
    PipedReceiver& added = swarm_.add(shape, static_cast<std::uint32_t>(swarm_.receivers.size()) + 1);
    begin(added);
    return added;
  }
  void begin(PipedReceiver& at, const ResumeState* state = nullptr) {
    at.receiver = std::make_unique<BulkReceiver>(layout_, sha256_, limits_, state);
    swarm_.tell_index(*at.receiver);
    if (root_) seal(at);
  }
  void seal(PipedReceiver& at) { EXPECT_TRUE(at.receiver->handle_seal(swarm_.now, content_.size(), *root_)); }

  void step(BulkHolder* holder) {
    swarm_.step(holder, content_, kLive);
    if (root_ || !holder_ || !holder_->is_live_over()) return;
    root_ = holder_->index().root(sealed_.blocks(), sha256_);
    if (!root_) return;
    for (auto& each : swarm_.receivers) {
      if (each->receiver) seal(*each);
    }
  }
  void step() { step(&*holder_); }
  bool all_are_done() const {
    for (const auto& each : swarm_.receivers) {
      if (each->receiver && !each->receiver->is_done()) return false;
    }
    return true;
  }
  /// Until all are done; how many milliseconds it took.
  int finish(BulkHolder* holder, int most = 60'000) {
    int steps = 0;
    for (; !all_are_done() && steps < most; ++steps) step(holder);
    EXPECT_TRUE(all_are_done());
    for (const auto& each : swarm_.receivers) {
      EXPECT_TRUE(!each->receiver || each->store.content == content_);
    }
    return steps;
  }
  int finish() { return finish(&*holder_); }

  std::uint64_t symbols() const {
    std::uint64_t sum = 0;
    for (std::uint32_t block = 0; block < sealed_.blocks(); ++block) sum += sealed_.symbols_of(block);
    return sum;
  }
  /// Symbols that were sent to it beyond what the content has and what was lost on the way.
  std::int64_t overhead(const PipedReceiver& at) const {
    const test::PipeCounters& pipe = at.pipe.counters();
    return static_cast<std::int64_t>(pipe.sent - pipe.lost - pipe.corrupt) - static_cast<std::int64_t>(symbols());
  }
  /// Two symbols of each block: 0.2 % where they have 1,024.
  void expect_little_overhead(const PipedReceiver& at) const {
    EXPECT_LE(overhead(at), 2 * std::int64_t{sealed_.blocks()}) << symbols() << " symbols";
    RecordProperty("overhead", static_cast<int>(overhead(at)));
  }

  codes::RaptorQCode code_;
  test::Sha256 sha256_;
  test::BulkSwarm swarm_{code_, sha256_};
  ReceiverLimits limits_;
  Bytes content_;
  ContentLayout layout_, sealed_;
  std::optional<BulkHolder> holder_;
  std::optional<BlockHash> root_;
};

TEST_F(BulkTransfers, ThatLoseNothingTakeNoMoreThanTheContent) {
  offer(64, 20 * 64 * kT - 100);
  const PipedReceiver& one = add({});
  add({.delay = 50ms});
  finish();
  for (const auto& each : swarm_.receivers) EXPECT_EQ(overhead(*each), 0);
  EXPECT_EQ(one.receiver->counters().failed_decodes, 0u);
  EXPECT_EQ(holder_->counters().repair, 0u);
  EXPECT_EQ(holder_->counters().source, symbols());
  EXPECT_EQ(swarm_.loads, sealed_.blocks());
}

TEST_F(BulkTransfers, RepairWhatIsLost) {
  // Blocks as large as they are in real life, in symbols.
  offer(1024, 6 * 1024 * kT - 5000);
  const PipedReceiver& little = add({.symbols_per_ms = 8, .faults = {.lost = 5}});
  const PipedReceiver& much = add({.symbols_per_ms = 8, .faults = {.lost = 100}});
  const PipedReceiver& corrupt = add({.symbols_per_ms = 8, .faults = {.lost = 10, .corrupt = 10}});
  finish();
  expect_little_overhead(little);
  expect_little_overhead(much);
  expect_little_overhead(corrupt);
  EXPECT_GT(corrupt.receiver->counters().corrupt, 10u);
}

TEST_F(BulkTransfers, EachRunsAtItsOwnRate) {
  offer(256, 12 * 256 * kT);
  const PipedReceiver& fast = add({.symbols_per_ms = 8});
  const PipedReceiver& slow = add({.symbols_per_ms = 1});
  const PipedReceiver& slower_and_far =
      add({.symbols_per_ms = 2, .delay = 100ms, .queue = 128, .faults = {.lost = 20}});
  int fast_time = 0;
  while (!fast.receiver->is_done()) {
    step();
    ++fast_time;
  }
  EXPECT_LE(fast_time, 12 * 256 / 4 + 20);
  const int time = fast_time + finish();
  EXPECT_LE(time, 12 * 256 * 21 / 20) << "the slow pipe was full most of the time";
  EXPECT_EQ(overhead(fast), 0);
  EXPECT_GT(slow.pipe.counters().left_out, 1000u);
  expect_little_overhead(slow);
  EXPECT_LE(overhead(slower_and_far), 12 * 4);
}

TEST_F(BulkTransfers, WhoComesLaterGetsAll) {
  offer(256, 8 * 256 * kT + 77);
  add({});
  for (int i = 0; i < 300; ++i) step();
  const PipedReceiver& late = add({.symbols_per_ms = 6});
  finish();
  const PipedReceiver& last = add({.symbols_per_ms = 6});
  finish();
  expect_little_overhead(late);
  EXPECT_EQ(overhead(last), 0);
  EXPECT_EQ(last.receiver->counters().failed_decodes, 0u);
}

TEST_F(BulkTransfers, GoOnAfterARestart) {
  offer(128, 20 * 128 * kT + 5);
  PipedReceiver& at = add({.faults = {.lost = 30}});
  while (at.receiver->written().count() < 10) step();
  const auto state = ResumeState::decode(at.receiver->resume_state().encode());
  ASSERT_TRUE(state);
  at.receiver.reset();
  for (int i = 0; i < 100; ++i) step();
  begin(at, &*state);
  const std::uint64_t sent = at.pipe.counters().sent;
  finish();
  EXPECT_LE(at.pipe.counters().sent - sent, (symbols() - 10 * 128) * 11 / 10) << "what was written is not sent again";
}

TEST_F(BulkTransfers, RepeatedAndReorderedSymbolsDoNoHarm) {
  offer(128, 16 * 128 * kT);
  const PipedReceiver& at = add({.faults = {.lost = 20, .repeated = 100, .reordered = 300}});
  finish();
  EXPECT_GE(at.receiver->counters().duplicate, at.pipe.counters().repeated / 2);
  EXPECT_LE(overhead(at), 16 * 6);
}

TEST_F(BulkTransfers, WrongSymbolsCostTheirBlocks) {
  offer(64, 16 * 64 * kT);
  const PipedReceiver& at = add({.faults = {.lost = 10, .corrupt = 10, .wrong = 2}});
  finish();
  EXPECT_GT(at.receiver->counters().wrong_blocks, 0u);
  EXPECT_LE(at.receiver->counters().wrong_blocks, at.pipe.counters().wrong);
}

TEST_F(BulkTransfers, StreamsAreSentAsTheyGrow) {
  offer(64, 10 * 64 * kT + 1000, true);
  add({});
  add({.symbols_per_ms = 3, .faults = {.lost = 20}});
  for (std::uint32_t blocks = 1; blocks <= 10; ++blocks) {
    holder_->handle_available(BlockSet::of_first(blocks));
    for (int i = 0; i < 25; ++i) step();
    EXPECT_TRUE(swarm_.receivers[0]->receiver->written().contains(blocks - 1)) << "it does not wait for the end";
  }
  EXPECT_FALSE(holder_->is_live_over());
  EXPECT_TRUE(holder_->handle_seal(content_.size()));
  holder_->handle_available(BlockSet::of_first(11));
  finish();
}

TEST_F(BulkTransfers, ReceiversServeOthers) {
  offer(128, 16 * 128 * kT - 9);
  PipedReceiver& first = add({});
  PipedReceiver& second = add({.symbols_per_ms = 1, .faults = {.lost = 20}});
  while (!first.receiver->is_done()) step();
  EXPECT_FALSE(second.receiver->is_done());
  // The source is gone. Its last symbols are on their way.
  holder_.reset();
  second.granted = 0;
  second.has_stream = false;
  BulkHolder other(BulkHolder::Kind::receiver, sealed_, RepairIds(5, 99));
  other.handle_available(first.receiver->written());
  EXPECT_FALSE(other.next_symbol());
  finish(&other);
  EXPECT_GT(other.counters().repair, 0u);
  EXPECT_FALSE(other.take_index());
}

TEST_F(BulkTransfers, LittleMemoryIsEnough) {
  offer(64, 20 * 64 * kT);
  limits_.symbols = {2 * 64 * kT, 40 * kT, true};
  limits_.blocks_in_jobs = 1;
  const PipedReceiver& slow = add({.symbols_per_ms = 1, .faults = {.lost = 20}});
  limits_.symbols.has_store = false;
  add({.symbols_per_ms = 2, .faults = {.lost = 20}});
  finish();
  EXPECT_GT(slow.store.stored_symbols, 100u);
}

/// The hash of everything, for contents that are not there.
class SameHash final : public Hasher {
 public:
  BlockHash hash(ByteView) const override { return {}; }
};

TEST(BulkTransfersOfManyBlocks, HaveLittleOverhead) {
  // A code of ids alone, which fails as often as RaptorQ.
  const codes::CountingCode code(5);
  const SameHash hasher;
  test::BulkSwarm swarm(code, hasher);
  const ContentLayout layout{1024 * kT, kT, 60u * 1024 * kT - 30 * kT};
  const Bytes content(layout.size);
  BulkHolder holder(BulkHolder::Kind::source, layout, RepairIds(1, 1));
  holder.handle_available(BlockSet::of_first(layout.blocks()));
  const PipeShape shapes[] = {
      {.symbols_per_ms = 80, .queue = 128},
      {.symbols_per_ms = 80, .queue = 128, .faults = {.lost = 30}},
      {.symbols_per_ms = 20, .delay = 40ms, .queue = 512, .faults = {.lost = 1}},
  };
  for (const PipeShape& shape : shapes) {
    PipedReceiver& at = swarm.add(shape, 9);
    at.receiver = std::make_unique<BulkReceiver>(layout, hasher);
    EXPECT_TRUE(at.receiver->handle_seal(swarm.now, layout.size, {}));
  }
  const auto is_done = [](const auto& each) { return each->receiver->is_done(); };
  int steps = 0;
  for (; !std::all_of(swarm.receivers.begin(), swarm.receivers.end(), is_done) && steps < 20'000; ++steps) {
    swarm.step(&holder, content, 40);
  }
  const std::int64_t symbols = 60 * 1024 - 30;
  EXPECT_LE(steps, symbols / 20 + 1500) << "the slowest pipe was full nearly all the time";
  for (const auto& each : swarm.receivers) {
    EXPECT_TRUE(each->receiver->is_done());
    const test::PipeCounters& pipe = each->pipe.counters();
    const auto overhead = static_cast<std::int64_t>(pipe.sent - pipe.lost) - symbols;
    EXPECT_LE(overhead, symbols / 500);
    testing::Test::RecordProperty("overhead", static_cast<int>(overhead));
  }
}

}  // namespace
}  // namespace spindle::bulk
