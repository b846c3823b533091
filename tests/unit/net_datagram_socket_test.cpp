// Datagrams on loopback.
#include "daemon/net/datagram_socket.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <string>

namespace spindled {
namespace {

class DatagramSocketTest : public testing::TestWithParam<const char*> {
 protected:
  static Address any_port() { return {GetParam(), 0}; }
  static DatagramAddress address_of(const DatagramSocket& socket) { return to_datagram_address(socket.bound(), 0); }

  std::size_t send(const std::vector<std::string>& texts) {
    std::vector<OutgoingDatagram> datagrams;
    for (const std::string& text : texts) datagrams.push_back({address_of(there_), spindle::as_bytes(text)});
    return here_.send(datagrams);
  }
  /// The next `count`, or fewer where no more come.
  std::vector<std::string> receive(std::size_t count) {
    std::vector<std::string> texts;
    while (texts.size() < count) {
      pollfd waits{there_.descriptor(), POLLIN, 0};
      if (::poll(&waits, 1, 5000) != 1) break;
      for (const IncomingDatagram& each : reader_.read(there_.descriptor(), 7).datagrams) {
        DatagramAddress from = address_of(here_);
        from.socket = 7;
        EXPECT_EQ(each.from, from);
        texts.emplace_back(spindle::as_text(each.bytes));
      }
    }
    return texts;
  }

  DatagramSocket here_ = std::move(*DatagramSocket::bind(any_port(), 0));
  DatagramSocket there_ = std::move(*DatagramSocket::bind(any_port(), 0));
  DatagramReader reader_;
};

std::string family_of(const testing::TestParamInfo<const char*>& info) {
  return std::string(info.param) == "::1" ? "V6" : "V4";
}
INSTANTIATE_TEST_SUITE_P(Loopback, DatagramSocketTest, testing::Values("127.0.0.1", "::1"), family_of);

TEST_P(DatagramSocketTest, CarriesDatagramsOfAllSizesInOrder) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 200; ++i) texts.emplace_back(1 + (i * 37) % 1400, static_cast<char>('a' + i % 26));
  EXPECT_EQ(send(texts), texts.size());
  EXPECT_EQ(receive(texts.size()), texts);
}

TEST_P(DatagramSocketTest, KeepsTheBoundsOfThoseThatGoAsOne) {
  ASSERT_TRUE(here_.counts().is_segmenting);
  std::vector<std::string> texts;
  for (int i = 0; i < 150; ++i) texts.push_back(std::string(1000, static_cast<char>('a' + i % 26)));
  texts.emplace_back(10, 'z');  // the last one may be shorter
  texts.emplace_back(20, 'y');  // and this begins another
  EXPECT_EQ(send(texts), texts.size());
  EXPECT_EQ(receive(texts.size()), texts);
}

TEST_P(DatagramSocketTest, DoesTheSameWithoutSegmenting) {
  here_.stop_segmenting();
  std::vector<std::string> texts(150, std::string(1000, 'x'));
  EXPECT_EQ(send(texts), texts.size());
  EXPECT_FALSE(here_.counts().is_segmenting);
  EXPECT_EQ(receive(texts.size()), texts);
}

TEST_P(DatagramSocketTest, LosesWhatIsTooLongAndGoesOn) {
  EXPECT_EQ(send({"before", std::string(66'000, 'x'), "behind"}), 3u);
  EXPECT_EQ(receive(2), (std::vector<std::string>{"before", "behind"}));
  EXPECT_EQ(here_.counts().too_long, 1u);
}

TEST_P(DatagramSocketTest, LosesWhatIsForAnotherFamilyAndGoesOn) {
  const std::string text = "text";
  DatagramAddress elsewhere = address_of(there_);
  elsewhere.host[10] ^= 0xff;
  elsewhere.host[11] ^= 0xff;
  const OutgoingDatagram datagrams[] = {{elsewhere, spindle::as_bytes(text)},
                                        {address_of(there_), spindle::as_bytes(text)}};
  EXPECT_EQ(here_.send(datagrams), 2u);
  EXPECT_EQ(receive(1), std::vector<std::string>{text});
  EXPECT_EQ(here_.counts().failed + here_.counts().too_long, 1u);
}

TEST_P(DatagramSocketTest, ReadsNothingWhereThereIsNothing) {
  EXPECT_TRUE(reader_.read(there_.descriptor(), 0).datagrams.empty());
}

TEST(DatagramSocket, SaysThatAPortIsTaken) {
  const DatagramSocket first = std::move(*DatagramSocket::bind({"127.0.0.1", 0}, 0));
  const Result<DatagramSocket> second = DatagramSocket::bind({"127.0.0.1", first.port()}, 0);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::bad_address);
}

}  // namespace
}  // namespace spindled
