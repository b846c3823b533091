// Member sets against std::set on random input; timers; random numbers; counters.
#include <gtest/gtest.h>

#include <set>

#include "daemon/base/counters.h"
#include "daemon/base/member_set.h"
#include "daemon/base/random.h"
#include "daemon/base/timers.h"

namespace spindled {
namespace {

using spindle::Reader;
using spindle::Writer;
using ModelSet = std::set<MemberIndex>;

ModelSet to_model(const MemberSet& set) {
  ModelSet result;
  set.for_each([&](MemberIndex member) {
    EXPECT_TRUE(result.empty() || *result.rbegin() < member);
    result.insert(member);
  });
  return result;
}

std::vector<std::uint8_t> encode(const MemberSet& set) {
  std::vector<std::uint8_t> bytes(set.encoded_size());
  Writer writer(bytes.data());
  set.write(writer);
  EXPECT_EQ(writer.size(), bytes.size());
  return bytes;
}

std::pair<MemberSet, ModelSet> random_set(Random& random) {
  std::pair<MemberSet, ModelSet> result;
  constexpr std::array<std::size_t, 5> kBounds{8, 64, 65, 200, kMembersMax};
  const std::size_t bound = kBounds[random.below(kBounds.size())];
  const std::size_t count = random.below(30);
  for (std::size_t i = 0; i < count; ++i) {
    const auto member = static_cast<MemberIndex>(random.below(bound));
    if (random.chance(0.8)) {
      result.first.insert(member);
      result.second.insert(member);
    } else {
      result.first.erase(member);
      result.second.erase(member);
    }
  }
  return result;
}

TEST(MemberSet, AgreesWithStdSet) {
  Random random(11);
  for (int round = 0; round < 5000; ++round) {
    const auto [a, model_a] = random_set(random);
    const auto [b, model_b] = random_set(random);
    ModelSet both, either = model_a, only_a = model_a;
    for (const MemberIndex member : model_b) {
      if (model_a.contains(member)) both.insert(member);
      either.insert(member);
      only_a.erase(member);
    }
    ASSERT_EQ(to_model(a), model_a);
    ASSERT_EQ(to_model(a & b), both);
    ASSERT_EQ(to_model(a | b), either);
    ASSERT_EQ(to_model(a - b), only_a);
    ASSERT_EQ(a.intersects(b), !both.empty());
    ASSERT_EQ(a.is_subset_of(b), only_a.empty());
    ASSERT_TRUE((a & b).is_subset_of(b));
    ASSERT_EQ(a == b, model_a == model_b);
    ASSERT_EQ(a.empty(), model_a.empty());
    ASSERT_EQ(a.count(), model_a.size());
    if (!model_a.empty()) {
      ASSERT_EQ(a.front(), *model_a.begin());
    }
    const auto member = static_cast<MemberIndex>(random.below(kMembersMax));
    ASSERT_EQ(a.contains(member), model_a.contains(member));

    const std::vector<std::uint8_t> bytes = encode(a);
    const std::size_t skipped = model_a.empty() ? 0 : *model_a.begin() / 8u;
    const std::size_t bitstring = model_a.empty() ? 1u : 2u + *model_a.rbegin() / 8u;
    ASSERT_LE(bytes.size(), std::min(bitstring, bitstring - skipped + 2));
    Reader reader(bytes);
    ASSERT_EQ(MemberSet::read(reader), a);
    ASSERT_TRUE(reader.done());
  }
}

TEST(MemberSet, FirstAndOf) {
  EXPECT_TRUE(MemberSet::first(0).empty());
  EXPECT_EQ(MemberSet::first(100).count(), 100u);
  EXPECT_TRUE(MemberSet::first(100).contains(99));
  EXPECT_EQ(MemberSet::of(kMembersMax - 1).front(), kMembersMax - 1);
  for (const std::size_t count : {0u, 1u, 63u, 64u, 65u, 128u, 1999u}) {
    MemberSet one_by_one;
    for (std::size_t i = 0; i < count; ++i) one_by_one.insert(static_cast<MemberIndex>(i));
    EXPECT_EQ(MemberSet::first(count), one_by_one) << count;
  }
}

TEST(MemberSet, OneSetHasOneEncoding) {
  Random random(12);
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::uint8_t> bytes(1 + random.below(20));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.below(random.chance(0.5) ? 20 : 256));
    Reader reader(bytes);
    const MemberSet set = MemberSet::read(reader);
    if (!reader.ok()) continue;
    ++accepted;
    bytes.resize(bytes.size() - reader.remaining());
    ASSERT_EQ(encode(set), bytes);
  }
  EXPECT_GT(accepted, 1000);
}

TEST(MemberSet, EverybodyAndASingleMemberAreShortInAnyView) {
  using Bytes = std::vector<std::uint8_t>;
  EXPECT_EQ(encode(MemberSet::first(16)), (Bytes{2, 0xff, 0xff}));
  EXPECT_EQ(encode(MemberSet::first(17)), (Bytes{251, 17, 0}));
  EXPECT_EQ(encode(MemberSet::first(kMembersMax)), (Bytes{251, kMembersMax & 0xff, kMembersMax >> 8}));
  EXPECT_EQ(encode(MemberSet::of(23)), (Bytes{3, 0, 0, 0x80}));
  EXPECT_EQ(encode(MemberSet::of(24)), (Bytes{252, 3, 1, 1}));
  EXPECT_EQ(encode(MemberSet::of(kMembersMax - 1)), (Bytes{252, 249, 1, 0x80}));
  for (const MemberSet& set : {MemberSet::first(17), MemberSet::first(2000), MemberSet::of(24), MemberSet::of(1999),
                               MemberSet::first(2000) - MemberSet::first(700)}) {
    const Bytes bytes = encode(set);
    Reader reader(bytes);
    EXPECT_EQ(MemberSet::read(reader), set);
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(reader.remaining(), 0u);
  }
}

