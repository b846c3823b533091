#include "libclient/src/event_queue.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <set>
#include <thread>

namespace spindle {
namespace {

constexpr std::size_t kLimit = 1000;

bool is_readable(int descriptor) {
  pollfd waiting{descriptor, POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 1;
}

class EventQueueTest : public testing::Test {
 protected:
  void push(std::initializer_list<const char*> groups, std::size_t bytes = 1) {
    std::vector<Event> events;
    for (const char* group : groups) events.push_back(Transitional{group});
    queue_.push(events, bytes);
    EXPECT_TRUE(events.empty());
  }
  void push_end() {
    std::vector<Event> events{Disconnected{}};
    queue_.push(events, 1);
  }
  std::string take() {
    const std::optional<Event> event = queue_.take();
    return event ? event->get<Transitional>().group : "";
  }

  int room_ = 0;
  EventQueue queue_{kLimit, [this] { ++room_; }};
};

TEST_F(EventQueueTest, EventsComeInOrder) {
  EXPECT_FALSE(queue_.take());
  push({"a", "b"});
  push({"c"}, 100'000);
  push({"d"});
  for (const char* expected : {"a", "b", "c", "d", ""}) EXPECT_EQ(take(), expected);
}

TEST_F(EventQueueTest, FullBeyondTheLimitUntilSomeOfItIsFree) {
  // Batches of 64 KiB stand apart, smaller ones are put together and given back together.
  EventQueue queue(200'000, [this] { ++room_; });
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(queue.is_full(), i == 3) << "beyond the limit from the third on";
    std::vector<Event> events{Transitional{"x"}};
    queue.push(events, 70'000);
  }
  EXPECT_TRUE(queue.take());
  EXPECT_TRUE(queue.is_full()) << "210,000 bytes are left";
  EXPECT_EQ(room_, 0);
  EXPECT_TRUE(queue.take());
  EXPECT_TRUE(queue.is_full()) << "140,000";
  EXPECT_TRUE(queue.take());
  EXPECT_FALSE(queue.is_full());
  EXPECT_EQ(room_, 1);
  EXPECT_TRUE(queue.take());
  EXPECT_EQ(room_, 1) << "told once";
}

TEST_F(EventQueueTest, ResumesOnceAnEighthOr64KiBIsFree) {
  EXPECT_EQ(EventQueue::resume_bytes(8u << 20), 7u << 20);
  EXPECT_EQ(EventQueue::resume_bytes(512u << 10), 448u << 10);
  EXPECT_EQ(EventQueue::resume_bytes(256u << 10), 192u << 10);
  EXPECT_EQ(EventQueue::resume_bytes(64u << 10), 32u << 10);
  EXPECT_EQ(EventQueue::resume_bytes(1), 1u);
}

TEST_F(EventQueueTest, TheDescriptorIsReadableWhileEventsWait) {
  push({"a", "b"});
  const int descriptor = queue_.descriptor();
  ASSERT_GE(descriptor, 0);
  EXPECT_EQ(queue_.descriptor(), descriptor);
  EXPECT_TRUE(is_readable(descriptor));
  take();
  EXPECT_TRUE(is_readable(descriptor)) << "b waits";
  take();
  EXPECT_FALSE(is_readable(descriptor));
  push({"c"});
  EXPECT_TRUE(is_readable(descriptor));
  take();
  EXPECT_FALSE(is_readable(descriptor));
}

TEST_F(EventQueueTest, ADescriptorMadeInTheMiddleOfABatchIsReadable) {
  push({"a", "b"});
  take();
  EXPECT_TRUE(is_readable(queue_.descriptor()));
  take();
  EXPECT_FALSE(is_readable(queue_.descriptor()));
}

TEST_F(EventQueueTest, NothingFollowsTheEnd) {
  push({"a"});
  push_end();
  EXPECT_TRUE(queue_.wait(std::nullopt));
  EXPECT_FALSE(queue_.finished());
  EXPECT_TRUE(queue_.wait(std::nullopt)->is<Disconnected>());
  EXPECT_TRUE(queue_.finished());
  EXPECT_FALSE(queue_.wait(std::nullopt));
}

TEST_F(EventQueueTest, ADeadlineThatHasPassedIsKept) {
  EXPECT_FALSE(queue_.wait(std::chrono::steady_clock::now()));
  EXPECT_FALSE(queue_.finished());
}

TEST_F(EventQueueTest, SeveralThreadsTakeEachEventOnce) {
  constexpr int kEvents = 20'000;
  constexpr int kTakers = 3;
  std::vector<std::string> got[kTakers];
  std::vector<std::thread> takers;
  for (auto& mine : got) {
    takers.emplace_back([this, &mine] {
      while (const std::optional<Event> event = queue_.wait(std::nullopt)) {
        if (const auto* signal = event->get_if<Transitional>()) mine.push_back(signal->group);
      }
    });
  }
  for (int i = 0; i < kEvents; i += 4) {
    std::vector<Event> events;
    for (int j = i; j < i + 4; ++j) events.push_back(Transitional{std::to_string(j)});
    queue_.push(events, 4000);
  }
  push_end();
  for (std::thread& taker : takers) taker.join();
  std::set<std::string> all;
  std::size_t count = 0;
  for (const auto& mine : got) {
    all.insert(mine.begin(), mine.end());
    count += mine.size();
    int last = -1;
    for (const std::string& text : mine) {
      EXPECT_LT(last, std::stoi(text));
      last = std::stoi(text);
    }
  }
  EXPECT_EQ(count, static_cast<std::size_t>(kEvents));
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kEvents));
}

}  // namespace
}  // namespace spindle
