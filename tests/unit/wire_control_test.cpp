#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "daemon/base/random.h"
#include "daemon/wire/control.h"
#include "daemon/wire/control.pb.h"

namespace spindled {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

std::uint64_t random_number(Random& random) { return random.next() >> random.below(64); }

std::string random_name(Random& random) {
  std::string name(random.between(1, 64), 'x');
  for (char& letter : name) letter = static_cast<char>(random.between('a', 'z'));
  return name;
}

DaemonId random_daemon(Random& random) { return {random_name(random), random_number(random)}; }

std::vector<DaemonId> random_members(Random& random, std::size_t count) {
  std::set<std::string> names;
  while (names.size() < count) names.insert(random_name(random));
  std::vector<DaemonId> members;
  for (const std::string& name : names) members.push_back({name, random_number(random)});
  return members;
}

ViewId random_view(Random& random) { return {random_number(random), random_name(random), random_number(random)}; }

std::vector<std::uint64_t> random_vector(Random& random, std::size_t size) {
  std::vector<std::uint64_t> numbers(size);
  for (std::uint64_t& number : numbers) number = random_number(random);
  return numbers;
}

/// `proposal` by one of `members`.
ViewId proposed_by(Random& random, const std::vector<DaemonId>& members) {
  const DaemonId& member = members[random.below(members.size())];
  return {random_number(random), member.name, member.incarnation};
}

LinkState random_link_state(Random& random) {
  LinkState state{random_daemon(random), random.between(1, 1000), {}, random.chance(0.5)};
  state.settings.rules = random_number(random);
  if (random.chance(0.5)) state.settings.memory_bytes = random.between(1, 1u << 31);
  if (random.chance(0.5)) state.settings.bulk_address = "host:" + std::to_string(random.between(1, 65'535));
  for (const DaemonId& neighbour : random_members(random, random.below(10))) {
    if (neighbour.name == state.origin.name) continue;
    state.links.push_back({neighbour.name, neighbour.incarnation,
                           static_cast<std::uint32_t>(random.between(1, 1u << 31)),
                           static_cast<std::uint32_t>(random_number(random)), random_number(random)});
  }
  return state;
}

Commit random_commit(Random& random) {
  Commit commit;
  const std::size_t count = random.between(1, 20);
  commit.members = random_members(random, count);
  commit.proposal = proposed_by(random, commit.members);
  commit.sequencer = static_cast<MemberIndex>(random.below(count));
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count; ++b) {
      if (random.chance(0.3)) {
        commit.edges.push_back({static_cast<MemberIndex>(a), static_cast<MemberIndex>(b),
                                static_cast<std::uint32_t>(random.between(1, 1000)),
                                static_cast<std::uint32_t>(random.below(1u << 31))});
      }
    }
  }
  const std::size_t parts = random.between(1, count);
  std::vector<Transition> transitions(parts);
  for (std::size_t i = 0; i < count; ++i) {
    transitions[random.below(parts)].members.push_back({static_cast<MemberIndex>(i), {}});
  }
  for (Transition& transition : transitions) {
    if (transition.members.empty()) continue;
    transition.old_view = random_view(random);
    transition.safe_line = random_number(random);
    transition.processed = random_number(random);
    const auto usual = random_vector(random, transition.members.size() + random.below(5));
    for (Transition::Member& member : transition.members) {
      member.high = usual;
      for (std::uint64_t& high : member.high) {
        if (random.chance(0.3)) high = random_number(random);
      }
    }
    commit.transitions.push_back(transition);
  }
  return commit;
}

PartitionOrder random_partition(Random& random) {
  PartitionOrder order{{random.between(1, kPartitionNumberMax), random_daemon(random)}, {}, 0ms};
  const std::vector<DaemonId> daemons = random_members(random, random.below(20));
  for (const DaemonId& daemon : daemons) {
    if (order.sides.empty() || random.chance(0.3)) order.sides.emplace_back();
    order.sides.back().push_back(daemon.name);
  }
  if (!daemons.empty()) order.left = std::chrono::milliseconds(random.between(1, kPartitionTimeMax / 1ms));
  return order;
}

ControlMessage random_message(Random& random) {
  const std::vector<DaemonId> members = random_members(random, random.between(1, 20));
  switch (random.below(12)) {
    case 0: {
      LinkHello hello{1, static_cast<std::uint16_t>(random.between(1, 65535)), "cluster", random_daemon(random),
                      random_number(random)};
      if (random.chance(0.5)) hello.partition = random_partition(random);
      hello.datagrams = {static_cast<std::uint16_t>(random.below(65536)),
                         static_cast<std::uint32_t>(random.below(9000)), random_number(random)};
      return hello;
    }
    case 9:
      return random_partition(random);
    case 1:
      return random_link_state(random);
    case 2: {
      LinkStateSummary summary;
      for (const DaemonId& member : members) summary.entries.push_back({member, random.between(1, 1000)});
      return summary;
    }
    case 3:
      return Propose{proposed_by(random, members), members};
    case 4: {
      MemberState state{random_view(random), random_daemon(random), random_view(random),
                        random_vector(random, random.between(1, 30)), random_number(random)};
      state.processed = random_number(random);
      state.old_index = static_cast<MemberIndex>(random.below(state.high.size()));
      state.stable = std::min(random_number(random), state.high[state.old_index]);
      return state;
    }
    case 5:
      return Refuse{random_view(random), random_daemon(random), random_number(random)};
    case 6:
      return random_commit(random);
    case 7: {
      Done done{random_view(random), random_daemon(random), {}};
      for (std::size_t i = 0; i < members.size(); ++i) {
        done.pushed.push_back({static_cast<MemberIndex>(2 * i), random_number(random)});
      }
      return done;
    }
    case 8:
      return Counts{random_view(random), random_vector(random, random.between(1, 30))};
    case 10:
      return Received{random_view(random), random_daemon(random)};
    default:
      return Install{random_view(random)};
  }
}

/// The messages say the same, field by field where the structs compare, else by their encoding.
void expect_same(const ControlMessage& a, const ControlMessage& b) {
  ASSERT_EQ(a.index(), b.index());
  EXPECT_EQ(encode_control(a), encode_control(b));
  if (const auto* state = std::get_if<LinkState>(&a)) {
    EXPECT_EQ(*state, std::get<LinkState>(b));
  }
  if (const auto* order = std::get_if<PartitionOrder>(&a)) {
    EXPECT_EQ(*order, std::get<PartitionOrder>(b));
  }
  if (const auto* commit = std::get_if<Commit>(&a)) {
    const Commit& other = std::get<Commit>(b);
    EXPECT_EQ(commit->members, other.members);
    EXPECT_EQ(commit->edges, other.edges);
    ASSERT_EQ(commit->transitions.size(), other.transitions.size());
    for (std::size_t i = 0; i < commit->transitions.size(); ++i) {
      const Transition& transition = commit->transitions[i];
      EXPECT_EQ(transition.old_view, other.transitions[i].old_view);
      ASSERT_EQ(transition.members.size(), other.transitions[i].members.size());
      for (std::size_t j = 0; j < transition.members.size(); ++j) {
        EXPECT_EQ(transition.members[j].index, other.transitions[i].members[j].index);
        EXPECT_EQ(transition.members[j].high, other.transitions[i].members[j].high);
      }
    }
  }
}

TEST(WireControl, DecodesWhatWasEncoded) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    const ControlMessage message = random_message(random);
    const auto decoded = decode_control(encode_control(message));
    ASSERT_TRUE(decoded) << decoded.error().text;
    expect_same(message, *decoded);
  }
}

