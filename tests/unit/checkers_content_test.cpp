// The checker of what bulk channels carry, held to histories that break what is promised.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/checkers/checkers.h"

namespace spindled::checkers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CheckContent : public testing::Test {
 protected:
  /// s offers two blocks; a and b get them.
  CheckContent() {
    history_.contents.resize(3);
    const char* const names[] = {"#s#d", "#a#d", "#b#d"};
    for (std::size_t i = 0; i < 3; ++i) {
      ContentHistory& each = history_.contents[i];
      each.channel = {"d", 1, 1};
      each.client = names[i];
      each.is_source = i == 0;
      each.is_receiver = i != 0;
      each.blocks = {{0, 70}, {1, 71}};
      each.digest = 7;
      each.symbols = each.symbols_wanted = 100;
      each.is_undisturbed = each.is_there = each.gives = true;
    }
  }
  ContentHistory& a() { return history_.contents[1]; }
  ContentHistory& b() { return history_.contents[2]; }
  Violations check(bool at_rest = true) const { return check_content(history_, at_rest); }

  History history_;
};

TEST_F(CheckContent, TakesWhatIsPromised) { EXPECT_THAT(check(), IsEmpty()); }

TEST_F(CheckContent, ABlockIsGivenAsItWasOffered) {
  a().blocks[1].digest = 70;
  EXPECT_THAT(check(false), ElementsAre(HasSubstr("#a#d is given block 1 of 1@d/1, and not as it was offered")));
}

TEST_F(CheckContent, ABlockThatIsReplacedWasRightBefore) {
  a().blocks.insert(a().blocks.begin(), {1, 9});
  EXPECT_THAT(check(false), ElementsAre(HasSubstr("#a#d is given block 1")));
}

TEST_F(CheckContent, NoBlockIsInvented) {
  b().blocks.push_back({2, 72});
  EXPECT_THAT(check(false), ElementsAre(HasSubstr("#b#d is given block 2")));
}

TEST_F(CheckContent, WhoIsDoneHasWhatWasOffered) {
  b().digest = 8;
  EXPECT_THAT(check(false), ElementsAre(HasSubstr("#b#d is done with 1@d/1, and has not what was offered")));
}

TEST_F(CheckContent, AtRestAllHaveWhatOneHas) {
  history_.contents[0].gives = false;
  a().digest.reset();
  a().gives = false;
  EXPECT_THAT(check(false), IsEmpty());
  EXPECT_THAT(check(), ElementsAre(HasSubstr("#a#d has not got 1@d/1, which #b#d has")));
}

TEST_F(CheckContent, WhoHasGoneIsNotWaitedFor) {
  a().digest.reset();
  a().is_there = a().gives = false;
  EXPECT_THAT(check(), IsEmpty());
}

TEST_F(CheckContent, WhatNobodyHasIsNotWaitedFor) {
  for (ContentHistory& each : history_.contents) each.gives = false;
  a().digest.reset();
  EXPECT_THAT(check(), IsEmpty());
}

TEST_F(CheckContent, OtherChannelsSayNothing) {
  b().channel.number = 2;
  a().digest.reset();
  a().gives = history_.contents[0].gives = false;
  EXPECT_THAT(check(), IsEmpty());
}

TEST_F(CheckContent, ABlockThatWentBadIsGivenToNobody) {
  a().bad_given = 2;
  EXPECT_THAT(check(false), ElementsAre(HasSubstr("#a#d gives others 2 blocks of 1@d/1 that went bad")));
}

TEST_F(CheckContent, ABlockThatWentBadIsFetchedAgain) {
  b().bad_kept = 1;
  EXPECT_THAT(check(false), ElementsAre(HasSubstr("#b#d is done with 1@d/1, and has not got 1 blocks again")));
}

TEST_F(CheckContent, ASourceKeepsToItsCap) {
  history_.contents[0].beyond_cap = 5'000;
  EXPECT_THAT(check(false), ElementsAre(HasSubstr("#s#d sends 5000 bytes of 1@d/1 beyond its cap")));
}

TEST_F(CheckContent, LittleComesInVain) {
  a().symbols = 264;
  EXPECT_THAT(check(), IsEmpty());
  ++a().symbols;
  EXPECT_THAT(check(), ElementsAre(HasSubstr("#a#d is sent 265 symbols of 1@d/1, and had to get 100")));
  a().is_undisturbed = false;
  EXPECT_THAT(check(), IsEmpty());
}

}  // namespace
}  // namespace spindled::checkers
