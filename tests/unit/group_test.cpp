#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "daemon/base/random.h"
#include "daemon/group/bundle.h"
#include "daemon/group/group_table.h"
#include "daemon/group/operations.h"
#include "daemon/group/request_line.h"
#include "daemon/group/subscriptions.h"
#include "daemon/link/link_limits.h"
#include "libclient/protocol/member_list.h"

namespace spindled {
namespace {

using ::testing::ElementsAre;
using Step = Subscriptions::Step;

/// One local member, and nothing on its way.
void subscribe(Subscriptions& subscriptions, const std::string& group) {
  subscriptions.want(group, 1, 0);
  subscriptions.subscribed(group, 1);
  subscriptions.pass_horizon();
  subscriptions.start_join(group);
  subscriptions.joined(group, 1);
}

TEST(GroupOperations, SurviveEncodingAndRefuseEveryTruncation) {
  Announce announce;
  announce.groups.push_back({"alpha", 3, {{1, "x"}, {99, "y"}}});
  announce.groups.push_back({"beta", 0, {{300, "z"}}});
  announce.groups.push_back({"gamma", 4, {{300, "z"}, {301, "n", true}}, true, true});
  announce.groups.push_back({"still", 5, {{300, "z"}}, true, false});
  const std::vector<GroupOperation> operations = {Subscribe{"g"},
                                                  Unsubscribe{std::string(255, 'g')},
                                                  JoinGroup{"g", 7, "me"},
                                                  LeaveGroup{"g", 1u << 20},
                                                  JoinGroup{"g", 7, "me", true},
                                                  Flushed{"g", 300},
                                                  Disconnect{5},
                                                  announce,
                                                  TableState{1, 2, 3, {"g"}, false}};
  for (const GroupOperation& operation : operations) {
    const std::vector<std::uint8_t> bytes = write_operation(operation);
    const auto read = read_operation(bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->index(), operation.index());
    EXPECT_EQ(write_operation(*read), bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(read_operation(ByteView(bytes).first(size))) << size;
    }
  }
}

TEST(GroupOperations, AStateSaysWhatTheTableIsAndWhichMembersGotASignal) {
  const auto read = read_operation(write_operation(TableState{3, 9, UINT64_MAX, {"alpha", "beta"}, true}));
  ASSERT_TRUE(read);
  const auto& state = std::get<TableState>(*read);
  EXPECT_EQ(state.groups, 3u);
  EXPECT_EQ(state.next_id, 9u);
  EXPECT_EQ(state.digest, UINT64_MAX);
  EXPECT_THAT(state.signalled, ElementsAre("alpha", "beta"));
  EXPECT_TRUE(state.more);
  EXPECT_FALSE(read_operation(write_operation(TableState{3, 9, 1, {"beta", "alpha"}, false}))) << "unsorted";
}

TEST(GroupOperations, AnAnnouncementNumbersGroupsAndSaysWhetherThatIsAll) {
  Announce announce;
  announce.groups.push_back({"alpha", 7, {{1, "x"}, {2, "y"}}});
  announce.groups.push_back({"beta", 0, {{1, "x"}}});
  announce.more = true;
  const auto read = read_operation(write_operation(announce));
  ASSERT_TRUE(read);
  EXPECT_TRUE(std::get<Announce>(*read).more);
  const auto& groups = std::get<Announce>(*read).groups;
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].id, 7u);
  EXPECT_EQ(groups[0].members.size(), 2u);
  EXPECT_EQ(groups[1].id, 0u);
  EXPECT_EQ(groups[1].members.size(), 1u);
}

