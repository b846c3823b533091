// Bulk content beside ordered messages on the same path, and what daemons learn of their paths from it.
#include <gmock/gmock.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "daemon/link/links.h"
#include "tests/sim/bulk_client.h"
#include "tests/sim/scenario.h"
#include "tests/support/known_content.h"

namespace spindled::sim {
namespace {

class BulkYield : public Scenario {
 protected:
  static constexpr std::uint64_t kCapacity = 2'500'000;  // bytes a second
  static constexpr std::size_t kMessageBytes = 1000;

  void begin(std::uint64_t seed, Shape shape, std::size_t daemons, const NodeConfig& node = {}) {
    members_.clear();
    bulk_.clear();
    simulate_cluster(seed, shape, daemons, node);
    for (std::size_t i = 0; i < daemons; ++i) {
      SimClient& client =
          sim().add_client(sim().host(i), "c" + std::to_string(members_.size()), {.wants_channels = true});
      client.join("g");
      members_.push_back(&client);
      bulk_.push_back(std::make_unique<BulkClient>(sim().world(), client, BulkClient::Options{true, true}));
    }
    await_group_view(members_, "g");
  }
  static PathProperties narrow_path(std::uint64_t bytes_per_second = kCapacity) {
    PathProperties path;
    path.bytes_per_second = bytes_per_second;
    path.delay = 1ms;
    path.send_buffer = 16u << 10;
    return path;
  }
  /// The same, but what waits is in front of the path, up to what it carries in 50 ms, and nobody sees it there.
  static PathProperties path_with_queue() {
    PathProperties path = narrow_path();
    path.congestion_control = CongestionControl::cubic;
    path.send_buffer = 64u << 10;
    path.queue_bytes = kCapacity / 20;
    return path;
  }
  /// Two daemons on such a path, and a client at the far one that counts ordered messages.
  void begin_on_one_path(std::uint64_t seed, const NodeConfig& node = {}, const PathProperties& path = narrow_path()) {
    begin(seed, Shape::line, 2, node);
    if (HasFatalFailure()) return;
    sim().network().set_path(0, 1, path);
    receiver_ = &sim().add_client(sim().host(1), "receiver");
    receiver_->join("ordered");
    await_group_view({receiver_}, "ordered");
    if (HasFatalFailure()) return;
    sent_at_.clear();
    took_.clear();
    receiver_->hand_messages_to([this](const spindle::Message&) {
      ++received_;
      if (sent_at_.empty()) return;  // the sender's own, which are not counted
      took_.push_back(sim().now() - sent_at_.front());
      sent_at_.pop_front();
      if (is_closed_loop_) send_message();
    });
    sender_ = &sim().add_client(sim().host(0), "sender");
  }
  void send_message() {
    sent_at_.push_back(sim().now());
    sender_->multicast({"ordered"}, {.size = kMessageBytes, .self_discard = true});
  }
  /// So many messages are under way at any time.
  void send_in_a_loop(int messages) {
    is_closed_loop_ = true;
    for (int i = 0; i < messages; ++i) send_message();
  }
  /// Messages of so many bytes a second in all, whatever becomes of them, as many as are due every `step`.
  void send_steadily(double bytes_per_second, Duration step) {
    owed_ += bytes_per_second * to_seconds(step);
    for (; owed_ >= kMessageBytes; owed_ -= kMessageBytes) send_message();
    sim().world().events.after(step, [this, bytes_per_second, step] { send_steadily(bytes_per_second, step); });
  }
  BulkChannelId offer(std::size_t member, std::size_t size) {
    content_ = spindle::test::content_of(static_cast<std::uint32_t>(size), size);
    const std::size_t before = members_[member]->channels().size();
    bulk_[member]->offer("g", content_);
    await([&] { return members_[member]->channels().size() > before; }, 10s, "the offer");
    return members_[member]->channels().ids().back();
  }