TEST(WireControl, FieldsArriveInTheirPlaces) {
  const MemberState state{{7, "alpha"}, {"beta", 8}, {6, "gamma"}, {1, 2, 3}, 4};
  const auto decoded = decode_control(encode_control(state));
  ASSERT_TRUE(decoded);
  const auto& read = std::get<MemberState>(*decoded);
  EXPECT_EQ(read.proposal, state.proposal);
  EXPECT_EQ(read.member, state.member);
  EXPECT_EQ(read.old_view, state.old_view);
  EXPECT_EQ(read.high, state.high);
  EXPECT_EQ(read.safe_line, state.safe_line);
  EXPECT_EQ(read.processed, state.processed);

  const auto done = decode_control(encode_control(Done{{7, "alpha"}, {"beta", 8}, {{2, 10}, {1, 11}}}));
  ASSERT_TRUE(done);
  ASSERT_EQ(std::get<Done>(*done).pushed.size(), 2u);
  EXPECT_EQ(std::get<Done>(*done).pushed[1].to, 1);
  EXPECT_EQ(std::get<Done>(*done).pushed[1].messages, 11u);

  const auto hello = decode_control(encode_control(LinkHello{
      2, 3, "lab", {"beta", 8}, 9, PartitionOrder{{4, {"gamma", 5}}, {{"a"}, {"b", "c"}}, 6s}, {4804, 1400, 10}}));
  ASSERT_TRUE(hello);
  EXPECT_EQ(std::get<LinkHello>(*hello).version_min, 2);
  EXPECT_EQ(std::get<LinkHello>(*hello).version_max, 3);
  EXPECT_EQ(std::get<LinkHello>(*hello).cluster, "lab");
  EXPECT_EQ(std::get<LinkHello>(*hello).settings_digest, 9u);
  EXPECT_EQ(std::get<LinkHello>(*hello).datagrams, (DatagramOffer{4804, 1400, 10}));
  EXPECT_EQ(std::get<LinkHello>(*hello).partition, (PartitionOrder{{4, {"gamma", 5}}, {{"a"}, {"b", "c"}}, 6s}));
}