TEST(GroupOperations, AnAnnouncementSaysWhoHasNoViewOfASynchronousGroup) {
  Announce announce;
  announce.groups.push_back({"g", 7, {{1, "x"}, {2, "new", true}}, true, true});
  const auto read = read_operation(write_operation(announce));
  ASSERT_TRUE(read);
  const Announce::Group& group = std::get<Announce>(*read).groups.at(0);
  EXPECT_TRUE(group.synchronous);
  EXPECT_TRUE(group.is_pending);
  EXPECT_FALSE(group.members[0].is_newcomer);
  EXPECT_TRUE(group.members[1].is_newcomer);
  announce.groups[0].synchronous = false;
  EXPECT_FALSE(read_operation(write_operation(announce))) << "an ordinary group has its view at once";
}

TEST(GroupOperations, RefuseWhatIsNotAName) {
  EXPECT_FALSE(read_operation(write_operation(Subscribe{""})));
  EXPECT_FALSE(read_operation(write_operation(Subscribe{"#private#name"})));
  EXPECT_FALSE(read_operation(write_operation(JoinGroup{"g", 1, "two words"})));
  Announce unsorted;
  unsorted.groups.push_back({"b", 0, {{1, "x"}}});
  unsorted.groups.push_back({"a", 0, {{1, "x"}}});
  EXPECT_FALSE(read_operation(write_operation(unsorted)));
}

TEST(Envelope, IsReadBackAsWritten) {
  Envelope envelope;
  envelope.session = 12345;
  envelope.sender = "me";
  envelope.type = 0xbeef;
  envelope.self_discard = true;
  envelope.total = 1u << 20;
  envelope.targets = {{3, {}}, {0, "#you#there"}, {1u << 20, {}}};
  std::vector<std::uint8_t> bytes;
  write_envelope(bytes, envelope, write_targets(envelope.targets));
  bytes.push_back(0x55);  // payload
  Envelope read;
  EXPECT_EQ(read_envelope(bytes, read), bytes.size() - 1);
  EXPECT_EQ(read.session, envelope.session);
  EXPECT_EQ(read.sender, envelope.sender);
  EXPECT_EQ(read.type, envelope.type);
  EXPECT_TRUE(read.self_discard);
  EXPECT_EQ(read.total, envelope.total);
  ASSERT_EQ(read.targets.size(), 3u);
  EXPECT_EQ(read.targets[1].name, "#you#there");
  EXPECT_EQ(read.targets[2].group, 1u << 20);
  for (std::size_t size = 0; size + 1 < bytes.size(); ++size) {
    EXPECT_EQ(read_envelope(ByteView(bytes).first(size), read), 0u);
  }
}

TEST(Envelope, SaysInWhichViewsOfSynchronousGroupsTheMessageIsSent) {
  Envelope envelope;
  envelope.session = 1;
  envelope.sender = "me";
  envelope.is_fifo = envelope.has_views = true;
  envelope.targets = {{3, {}, 300}, {0, "#you#there", 0}};
  std::vector<std::uint8_t> bytes;
  write_envelope(bytes, envelope, write_targets(envelope.targets, true));
  Envelope read;
  EXPECT_EQ(read_envelope(bytes, read), bytes.size());
  EXPECT_TRUE(read.is_fifo);
  EXPECT_EQ(read.targets.at(0).view, 300u);
  EXPECT_EQ(read.targets.at(1).view, 0u);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(read_envelope(ByteView(bytes).first(size), read), 0u);
  }
}

TEST(Envelope, SaysWhatWentAheadOfTheMessage) {
  Envelope envelope;
  envelope.session = 1;
  envelope.sender = "me";
  envelope.total = 5000;
  envelope.parts = 300;
  envelope.ahead = 4000;
  envelope.targets = {{3, {}}};
  std::vector<std::uint8_t> bytes;
  write_envelope(bytes, envelope, write_targets(envelope.targets));
  Envelope read;
  EXPECT_EQ(read_envelope(bytes, read), bytes.size());
  EXPECT_EQ(read.parts, 300u);
  EXPECT_EQ(read.ahead, 4000u);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(read_envelope(ByteView(bytes).first(size), read), 0u);
  }
  envelope.ahead = 5001;
  write_envelope(bytes, envelope, write_targets(envelope.targets));
  EXPECT_EQ(read_envelope(bytes, read), 0u) << "more than there is";
}

