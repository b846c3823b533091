// The checker of bulk channels, held to histories that break what is promised.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/checkers_writer.h"

namespace spindled::checkers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace protocol = spindle::protocol;

const protocol::BulkChannelId kChannel{"d", 1, 1};

class Writer : public HistoryWriter<Writer> {
 public:
  Writer& hears(char client) {
    at(client);
    current().wants_channels = true;
    return *this;
  }
  /// The view of that number, with the members of these letters, who have all come along.
  Writer& view(std::uint64_t number, const std::string& members, spindle::ViewCause cause = spindle::ViewCause::join) {
    return add(GroupView{"g", {1, "d", 1, number}, cause, names(members), names(members), {}});
  }
  /// The view of that number of a and b, of whom only this one has come along.
  Writer& alone(std::uint64_t number, char client) {
    const std::string self(1, client);
    return add(GroupView{"g", {1, "d", 1, number}, spindle::ViewCause::network, names("ab"), names(self), {}});
  }
  Writer& offered(bool late = false, std::uint32_t request = 0) {
    protocol::BulkOffered offered{kChannel, request, late, false, "g", "#s#d", {}, {}};
    return add(ChannelTold{offered});
  }
  Writer& sealed() { return add(ChannelTold{protocol::BulkSealed{kChannel, 5, {}}}); }
  Writer& complete(const std::string& done, std::uint64_t position = 9) {
    return add(ChannelTold{protocol::BulkComplete{kChannel, {1, "d", 1, position}, names(done), {}, {}, {}}});
  }
  Writer& says(protocol::BulkOutcome outcome) {
    return add(ChannelSaid{protocol::BulkOutcomeSaid{1, kChannel, outcome, 0}});
  }
  using HistoryWriter<Writer>::names;
  Writer& done() { return says(protocol::BulkOutcome::done); }
};

/// a and b are members, told in time; both are done.
Writer usual() {
  Writer w;
  w.hears('a').view(1, "ab").offered().sealed().done();
  w.hears('b').view(1, "ab").offered().sealed().done();
  return w;
}

TEST(CheckChannels, TakesWhatIsPromised) {
  Writer w = usual();
  w.at('a').complete("ab");
  w.at('b').complete("ab");
  w.hears('s').offered(false, 1).sealed().complete("ab");
  EXPECT_THAT(check_channels(w.history(), true), IsEmpty());
}

TEST(CheckChannels, NothingIsToldTwice) {
  Writer w = usual();
  w.at('a').sealed();
  EXPECT_THAT(check_channels(w.history(), false), ElementsAre(HasSubstr("told twice that 1@d is sealed")));
  Writer again = usual();
  again.at('a').offered();
  EXPECT_THAT(check_channels(again.history(), false), ElementsAre(HasSubstr("told twice that 1@d is offered")));
}

TEST(CheckChannels, AnOfferComesBehindTheFirstView) {
  Writer w;
  w.hears('a').offered();
  EXPECT_THAT(check_channels(w.history(), false), ElementsAre(HasSubstr("is no member")));
}

TEST(CheckChannels, NothingComesBeforeTheOffer) {
  Writer w;
  w.hears('a').view(1, "a").sealed();
  EXPECT_THAT(check_channels(w.history(), false), ElementsAre(HasSubstr("not before that it is offered")));
}

TEST(CheckChannels, MembersThatMoveTogetherAreToldOfTheSameOffers) {
  Writer w;
  w.hears('a').view(1, "ab").offered().view(2, "abc");
  w.hears('b').view(1, "ab").view(2, "abc").offered();
  EXPECT_THAT(check_channels(w.history(), false), ElementsAre(HasSubstr("#a#d and #b#d move together")));
}

TEST(CheckChannels, AMemberOfAnotherSideMayHaveBeenToldBefore) {
  Writer w;
  w.hears('a').view(1, "ab").alone(3, 'a').offered();
  w.hears('b').view(1, "ab").view(2, "b", spindle::ViewCause::network).offered().alone(3, 'b');
  EXPECT_THAT(check_channels(w.history(), true), IsEmpty());
  Writer late;
  late.hears('a').view(1, "ab").alone(3, 'a').offered();
  late.hears('b').view(1, "ab").view(2, "b", spindle::ViewCause::network).alone(3, 'b').offered(true);
  EXPECT_THAT(check_channels(late.history(), true), IsEmpty());
  Writer never;
  never.hears('a').view(1, "ab").alone(3, 'a').offered();
  never.hears('b').view(1, "ab").view(2, "b", spindle::ViewCause::network).alone(3, 'b');
  EXPECT_THAT(check_channels(never.history(), true), ElementsAre(HasSubstr("#a#d and #b#d move together")));
  Writer along;
  along.hears('a').view(1, "ab").view(3, "ab", spindle::ViewCause::network).offered();
  along.hears('b').view(1, "ab").offered().view(3, "ab", spindle::ViewCause::network);
  EXPECT_THAT(check_channels(along.history(), true), Not(IsEmpty())) << "who has come along is told at the same place";
}

