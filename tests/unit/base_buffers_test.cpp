// Slabs, the input buffer and the output queue, each against a dumb model on random input.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <string>

#include "daemon/base/input_buffer.h"
#include "daemon/base/output_queue.h"
#include "daemon/base/random.h"
#include "daemon/base/ring.h"
#include "daemon/base/slab.h"

namespace spindled {
namespace {

using spindle::as_bytes;
using spindle::as_text;

std::string random_text(Random& random, std::size_t size) {
  static const std::string noise = [] {
    Random source(99);
    std::string bytes(600'000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(source.next());
    return bytes;
  }();
  return noise.substr(random.below(noise.size() - size), size);
}

TEST(SlabPool, RecyclesAndCounts) {
  SlabPool pool;
  Slab* first = nullptr;
  {
    const SlabRef small = pool.take(1);
    first = small.get();
    EXPECT_EQ(small->capacity(), SlabPool::kSmallBytes);
    const SlabRef medium = pool.take(SlabPool::kSmallBytes + 1);
    EXPECT_EQ(medium->capacity(), SlabPool::kMediumBytes);
    const SlabRef large = pool.take(SlabPool::kMediumBytes + 1);
    EXPECT_EQ(large->capacity(), SlabPool::kLargeBytes);
    const SlabRef odd = pool.take(SlabPool::kLargeBytes + 1);
    EXPECT_EQ(odd->capacity(), SlabPool::kLargeBytes + 1);
    EXPECT_EQ(pool.bytes_in_use(), SlabPool::kSmallBytes + SlabPool::kMediumBytes + 2 * SlabPool::kLargeBytes + 1);
  }
  EXPECT_EQ(pool.bytes_in_use(), 0u);
  EXPECT_EQ(pool.take(1).get(), first);
}

TEST(SlabPool, SharedReferencesKeepASlab) {
  SlabPool pool;
  SlabRef a = pool.take(1);
  SlabRef b = a;
  a = SlabRef();
  EXPECT_EQ(pool.bytes_in_use(), SlabPool::kSmallBytes);
  SlabRef c = std::move(b);
  EXPECT_FALSE(b);  // NOLINT: moved from, as documented
  SlabRef& self = c;
  c = self;
  EXPECT_EQ(pool.bytes_in_use(), SlabPool::kSmallBytes);
  c.reset();
  EXPECT_EQ(pool.bytes_in_use(), 0u);
}

TEST(Slice, PartsKeepTheirBytes) {
  SlabPool pool;
  Slice part;
  {
    SlabWriter writer(pool);
    const Slice whole = writer.copy(as_bytes("0123456789"));
    EXPECT_EQ(as_text(whole.part(10).view()), "");
    EXPECT_EQ(as_text(whole.part(7, 100).view()), "789");
    part = whole.part(2, 3);
  }
  EXPECT_EQ(as_text(part.view()), "234");
  EXPECT_EQ(pool.bytes_in_use(), SlabPool::kLargeBytes);
}

TEST(SlabWriter, PiecesStayAsTheyWereWritten) {
  Random random(1);
  SlabPool pool;
  SlabWriter writer(pool);
  std::vector<std::pair<Slice, std::string>> pieces;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_text(random, random.below(random.chance(0.02) ? 300'000 : 500));
    // What is reserved and not committed may be given out again.
    if (random.chance(0.2)) std::fill_n(writer.reserve(50), 50, std::uint8_t{0xee});
    pieces.emplace_back(writer.copy(as_bytes(text)), text);
    if (random.chance(0.3)) pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(random.below(pieces.size())));
  }
  for (const auto& [slice, text] : pieces) ASSERT_EQ(as_text(slice.view()), text);
}

TEST(InputBuffer, GivesWhatWasReadInAnySteps) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    SlabPool pool;
    SlabWriter arena(pool);
    std::array<InputBuffer, 3> buffers;  // they share the arena
    std::array<std::string, 3> model;    // what is unread
    std::vector<std::pair<Slice, std::string>> taken;
    for (int step = 0; step < 500; ++step) {
      const std::size_t i = random.below(random.chance(0.5) ? 1 : 3);
      if (random.chance(0.6)) {
        const std::size_t wanted = random.chance(0.5) ? 0 : random.below(random.chance(0.2) ? 400'000 : 30'000);
        const std::span<std::uint8_t> space = buffers[i].prepare(arena, wanted);
        ASSERT_FALSE(space.empty());
        ASSERT_GE(model[i].size() + space.size(), wanted);
        const std::size_t bytes =
            std::min<std::size_t>(space.size(), random.below(random.chance(0.05) ? 200'000 : 3000));
        const std::string text = random_text(random, bytes);
        std::copy(text.begin(), text.end(), space.begin());
        buffers[i].commit(arena, bytes);
        model[i] += text;
      } else {
        const std::size_t bytes = random.below(std::min<std::size_t>(model[i].size(), 20'000) + 1);
        if (random.chance(0.5)) {
          taken.emplace_back(buffers[i].take(bytes), model[i].substr(0, bytes));
        } else {
          buffers[i].skip(bytes);
        }
        model[i].erase(0, bytes);
      }
      if (random.chance(0.01)) {
        buffers[i].clear();
        model[i].clear();
      }
      ASSERT_TRUE(as_text(buffers[i].unread()) == model[i]);
    }
    for (const auto& [slice, text] : taken) ASSERT_EQ(as_text(slice.view()), text);
  }
}

TEST(InputBuffer, ALongFrameInSmallPiecesIsMovedOnce) {
  SlabPool pool;
  SlabWriter arena(pool);
  std::array<InputBuffer, 2> buffers;
  constexpr std::size_t kFrame = 8u << 20;
  const std::uint8_t* at = nullptr;
  for (std::size_t i = 0; i < 5000; ++i) {
    for (InputBuffer& buffer : buffers) {
      const auto space = buffer.prepare(arena, buffer.unread().empty() ? 0 : kFrame);
      space[0] = static_cast<std::uint8_t>(i);
      buffer.commit(arena, 1);
    }
    if (i == 1) at = buffers[0].unread().data();
  }
  EXPECT_EQ(buffers[0].unread().data(), at);
  EXPECT_EQ(buffers[0].unread().size(), 5000u);
  EXPECT_LE(pool.bytes_in_use(), 2 * kFrame + 2 * SlabPool::kLargeBytes);
}

TEST(InputBuffer, AShortFrameIsContinuedWhereItStands) {
  SlabPool pool;
  SlabWriter arena(pool);
  InputBuffer buffer;
  const std::uint8_t* at = nullptr;
  for (std::size_t i = 0; i < 1000; ++i) {
    buffer.prepare(arena, 1000)[0] = static_cast<std::uint8_t>(i);
    buffer.commit(arena, 1);
    if (i == 0) at = buffer.unread().data();
  }
  EXPECT_EQ(buffer.unread().data(), at);
  EXPECT_EQ(pool.bytes_in_use(), SlabPool::kLargeBytes);
}

TEST(InputBuffer, AnIdleBufferHoldsNothing) {
  SlabPool pool;
  InputBuffer buffer;
  {
    SlabWriter arena(pool);
    buffer.prepare(arena, 100'000);
    buffer.commit(arena, 10);
    buffer.skip(10);
  }
  EXPECT_EQ(pool.bytes_in_use(), 0u);
}

TEST(OutputQueue, AgreesWithAString) {
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    SlabPool pool;
    SlabWriter arena(pool);
    OutputQueue queue(pool);
    std::string model;
    for (int step = 0; step < 700; ++step) {
      const std::string text = random_text(random, random.below(random.chance(0.1) ? 20'000 : 300));
      switch (random.below(6)) {
        case 0:
          queue.append(arena.copy(as_bytes(text)));
          model += text;
          break;
        case 1:
          queue.append_copy(as_bytes(text));
          model += text;
          break;
        case 2:
          std::copy(text.begin(), text.end(), queue.append_space(text.size()));
          model += text;
          break;
        case 3:
          if (random.chance(0.1)) {
            const std::size_t keep = random.below(model.size() + 100);
            queue.truncate(keep);
            model.resize(std::min(keep, model.size()));
          }
          break;
        default: {
          std::vector<ByteView> buffers(1 + random.below(8));
          const std::size_t count = queue.gather(buffers);
          std::string front;
          for (std::size_t i = 0; i < count; ++i) {
            ASSERT_FALSE(buffers[i].empty());
            front += as_text(buffers[i]);
          }
          ASSERT_EQ(count == 0, model.empty());
          ASSERT_TRUE(model.starts_with(front));
          const std::size_t bytes = random.below(front.size() + 1);
          queue.consume(bytes);
          model.erase(0, bytes);
        }
      }
      ASSERT_EQ(queue.bytes(), model.size());
      ASSERT_EQ(queue.empty(), model.empty());
    }
  }
}

TEST(OutputQueue, AnEmptyQueueHoldsNothing) {
  SlabPool pool;
  OutputQueue queue(pool);
  queue.append_copy(as_bytes("0123456789"));
  EXPECT_EQ(pool.bytes_in_use(), SlabPool::kSmallBytes);
  queue.consume(10);
  EXPECT_EQ(pool.bytes_in_use(), 0u);
  queue.append_copy(as_bytes("0123456789"));
  queue.clear();
  EXPECT_EQ(pool.bytes_in_use(), 0u);
  queue.append_space(0);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(pool.bytes_in_use(), 0u);
}

TEST(OutputQueue, TakesNotMuchMoreThanItHolds) {
  SlabPool pool;
  OutputQueue queue(pool, OutputQueue::kLongBytes);
  const std::string piece(1000, 'p');
  while (queue.bytes() < 1'000'000) {
    queue.append_copy(as_bytes(piece));
    ASSERT_LE(pool.bytes_in_use(), 5 * queue.bytes() + 2 * SlabPool::kMediumBytes) << queue.bytes();
  }
  EXPECT_LE(pool.bytes_in_use(), queue.bytes() + 2 * SlabPool::kLargeBytes);
}

TEST(OutputQueue, CopiesWhatIsSmallEnough) {
  SlabPool pool;
  SlabWriter writer(pool);
  OutputQueue queue(pool);
  const std::string piece(5000, 'p');
  queue.append(writer.copy(as_bytes(piece)));
  queue.append(writer.copy(as_bytes(piece)), piece.size());
  const std::size_t before = pool.bytes_in_use();
  queue.consume(piece.size());
  writer = SlabWriter(pool);
  EXPECT_EQ(pool.bytes_in_use(), before - SlabPool::kLargeBytes) << "the copy needs only the queue's own";
  EXPECT_EQ(std::string(queue.front().begin(), queue.front().end()), piece);
}

TEST(OutputQueue, SmallPiecesShareBuffers) {
  SlabPool pool;
  OutputQueue queue(pool);
  for (int i = 0; i < 1000; ++i) queue.append_copy(as_bytes("0123456789"));
  std::array<ByteView, 8> buffers;
  EXPECT_LE(queue.gather(buffers), 2u);
}

TEST(Ring, AgreesWithADeque) {
  Random random(3);
  Ring<std::string> ring;
  std::deque<std::string> model;
  for (int step = 0; step < 20'000; ++step) {
    if (random.chance(step % 4000 < 2000 ? 0.7 : 0.3)) {
      if (random.chance(0.5)) {
        ring.push_back(std::to_string(step));
      } else {
        std::string& last = ring.push_back();
        ASSERT_EQ(last, "") << "whatever stood there before";
        last = std::to_string(step);
      }
      model.push_back(std::to_string(step));
    } else if (!model.empty() && random.chance(0.1)) {
      ring.pop_back();
      model.pop_back();
    } else if (!model.empty()) {
      ASSERT_EQ(ring.pop_front(), model.front());
      model.pop_front();
    }
    ASSERT_EQ(ring.size(), model.size());
    if (model.empty()) continue;
    const std::size_t index = random.below(model.size());
    ASSERT_EQ(ring[index], model[index]);
    ASSERT_EQ(ring.front(), model.front());
    ASSERT_EQ(ring.back(), model.back());
  }
}

TEST(Ring, KeepsLittleOnceItIsEmpty) {
  struct Counted {
    Counted() { ++count(); }
    Counted(const Counted&) { ++count(); }
    Counted& operator=(const Counted&) = default;
    ~Counted() { --count(); }
    static std::size_t& count() {
      static std::size_t alive = 0;
      return alive;
    }
  };
  Ring<Counted, 64> ring;
  for (int i = 0; i < 1000; ++i) ring.push_back({});
  while (ring.size() > 1) ring.pop_front();
  EXPECT_GE(Counted::count(), 1000u);
  ring.pop_front();
  EXPECT_EQ(Counted::count(), 0u);
  for (int i = 0; i < 64; ++i) ring.push_back({});
  while (!ring.empty()) ring.pop_front();
  EXPECT_EQ(Counted::count(), 64u);
}

TEST(Ring, ShrinksByHalvesWhereLittleIsInIt) {
  Ring<int, 64> ring;
  for (int i = 0; i < 1000; ++i) ring.push_back(i);
  ring.shrink();
  EXPECT_EQ(ring.capacity(), 1024u);
  for (int first = 0; first < 990; ++first) {
    ASSERT_EQ(ring.pop_front(), first);
    ring.shrink();
    ASSERT_GE(ring.capacity(), ring.size());
    ASSERT_TRUE(ring.capacity() == 64 || ring.capacity() <= 4 * ring.size()) << ring.size();
    ASSERT_EQ(ring.back(), 999);
  }
  EXPECT_EQ(ring.capacity(), 64u);
}

}  // namespace
}  // namespace spindled