TEST(WireControl, DamagedBytesAreRefusedOrValid) {
  Random random(2);
  for (int round = 0; round < 3000; ++round) {
    Bytes bytes = encode_control(random_message(random));
    for (std::uint64_t i = random.between(1, 4); i > 0; --i) {
      bytes[random.below(bytes.size())] = static_cast<std::uint8_t>(random.next());
    }
    if (random.chance(0.3)) bytes.resize(random.below(bytes.size() + 1));
    const auto decoded = decode_control(bytes);
    if (!decoded) {
      EXPECT_EQ(decoded.error().code, Errc::malformed_frame);
      EXPECT_FALSE(decoded.error().text.empty());
    } else {
      const auto again = decode_control(encode_control(*decoded));
      ASSERT_TRUE(again);
      expect_same(*decoded, *again);
    }
  }
}

/// The high vectors of a large view that was busy everywhere.
TEST(WireControl, CommitOfManyMembersIsCompact) {
  Commit commit;
  Transition transition{{9, "d0000"}, {}, 0};
  constexpr std::size_t kCount = 1000;
  for (std::size_t i = 0; i < kCount; ++i) {
    std::string digits = std::to_string(i);
    commit.members.push_back({"d" + std::string(4 - digits.size(), '0') + digits, i});
    std::vector<std::uint64_t> high(kCount, 1'000'000);
    high[i] += 17;
    transition.members.push_back({static_cast<MemberIndex>(i), high});
  }
  commit.proposal = {10, "d0000"};
  commit.transitions.push_back(transition);
  const Bytes bytes = encode_control(commit);
  EXPECT_LT(bytes.size(), 64u << 10);
  const auto decoded = decode_control(bytes);
  ASSERT_TRUE(decoded);
  expect_same(commit, *decoded);
}

std::string error_of(const ControlMessage& message) {
  const auto decoded = decode_control(encode_control(message));
  return decoded ? "no error" : decoded.error().text;
}

std::string error_of(const ::spindle::wire::Envelope& envelope) {
  const std::string text = envelope.SerializeAsString();
  const auto decoded = decode_control(spindle::as_bytes(text));
  return decoded ? "no error" : decoded.error().text;
}

Commit small_commit() {
  Commit commit;
  commit.proposal = {2, "a", 1};
  commit.members = {{"a", 1}, {"b", 2}};
  commit.edges = {{0, 1, 1, 0}};
  commit.transitions = {{{1, "a"}, {{0, {5}}}, 0}, {{1, "b"}, {{1, {6}}}, 0}};
  return commit;
}

