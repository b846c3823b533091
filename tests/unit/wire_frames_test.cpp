#include <gtest/gtest.h>

#include <vector>

#include "daemon/base/random.h"
#include "daemon/wire/link_frames.h"

namespace spindled {
namespace {

using Bytes = std::vector<std::uint8_t>;

MemberSet random_set(Random& random) {
  MemberSet set;
  const std::uint64_t range = random.chance(0.5) ? 60 : kMembersMax;
  for (std::uint64_t i = random.between(1, 20); i > 0; --i) set.insert(static_cast<MemberIndex>(random.below(range)));
  return set;
}

/// Of any length that a varint can have.
std::uint64_t random_number(Random& random) { return random.next() >> random.below(64); }

BodyHead random_head(Random& random) {
  BodyHead head;
  head.origin = static_cast<MemberIndex>(random.below(kMembersMax));
  head.message_class = static_cast<MessageClass>(random.below(4));
  head.service = only_service(head.message_class).value_or(static_cast<Service>(random.below(6)));
  const bool is_whole = head.message_class == MessageClass::part;
  head.first = is_whole || random.chance(0.5);
  head.last = is_whole || random.chance(0.5);
  if (head.service == Service::unreliable) return head;
  head.number = std::max<std::uint64_t>(random_number(random), 1);
  if (head.number > 1 && random.chance(0.5)) head.after = random.between(1, head.number - 1);
  if (has_seen(head)) head.seen = random_number(random);
  return head;
}

Bytes encode(const BodyHead& head, const MemberSet& destinations) {
  Bytes bytes(body_head_size(head, destinations));
  Writer writer(bytes.data());
  write_body_head(writer, head, destinations);
  EXPECT_EQ(writer.size(), bytes.size());
  return bytes;
}

TEST(WireBody, ReadsWhatWasWritten) {
  Random random(1);
  for (int round = 0; round < 5000; ++round) {
    const BodyHead head = random_head(random);
    const MemberSet destinations = random_set(random);
    Bytes bytes = encode(head, destinations);
    const std::size_t head_size = bytes.size();
    bytes.resize(head_size + random.below(10), 0xee);
    const auto body = read_body(bytes);
    ASSERT_TRUE(body);
    EXPECT_EQ(body->head.origin, head.origin);
    EXPECT_EQ(body->head.number, head.number);
    EXPECT_EQ(body->head.service, head.service);
    EXPECT_EQ(body->head.message_class, head.message_class);
    EXPECT_EQ(body->head.first, head.first);
    EXPECT_EQ(body->head.last, head.last);
    EXPECT_EQ(body->head.after, head.after);
    EXPECT_EQ(body->head.seen, head.seen);
    EXPECT_EQ(body->content_offset, head_size);
    EXPECT_EQ(read_destinations(*body), destinations);
  }
}

// An origin and a number of one byte each stand behind `kind`.
TEST(WireBody, OfTheBitsOfClassAndServiceNineValuesAreTaken) {
  std::vector<unsigned> taken;
  BodyHead head;
  head.number = 1;
  Bytes bytes = encode(head, MemberSet::of(1));
  bytes.push_back(0);  // `seen`
  for (unsigned kind = 0; kind < 256; ++kind) {
    if ((kind & 0x38) != 0x18) continue;  // whole, and behind nothing
    bytes[0] = static_cast<std::uint8_t>(kind);
    bytes[2] = (kind & 0xc7) == 0 ? 0 : 1;
    if (read_body(bytes)) taken.push_back(kind & 0xc7);
  }
  EXPECT_EQ(taken, (std::vector<unsigned>{0, 1, 2, 3, 4, 5, 0x44, 0x81, 0xc1}));
}

TEST(WireBody, RefusesEveryTruncatedHead) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const Bytes bytes = encode(random_head(random), random_set(random));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(read_body(ByteView(bytes).first(size))) << "round " << round << ", size " << size;
    }
  }
}

TEST(WireBody, RefusesWhatIsOutOfRange) {
  const Bytes good{0x19, 0x00, 0x01, 0x01, 0x02};  // reliable, first and last, origin 0, number 1, to member 1
  ASSERT_TRUE(read_body(good));
  const auto with = [&](std::size_t at, std::uint8_t value) {
    Bytes bytes = good;
    bytes[at] = value;
    return read_body(bytes);
  };
  EXPECT_FALSE(with(2, 0)) << "number 0 of a reliable message";
  EXPECT_FALSE(with(0, 0x18)) << "an unreliable message with a number";
  EXPECT_FALSE(with(0, 0x1e)) << "service 6";
  EXPECT_TRUE(with(0, 0xd9)) << "a part";
  EXPECT_FALSE(with(0, 0xdc)) << "an agreed part";
  EXPECT_FALSE(with(0, 0xd1)) << "a part in several fragments";
  EXPECT_FALSE(with(4, 0)) << "a set with a trailing zero byte";
  EXPECT_FALSE(with(3, 0)) << "no destinations";
  EXPECT_FALSE(read_body(Bytes{0x19, 0xf8, 0x0f, 0x01, 0x01, 0x02})) << "origin 2,040";
  EXPECT_FALSE(read_body(Bytes{0x3a, 0x00, 0x05, 0x01, 0x02, 0x00})) << "after itself";
  EXPECT_FALSE(read_body(Bytes{0x3a, 0x00, 0x05, 0x01, 0x02, 0x05})) << "after number 0";
  EXPECT_TRUE(read_body(Bytes{0x3a, 0x00, 0x05, 0x01, 0x02, 0x04})) << "after number 1";
}