  /// What has gone over the path in a time.
  struct Carried {
    double messages = 0;  // a second, received
    double link = 0;      // bytes a second,
    double bulk = 0;
  };
  /// The same until now, in all.
  Carried carried() {
    return {static_cast<double>(received_), static_cast<double>(sim().host(0).node().link_to("d001")->bytes_out),
            static_cast<double>(counter(0, Counter::bulk_bytes_relayed))};
  }
  Carried measure(Duration time) {
    took_.clear();
    const Carried before = carried();
    sim().run_for(time);
    const Carried after = carried();
    const double seconds = to_seconds(time);
    return {(after.messages - before.messages) / seconds, (after.link - before.link) / seconds,
            (after.bulk - before.bulk) / seconds};
  }
  /// How long 99 of 100 of the messages measured took at most.
  Duration p99() {
    const auto at = took_.begin() + static_cast<std::ptrdiff_t>(took_.size() * 99 / 100);
    std::nth_element(took_.begin(), at, took_.end());
    return *at;
  }
  std::uint64_t counter(std::size_t host, Counter which) { return sim().host(host).node().counters().value(which); }

  /// Of both, where bulk content goes beside messages that keep their rate.
  Carried measure_beside_bulk(double messages_alone) {
    offer(0, 60'000'000);
    sim().run_for(3s);
    const Carried beside = measure(8s);
    EXPECT_GE(beside.messages, 0.9 * messages_alone);
    return beside;
  }

  /// What content does to steady messages of that part of such a path.
  struct Beside {
    double part_of_rest = 0;  // that the content has of what the messages leave
    Duration delay{};         // by which p99 is more
  };
  Beside measure_beside_part(std::uint64_t seed, double part, const PathProperties& path, Duration step = 5ms) {
    owed_ = 0;
    received_ = 0;
    begin_on_one_path(seed, {}, path);
    const double rate = part * static_cast<double>(kCapacity);
    send_steadily(rate, step);
    sim().run_for(2s);
    const Duration alone = p99();
    const Carried beside = measure_beside_bulk(rate / static_cast<double>(kMessageBytes));
    return {beside.bulk / (static_cast<double>(kCapacity) - beside.link), p99() - alone};
  }
  /// Content has what these messages leave, and p99 of them is so much longer at most.
  void expect_beside_part(std::uint64_t seed, double part, const PathProperties& path, Duration longer,
                          Duration step = 5ms) {
    SCOPED_TRACE(testing::Message() << "messages of " << part << " of the path every " << to_seconds(step)
                                    << " s, seed " << seed);
    const Beside beside = measure_beside_part(seed, part, path, step);
    EXPECT_GE(beside.part_of_rest, 0.95);
    EXPECT_LE(beside.delay, longer);
  }

  std::vector<SimClient*> members_;
  std::vector<std::unique_ptr<BulkClient>> bulk_;
  std::vector<std::uint8_t> content_;
  SimClient* receiver_ = nullptr;
  SimClient* sender_ = nullptr;
  std::uint64_t received_ = 0;
  double owed_ = 0;
  std::deque<Time> sent_at_;    // of messages that have yet to come
  std::vector<Duration> took_;  // those measured, from one client to the other
  bool is_closed_loop_ = false;
};

TEST_F(BulkYield, LeavesToOrderedMessagesAllThatTheyWant) {
  begin_on_one_path(1);
  sender_->keep_sending({"ordered"}, {.size = kMessageBytes, .self_discard = true}, 64u << 10);
  sim().run_for(3s);
  const double alone = measure(5s).messages;
  EXPECT_GE(alone * kMessageBytes, 0.8 * static_cast<double>(kCapacity));
  const Carried beside = measure_beside_bulk(alone);
  EXPECT_GE(beside.bulk, 0.04 * static_cast<double>(kCapacity));
  EXPECT_GE(beside.link + beside.bulk, 0.97 * static_cast<double>(kCapacity));
  EXPECT_GT(counter(0, Counter::bulk_yields), 0u);
}

TEST_F(BulkYield, TakesWhatOrderedMessagesDoNotWant) {
  for (const double part : {0.2, 0.5, 0.7, 0.85}) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      expect_beside_part(seed, part, narrow_path(), 35ms);
    }
  }
}

/// A burst makes the link wait, and the path's queue long, whatever content does.
TEST_F(BulkYield, TakesWhatMessagesInBurstsDoNotWant) {
  for (const bool has_queue : {false, true}) {
    for (const auto& [step, part] : {std::pair(25ms, 0.5), std::pair(25ms, 0.7), std::pair(25ms, 0.85),
                                     std::pair(50ms, 0.5), std::pair(100ms, 0.5)}) {
      SCOPED_TRACE(has_queue ? "with a queue" : "without a queue");
      expect_beside_part(3, part, has_queue ? path_with_queue() : narrow_path(), 45ms, step);
    }
  }
}

