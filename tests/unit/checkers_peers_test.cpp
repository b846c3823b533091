// The checkers of what daemons give each other in meshes, held to histories that break what is promised.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/checkers/checkers.h"
#include "tests/checkers/peer_giving.h"

namespace spindled::checkers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr PeerGiving::Hop kPeer = 1, kOther = 2;

class CheckPeerGiving : public testing::Test {
 protected:
  CheckPeerGiving() {
    giving_.granted(kPeer, 100);
    giving_.set_receiver(kPeer, true);
    giving_.answered(kPeer, true);
    giving_.brought({0, 7});
  }
  std::optional<std::string> gave(std::uint32_t esi, bool is_enough = false) {
    return giving_.gave(kPeer, {0, esi}, is_enough);
  }

  PeerGiving giving_;
};

TEST_F(CheckPeerGiving, WhatComesAlongTheTreeIsGivenOnce) {
  EXPECT_EQ(gave(7), std::nullopt);
  EXPECT_THAT(gave(7), Optional(HasSubstr("symbol 7 of block 0 more often than that has come along the tree")));
}

TEST_F(CheckPeerGiving, WhatComesTwiceMayBeGivenTwice) {
  giving_.brought({0, 7});
  EXPECT_EQ(gave(7), std::nullopt);
  EXPECT_EQ(gave(7), std::nullopt);
}

TEST_F(CheckPeerGiving, NothingElseIsGiven) {
  EXPECT_THAT(gave(8), Optional(HasSubstr("symbol 8 of block 0 that has not come along the tree since")));
}

TEST_F(CheckPeerGiving, OfAWantedBlockAsMuchIsGivenAsIsWanted) {
  giving_.wanted(kPeer, 0, 2);
  EXPECT_EQ(gave(8), std::nullopt);
  EXPECT_EQ(gave(9), std::nullopt);
  EXPECT_THAT(gave(10), Optional(HasSubstr("symbol 10 of block 0 that has not come along the tree since")));
  giving_.wanted(kPeer, 1, 5);
  EXPECT_NE(gave(11), std::nullopt) << "of another block";
  giving_.wanted(kPeer, 0, 1);
  EXPECT_EQ(gave(12), std::nullopt);
  EXPECT_EQ(gave(7), std::nullopt) << "it came along the tree";
  giving_.wanted(kPeer, 0, 1);
  EXPECT_THAT(gave(13, true), Optional(HasSubstr("it has enough of that block")));
}

TEST_F(CheckPeerGiving, WhatCameBeforeAPeerWasThereIsNotGiven) {
  giving_.granted(kOther, 100);
  giving_.set_receiver(kOther, true);
  EXPECT_THAT(giving_.gave(kOther, {0, 7}, false), Optional(HasSubstr("that has not come along the tree since")));
  giving_.brought({0, 9});
  EXPECT_EQ(giving_.gave(kOther, {0, 9}, false), std::nullopt);
}

TEST_F(CheckPeerGiving, WhatIsStillToBeWrittenOfAFormerPeerMayBe) {
  giving_.set_receiver(kPeer, false);
  giving_.brought({0, 8});
  EXPECT_EQ(gave(7), std::nullopt);
  EXPECT_NE(gave(8), std::nullopt);
}

TEST_F(CheckPeerGiving, NoMoreThanWasAskedForIsGiven) {
  giving_.granted(kOther, 1);
  giving_.set_receiver(kOther, true);
  giving_.brought({1, 1});
  giving_.brought({1, 2});
  EXPECT_EQ(giving_.gave(kOther, {1, 1}, false), std::nullopt);
  EXPECT_THAT(giving_.gave(kOther, {1, 2}, false), Optional(HasSubstr("2 symbols, and was asked for 1")));
}

TEST_F(CheckPeerGiving, WhoHasEnoughIsGivenNoMore) {
  EXPECT_THAT(gave(7, true), Optional(HasSubstr("symbol 7 of block 0 though it has enough of that block")));
}

TEST_F(CheckPeerGiving, WhoIsTurnedAwayIsGivenNothing) {
  giving_.answered(kPeer, false);
  EXPECT_THAT(gave(7), Optional(HasSubstr("symbol 7 of block 0 though it takes nothing of it")));
  giving_.answered(kPeer, true);
  EXPECT_EQ(gave(7), std::nullopt);
}

TEST_F(CheckPeerGiving, AChildIsGivenWhatItHasMissed) {
  giving_.is_child(kPeer);
  giving_.answered(kPeer, false);
  EXPECT_EQ(gave(8), std::nullopt);
  EXPECT_EQ(gave(8), std::nullopt);
}

class CheckPeers : public testing::Test {
 protected:
  CheckPeers() {
    history_.peers.resize(1);
    history_.peers[0].daemon = "d1";
    history_.peers[0].channel = {"d0", 1, 1};
    history_.peers[0].told_at_once = 18'750;
  }

  History history_;
};

TEST_F(CheckPeers, TakesWhatIsPromised) { EXPECT_THAT(check_peers(history_), IsEmpty()); }

TEST_F(CheckPeers, WhatIsGivenHasToBeDue) {
  history_.peers[0].wrong = {"too much"};
  EXPECT_THAT(check_peers(history_), ElementsAre("peers: d1 gives another daemon of 1@d0/1 too much"));
}

TEST_F(CheckPeers, WhatIsToldKeepsToItsBudget) {
  ++history_.peers[0].told_at_once;
  EXPECT_THAT(check_peers(history_), ElementsAre(HasSubstr("d1 tells others 18751 bytes for the mesh of 1@d0/1")));
}

}  // namespace
}  // namespace spindled::checkers
