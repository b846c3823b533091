#include "daemon/order/ready_line.h"

#include <gtest/gtest.h>

#include "daemon/base/random.h"

namespace spindled {
namespace {

constexpr MemberIndex kSelf = 1;
constexpr std::size_t kMembers = 4;

/// Looks at all runs each time.
std::uint64_t model(const OrderLog& order, const std::vector<IncomingStream>& incoming) {
  std::uint64_t line = order.processed();
  std::vector<std::uint64_t> used(kMembers, 0);
  for (std::size_t i = 0; i < order.runs().size(); ++i) {
    const Run& run = order.runs()[i];
    if (!run.destinations.contains(kSelf)) {
      line += run.count;
      continue;
    }
    const std::uint64_t arrived = incoming[run.origin].ordered().size() - used[run.origin];
    line += std::min(run.count, arrived);
    if (arrived < run.count) break;
    used[run.origin] += run.count;
  }
  return line;
}

TEST(ReadyLine, IsWhereItIsFoundByLookingAtEverything) {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    const std::uint64_t start = random.below(2) * 1'000'000;
    OrderLog order(start);
    std::vector<IncomingStream> incoming(kMembers);
    ReadyLine ready;
    std::uint64_t end = start;
    for (int step = 0; step < 200; ++step) {
      switch (random.below(4)) {
        case 0: {
          OrderRecord record;
          record.first = end + 1;
          for (std::size_t i = random.below(4); i > 0; --i) {
            spindled::Run run;
            run.origin = static_cast<MemberIndex>(random.below(kMembers));
            run.count = random.between(1, 5);
            run.destinations = MemberSet::of(static_cast<MemberIndex>(random.below(2) == 0 ? kSelf : 2));
            end += run.count;
            record.runs.push_back(std::move(run));
          }
          ASSERT_TRUE(order.append(record));
          break;
        }
        case 1:
          for (std::size_t i = random.below(8); i > 0; --i) incoming[random.below(kMembers)].ordered().push_back();
          break;
        case 2:  // delivery goes on, at most as far as there are messages
          for (std::size_t i = random.below(12); i > 0 && !order.empty(); --i) {
            const spindled::Run& run = order.front();
            if (!run.destinations.contains(kSelf)) {
              order.advance(run.count);
            } else if (!incoming[run.origin].ordered().empty()) {
              incoming[run.origin].pass_ordered();
              order.advance(1);
            }
          }
          break;
        default:
          ASSERT_EQ(ready.advance(order, incoming, kSelf), model(order, incoming)) << round << " " << step;
      }
    }
  }
}

}  // namespace
}  // namespace spindled
