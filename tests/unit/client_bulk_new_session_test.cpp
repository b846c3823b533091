// What becomes of the channels that a client knows where its session is replaced by a new one.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "libclient/src/bulk_host.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;

/// A session whose daemon is the test.
class ScriptedSession final : public BulkHost {
 public:
  bool is_open() const override { return true; }
  bool set_channel_listener(ChannelListener* listener) override {
    const std::lock_guard lock(mutex_);
    listener_ = listener;
    return true;
  }
  std::error_code ask_channel(protocol::BulkRequest, Asked asked) override {
    const std::lock_guard lock(mutex_);
    if (asked) asked({}, ++requests_);
    return {};
  }
  void add_event(Event event) override {
    const std::lock_guard lock(mutex_);
    add(std::move(event));
  }
  void add_events(MakeEvents make) override {
    const std::lock_guard lock(mutex_);
    for (Event& each : make()) add(std::move(each));
  }
  void ask_and_add(protocol::BulkRequest, Event event) override { add_event(std::move(event)); }
  bool has_room_for_events() const override { return true; }
  bool is_told() const override {
    const std::lock_guard lock(mutex_);
    ++looks_;
    news_.notify_all();
    return hears_;
  }
  bool is_own_thread() const override { return false; }
  std::unique_ptr<SecondDialler> make_dialler() override { return nullptr; }

  /// Calls `tell` with the listener, as one.
  template <typename Tell>
  void tell(Tell tell) {
    const std::lock_guard lock(mutex_);
    tell(*listener_);
  }
  /// Whether what the daemon says is heard.
  void set_hears(bool hears) {
    const std::lock_guard lock(mutex_);
    hears_ = hears;
    looks_ = 0;
  }
  /// Until somebody has asked so often whether it is; false where that takes long.
  bool wait_for_looks(int count) {
    std::unique_lock lock(mutex_);
    return news_.wait_for(lock, 20s, [&] { return looks_ >= count; });
  }
  bool has_end() const {
    const std::lock_guard lock(mutex_);
    return !ends_.empty();
  }
  /// Nothing where none comes for long.
  std::optional<BulkEnded> wait_for_end() {
    std::unique_lock lock(mutex_);
    if (!news_.wait_for(lock, 20s, [this] { return !ends_.empty(); })) return std::nullopt;
    const BulkEnded first = ends_.front();
    ends_.erase(ends_.begin());
    return first;
  }

 private:
  void add(Event event) {
    if (const auto* ended = event.get_if<BulkEnded>()) ends_.push_back(*ended);
    news_.notify_all();
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable news_;
  mutable int looks_ = 0;
  bool hears_ = true;
  ChannelListener* listener_ = nullptr;
  std::uint32_t requests_ = 0;
  std::vector<BulkEnded> ends_;
};

protocol::BulkOffered offer_of(std::uint64_t number) {
  protocol::BulkOffered offered;
  offered.channel = {"alpha", 7, number};
  offered.group = "g";
  offered.terms.name = "content";
  offered.terms.layout = *bulk::ContentLayout::of(1'000);
  return offered;
}

Result<Bulk> open_at(const std::shared_ptr<ScriptedSession>& session, std::chrono::nanoseconds retold_within) {
  BulkOptions options;
  options.keep_hashes = false;
  return BulkOpener::open(session, options, retold_within);
}

/// Contents from 1 on, which are new.
void offer(ScriptedSession& session, std::uint64_t contents) {
  session.tell([=](ChannelListener& listener) {
    for (std::uint64_t number = 1; number <= contents; ++number) EXPECT_TRUE(listener.channel_news(offer_of(number)));
  });
}

TEST(BulkNewSessions, EndWhatTheDaemonDoesNotTellOfAgain) {
  const auto session = std::make_shared<ScriptedSession>();
  Result<Bulk> bulk = open_at(session, 0s);
  ASSERT_TRUE(bulk);
  const ChannelId gone{"alpha", 7, 1}, unanswered{"alpha", 7, 2}, told{"alpha", 7, 3};
  offer(*session, 3);
  ASSERT_FALSE(bulk->accept(gone, BulkSink::memory()));
  ASSERT_FALSE(bulk->accept(told, BulkSink::memory()));
  session->tell([](ChannelListener& listener) {
    listener.session_began_anew();
    EXPECT_FALSE(listener.channel_news(offer_of(3))) << "it goes on";
  });
  for (const ChannelId& channel : {gone, unanswered}) {
    const std::optional<BulkEnded> ended = session->wait_for_end();
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->channel, channel);
    EXPECT_EQ(ended->cause, BulkEnded::Cause::abandoned);
    EXPECT_EQ(bulk->accept(channel, BulkSink::memory()), Errc::unknown_channel);
  }
  EXPECT_EQ(bulk->accept(told, BulkSink::memory()), Errc::bad_argument) << "it is accepted already";
  session->tell([](ChannelListener& listener) {
    EXPECT_TRUE(listener.channel_news(offer_of(1))) << "whoever tells of it later offers it anew";
  });
  EXPECT_FALSE(bulk->accept(gone, BulkSink::memory()));
}

// A program that takes no events has the daemon's offers wait unread, and a session may be lost before it has told.
TEST(BulkNewSessions, EndNothingWhileTheDaemonIsNotHeard) {
  const auto session = std::make_shared<ScriptedSession>();
  Result<Bulk> bulk = open_at(session, 10ms);
  ASSERT_TRUE(bulk);
  offer(*session, 2);
  session->set_hears(false);
  session->tell([](ChannelListener& listener) { listener.session_began_anew(); });
  ASSERT_TRUE(session->wait_for_looks(20)) << "nobody asks";
  EXPECT_FALSE(session->has_end());
  session->tell([](ChannelListener& listener) { EXPECT_FALSE(listener.channel_news(offer_of(2))) << "it goes on"; });
  session->set_hears(true);
  const std::optional<BulkEnded> ended = session->wait_for_end();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->channel, (ChannelId{"alpha", 7, 1}));
  EXPECT_FALSE(bulk->accept({"alpha", 7, 2}, BulkSink::memory()));
}

}  // namespace
}  // namespace spindle