TEST_F(BulkYield, FindsWhatALongPathCarries) {
  PathProperties path = path_with_queue();
  path.delay = 25ms;
  path.send_buffer = 1u << 20;
  path.receive_window = path.receive_window_max = 8u << 20;
  for (const double part : {0.2, 0.5, 0.7}) {
    SCOPED_TRACE(testing::Message() << "messages of " << part << " of the path");
    EXPECT_GE(measure_beside_part(1, part, path).part_of_rest, 0.95);
  }
}

TEST_F(BulkYield, LeavesThePathToMessagesThatWaitInFrontOfIt) {
  begin_on_one_path(2, {}, path_with_queue());
  send_in_a_loop(64);
  sim().run_for(2s);
  const double alone = measure(5s).messages;
  EXPECT_GE(alone * kMessageBytes, 0.9 * static_cast<double>(kCapacity));
  const Carried beside = measure_beside_bulk(alone);
  EXPECT_GE(beside.bulk, 0.04 * static_cast<double>(kCapacity));
}

TEST_F(BulkYield, KeepsTheQueueInFrontOfThePathShort) {
  for (const double part : {0.2, 0.5, 0.7, 0.85}) {
    for (const std::uint64_t seed : {1u, 2u, 7u}) {
      expect_beside_part(seed, part, path_with_queue(), 30ms);
    }
  }
}

TEST_F(BulkYield, DoesNotYieldWhereItIsToldNotTo) {
  NodeConfig node;
  node.bulk.share = 1;
  begin_on_one_path(3, node);
  sender_->keep_sending({"ordered"}, {.size = kMessageBytes, .self_discard = true}, 64u << 10);
  sim().run_for(2s);
  offer(0, 60'000'000);
  sim().run_for(3s);
  EXPECT_GE(measure(5s).bulk, 0.4 * static_cast<double>(kCapacity));
  EXPECT_EQ(counter(0, Counter::bulk_yields), 0u);
}