TEST(WireBody, SurvivesGarbage) {
  Random random(3);
  for (int round = 0; round < 20000; ++round) {
    Bytes bytes(random.below(40));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
    const auto body = read_body(bytes);
    if (!body) continue;
    EXPECT_LE(body->content_offset, bytes.size());
    EXPECT_FALSE(read_destinations(*body).empty());
  }
}

TEST(WireRouted, ReportsReadAsWritten) {
  Random random(4);
  for (int round = 0; round < 1000; ++round) {
    const Acknowledgement report{static_cast<MemberIndex>(random.below(kMembersMax)), random_number(random)};
    Bytes bytes(kShortFrameBytesMax);
    bytes.resize(write_acknowledgement(bytes.data(), report));
    const auto read = read_acknowledgement(bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->from, report.from);
    EXPECT_EQ(read->high, report.high);
    EXPECT_FALSE(read_acknowledgement(ByteView(bytes).first(bytes.size() - 1)));
    bytes.push_back(0);
    EXPECT_FALSE(read_acknowledgement(bytes));
  }
  EXPECT_FALSE(read_acknowledgement(Bytes{0xf8, 0x0f, 0x01})) << "member 2,040";
}

TEST(WireRouted, StableAndReadyReadAsWritten) {
  Random random(5);
  for (int round = 0; round < 1000; ++round) {
    const auto from = static_cast<MemberIndex>(random.below(kMembersMax));
    const std::uint64_t line = random_number(random);
    Bytes bytes(kShortFrameBytesMax);
    bytes.resize(write_stable(bytes.data(), {from, line}));
    const auto stable = read_stable(bytes);
    ASSERT_TRUE(stable);
    EXPECT_EQ(stable->from, from);
    EXPECT_EQ(stable->line, line);
    bytes.resize(kShortFrameBytesMax);
    bytes.resize(write_ready(bytes.data(), {from, line}));
    const auto ready = read_ready(bytes);
    ASSERT_TRUE(ready);
    EXPECT_EQ(ready->from, from);
    EXPECT_EQ(ready->line, line);
    bytes.push_back(0);
    EXPECT_FALSE(read_stable(bytes));
    EXPECT_FALSE(read_ready(bytes));
  }
}

TEST(WireRouted, PushReadsAsWrittenAndLeavesTheBody) {
  const Push push{{std::uint64_t{1} << 63, "alpha", 1}, {7, std::string(64, 'b'), UINT64_MAX}};
  Bytes bytes(push_size(push));
  Writer writer(bytes.data());
  write_push(writer, push);
  ASSERT_EQ(writer.size(), bytes.size());
  bytes.insert(bytes.end(), {1, 2, 3});
  ByteView rest;
  const auto read = read_push(bytes, rest);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->proposal, push.proposal);
  EXPECT_EQ(read->old_view, push.old_view);
  EXPECT_EQ(Bytes(rest.begin(), rest.end()), (Bytes{1, 2, 3}));
  for (std::size_t size = 0; size < bytes.size() - 3; ++size) {
    EXPECT_FALSE(read_push(ByteView(bytes).first(size), rest)) << size;
  }
}

TEST(WireNeighbour, ViewIds) {
  const ViewId id{300, "alpha", 7};
  EXPECT_EQ(to_string(id), "300@alpha");
  Bytes bytes = write_view_id(id);
  EXPECT_EQ(read_view_id(bytes), id);
  bytes.push_back(0);
  EXPECT_FALSE(read_view_id(bytes));
  EXPECT_FALSE(read_view_id(write_view_id({1, ""})));
  EXPECT_FALSE(read_view_id(write_view_id({1, "a b"})));
  EXPECT_FALSE(read_view_id(write_view_id({1, std::string(65, 'a')})));
}

TEST(WireNeighbour, PingsHaveEightBytes) {
  EXPECT_EQ(read_ping(Bytes{1, 2, 0, 0, 0, 0, 0, 0})->token, 0x201u);
  EXPECT_FALSE(read_ping(Bytes(7)));
  EXPECT_FALSE(read_ping(Bytes(9)));
}