TEST(MemberSet, RefusesOtherFormsWhereTheyAreNotTheShortest) {
  for (const std::vector<std::uint8_t>& bytes : {std::vector<std::uint8_t>{251, 16, 0},
                                                 {251, 0, 0},
                                                 {251, 0xd1, 7},
                                                 {251, 17},
                                                 {3, 0xff, 0xff, 1},
                                                 {252, 2, 1, 0x80},
                                                 {252, 3, 0},
                                                 {252, 3, 2, 0, 1},
                                                 {252, 3, 1, 0},
                                                 {252, 250, 1, 1},
                                                 {252, 0, 3, 1, 2, 3},
                                                 {4, 0, 0, 0, 1},
                                                 {252, 3},
                                                 {252},
                                                 {250}}) {
    Reader reader(bytes);
    MemberSet::read(reader);
    EXPECT_FALSE(reader.ok()) << testing::PrintToString(bytes);
  }
}

TEST(MemberSet, RefusesTrailingZerosAndShortInput) {
  for (const std::vector<std::uint8_t>& bytes :
       {std::vector<std::uint8_t>{}, {1}, {1, 0}, {2, 1, 0}, {9, 1, 0, 0, 0, 0, 0, 0, 0}}) {
    Reader reader(bytes);
    MemberSet::read(reader);
    EXPECT_FALSE(reader.ok());
  }
}

TEST(Timers, KeepDeadlines) {
  enum class Timer { one, two, count_ };
  Timers<Timer> timers;
  EXPECT_EQ(timers.next(), kNever);
  timers.set(Timer::one, Time{5s});
  timers.set(Timer::two, Time{3s});
  EXPECT_EQ(timers.next(), Time{3s});
  timers.set_earlier(Timer::two, Time{4s});
  EXPECT_EQ(timers.deadline(Timer::two), Time{3s});
  timers.set_earlier(Timer::two, Time{2s});
  EXPECT_FALSE(timers.take_due(Timer::two, Time{2s} - 1ns));
  EXPECT_TRUE(timers.take_due(Timer::two, Time{2s}));
  EXPECT_FALSE(timers.take_due(Timer::two, Time{10s}));
  EXPECT_FALSE(timers.is_set(Timer::two));
  EXPECT_EQ(timers.next(), Time{5s});
  timers.stop(Timer::one);
  EXPECT_EQ(timers.next(), kNever);
}

TEST(Random, IsTheSameEverywhere) {
  // SplitMix64(0) begins with these words; xoshiro256**'s first output follows from the second.
  Random random(0);
  const std::uint64_t second_word = 0x6e789e6aa1b965f4;
  EXPECT_EQ(random.next(), std::rotl(second_word * 5, 7) * 9);
  Random a(42), b(42), c(43);
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t value = a.next();
    EXPECT_EQ(value, b.next());
    EXPECT_NE(value, c.next());
  }
}

TEST(Random, BoundsHold) {
  Random random(5);
  std::array<int, 7> seen{};
  for (int i = 0; i < 70'000; ++i) ++seen[random.below(7)];
  for (const int count : seen) EXPECT_NEAR(count, 10'000, 500);
  EXPECT_EQ(random.below(1), 0u);
  EXPECT_EQ(random.between(9, 9), 9u);
  bool high = false;
  for (int i = 0; i < 100; ++i) high |= random.between(0, UINT64_MAX) > UINT64_MAX / 2;
  EXPECT_TRUE(high);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = random.between(10, 12);
    EXPECT_TRUE(value >= 10 && value <= 12);
    const double real = random.real();
    EXPECT_TRUE(real >= 0 && real < 1);
  }
  EXPECT_FALSE(random.chance(0));
  EXPECT_TRUE(random.chance(1));
}

TEST(Random, PartsDoNotDisturbEachOther) {
  Random a(1), b(1);
  Random part_a = a.split();
  Random part_b = b.split();
  for (int i = 0; i < 10; ++i) part_a.next();
  EXPECT_EQ(a.next(), b.next());
  EXPECT_NE(part_b.next(), b.next());
}

TEST(Counters, CountPerCounterAndPerCloseCode) {
  Counters counters;
  counters.add(Counter::links_up);
  counters.add(Counter::links_up, 2);
  EXPECT_EQ(counters.value(Counter::links_up), 3u);
  EXPECT_EQ(counters.value(Counter::links_down), 0u);
  counters.add_close(5);
  counters.add_close(Counters::kCloseCodes);  // a code that this daemon does not know
  counters.add_close(65535);
  EXPECT_EQ(counters.closes(5), 1u);
  EXPECT_EQ(counters.closes(0), 2u);
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    names.insert(to_string(static_cast<Counter>(i)));
    EXPECT_FALSE(describe(static_cast<Counter>(i)).empty());
  }
  EXPECT_EQ(names.size(), kCounterCount);
}

}  // namespace
}  // namespace spindled