TEST_F(BulkYield, FindsTheWiderWay) {
  begin(4, Shape::ring, 3);
  sim().network().set_path(0, 1, narrow_path(5'000'000));
  sim().network().set_path(1, 2, narrow_path(5'000'000));
  sim().network().set_path(0, 2, narrow_path(500'000));
  const std::uint64_t views = counter(0, Counter::views_installed);
  const BulkChannelId id = offer(0, 60'000'000);
  await([&] { return bulk_[1]->received(id) != nullptr; }, 20s, "the content over the wide path");
  EXPECT_EQ(bulk_[2]->received(id), nullptr);
  await([&] { return bulk_[2]->received(id) != nullptr; }, 25s, "the content by way of the other daemon");
  if (HasFailure()) return;
  EXPECT_EQ(*bulk_[2]->received(id), content_);
  EXPECT_GE(counter(0, Counter::bulk_plans_made), 2u);
  EXPECT_EQ(counter(0, Counter::views_installed), views) << "what links carry is no topology";
  EXPECT_GE(counter(0, Counter::bulk_capacities_told), 2u);
  EXPECT_LE(counter(0, Counter::bulk_capacities_told), 20u);
}

TEST_F(BulkYield, ClosesHopsThatNobodyNeeds) {
  begin(5, Shape::line, 2);
  const BulkChannelId id = offer(0, 1'000'000);
  await([&] { return bulk_[1]->received(id) != nullptr; }, 10s, "the content");
  sim().run_for(40s);
  EXPECT_EQ(counter(0, Counter::bulk_hops_idle) + counter(1, Counter::bulk_hops_idle), 0u) << "the channel is there";
  members_[0]->cancel(id);
  await([&] { return counter(0, Counter::bulk_hops_idle) + counter(1, Counter::bulk_hops_idle) > 0; }, 70s,
        "the end of the hop");
  const std::uint64_t opened = counter(0, Counter::bulk_hops_opened);
  const BulkChannelId next = offer(1, 1'000'000);
  await([&] { return bulk_[0]->received(next) != nullptr; }, 10s, "the next content");
  EXPECT_EQ(counter(0, Counter::bulk_hops_opened), opened + 1);
}

TEST_F(BulkYield, KeepsLessWhereMemoryIsShort) {
  NodeConfig node;
  node.memory_bytes_max = kMemoryBytesLeast;
  begin(6, Shape::line, 3, node);
  for (const auto& [a, b] : {std::pair(0u, 1u), std::pair(1u, 2u)}) {
    PathProperties path = narrow_path(50'000'000);
    path.delay = 100ms;
    path.receive_window = 16u << 20;
    sim().network().set_path(a, b, path);
  }
  std::vector<BulkChannelId> ids;
  for (int i = 0; i < 24; ++i) ids.push_back(offer(0, 8'000'000));
  std::size_t largest = 0;
  await(
      [&] {
        largest = std::max(largest, sim().host(1).node().memory().used);
        return std::all_of(ids.begin(), ids.end(),
                           [&](const BulkChannelId& id) { return bulk_[2]->received(id) != nullptr; });
      },
      60s, "the contents");
  EXPECT_LE(largest, kMemoryBytesLeast * 3 / 4);
}

// They are kept for half a minute, each where it was read, in a slab that is full of content otherwise.
TEST_F(BulkYield, FewMessagesAmongContentKeepNoSlabs) {
  begin_on_one_path(8);
  if (HasFatalFailure()) return;
  const BulkChannelId id = offer(0, 8'000'000);
  for (int i = 0; i < 500 && bulk_[1]->received(id) == nullptr; ++i) {
    sender_->multicast({"ordered"}, {.size = 10, .self_discard = true});
    sim().run_for(30ms);
  }
  ASSERT_NE(bulk_[1]->received(id), nullptr);
  EXPECT_GT(received_, 80u);
  members_[0]->cancel(id);
  sim().run_for(2s);
  EXPECT_LE(sim().host(1).node().memory().slabs, 8 * SlabPool::kLargeBytes);
}

TEST_F(BulkYield, CountsWhatItDoes) {
  begin(7, Shape::ring, 4);
  sim().network().set_path(0, 1, narrow_path(5'000'000));
  sim().network().set_path(0, 3, narrow_path(5'000'000));
  const BulkChannelId id = offer(0, 30'000'000);
  sim().run_for(1s);
  // The parent of the third one falls silent.
  const std::uint64_t asked = counter(2, Counter::bulk_backups_asked);
  sim().host(1).pause();
  sim().run_for(2s);
  sim().host(1).resume();
  const std::uint64_t asked_first = counter(2, Counter::bulk_backups_asked) - asked;
  sim().host(3).pause();
  sim().run_for(2s);
  sim().host(3).resume();
  EXPECT_GT(asked_first + counter(2, Counter::bulk_backups_asked) - asked, 0u);
  await([&] { return bulk_[2]->received(id) != nullptr; }, 60s, "the content");
  for (const Counter each : {Counter::bulk_symbols_relayed, Counter::bulk_bytes_relayed, Counter::bulk_needs_in,
                             Counter::bulk_plans_made, Counter::bulk_plans_followed, Counter::bulk_hops_opened}) {
    EXPECT_GT(counter(0, each), 0u) << to_string(each);
  }
  EXPECT_GT(counter(2, Counter::bulk_needs_out), 0u);
  EXPECT_EQ(counter(2, Counter::bulk_plans_made), 0u);
}

TEST_F(BulkYield, CountsWhatIsOverwritten) {
  begin(8, Shape::line, 3);
  // Of a daemon's two children the one far away takes a fraction of what comes.
  sim().network().set_path(0, 1, narrow_path(5'000'000));
  sim().network().set_path(1, 2, narrow_path(200'000));
  const BulkChannelId id = offer(0, 12'000'000);
  await([&] { return bulk_[1]->received(id) != nullptr; }, 30s, "the content near by");
  sim().run_for(1s);
  EXPECT_GT(counter(1, Counter::bulk_symbols_overwritten), 0u);
  EXPECT_EQ(counter(0, Counter::bulk_symbols_overwritten), 0u);
}

}  // namespace
}  // namespace spindled::sim
