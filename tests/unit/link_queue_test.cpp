// The queue of a link against a dumb model: bytes written in random steps, frames of two priorities.
#include "daemon/link/link_queue.h"

#include <gtest/gtest.h>

#include <deque>

#include "daemon/base/random.h"
#include "daemon/link/link_limits.h"

namespace spindled {
namespace {

using spindle::as_bytes;
using spindle::as_text;

struct ModelFrame {
  std::string bytes;
  std::size_t packets = 0;
};

/// Says, byte by byte, what the next one to be written is.
class Model {
 public:
  std::deque<ModelFrame> control, data;
  bool in_data = false;     // the frame that is partly written is a data frame
  std::size_t written = 0;  // of it
  std::uint64_t departed_squares = 0;

  bool empty() const { return control.empty() && data.empty(); }
  char next() {
    if (written == 0) in_data = control.empty();
    std::deque<ModelFrame>& queue = in_data ? data : control;
    const char byte = queue.front().bytes[written];
    if (++written == queue.front().bytes.size()) {
      departed_squares += queue.front().packets * queue.front().packets;
      queue.pop_front();
      written = 0;
    }
    return byte;
  }
  void drop_data() { data.resize(in_data && written != 0 ? 1 : 0); }
  std::size_t data_bytes() const {
    std::size_t total = 0;
    for (const ModelFrame& frame : data) total += frame.bytes.size();
    return total - (in_data ? written : 0);
  }
  std::size_t packets() const {
    std::size_t total = 0;
    for (const ModelFrame& frame : data) {
      const std::size_t left = frame.bytes.size() - (in_data && &frame == &data.front() ? written : 0);
      total += std::min(frame.packets, (left + kPacketBytes - 1) / kPacketBytes);
    }
    return total;
  }
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
    LinkQueue queue(pool);
    Model model;
    const auto random_text = [&](std::size_t bound) {
      std::string text(random.below(random.chance(0.1) ? 50 * bound : bound), '\0');
      for (char& byte : text) byte = static_cast<char>(random.next());
      return text;
    };
    for (int step = 0; step < 600; ++step) {
      const std::uint64_t action = random.below(100);
      if (action < 20) {
        const std::string body = random_text(100);
        if (random.chance(0.5)) {
          queue.append_control(LinkFrame::control, as_bytes(body));
        } else {
          queue.append_control(LinkFrame::control, arena.copy(as_bytes(body)));
        }
        model.control.push_back({with_head(LinkFrame::control, body), 0});
      } else if (action < 50) {
        const std::string prefix = random_text(20), head = random_text(100), tail = random_text(200);
        const std::string body = prefix + head + tail;
        const bool is_data = random.chance(0.7);
        const LinkFrame type = is_data ? LinkFrame::data : LinkFrame::push;
        queue.append(type, as_bytes(prefix), arena.copy(as_bytes(head)), arena.copy(as_bytes(tail)));
        model.data.push_back({with_head(type, body), !is_data       ? 0
                                                     : body.empty() ? 1
                                                                    : (body.size() + kPacketBytes - 1) / kPacketBytes});
      } else if (action < 51) {
        queue.drop_data();
        model.drop_data();
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
      ASSERT_EQ(queue.data_bytes(), model.data_bytes());
      ASSERT_EQ(queue.packets(), model.packets());
      ASSERT_EQ(queue.departed_squares(), model.departed_squares);
      ASSERT_EQ(queue.empty(), model.empty());
    }
  }
}

}  // namespace
}  // namespace spindled