TEST(Part, IsReadBackAsWrittenAndIsNeverAllOfItsMessage) {
  const auto part = [](std::uint64_t number, std::uint32_t total, std::size_t bytes) {
    std::vector<std::uint8_t> content = write_part_head(number, total);
    content.resize(content.size() + bytes, 'x');
    return content;
  };
  const std::vector<std::uint8_t> content = part(300, 5000, 1400);
  const auto read = read_part(content);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->number, 300u);
  EXPECT_EQ(read->total, 5000u);
  EXPECT_EQ(read->payload.size(), 1400u);
  EXPECT_TRUE(read_part(part(1, 0, 0))) << "it never comes";
  EXPECT_FALSE(read_part(part(1, 0, 1)));
  EXPECT_FALSE(read_part(part(0, 5000, 1)));
  EXPECT_FALSE(read_part(part(1, 5000, 0)));
  EXPECT_FALSE(read_part(part(1, 5000, 5000)));
  EXPECT_FALSE(read_part(part(1, (16u << 20) + 1, 1)));
  EXPECT_FALSE(read_part(ByteView(content).first(3)));
}

TEST(Envelope, OfABundleHasNoTypeAndNoSizeOfItsOwn) {
  Envelope envelope;
  envelope.session = 1;
  envelope.sender = "me";
  envelope.bundle = true;
  envelope.targets = {{3, {}}};
  std::vector<std::uint8_t> bytes;
  write_envelope(bytes, envelope, write_targets(envelope.targets));
  Envelope read;
  EXPECT_EQ(read_envelope(bytes, read), bytes.size());
  EXPECT_TRUE(read.bundle);
  EXPECT_FALSE(read.self_discard);
  envelope.type = 1;
  write_envelope(bytes, envelope, write_targets(envelope.targets));
  EXPECT_EQ(read_envelope(bytes, read), 0u);
  envelope.type = 0;
  envelope.total = 1;
  write_envelope(bytes, envelope, write_targets(envelope.targets));
  EXPECT_EQ(read_envelope(bytes, read), 0u);
}

TEST(Bundle, IsReadBackAsWritten) {
  const std::string payloads[] = {"one", "", std::string(1000, 'x')};
  std::vector<std::uint8_t> bundle;
  std::set<std::size_t> ends;  // where one that ends there is whole
  for (std::uint16_t i = 0; i < 3; ++i) {
    append_bundled(bundle, {static_cast<std::uint16_t>(0xfffe + i), spindle::as_bytes(payloads[i])});
    ends.insert(bundle.size());
  }
  std::vector<BundledMessage> messages(7);
  ASSERT_TRUE(read_bundle(bundle, messages));
  ASSERT_EQ(messages.size(), 3u);
  for (std::uint16_t i = 0; i < 3; ++i) {
    EXPECT_EQ(messages[i].type, static_cast<std::uint16_t>(0xfffe + i));
    EXPECT_EQ(spindle::as_text(messages[i].payload), payloads[i]);
  }
  for (std::size_t size = 0; size < bundle.size(); ++size) {
    EXPECT_EQ(read_bundle(ByteView(bundle).first(size), messages), ends.contains(size)) << size;
  }
}

TEST(Bundle, RefusesAPayloadThatIsTooLarge) {
  std::vector<std::uint8_t> bundle;
  append_bundled(bundle, {0, std::vector<std::uint8_t>(kBundleWeightMax)});
  std::vector<BundledMessage> messages;
  EXPECT_TRUE(read_bundle(bundle, messages));
  bundle.clear();
  append_bundled(bundle, {0, std::vector<std::uint8_t>(kBundleWeightMax + 1)});
  EXPECT_FALSE(read_bundle(bundle, messages));
}