TEST(WireControl, ErrorsNameWhatIsWrong) {
  EXPECT_THAT(error_of(LinkHello{1, 1, "lab", {"a b", 1}, 0}), HasSubstr("link hello: a daemon's name is not valid"));
  EXPECT_THAT(error_of(LinkHello{2, 1, "lab", {"a", 1}, 0}), HasSubstr("the version range is empty"));
  EXPECT_THAT(error_of(LinkHello{1, 1, "", {"a", 1}, 0}), HasSubstr("cluster"));
  LinkState addressed{{"a", 1}, 1, {}};
  addressed.settings.bulk_address = std::string(kBulkAddressBytesMax + 1, 'a');
  EXPECT_THAT(error_of(addressed), HasSubstr("a bulk address is not valid"));
  addressed.settings.bulk_address = "host :1";
  EXPECT_THAT(error_of(addressed), HasSubstr("a bulk address is not valid"));
  EXPECT_THAT(error_of(LinkState{{"a", 1}, 0, {}}), HasSubstr("sequence number is out of range"));
  EXPECT_THAT(error_of(LinkState{{"a", 1}, 1, {{"b", 1, 0, 0, 0}}}), HasSubstr("a weight is zero (element 0)"));
  EXPECT_THAT(error_of(LinkState{{"a", 1}, 1, {{"c", 1, 1, 0, 0}, {"b", 1, 1, 0, 0}}}),
              HasSubstr("links are not sorted"));
  EXPECT_THAT(error_of(LinkState{{"a", 1}, 1, {{"b", 2, 1, 0, 0}, {"b", 1, 1, 0, 0}}}),
              HasSubstr("links are not sorted"));
  EXPECT_THAT(error_of(LinkState{{"a", 1}, 1, {{"b", 2, 1, 0, 0}, {"b", 2, 1, 0, 0}}}),
              HasSubstr("links are not sorted"));
  EXPECT_EQ(error_of(LinkState{{"a", 1}, 1, {{"b", 1, 1, 0, 0}, {"b", 2, 1, 0, 0}}}), "no error") << "two lives of b";
  EXPECT_THAT(error_of(LinkState{{"a", 1}, 1, {{"a", 1, 1, 0, 0}}}), HasSubstr("a link leads to its own daemon"));
  EXPECT_THAT(error_of(LinkStateSummary{{{{"b", 1}, 1}, {{"a", 1}, 1}}}), HasSubstr("entries are not sorted"));
  EXPECT_THAT(error_of(Propose{{1, "a"}, {}}), HasSubstr("propose: no members"));
  EXPECT_THAT(error_of(Propose{{1, "a", 1}, {{"b", 1}}}), HasSubstr("the coordinator is not a member"));
  EXPECT_THAT(error_of(Propose{{1, "a", 1}, {{"a", 2}}}), HasSubstr("the coordinator is not a member"));
  EXPECT_THAT(error_of(Propose{{1, "a", 1}, {{"a", 1}, {"a", 2}}}), HasSubstr("members are not sorted"));
  EXPECT_THAT(error_of(Propose{{1, ""}, {{"a", 1}}}), HasSubstr("a coordinator's name is not valid"));
  EXPECT_THAT(error_of(MemberState{{1, "a"}, {"a", 1}, {1, "a"}, {}, 0}), HasSubstr("high vector"));
  EXPECT_THAT(error_of(MemberState{{1, "a"}, {"a", 1}, {1, "a"}, {3, 4}, 0, 0, 2, 0}), HasSubstr("old view's range"));
  EXPECT_THAT(error_of(MemberState{{1, "a"}, {"a", 1}, {1, "a"}, {3, 4}, 0, 0, 0, 4}), HasSubstr("is stable"));
  EXPECT_THAT(error_of(MemberState{{1, "a"}, {"a", 1}, {1, "a"}, std::vector<std::uint64_t>(kMembersMax + 1), 0}),
              HasSubstr("high vector"));
  EXPECT_THAT(error_of(Done{{1, "a"}, {"a", 1}, {{3, 1}, {3, 1}}}), HasSubstr("a member is counted twice"));
  EXPECT_THAT(error_of(Done{{1, "a"}, {"a", 1}, {{kMembersMax, 1}}}), HasSubstr("a member is out of range"));
  EXPECT_THAT(error_of(Counts{{1, "a"}, {}}), HasSubstr("number of counts"));
  EXPECT_THAT(error_of(PartitionOrder{{1, {"a", 1}}, {{}}, 1s}), HasSubstr("partition order: a side of a partition"));
  EXPECT_THAT(error_of(LinkHello{1, 1, "lab", {"a", 1}, 0, PartitionOrder{}}),
              HasSubstr("link hello: a daemon's name"));
}

