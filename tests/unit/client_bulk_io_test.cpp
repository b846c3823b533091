// The thread that moves content, and what is left to be done when it ends.
#include "libclient/src/bulk_io.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace spindle {
namespace {

using namespace std::chrono_literals;

const bulk::BulkChannelId kChannel{"alpha", 7, 8};

/// A connection that is lost.
class LostSession final : public BulkSession {
 public:
  std::error_code ask(protocol::BulkRequest) override { return Errc::not_connected; }
  void give(Event) override {}
  void ask_and_give(protocol::BulkRequest, Event) override {}
  void note_failure(const bulk::BulkChannelId&, const StoreFailure&) override {}
  void end_untold() override {}
  std::unique_ptr<SecondDialler> make_dialler() override { return nullptr; }
};

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

}  // namespace
}  // namespace spindle
