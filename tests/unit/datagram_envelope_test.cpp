// The head of datagrams, the frames in them, and probes.
#include "daemon/wire/datagram_envelope.h"

#include <gtest/gtest.h>

#include <vector>

namespace spindled {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes probe_bytes(const Probe& probe) {
  Bytes bytes(kProbeBytesMin + probe.padding);
  Writer writer(bytes.data());
  write_probe(writer, probe);
  return bytes;
}

TEST(DatagramEnvelope, HasAHeadOfTwelveBytes) {
  const DatagramHead head{0x0807060504030201, 0x0c0b0a09};
  Bytes bytes(kDatagramHeadBytes);
  Writer writer(bytes.data());
  write_datagram_head(writer, head);
  EXPECT_EQ(bytes, Bytes({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(read_datagram_head(bytes), head);
  bytes.pop_back();
  EXPECT_EQ(read_datagram_head(bytes), std::nullopt);
}

TEST(DatagramEnvelope, GivesOneFrameAfterTheOther) {
  const Bytes bytes = {1, 2, 0, 'a', 'b', 9, 0, 0};
  ByteView rest(bytes);
  const auto first = next_datagram_frame(rest);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->type, 1);
  EXPECT_EQ(spindle::as_text(first->body), "ab");
  const auto second = next_datagram_frame(rest);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->type, 9);
  EXPECT_TRUE(second->body.empty());
  EXPECT_TRUE(rest.empty());
}

TEST(DatagramEnvelope, FindsFramesThatDoNotFit) {
  for (const Bytes& bytes : {Bytes{}, Bytes{1}, Bytes{1, 0}, Bytes{1, 1, 0}, Bytes{1, 0, 1, 'a'}}) {
    ByteView rest(bytes);
    EXPECT_FALSE(next_datagram_frame(rest)) << bytes.size();
  }
}

TEST(DatagramEnvelope, ProbesCarryWhatHasCome) {
  for (const Probe& probe :
       {Probe{Probe::Kind::question, 0x1122334455667788, 7, 9, 100}, Probe{Probe::Kind::answer, 1, 0xffffffff, 2, 0}}) {
    const Bytes bytes = probe_bytes(probe);
    EXPECT_EQ(bytes.size(), kProbeBytesMin + probe.padding);
    EXPECT_EQ(read_probe(bytes), probe);
  }
}

TEST(DatagramEnvelope, ProbesHaveOneEncoding) {
  Bytes bytes = probe_bytes({.mark = 1, .padding = 5});
  bytes.back() = 1;
  EXPECT_FALSE(read_probe(bytes)) << "padding that is not zero";
  bytes = probe_bytes({.mark = 1});
  bytes.front() = 2;
  EXPECT_FALSE(read_probe(bytes)) << "a third kind";
  bytes.front() = 1;
  bytes.push_back(0);
  EXPECT_FALSE(read_probe(bytes)) << "an answer with padding";
  bytes.resize(kProbeBytesMin - 1);
  EXPECT_FALSE(read_probe(bytes)) << "too short";
}

}  // namespace
}  // namespace spindled
