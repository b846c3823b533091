// What `spmonitor` does, in a simulation.
#pragma once

#include <gtest/gtest.h>

#include "tests/sim/admin_request.h"
#include "tests/sim/simulator.h"
#include "tests/sim/stranger.h"

namespace spindled::sim {

/// One request at a host's administration port, and its reply. Fails the test where none comes.
inline spindle::admin::Reply ask_admin(Simulator& simulator, std::size_t host, const spindle::admin::Request& request) {
  spindle::admin::Reply reply;
  Stranger asking(simulator.world(), simulator.host(host), Port::admin);
  asking.send(admin_frame_of(request));
  std::optional<spindle::FrameHead> head;
  const bool answered = simulator.run_until(
      [&] {
        head = spindle::read_frame_head(asking.received());
        return head && asking.received().size() >= spindle::kFrameHeadBytes + head->length;
      },
      1s);
  EXPECT_TRUE(answered) << "the administration port of " << host << " does not answer";
  if (!answered) return reply;
  EXPECT_EQ(head->type, static_cast<std::uint8_t>(AdminFrame::reply));
  EXPECT_TRUE(
      reply.ParseFromArray(asking.received().data() + spindle::kFrameHeadBytes, static_cast<int>(head->length)));
  return reply;
}

}  // namespace spindled::sim
