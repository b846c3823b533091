// The queue of a link against a dumb model: bytes written in random steps, frames of several priorities.
#include "daemon/link/link_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>

#include "daemon/base/random.h"
#include "daemon/link/link_limits.h"

namespace spindled {
namespace {

using spindle::as_bytes;
using spindle::as_text;

constexpr std::size_t kPriorities = 3;

std::size_t packets_in(std::size_t bytes) { return (bytes + kPacketBytes - 1) / kPacketBytes; }

/// Says, byte by byte, what the next one to be written is.
class Model {
 public:
  struct Frame {
    std::string bytes;
    std::size_t packets = 0;
  };

  void append(std::size_t priority, Frame frame) { queues_[priority].push_back(std::move(frame)); }
  bool empty() const { return first() == kPriorities; }
  char next() {
    if (written_ == 0) at_ = first();
    std::deque<Frame>& queue = queues_[at_];
    const char byte = queue.front().bytes[written_];
    if (++written_ == queue.front().bytes.size()) {
      departed_squares_ += queue.front().packets * queue.front().packets;
      queue.pop_front();
      written_ = 0;
    }
    return byte;
  }
  void drop(std::size_t priority) { queues_[priority].resize(is_begun(priority) ? 1 : 0); }

  std::size_t bytes(std::size_t priority) const {
    std::size_t total = 0;
    for (const Frame& frame : queues_[priority]) total += frame.bytes.size();
    return total - (is_begun(priority) ? written_ : 0);
  }
  std::size_t packets() const {
    std::size_t total = 0;
    for (std::size_t i = 0; i < kPriorities; ++i) {
      for (std::size_t j = 0; j < queues_[i].size(); ++j) {
        const Frame& frame = queues_[i][j];
        const std::size_t gone = j == 0 && is_begun(i) ? written_ : 0;
        total += std::min(frame.packets, packets_in(frame.bytes.size() - gone));
      }
    }
    return total;
  }
  std::uint64_t departed_squares() const { return departed_squares_; }

 private:
  bool is_begun(std::size_t priority) const { return written_ != 0 && at_ == priority; }
  std::size_t first() const {
    std::size_t i = 0;
    while (i < kPriorities && queues_[i].empty()) ++i;
    return i;
  }

  std::array<std::deque<Frame>, kPriorities> queues_;
  std::size_t at_ = 0;       // the queue of the frame that is partly written
  std::size_t written_ = 0;  // of it
  std::uint64_t departed_squares_ = 0;
};

std::string with_head(LinkFrame type, std::string_view body) {
  std::string bytes(kFrameHeadBytes, '\0');
  Writer writer(reinterpret_cast<std::uint8_t*>(bytes.data()));
  write_frame_head(writer, static_cast<std::uint8_t>(type), body.size());
  return bytes.append(body);
}

TEST(LinkQueue, AgreesWithTheModel) {
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    SlabPool pool;
    SlabWriter arena(pool);
    LinkQueue queue(pool, kPriorities);
    Model model;
    const auto random_text = [&](std::size_t bound) {
      std::string text(random.below(random.chance(0.1) ? 50 * bound : bound), '\0');
      for (char& byte : text) byte = static_cast<char>(random.next());
      return text;
    };
    for (int step = 0; step < 600; ++step) {
      const std::uint64_t action = random.below(100);
      const std::size_t priority = random.below(kPriorities);
      if (action < 50) {
        const std::string prefix = random_text(20), head = random_text(100), tail = random_text(200);
        const std::string body = prefix + head + tail;
        const FrameTraits type{.type = static_cast<LinkFrame>(1 + random.below(kFrameTypes)),
                               .name = "any",
                               .bytes_max = spindle::kFrameLengthMax,
                               .priority = static_cast<FramePriority>(priority),
                               .is_packets = random.chance(0.5)};
        queue.append(type, as_bytes(prefix), arena.copy(as_bytes(head)), arena.copy(as_bytes(tail)));
        const std::size_t packets = type.is_packets ? std::max<std::size_t>(1, packets_in(body.size())) : 0;
        model.append(priority, {with_head(type.type, body), packets});
      } else if (action < 51) {
        queue.drop(static_cast<FramePriority>(priority));
        model.drop(priority);
      } else {
        std::vector<ByteView> buffers(1 + random.below(6));
        const std::size_t count = queue.gather(buffers);
        ASSERT_EQ(count == 0, model.empty());
        std::string offered;
        bool same = true;
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_FALSE(buffers[i].empty());
          offered += as_text(buffers[i]);
        }
        offered.resize(random.chance(0.3) ? offered.size() : random.below(offered.size() + 1));
        for (const char byte : offered) same &= byte == model.next();
        ASSERT_TRUE(same);
        queue.consume(offered.size());
      }
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < kPriorities; ++i) {
        ASSERT_EQ(queue.bytes(static_cast<FramePriority>(i)), model.bytes(i));
        bytes += model.bytes(i);
      }
      ASSERT_EQ(queue.bytes(), bytes);
      ASSERT_EQ(queue.packets(), model.packets());
      ASSERT_EQ(queue.departed_squares(), model.departed_squares());
      ASSERT_EQ(queue.empty(), model.empty());
    }
  }
}

}  // namespace
}  // namespace spindled