TEST(WireControl, ErrorsOfACommitNameWhatIsWrong) {
  ASSERT_EQ(error_of(small_commit()), "no error");
  const auto with = [](auto change) {
    Commit commit = small_commit();
    change(commit);
    return error_of(commit);
  };
  EXPECT_THAT(with([](Commit& c) { c.edges[0] = {1, 0, 1, 0}; }), HasSubstr("an edge's ends are not valid"));
  EXPECT_THAT(with([](Commit& c) { c.edges[0] = {0, 2, 1, 0}; }), HasSubstr("an edge's ends are not valid"));
  EXPECT_THAT(with([](Commit& c) { c.edges[0].weight = 0; }), HasSubstr("weight is zero"));
  EXPECT_THAT(with([](Commit& c) { c.edges.push_back(c.edges[0]); }), HasSubstr("edges are not sorted (element 1)"));
  EXPECT_THAT(with([](Commit& c) { c.sequencer = 2; }), HasSubstr("the sequencer is out of range"));
  EXPECT_THAT(with([](Commit& c) { c.transitions.pop_back(); }), HasSubstr("a member is in no transition (element 1)"));
  EXPECT_THAT(with([](Commit& c) { c.transitions[1].members[0].index = 0; }),
              HasSubstr("a member is in two transitions"));
  EXPECT_THAT(with([](Commit& c) { c.transitions[1].members[0].index = 2; }), HasSubstr("out of range"));
  EXPECT_THAT(with([](Commit& c) { c.transitions[1].old_view = c.transitions[0].old_view; }),
              HasSubstr("two transitions come from one view"));
  EXPECT_THAT(with([](Commit& c) {
                c.transitions.resize(1);
                c.transitions[0].members = {{1, {5, 5}}, {0, {5, 5}}};
              }),
              HasSubstr("members are not sorted"));
  EXPECT_THAT(with([](Commit& c) {
                c.transitions.resize(1);
                c.transitions[0].members.push_back({1, {5}});
              }),
              HasSubstr("more members than its old view"));
}

TEST(WireControl, RefusesColumnsThatDoNotMatch) {
  namespace pb = ::spindle::wire;
  pb::Envelope good;
  const Bytes bytes = encode_control(small_commit());
  ASSERT_TRUE(good.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));

  pb::Envelope edges = good;
  edges.mutable_commit()->add_edge_a(0);
  EXPECT_THAT(error_of(edges), HasSubstr("the columns of the edges differ in length"));

  pb::Envelope unpaired = good;
  unpaired.mutable_commit()->mutable_transitions(0)->mutable_members(0)->add_at_gap(0);
  EXPECT_THAT(error_of(unpaired), HasSubstr("differences do not match their places"));

  pb::Envelope beyond = good;
  beyond.mutable_commit()->mutable_transitions(0)->mutable_members(0)->add_at_gap(1);
  beyond.mutable_commit()->mutable_transitions(0)->mutable_members(0)->add_difference(1);
  EXPECT_THAT(error_of(beyond), HasSubstr("reach beyond its old view"));

  pb::Envelope counts;
  counts.mutable_done()->mutable_proposal()->set_coordinator("a");
  counts.mutable_done()->mutable_member()->set_name("a");
  counts.mutable_done()->add_pushed_to(1);
  EXPECT_THAT(error_of(counts), HasSubstr("counts do not match their members"));
}

TEST(WireControl, RefusesWhatIsNoMessage) {
  EXPECT_THAT(decode_control(Bytes{}).error().text, HasSubstr("not of a known kind"));
  // Field 15 of the envelope, which no kind has.
  EXPECT_THAT(decode_control(Bytes{0x7a, 0x00}).error().text, HasSubstr("not of a known kind"));
  EXPECT_THAT(decode_control(Bytes{0xff, 0xff}).error().text, HasSubstr("not in the format of Protocol Buffers"));
}

}  // namespace
}  // namespace spindled