TEST(CheckChannels, AMemberIsToldOfAnOfferAtAll) {
  Writer w;
  w.hears('a').view(1, "ab").offered();
  w.hears('b').view(1, "ab");
  EXPECT_THAT(check_channels(w.history(), false), IsEmpty());
  EXPECT_THAT(check_channels(w.history(), true), ElementsAre(HasSubstr("move together")));
}

TEST(CheckChannels, CompletionHasOnePlaceAndOneList) {
  Writer w = usual();
  w.at('a').complete("ab");
  w.at('b').complete("b");
  EXPECT_THAT(check_channels(w.history(), false), ElementsAre(HasSubstr("at other places, or other things")));
  Writer places = usual();
  places.at('a').complete("ab", 9);
  places.at('b').complete("ab", 10);
  EXPECT_THAT(check_channels(places.history(), false), ElementsAre(HasSubstr("at other places, or other things")));
}

TEST(CheckChannels, NobodyIsCountedWhoIsGone) {
  Writer w = usual();
  w.at('b').leaves();
  w.at('a').view(2, "a", spindle::ViewCause::leave).complete("ab");
  EXPECT_THAT(check_channels(w.history(), false), ElementsAre(HasSubstr("with #b#d, who is no member")));
}

TEST(CheckChannels, NobodyIsCountedWhoIsLate) {
  Writer w;
  w.hears('a').view(1, "ab").offered().sealed().done();
  w.hears('b').view(1, "ab").offered(true).done();
  w.at('a').complete("ab");
  EXPECT_THAT(check_channels(w.history(), false), Contains(HasSubstr("with #b#d, who was not in time for it")));
}

TEST(CheckChannels, NobodyIsCountedWhoHasNotSaidSo) {
  Writer w;
  w.hears('a').view(1, "ab").offered().sealed().says(protocol::BulkOutcome::refused);
  w.hears('b').view(1, "ab").offered().sealed().done().complete("ab");
  EXPECT_THAT(check_channels(w.history(), false), ElementsAre(HasSubstr("with #a#d, who has not said so before")));
}

TEST(CheckChannels, NobodyOfTheAudienceIsLeftOut) {
  Writer w = usual();
  w.at('a').complete("b");
  EXPECT_THAT(check_channels(w.history(), false), ElementsAre(HasSubstr("of whose audience it is itself")));
  Writer later = usual();
  later.at('a').add(ChannelTold{protocol::BulkComplete{kChannel, {2, "d", 1, 0}, Writer::names("b"), {}, {}, {}}});
  EXPECT_THAT(check_channels(later.history(), false), IsEmpty()) << "its daemon may have been parted meanwhile";
}

TEST(CheckChannels, OnlyTheSourceHearsWhoComesBackAndOfThoseThatWereMissing) {
  const auto returned = [](std::uint64_t done, std::uint64_t missing) {
    return ChannelTold{protocol::BulkReturned{kChannel, {done, 0, 0, missing}, 0}};
  };
  const auto with_source = [] {
    Writer w = usual();
    w.hears('s').offered(false, 1).sealed();
    for (const char client : {'a', 'b', 's'}) w.at(client).complete("ab");
    return w;
  };
  Writer source = with_source();
  source.at('s').add(returned(0, 0));
  EXPECT_THAT(check_channels(source.history(), false), IsEmpty());
  Writer more = with_source();
  more.at('s').add(returned(1, 0));
  EXPECT_THAT(check_channels(more.history(), false), ElementsAre(HasSubstr("other numbers")));
  Writer member = with_source();
  member.at('b').add(returned(0, 0));
  EXPECT_THAT(check_channels(member.history(), false), ElementsAre(HasSubstr("is no source")));
}

TEST(CheckChannels, CompletionComesInTheEnd) {
  Writer w = usual();
  EXPECT_THAT(check_channels(w.history(), false), IsEmpty());
  EXPECT_THAT(check_channels(w.history(), true), Contains(HasSubstr("nobody is waited for")));
  Writer waits;
  waits.hears('a').view(1, "ab").offered().sealed().done();
  waits.hears('b').view(1, "ab").offered().sealed();
  EXPECT_THAT(check_channels(waits.history(), true), IsEmpty());
}

}  // namespace
}  // namespace spindled::checkers
