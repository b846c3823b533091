// The way of datagrams between two ends, and who is kept out of it.
#include "daemon/link/datagram_channel.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/support/toy_cipher.h"

namespace spindled {
namespace {

using test::ToyCipher;
using Verdict = DatagramChannel::Verdict;

DatagramAddress address(std::uint8_t host) { return {.host = {host}, .port = 4804}; }

struct Flying {
  DatagramAddress from, to;
  std::vector<std::uint8_t> bytes;
};

/// One end; what it has to say is taken out of it by the test.
struct End {
  End(std::uint64_t own, std::uint64_t peer, DatagramAddress at, DatagramAddress other, bool sealed, Time now)
      : self(at),
        channel({own, peer, 1400, other, sealed ? std::make_unique<ToyCipher>(1, own < peer) : nullptr}, now) {}

  std::vector<Flying> take(Time now) {
    while (const auto to = channel.take_question(now)) channel.ask(now, *to, ++marks);
    std::vector<OutgoingDatagram> out;
    channel.gather(out);
    std::vector<Flying> flying;
    for (const OutgoingDatagram& each : out) flying.push_back({self, each.to, {each.bytes.begin(), each.bytes.end()}});
    channel.clear();
    return flying;
  }
  Verdict receive(Time now, Flying flying) {
    const std::optional<DatagramHead> head = read_datagram_head(flying.bytes);
    if (!head || head->token != channel.own_token()) return Verdict::forged;
    const DatagramChannel::Opened opened = channel.open({flying.from, flying.bytes}, *head);
    if (opened.verdict != Verdict::good) return opened.verdict;
    ByteView rest = opened.frames;
    while (const auto frame = next_datagram_frame(rest)) {
      if (frame->type != kProbeFrame) {
        frames.emplace_back(spindle::as_text(frame->body));
        continue;
      }
      const std::optional<Probe> probe = read_probe(frame->body);
      EXPECT_TRUE(probe);
      if (probe) believed = channel.probe_received(now, flying.from, *probe);
    }
    EXPECT_TRUE(rest.empty());
    return Verdict::good;
  }
  bool append(std::string_view text) { return channel.append(1, spindle::as_bytes(text), {}); }

  DatagramAddress self;
  std::uint64_t marks = 1000;
  DatagramChannel channel;
  std::vector<std::string> frames;
  bool believed = true;
};

class DatagramChannelTest : public testing::TestWithParam<bool> {
 protected:
  using Loses = std::function<bool(const Flying&)>;

  bool sealed() const { return GetParam(); }
  /// What both have to say goes to the other, until neither has anything.
  void exchange() {
    for (bool moved = true; moved;) {
      moved = false;
      for (End* end : {&alpha, &beta}) {
        for (Flying& flying : end->take(now)) {
          moved = true;
          sent.push_back(flying);
          if (loses(flying)) continue;
          if (flying.to == alpha.self) alpha.receive(now + delay, flying);
          if (flying.to == beta.self) beta.receive(now + delay, flying);
        }
      }
    }
  }
  void pass(Duration duration) {
    const Time end = now + duration;
    exchange();
    for (;;) {
      const Time next = std::min(alpha.channel.next_deadline(), beta.channel.next_deadline());
      if (next > end) break;
      ASSERT_GT(next, now - 1ns);
      now = std::max(now, next);
      exchange();
    }
    now = end;
  }
  /// Frames from alpha to beta, one a datagram, with what keeps the channel awake.
  void stream(int count, Duration every) {
    for (int i = 0; i < count; ++i) {
      if (alpha.channel.use(now)) alpha.append(std::string(1000, 'x'));
      pass(every);
    }
  }