TEST(Bundle, AMessageWeighsWhatItTakesOrHalfOfItsFrame) {
  EXPECT_EQ(bundle_weight(100, 20), 2 + 1 + 100u);
  EXPECT_EQ(bundle_weight(1000, 20), 2 + 2 + 1000u);
  EXPECT_EQ(bundle_weight(0, 20), (4 + 1 + 2 + 1 + 20) / 2u);
  EXPECT_EQ(bundle_weight(10, 500), (4 + 1 + 2 + 1 + 10 + 500) / 2u);
  EXPECT_EQ(bundle_weight(10, 300'000), kBundleWeightMax + 1);
  EXPECT_EQ(bundle_weight(16 << 20, 20), kBundleWeightMax + 1);
}

TEST(Bundle, WithItsHeadsIsOnePacket) {
  Envelope envelope;
  envelope.session = 1'000'000;
  const std::string longest(spindle::kClientNameBytesMax, 'x');
  envelope.sender = longest;
  envelope.bundle = true;
  envelope.targets = {{1'000'000, {}}};
  std::vector<std::uint8_t> bytes;
  write_envelope(bytes, envelope, write_targets(envelope.targets));
  const BodyHead head{.origin = 100, .number = 1'000'000'000, .service = Service::agreed, .seen = 1'000'000'000};
  const MemberSet to = MemberSet::first(100);
  EXPECT_LE(to.encoded_size() + body_head_size(head, to) + bytes.size() + kBundleWeightMax, kPacketBytes);
}

TEST(GroupTable, AGroupLivesFromItsFirstSubscriptionToItsLast) {
  GroupTable table(0);
  EXPECT_FALSE(table.join("g", {0, 1, "x"})) << "no subscription";
  EXPECT_TRUE(table.subscribe("g", 0, 1));
  EXPECT_FALSE(table.subscribe("g", 0, 1));
  EXPECT_TRUE(table.subscribe("g", 1, 1));
  const GroupId id = table.find("g")->id;
  EXPECT_TRUE(table.join("g", {0, 1, "x"}));
  EXPECT_FALSE(table.join("g", {0, 1, "x"}));
  EXPECT_TRUE(table.join("g", {1, 1, "y"}));
  EXPECT_EQ(table.find("g")->members_of(0).size(), 1u);
  EXPECT_FALSE(table.unsubscribe("g", 0)) << "it has a member";
  EXPECT_TRUE(table.leave(id, 0, 1));
  EXPECT_TRUE(table.unsubscribe("g", 0));
  EXPECT_TRUE(table.leave(id, 1, 1));
  EXPECT_TRUE(table.unsubscribe("g", 1));
  EXPECT_EQ(table.find("g"), nullptr);
  EXPECT_EQ(table.find(id), nullptr);
  EXPECT_EQ(table.name_of(id), "g") << "a late message can still tell where it was sent";
  table.subscribe("g", 0, 1);
  EXPECT_NE(table.find("g")->id, id) << "ids are not used again";
}

TEST(GroupTable, KeepsTheDigestOfTheMembers) {
  Random random(4);
  GroupTable table(0);
  table.subscribe("g", 0, 1);
  spindle::protocol::MemberList model;
  std::vector<SessionId> members;
  for (SessionId session = 1; session < 300; ++session) {
    const std::string name = fmt::format("#c{}#d", session);
    ASSERT_TRUE(table.join("g", {0, session, name}));
    model.add(name);
    members.push_back(session);
    while (members.size() > 20 && random.chance(0.6)) {
      const auto at = members.begin() + static_cast<std::ptrdiff_t>(random.below(members.size()));
      const std::string left = fmt::format("#c{}#d", *at);
      ASSERT_TRUE(table.leave(table.find("g")->id, 0, *at));
      ASSERT_TRUE(model.apply({}, std::vector<std::string_view>{left}));
      members.erase(at);
    }
    ASSERT_EQ(table.find("g")->digest, model.digest());
    ASSERT_EQ(table.find("g")->members.size(), model.size());
  }
  EXPECT_TRUE(table.is_member(*table.find("g"), 0, members.front()));
  EXPECT_FALSE(table.is_member(*table.find("g"), 1, members.front()));
}

TEST(GroupTable, AGroupIsKnownToAllOnceTheHorizonHasPassedItsFirstSubscription) {
  GroupTable table(0);
  table.subscribe("g", 0, 5);
  table.subscribe("g", 1, 9);
  const std::uint64_t version = table.version();
  table.known_to_all(4);
  EXPECT_FALSE(table.is_known_to_all(*table.find("g")));
  table.known_to_all(5);
  EXPECT_TRUE(table.is_known_to_all(*table.find("g")));
  EXPECT_GT(table.version(), version) << "messages are addressed otherwise now";
}

TEST(GroupTable, SaysOfWhichGroupsWhatWasResolvedIsOld) {
  GroupTable table(1);
  const std::vector<std::string> a = {"a"}, both = {"b", "a"}, other = {"c"};
  std::uint64_t version = table.version();
  const auto changed = [&](const std::vector<std::string>& groups) { return table.has_changed_since(version, groups); };
  EXPECT_FALSE(changed(a));
  table.subscribe("a", 2, 10);
  EXPECT_TRUE(changed(a));
  EXPECT_TRUE(changed(both));
  EXPECT_FALSE(changed(other));
  version = table.version();
  table.known_to_all(9);
  EXPECT_FALSE(changed(a));
  table.known_to_all(10);
  EXPECT_TRUE(changed(a)) << "it goes by its number now";
  EXPECT_FALSE(changed(other));
  version = table.version();
  table.join("a", {2, 1, "#x#d2"});
  EXPECT_FALSE(changed(a)) << "who is in it at a daemon is that daemon's business";
  table.leave(table.find("a")->id, 2, 1);
  table.unsubscribe("a", 2);
  EXPECT_TRUE(changed(both));
  version = table.version();
  table.renew();
  EXPECT_TRUE(changed(other)) << "as all are in another view";
}

TEST(GroupTable, KnowsTheGroupsOfASession) {
  GroupTable table(0);
  for (const char* name : {"a", "b", "c"}) table.subscribe(name, 3, 1);
  table.join("c", {3, 9, "x"});
  table.join("a", {3, 9, "x"});
  EXPECT_THAT(table.groups_of(3, 9), ElementsAre(table.find("a")->id, table.find("c")->id));
  EXPECT_TRUE(table.groups_of(3, 8).empty());
}

/// In these, members of daemons 0 and 1 have sessions 1 and 2.
GroupTable synchronous_table() {
  GroupTable table;
  for (const MemberIndex daemon : {MemberIndex{0}, MemberIndex{1}}) {
    table.subscribe("g", daemon, 1);
    const std::string name = "#c#" + std::to_string(daemon);
    EXPECT_TRUE(table.join("g", {daemon, daemon + std::uint64_t{1}, name, true}, true));
    table.pend(*table.find("g"), spindle::ViewCause::join);
    if (daemon == 0) table.stand(*table.find("g"), 5);
  }
  return table;
}

TEST(GroupTable, TheFirstMemberSaysWhetherAGroupIsSynchronous) {
  GroupTable table = synchronous_table();
  EXPECT_FALSE(table.join("g", {0, 3, "#d#0"}, false));
  EXPECT_TRUE(table.leave(table.find("g")->id, 0, 1));
  EXPECT_TRUE(table.leave(table.find("g")->id, 1, 2));
  EXPECT_TRUE(table.join("g", {0, 3, "#d#0"}, false));
  EXPECT_FALSE(table.find("g")->is_synchronous());
  EXPECT_TRUE(table.pending().empty());
}

TEST(GroupTable, AViewIsDueWhenAllWhoHaveOneHaveFlushed) {
  GroupTable table = synchronous_table();
  const Group& group = *table.find("g");
  EXPECT_TRUE(group.is_pending());
  EXPECT_EQ(table.pending().size(), 1u);
  EXPECT_FALSE(GroupTable::is_due(group));
  EXPECT_FALSE(table.flush(group, 0, 0)) << "that was another view";
  EXPECT_FALSE(GroupTable::is_due(group));
  EXPECT_TRUE(table.flush(group, 0, 1));
  EXPECT_FALSE(table.flush(group, 0, 1)) << "twice";
  EXPECT_TRUE(GroupTable::is_due(group)) << "the member of daemon 1 has no view yet";
  table.stand(group, 9);
  EXPECT_FALSE(group.is_pending());
  EXPECT_TRUE(group.has_view(group.members[1]));
  EXPECT_TRUE(table.is_fresh(group));
  table.known_to_all(9);
  EXPECT_FALSE(table.is_fresh(group));
  table.pend(group, spindle::ViewCause::leave);
  EXPECT_TRUE(table.flush(group, 0, 2));
  EXPECT_FALSE(GroupTable::is_due(group)) << "now it has one";
}

TEST(GroupTable, AViewThatPendsOutlivesThatOfTheDaemonsAndIsInTheDigest) {
  const auto carried = [](bool stands) {
    GroupTable table = synchronous_table();
    if (stands) table.stand(*table.find("g"), 9);
    table.carry_over(0, {MemberIndex{0}, MemberIndex{1}}, 0);
    table.carry_over(table.begin());
    EXPECT_EQ(table.find("g")->is_pending(), !stands);
    EXPECT_EQ(table.find("g")->synchrony->round, 0u);
    return table.digest();
  };
  EXPECT_EQ(carried(false), carried(false));
  EXPECT_NE(carried(false), carried(true));
  GroupTable table = synchronous_table();
  table.stand(*table.find("g"), 9);
  table.carry_over(0, {MemberIndex{0}, std::nullopt}, 0);
  table.carry_over(table.begin());
  EXPECT_TRUE(table.find("g")->is_pending()) << "a member is lost";
}

TEST(GroupTable, SaysThatAGroupIsOrdinaryWhereSidesDisagree) {
  for (const bool first : {false, true}) {
    GroupTable table;
    const std::vector<NewMember> mine = {{0, 1, "#a#0"}}, yours = {{1, 2, "#b#1"}};
    table.announce("g", 1, 0, mine, first);
    EXPECT_EQ(table.find("g")->is_synchronous(), first);
    table.announce("g", 1, 1, yours, !first);
    EXPECT_FALSE(table.find("g")->is_synchronous());
  }
}

TEST(GroupTable, IsTheSameWhetherGroupsAreAnnouncedOrJoinedOneByOne) {
  Random random(6);
  GroupTable announced(1), joined(1);
  for (MemberIndex daemon = 0; daemon < 3; ++daemon) {
    for (int i = 0; i < 200; ++i) {
      if (!random.chance(0.5)) continue;
      const std::string group = fmt::format("g{:03}", i);
      std::vector<NewMember> members;
      for (SessionId session = 1; session <= random.between(1, 3); ++session) {
        members.push_back({daemon, session, fmt::format("#c{}#d{}", session, daemon)});
      }
      joined.subscribe(group, daemon, 0);
      for (const NewMember& member : members) joined.join(group, member);
      // As in two parts of an announcement.
      const auto half = members.begin() + static_cast<std::ptrdiff_t>(members.size() / 2);
      announced.announce(group, 0, daemon, std::span(members.begin(), half));
      announced.announce(group, 0, daemon, std::span(half, members.end()));
    }
  }
  ASSERT_EQ(announced.size(), joined.size());
  auto other = joined.begin();
  const auto text_of = [](const Group& group) {
    std::string text;
    for (const GroupMember& each : group.members) {
      text += fmt::format("{} {} {}, ", each.daemon(), each.session(), each.name());
    }
    return text;
  };
  for (const Group& group : announced) {
    const Group& expected = *other++;
    EXPECT_EQ(group.name, expected.name);
    EXPECT_EQ(group.id, expected.id);
    EXPECT_EQ(text_of(group), text_of(expected));
    EXPECT_EQ(group.digest, expected.digest);
    EXPECT_EQ(group.members_of(1).size(), expected.members_of(1).size());
    EXPECT_EQ(announced.find(group.id), &group);
  }
  const std::size_t size = announced.size();
  announced.discard_first();
  EXPECT_EQ(announced.size(), size - 1);
}

TEST(SessionGroups, BehaveAsASet) {
  Random random(7);
  SessionGroups groups;
  std::set<GroupId> model;
  for (int i = 0; i < 20'000; ++i) {
    const GroupId group = 1 + random.below(300);
    if (random.chance(i % 2000 < 1000 ? 0.7 : 0.2)) {
      EXPECT_EQ(groups.insert(group), model.insert(group).second);
    } else {
      EXPECT_EQ(groups.erase(group), model.erase(group) == 1);
    }
    const GroupId asked = 1 + random.below(300);
    ASSERT_EQ(groups.contains(asked), model.contains(asked));
    ASSERT_EQ(groups.size(), model.size());
    ASSERT_EQ(groups.empty(), model.empty());
    if (i % 500 == 0) {
      ASSERT_EQ(groups.ids(), std::vector<GroupId>(model.begin(), model.end()));
    }
  }
}

TEST(Subscriptions, TheJoinWaitsForTheHorizonToPassTheSubscription) {
  Subscriptions subscriptions;
  EXPECT_EQ(subscriptions.want("g", 1, 0), Step::subscribe);
  EXPECT_EQ(subscriptions.want("g", 2, 0), Step::none);
  EXPECT_FALSE(subscriptions.start_join("g"));
  subscriptions.subscribed("g", 10);
  EXPECT_FALSE(subscriptions.has_passed(9));
  EXPECT_FALSE(subscriptions.start_join("g"));
  ASSERT_TRUE(subscriptions.has_passed(10));
  EXPECT_THAT(subscriptions.pass_horizon().sessions, ElementsAre(1, 2));
  EXPECT_FALSE(subscriptions.has_passed(10));
  EXPECT_TRUE(subscriptions.start_join("g"));
  EXPECT_TRUE(subscriptions.start_join("g"));
  EXPECT_EQ(subscriptions.want("g", 3, 0), Step::none) << "further joins need only the join";
  EXPECT_TRUE(subscriptions.start_join("g"));
}

TEST(Subscriptions, ASubscriptionThatNobodyWantsAnyMoreIsGivenUp) {
  Subscriptions early;
  early.want("g", 1, 0);
  EXPECT_EQ(early.withdraw("g", 0), Step::none) << "it is on its way";
  early.subscribed("g", 1);
  EXPECT_EQ(early.pass_horizon().step, Step::unsubscribe);

  Subscriptions late;
  late.want("g", 1, 0);
  late.want("g", 1, 0);
  late.subscribed("g", 1);
  late.pass_horizon();
  EXPECT_EQ(late.withdraw("g", 0), Step::none) << "there is another join";
  EXPECT_EQ(late.withdraw("g", 0), Step::unsubscribe);
  EXPECT_EQ(late.unsubscribed("g"), Step::none);
  EXPECT_EQ(late.want("g", 2, 0), Step::subscribe);

  Subscriptions with_members;
  with_members.want("g", 1, 3);
  EXPECT_EQ(with_members.withdraw("g", 3), Step::none);
  EXPECT_EQ(with_members.left("g", 0), Step::unsubscribe);
}

TEST(Subscriptions, AJoinOnItsWayKeepsTheSubscription) {
  Subscriptions subscriptions;
  subscribe(subscriptions, "g");
  subscriptions.want("g", 2, 1);
  subscriptions.start_join("g");
  EXPECT_EQ(subscriptions.left("g", 0), Step::none) << "the second join is on its way";
  subscriptions.joined("g", 1);
  EXPECT_EQ(subscriptions.left("g", 1), Step::none);
  EXPECT_EQ(subscriptions.left("g", 0), Step::unsubscribe);
}

TEST(Subscriptions, AJoinThatWaitsForOthersKeepsTheSubscription) {
  Subscriptions subscriptions;
  subscribe(subscriptions, "g");
  subscriptions.want("g", 2, 1);
  EXPECT_EQ(subscriptions.left("g", 0), Step::none);
  EXPECT_TRUE(subscriptions.start_join("g"));
  subscriptions.joined("g", 1);
  EXPECT_EQ(subscriptions.left("g", 0), Step::unsubscribe);
}

TEST(Subscriptions, AJoinWhileUnsubscribingStartsOver) {
  Subscriptions subscriptions;
  subscribe(subscriptions, "g");
  subscriptions.left("g", 0);
  EXPECT_EQ(subscriptions.want("g", 2, 0), Step::none);
  EXPECT_FALSE(subscriptions.start_join("g"));
  EXPECT_EQ(subscriptions.unsubscribed("g"), Step::subscribe);
  subscriptions.subscribed("g", 5);
  EXPECT_THAT(subscriptions.pass_horizon().sessions, ElementsAre(2));
}

TEST(Subscriptions, AGroupThatHasMembersNeedsNoFurtherSubscription) {
  Subscriptions subscriptions;
  subscribe(subscriptions, "g");
  EXPECT_EQ(subscriptions.want("g", 2, 1), Step::none);
  EXPECT_TRUE(subscriptions.start_join("g"));
  subscriptions.joined("g", 2);
  EXPECT_EQ(subscriptions.left("g", 0), Step::unsubscribe);
  EXPECT_EQ(subscriptions.left("g", 0), Step::none) << "the unsubscription is on its way";
  EXPECT_EQ(subscriptions.unsubscribed("g"), Step::none);
  EXPECT_EQ(subscriptions.want("g", 3, 0), Step::subscribe);
}

TEST(Subscriptions, StartOverInANewView) {
  Subscriptions subscriptions;
  subscribe(subscriptions, "kept");
  subscriptions.want("unfinished", 2, 0);
  subscriptions.restart();
  EXPECT_EQ(subscriptions.withdraw("unfinished", 0), Step::none);
  EXPECT_EQ(subscriptions.want("kept", 4, 1), Step::none);
  EXPECT_TRUE(subscriptions.start_join("kept"));
  EXPECT_EQ(subscriptions.want("unfinished", 2, 0), Step::subscribe);
}

TEST(RequestLine, LetsRequestsEnterAndBeDoneInTheOrderAsked) {
  RequestLine line;
  EXPECT_TRUE(line.all_entered());
  line.add(RequestLine::Kind::join, "g");
  line.add(RequestLine::Kind::join, "h");
  line.add(RequestLine::Kind::leave, "g");
  EXPECT_EQ(line.next().group, "g");
  EXPECT_EQ(line.next().kind, RequestLine::Kind::join);
  line.entered();
  EXPECT_EQ(line.next().group, "h");
  line.entered();
  std::vector<std::string> waiting;
  line.for_each_waiting([&](const RequestLine::Request& request) { waiting.push_back(request.group); });
  EXPECT_THAT(waiting, ElementsAre("g"));
  line.done();
  EXPECT_TRUE(line.has("g")) << "a later request for it is open";
  line.done();
  EXPECT_FALSE(line.has("h"));
  EXPECT_FALSE(line.has_entered());
  EXPECT_EQ(line.size(), 1u);
  line.entered();
  line.done();
  EXPECT_TRUE(line.empty());
  EXPECT_FALSE(line.has("g"));
}

}  // namespace
}  // namespace spindled