TEST(WireNeighbour, CloseTextsAreBoundedAndFitForALog) {
  const auto close = read_link_close(write_link_close({14, "why\nnot"}));
  ASSERT_TRUE(close);
  EXPECT_EQ(close->code, 14);
  EXPECT_EQ(close->text, "why?not");
  EXPECT_EQ(read_link_close(write_link_close({1, std::string(5000, 'x')}))->text, std::string(1024, 'x'));
  EXPECT_FALSE(read_link_close(Bytes(2 + 1025)));
  EXPECT_FALSE(read_link_close(Bytes(1)));
}

TEST(WirePrices, ReadAsWritten) {
  Random random(6);
  for (int round = 0; round < 2000; ++round) {
    Price price;
    price.view = static_cast<std::uint16_t>(random.next());
    price.from = static_cast<MemberIndex>(random.below(kMembersMax));
    if (random.chance(0.5)) {
      price.neighbour = static_cast<MemberIndex>(random.below(kMembersMax));
    } else {
      price.name = random.chance(0.5) ? "#slow#beta" : std::string(random.between(1, 255), 'g');
      if (random.chance(0.5)) price.slowest = "slow";
    }
    price.sequence = std::max<std::uint64_t>(random_number(random), 1);
    price.level = static_cast<std::uint16_t>(random.next());
    price.delay = static_cast<std::uint16_t>(random.between(1, 0xffff));
    Bytes bytes = write_price(price);
    EXPECT_EQ(read_price(bytes), price);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(read_price(ByteView(bytes).first(size))) << "round " << round << ", size " << size;
    }
    bytes.push_back(0);
    EXPECT_FALSE(read_price(bytes));
  }
}

TEST(WirePrices, RefusesWhatIsOutOfRange) {
  const auto written = [](MemberIndex from, MemberIndex neighbour, std::uint64_t sequence, std::uint16_t delay) {
    return write_price({300, from, neighbour, {}, sequence, 0xffff, delay, {}});
  };
  EXPECT_TRUE(read_price(written(kMembersMax - 1, kMembersMax - 1, 1, 0xffff)));
  EXPECT_FALSE(read_price(written(kMembersMax, 0, 1, 1)));
  EXPECT_FALSE(read_price(written(0, kMembersMax, 1, 1)));
  EXPECT_FALSE(read_price(written(0, 1, 0, 1))) << "numbers start with 1";
  EXPECT_FALSE(read_price(written(0, 1, 1, 0))) << "nobody answers at once";
  EXPECT_TRUE(read_price(Bytes{0, 0, 1, 1, 'g', 1, 1, 0, 1, 0, 0}));
  EXPECT_FALSE(read_price(Bytes{0, 0, 1, 0, 1, 1, 0, 1, 0, 0})) << "clients without a name";
  EXPECT_FALSE(read_price(Bytes{0, 0, 1, 1, '#', 1, 1, 0, 1, 0, 0})) << "a private name without its parts";
  Bytes named = write_price({300, 1, 0, "g", 1, 1, 1, "slow"});
  EXPECT_TRUE(read_price(named));
  named.back() = ' ';
  EXPECT_FALSE(read_price(named)) << "no client's name";
}

TEST(WirePrices, AreToldToWithinATwoThousandth) {
  EXPECT_EQ(level_of(0), 0);
  EXPECT_EQ(level_of(-1), 0);
  EXPECT_EQ(dollars_of(0), 0);
  EXPECT_EQ(dollars_of(level_of(1)), 1);
  double before = 0;
  for (double dollars = 0.0004; dollars < 2e10; dollars *= 1.01) {
    EXPECT_NEAR(dollars_of(level_of(dollars)), dollars, dollars / 2000) << dollars;
    EXPECT_GT(dollars_of(level_of(dollars)), before);
    before = dollars_of(level_of(dollars));
  }
  EXPECT_EQ(level_of(1e-9), 1) << "the least that is not nothing";
  EXPECT_EQ(level_of(1e300), 0xffff);
}

TEST(WirePrices, DelaysAreRoundedUp) {
  EXPECT_EQ(price_delay_of(0ns), 1);
  EXPECT_EQ(price_delay_of(250us), 1);
  EXPECT_EQ(price_delay_of(251us), 2);
  EXPECT_EQ(price_delay_of(1h), 0xffff);
}

TEST(WirePrices, SurviveGarbage) {
  Random random(7);
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes(random.below(20));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
    const std::optional<Price> price = read_price(bytes);
    if (!price) continue;
    EXPECT_EQ(read_price(write_price(*price)), price);
  }
}

}  // namespace
}  // namespace spindled