  Time now{10s};
  Duration delay{};
  Loses loses = [](const Flying&) { return false; };
  std::vector<Flying> sent;
  End alpha{1, 2, address(1), address(2), GetParam(), now};
  End beta{2, 1, address(2), address(1), GetParam(), now};
};

std::string name_of(const testing::TestParamInfo<bool>& info) { return info.param ? "Sealed" : "ByTokens"; }
INSTANTIATE_TEST_SUITE_P(Both, DatagramChannelTest, testing::Bool(), name_of);

/// Tokens protect from those off the path only.
class SealedDatagramChannel : public DatagramChannelTest {};
INSTANTIATE_TEST_SUITE_P(One, SealedDatagramChannel, testing::Values(true));

TEST_P(DatagramChannelTest, OpensByAQuestionOfFullLength) {
  EXPECT_EQ(alpha.channel.state(), DatagramChannel::State::trying);
  EXPECT_FALSE(alpha.channel.use(now));
  exchange();
  EXPECT_TRUE(alpha.channel.use(now));
  EXPECT_TRUE(beta.channel.is_open());
  EXPECT_EQ(sent.front().bytes.size(), sealed() ? 1400u : 1400u - DatagramCipher::kTagBytes);
  EXPECT_GT(alpha.channel.round_trip(), Duration::zero());
}

TEST_P(DatagramChannelTest, IsSilentWhereNothingIsSent) {
  exchange();
  const std::size_t before = sent.size();
  pass(600s);
  EXPECT_EQ(sent.size(), before);
  EXPECT_EQ(alpha.channel.next_deadline(), kNever);
}

TEST_P(DatagramChannelTest, IsSilentWhereItIsLookedAtALittleLate) {
  exchange();
  ASSERT_TRUE(alpha.channel.use(now));
  const Time end = now + kProbeActiveTime;
  exchange();
  while (alpha.channel.next_deadline() + kProbeInterval < end) pass(alpha.channel.next_deadline() - now);
  ASSERT_LT(alpha.channel.next_deadline(), end);
  sent.clear();
  now = end;
  exchange();
  EXPECT_TRUE(sent.empty()) << "no more is asked";
  EXPECT_EQ(alpha.channel.next_deadline(), kNever);
  ASSERT_TRUE(alpha.channel.use(now));
  EXPECT_EQ(alpha.channel.next_deadline(), now) << "and asks again when it is used";
  exchange();
  EXPECT_GT(alpha.channel.next_deadline(), now);
}

TEST_P(DatagramChannelTest, CarriesFramesInOrderAndManyInOneDatagram) {
  exchange();
  sent.clear();
  ASSERT_TRUE(alpha.channel.use(now));
  std::vector<std::string> expected;
  for (int i = 0; i < 100; ++i) {
    expected.push_back("frame " + std::to_string(i));
    ASSERT_TRUE(alpha.append(expected.back()));
  }
  exchange();
  EXPECT_EQ(beta.frames, expected);
  EXPECT_LT(sent.size(), 5u);
}

TEST_P(DatagramChannelTest, NoDatagramIsLongerThanAgreed) {
  exchange();
  sent.clear();
  const std::size_t longest = datagram_room(1400) - kDatagramFrameHeadBytes;
  for (const std::size_t bytes : {longest, std::size_t{0}, longest / 2, longest / 2, longest}) {
    ASSERT_TRUE(alpha.append(std::string(bytes, 'x')));
  }
  exchange();
  EXPECT_EQ(beta.frames.size(), 5u);
  for (const Flying& each : sent) EXPECT_LE(each.bytes.size(), 1400u);
}

TEST_P(DatagramChannelTest, ATurnHoldsSoMuch) {
  exchange();
  std::size_t count = 0;
  while (alpha.append(std::string(1300, 'x'))) ++count;
  EXPECT_GT(count * 1300, kDatagramTurnBytesMax * 9 / 10);
  EXPECT_LE(count * 1300, kDatagramTurnBytesMax);
  exchange();
  EXPECT_TRUE(alpha.append("again")) << "and the next one as much";
}

TEST_P(DatagramChannelTest, AnswersAreNeverLargerThanQuestions) {
  for (int i = 0; i < 3; ++i) {
    std::vector<Flying> questions = alpha.take(now);
    const std::size_t asked = questions.empty() ? 0 : questions.front().bytes.size();
    for (const Flying& each : questions) beta.receive(now, each);
    std::size_t answered = 0;
    while (beta.channel.take_question(now)) {
    }  // its own are not asked
    for (const Flying& each : beta.take(now)) answered += each.bytes.size();
    EXPECT_LE(answered, asked);
    now += kProbeInterval;
  }
}

TEST_P(DatagramChannelTest, TakesADatagramOnce) {
  exchange();
  ASSERT_TRUE(alpha.append("once"));
  const std::vector<Flying> datagrams = alpha.take(now);
  ASSERT_EQ(datagrams.size(), 1u);
  EXPECT_EQ(beta.receive(now, datagrams[0]), Verdict::good);
  EXPECT_EQ(beta.receive(now, datagrams[0]), Verdict::repeated);
  EXPECT_EQ(beta.frames, std::vector<std::string>{"once"});
}

TEST_P(DatagramChannelTest, TriesFullLengthAndFallsBackWhereOnlyShortOnesPass) {
  loses = [](const Flying& flying) { return flying.bytes.size() > 1000; };
  pass(kProbeTries * kProbeInterval + kProbePatience);
  EXPECT_EQ(alpha.channel.state(), DatagramChannel::State::closed);
  sent.clear();
  pass(kProbeRetry / 2);
  EXPECT_TRUE(sent.empty());
  loses = [](const Flying&) { return false; };
  pass(kProbeRetry);
  EXPECT_TRUE(alpha.channel.is_open()) << "it is tried again";
  EXPECT_EQ(alpha.channel.loss_out(), 0) << "what was lost while it was closed does not count";
}

TEST_P(DatagramChannelTest, ComesBackAsSoonAsAnAnswerComes) {
  stream(20, 10ms);
  ASSERT_TRUE(alpha.channel.is_open());
  loses = [](const Flying&) { return true; };
  stream(100, 10ms);
  EXPECT_EQ(alpha.channel.state(), DatagramChannel::State::trying) << "after three questions in a row";
  loses = [](const Flying&) { return false; };
  stream(30, 10ms);
  EXPECT_TRUE(alpha.channel.is_open());
}

TEST_P(DatagramChannelTest, ALostQuestionNowAndThenChangesNothing) {
  int asked = 0;
  loses = [&](const Flying& flying) { return flying.bytes.size() > 1300 && ++asked % 3 != 0; };
  pass(1s);
  ASSERT_TRUE(alpha.channel.is_open());
  for (int i = 0; i < 1000; ++i) {
    stream(1, 10ms);
    ASSERT_TRUE(alpha.channel.is_open()) << i;
  }
}

TEST_P(DatagramChannelTest, QuestionsThatAreNotDueSayNothingOfTheWay) {
  exchange();
  ASSERT_TRUE(alpha.channel.use(now));
  for (int i = 0; i < 10; ++i) {
    alpha.channel.ask_beside(now, ++alpha.marks);
    static_cast<void>(alpha.take(now));  // lost
    now += 20ms;
  }
  pass(kProbeInterval);
  EXPECT_TRUE(alpha.channel.is_open());
  now += 5ms;
  delay = 5ms;
  for (int i = 0; i < 100; ++i) {
    alpha.channel.ask_beside(now, ++alpha.marks);
    exchange();
  }
  EXPECT_GT(alpha.channel.round_trip(), 4ms) << "their answers are samples";
}

TEST_P(DatagramChannelTest, WaitsForAnswersThatTakeLong) {
  exchange();
  // Each datagram takes 700 ms: the way back and forth is longer than five questions are apart.
  std::vector<std::pair<Time, Flying>> flying;
  const Time end = now + 30s;
  for (; now < end; now += 10ms) {
    static_cast<void>(alpha.channel.use(now));
    for (End* each : {&alpha, &beta}) {
      for (Flying& datagram : each->take(now)) flying.emplace_back(now + 700ms, std::move(datagram));
    }
    while (!flying.empty() && flying.front().first <= now) {
      const Flying datagram = std::move(flying.front().second);
      flying.erase(flying.begin());
      (datagram.to == alpha.self ? alpha : beta).receive(now, datagram);
    }
    const bool has_begun = now > end - 10s;
    ASSERT_TRUE(alpha.channel.is_open() || !has_begun);
  }
  EXPECT_GT(alpha.channel.round_trip(), 1300ms);
}

TEST_P(DatagramChannelTest, AfterASilenceTheWayIsTriedBeforeItIsUsed) {
  exchange();
  ASSERT_TRUE(alpha.channel.use(now));
  pass(kAnswerValid + kProbeActiveTime + 1s);
  EXPECT_FALSE(alpha.channel.use(now));
  exchange();
  EXPECT_TRUE(alpha.channel.use(now));
}

TEST_P(DatagramChannelTest, MeasuresLossInBothDirections) {
  exchange();
  int number = 0;
  loses = [&](const Flying& flying) {
    return flying.to == beta.self && flying.bytes.size() < 1300 && ++number % 5 == 0;
  };
  stream(3000, 5ms);
  EXPECT_NEAR(alpha.channel.loss_out(), 0.2, 0.03);
  EXPECT_NEAR(beta.channel.loss_in(), 0.2, 0.03);
  EXPECT_EQ(alpha.channel.loss_in(), 0);
}

// Who is elsewhere.

TEST_P(DatagramChannelTest, FollowsThePeerToAnotherAddress) {
  exchange();
  beta.self = address(9);  // a router has given it another one
  for (int i = 0; i < 4; ++i) {
    static_cast<void>(beta.channel.use(now));
    beta.append(std::string(900, 'y'));
    static_cast<void>(alpha.channel.use(now));
    pass(kProbeInterval);
  }
  EXPECT_EQ(alpha.channel.address(), address(9));
  sent.clear();
  ASSERT_TRUE(alpha.append("there"));
  exchange();
  EXPECT_EQ(beta.frames.back(), "there");
}

TEST_P(DatagramChannelTest, SendsNoFramesToAnAddressThatHasNotAnswered) {
  exchange();
  sent.clear();
  ASSERT_TRUE(beta.append(std::string(900, 'y')));
  std::vector<Flying> datagrams = beta.take(now);
  ASSERT_EQ(datagrams.size(), 1u);
  datagrams[0].from = address(66);  // somebody has the datagram, and gives it another sender
  EXPECT_EQ(alpha.receive(now, datagrams[0]), Verdict::good);
  std::size_t to_victim = 0;
  for (int i = 0; i < 40; ++i) {
    static_cast<void>(alpha.channel.use(now));
    alpha.append("frame");
    for (const Flying& each : alpha.take(now)) to_victim += each.to == address(66) ? each.bytes.size() : 0;
    now += kProbeInterval;
  }
  EXPECT_EQ(alpha.channel.address(), address(2));
  EXPECT_LE(to_victim, datagrams[0].bytes.size()) << "no more than came from there";
}

TEST_P(DatagramChannelTest, WhoAsksFromElsewhereGetsNoMoreBytesThanHeSends) {
  exchange();
  beta.self = address(66);
  std::size_t asked = 0, came_back = 0;
  for (int i = 0; i < 40; ++i) {
    static_cast<void>(beta.channel.use(now));
    for (const Flying& each : beta.take(now)) {
      asked += each.bytes.size();
      alpha.receive(now, each);
      for (const Flying& back : alpha.take(now)) came_back += back.to == address(66) ? back.bytes.size() : 0;
      EXPECT_LE(came_back, asked);
    }
    now += kProbeInterval;
  }
  EXPECT_GT(came_back, 0u);
}

// Who is not the peer.

TEST_P(SealedDatagramChannel, ChangedBytesAreForged) {
  exchange();
  ASSERT_TRUE(alpha.append("true"));
  const std::vector<Flying> datagrams = alpha.take(now);
  for (std::size_t at = 8; at < datagrams[0].bytes.size(); ++at) {
    Flying changed = datagrams[0];
    changed.bytes[at] ^= 0x40;
    ASSERT_NE(beta.receive(now, changed), Verdict::good) << at;
  }
  EXPECT_TRUE(beta.frames.empty());
  EXPECT_EQ(beta.receive(now, datagrams[0]), Verdict::good) << "and do not stand in the way of what is genuine";
}

TEST_P(SealedDatagramChannel, AStolenTokenIsOfNoUse) {
  exchange();
  End thief{1, 2, address(66), address(2), false, now};
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(thief.append("false"));
    for (const Flying& each : thief.take(now)) EXPECT_NE(beta.receive(now, each), Verdict::good);
  }
  EXPECT_TRUE(beta.frames.empty());
}

TEST_P(DatagramChannelTest, ShortAndEmptyDatagramsAreNothing) {
  exchange();
  for (std::size_t bytes = kDatagramHeadBytes; bytes < kDatagramHeadBytes + 20; ++bytes) {
    Flying garbage{address(1), address(2), std::vector<std::uint8_t>(bytes)};
    Writer writer(garbage.bytes.data());
    write_datagram_head(writer, {beta.channel.own_token(), static_cast<std::uint32_t>(100 + bytes)});
    const DatagramHead head = *read_datagram_head(garbage.bytes);
    const DatagramChannel::Opened opened = beta.channel.open({garbage.from, garbage.bytes}, head);
    EXPECT_EQ(opened.verdict, sealed() ? Verdict::forged : Verdict::good);
  }
}

TEST_P(DatagramChannelTest, AReportOfWhatWasNeverSentIsNotBelieved) {
  exchange();
  const Probe probe{.kind = Probe::Kind::question, .mark = 1, .received = 5, .highest = 1'000'000};
  EXPECT_FALSE(beta.channel.probe_received(now, alpha.self, probe));
}

TEST_P(DatagramChannelTest, AnAnswerThatNobodyAskedForOpensNothing) {
  const Probe probe{.kind = Probe::Kind::answer, .mark = 4711};
  EXPECT_TRUE(beta.channel.probe_received(now, alpha.self, probe));
  EXPECT_FALSE(beta.channel.is_open());
}

}  // namespace
}  // namespace spindled
