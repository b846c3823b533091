// A place in which contents are received one after the other.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "libclient/src/bulk_io.h"
#include "tests/support/files.h"
#include "tests/unit/client_bulk_host.h"
#include "tests/unit/client_bulk_session.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using protocol::BulkOutcome;

const bulk::BulkChannelId kFirst{"alpha", 7, 1}, kSecond{"alpha", 7, 2}, kThird{"alpha", 7, 3};
const bulk::ContentLayout kLayout = *bulk::ContentLayout::of(100'000);

TEST(BulkPlaces, AreLetGoOfByWhatHasFailed) {
  test::BulkHost host;
  const test::TemporaryDirectory directory;
  const auto make = [&] { return make_received_file(directory.path("."), "got", false); };
  const auto failed = std::make_shared<BulkTransfer>(host, BulkTransfer::Acceptance{kFirst, kLayout, {}, make(), true});
  failed->start();
  failed->handle_seal({}, kLayout.size + 1, {});
  ASSERT_EQ(host.outcomes.back(), BulkOutcome::failed);
  StoreFailure failure;
  make()->open(kLayout, std::nullopt, failure);
  EXPECT_FALSE(failure.error) << failure.text;
}

/// It takes until the test says so to be opened.
class HeldStore final : public BulkStore {
 public:
  bool read(std::uint64_t, std::span<std::uint8_t>) const override { return false; }
  std::optional<bulk::ResumeState> open(const bulk::ContentLayout&, const std::optional<bulk::BlockHash>&,
                                        StoreFailure&) override {
    begun.set_value();
    go_on.get_future().wait();
    is_open = true;
    return std::nullopt;
  }
  std::string path() const override { return "/the/place"; }

  std::promise<void> begun, go_on;
  std::atomic<bool> is_open = false;
};

/// Says whether the one before it was still busy.
class NextStore final : public BulkStore {
 public:
  explicit NextStore(std::shared_ptr<HeldStore> before) : before_(std::move(before)) {}
  bool read(std::uint64_t, std::span<std::uint8_t>) const override { return false; }
  std::optional<bulk::ResumeState> open(const bulk::ContentLayout&, const std::optional<bulk::BlockHash>&,
                                        StoreFailure&) override {
    comes_too_soon.set_value(!before_->is_open);
    return std::nullopt;
  }
  std::string path() const override { return before_->path(); }

  std::promise<bool> comes_too_soon;

 private:
  const std::shared_ptr<HeldStore> before_;
};

/// What `between` does comes before the second content is accepted, on the thread. Whether that waits for the first.
void expect_waits_for_last_job(const std::function<void(BulkIo&)>& between) {
  test::LostSession session;
  const auto first = std::make_shared<HeldStore>();
  const auto second = std::make_shared<NextStore>(first);
  BulkIo io(session, 1min);
  ASSERT_TRUE(io.start(2));
  io.run_soon([first](BulkIo& on_thread) { on_thread.accept({kFirst, kLayout, {}, first, true}); });
  first->begun.get_future().wait();
  std::promise<void> is_accepted;
  io.run_soon([&](BulkIo& on_thread) {
    between(on_thread);
    on_thread.accept({kSecond, kLayout, {}, second, true});
  });
  // Whatever the second has the other worker do at once is behind this.
  io.run_soon([&](BulkIo&) { is_accepted.set_value(); });
  is_accepted.get_future().wait();
  std::future<bool> comes_too_soon = second->comes_too_soon.get_future();
  first->go_on.set_value();
  ASSERT_EQ(comes_too_soon.wait_for(20s), std::future_status::ready);
  EXPECT_FALSE(comes_too_soon.get());
  io.stop();
}

TEST(BulkPlaces, AreTakenWhenTheLastJobOfWhoGivesWayIsOver) {
  expect_waits_for_last_job([](BulkIo&) {});
}

TEST(BulkPlaces, AreTakenWhenTheLastJobOfWhatHasEndedIsOver) {
  expect_waits_for_last_job([](BulkIo& io) { io.end(kFirst, false); });
}

TEST(BulkPlaces, AreTakenByTheLastOfThoseThatWait) {
  expect_waits_for_last_job([](BulkIo& io) {
    io.accept({kThird, kLayout, {}, std::make_shared<HeldStore>(), true});  // never to be opened
  });
}

}  // namespace
}  // namespace spindle
