// The thread that moves content, and what is left to be done when it ends.
#include "libclient/src/bulk_io.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/unit/client_bulk_session.h"
#include "tests/unit/client_no_threads.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using test::LostSession;

const bulk::BulkChannelId kChannel{"alpha", 7, 8};

/// It takes a while to be opened.
class SlowStore final : public BulkStore {
 public:
  bool read(std::uint64_t, std::span<std::uint8_t>) const override { return false; }
  std::optional<bulk::ResumeState> open(const bulk::ContentLayout&, const std::optional<bulk::BlockHash>&,
                                        StoreFailure&) override {
    std::this_thread::sleep_for(50ms);
    is_open = true;
    return std::nullopt;
  }
  void discard() override { is_discarded = is_open.load(); }

  std::atomic<bool> is_open = false;
  std::atomic<bool> is_discarded = false;
};

TEST(BulkIo, LetsGoOfWhatItsSourceHasTakenBackAlsoWhereItEndsAtOnce) {
  LostSession session;
  const auto store = std::make_shared<SlowStore>();
  BulkIo io(session, 1min);
  ASSERT_TRUE(io.start(1));
  io.run_soon([store](BulkIo& on_thread) {
    on_thread.accept({kChannel, *bulk::ContentLayout::of(100'000), {}, store, true});
    on_thread.end(kChannel, true);
  });
  io.stop();
  EXPECT_TRUE(store->is_discarded);
}

#ifdef __GLIBC__
TEST(BulkIo, DoesNotStartWithoutThreads) {
  LostSession session;
  BulkIo io(session, 1min);
  const test::NoThreads none;
  EXPECT_FALSE(io.start(2));
}
#endif

}  // namespace
}  // namespace spindle
