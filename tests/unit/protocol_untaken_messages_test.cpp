// Which messages are not known to have entered: with and without independent flows, as runs and one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "libclient/protocol/untaken_messages.h"

namespace spindle::protocol {
namespace {

using Tickets = std::vector<std::uint64_t>;

TEST(UntakenMessages, LeaveInTheOrderSentWhateverTheirTickets) {
  UntakenMessages messages;
  for (const std::uint64_t ticket : std::initializer_list<std::uint64_t>{7, 7, 7, 8, 9, 3, 3, 0, ~std::uint64_t{0}})
    messages.sent(ticket);
  EXPECT_EQ(messages.tickets(), (Tickets{0, 3, 3, 7, 7, 7, 8, 9, ~std::uint64_t{0}}));
  messages.taken(2);
  EXPECT_EQ(messages.tickets(), (Tickets{0, 3, 3, 7, 8, 9, ~std::uint64_t{0}}));
  messages.entered(4);  // of all that were sent
  EXPECT_EQ(messages.tickets(), (Tickets{0, 3, 3, 9, ~std::uint64_t{0}}));
  messages.entered(1);  // known before
  EXPECT_EQ(messages.tickets().size(), 5U);
  messages.taken(100);
  EXPECT_TRUE(messages.tickets().empty());
}

TEST(UntakenMessages, WhatIsNotSentYetStays) {
  UntakenMessages messages;
  for (std::uint64_t ticket = 1; ticket <= 5; ++ticket) messages.sent(ticket);
  const std::array<std::uint32_t, 2> unsent{0, 0};
  EXPECT_EQ(messages.take_all_but(unsent), (Tickets{1, 2, 3}));
  EXPECT_EQ(messages.tickets(), (Tickets{4, 5}));
  messages.sent(6);
  messages.entered(4);
  EXPECT_EQ(messages.tickets(), (Tickets{5, 6}));
}

TEST(UntakenMessages, OfFlowsLeaveByBytes) {
  UntakenMessages messages;
  messages.sent(1, 100, 10);
  messages.sent(2, 50, 20);
  messages.sent(1, 100, 11);
  messages.sent(1, 100, 12);
  messages.admitted(1, 150);
  EXPECT_EQ(messages.tickets(), (Tickets{11, 12, 20}));
  messages.admitted(1, 50);
  EXPECT_EQ(messages.tickets(), (Tickets{12, 20}));
  const std::array<std::uint32_t, 1> unsent{1};
  EXPECT_EQ(messages.take_all_but(unsent), (Tickets{20}));
  messages.entered(4);
  EXPECT_TRUE(messages.tickets().empty());
}

/// Beside a list that has each message.
TEST(UntakenMessages, AreThoseOfAListWithEachOfThem) {
  std::mt19937_64 random(20261128);
  for (int round = 0; round < 200; ++round) {
    UntakenMessages messages;
    std::deque<std::pair<std::uint64_t, std::uint64_t>> list;  // number, ticket
    std::uint64_t sent = 0, ticket = random();
    for (int step = 0; step < 200; ++step) {
      const std::uint64_t drawn = random() % 10;
      if (drawn < 7) {
        ticket += drawn < 3 ? 0 : drawn < 6 ? 1 : random();
        messages.sent(ticket);
        list.emplace_back(++sent, ticket);
      } else if (drawn == 7) {
        const std::uint64_t count = random() % 8;
        messages.taken(count);
        for (std::uint64_t i = 0; i < count && !list.empty(); ++i) list.pop_front();
      } else if (drawn == 8) {
        const std::uint64_t first = random() % (sent + 1);
        messages.entered(first);
        while (!list.empty() && list.front().first <= first) list.pop_front();
      } else {
        const std::vector<std::uint32_t> unsent(random() % 5);
        Tickets gone;
        for (; list.size() > unsent.size(); list.pop_front()) gone.push_back(list.front().second);
        std::sort(gone.begin(), gone.end());
        ASSERT_EQ(messages.take_all_but(unsent), gone);
      }
      Tickets left;
      for (const auto& [number, each] : list) left.push_back(each);
      std::sort(left.begin(), left.end());
      ASSERT_EQ(messages.tickets(), left);
    }
  }
}

}  // namespace
}  // namespace spindle::protocol
