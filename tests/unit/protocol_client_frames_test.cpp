#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "tests/support/payload_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

namespace spindle::protocol {
namespace {

using Bytes = std::vector<std::uint8_t>;

ByteView body_of(const Bytes& frame) { return ByteView(frame).subspan(kFrameHeadBytes); }

void expect_head(const Bytes& frame, ClientFrame type) {
  const auto head = read_frame_head(frame);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->type, static_cast<std::uint8_t>(type));
  EXPECT_EQ(head->length + kFrameHeadBytes, frame.size());
}

// Bodies that were cut short or continued must not parse.
template <typename Read>
void expect_exact(const Bytes& frame, Read read) {
  const ByteView body = body_of(frame);
  ASSERT_TRUE(read(body));
  for (std::size_t size = 0; size < body.size(); ++size) {
    const Bytes cut(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size));  // on the heap, for the sanitizer
    EXPECT_FALSE(read(cut)) << "cut to " << size << " of " << body.size();
  }
  Bytes longer(body.begin(), body.end());
  longer.push_back(0);
  EXPECT_FALSE(read(longer));
}

class ClientFrames : public testing::Test {
 protected:
  std::size_t number(std::size_t least, std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(least, most)(random_);
  }
  std::string plain_name(std::size_t most) {
    std::string name(number(1, most), 'x');
    for (char& c : name) c = static_cast<char>(number('$', '~'));
    return name;
  }
  std::string group_name() {
    std::string name(number(1, kGroupNameBytesMax), 'x');
    for (char& c : name) c = static_cast<char>(number(0, 255));
    if (name.front() == '#') name.front() = 'g';
    return name;
  }
  std::string private_name() { return make_private_name(plain_name(64), plain_name(64)); }
  // Names that live as long as the test.
  std::vector<std::string_view> names(std::size_t least, std::size_t most, bool groups) {
    std::vector<std::string_view> views;
    for (std::size_t count = number(least, most); count > 0; --count) {
      views.push_back(*kept_.emplace_back(std::make_unique<std::string>(groups ? group_name() : private_name())));
    }
    return views;
  }
  ByteView payload(std::size_t size) {
    payload_.resize(size);
    for (std::uint8_t& byte : payload_) byte = static_cast<std::uint8_t>(random_());
    return payload_;
  }
  Bytes send_frame(const Send& send) {
    Bytes frame(send_head_size(send));
    Writer writer(frame.data());
    write_send_head(writer, send);
    EXPECT_EQ(writer.size(), frame.size());
    frame.insert(frame.end(), send.chunk.begin(), send.chunk.end());
    return frame;
  }
  Bytes message_frame(const MessageHead& message) {
    Bytes frame(message_head_size(message));
    Writer writer(frame.data());
    write_message_head(writer, message);
    EXPECT_EQ(writer.size(), frame.size());
    frame.insert(frame.end(), message.chunk.begin(), message.chunk.end());
    return frame;
  }

  std::mt19937 random_{7};
  std::vector<std::unique_ptr<std::string>> kept_;
  Bytes payload_;
};

TEST_F(ClientFrames, HelloComesBack) {
  for (int round = 0; round < 50; ++round) {
    const std::string name = round == 0 ? "" : plain_name(64);
    Bytes frame;
    write_hello(frame, {1, static_cast<std::uint16_t>(number(1, 9)), 0, name});
    expect_head(frame, ClientFrame::hello);
    expect_exact(frame, read_hello);
    EXPECT_EQ(read_hello(body_of(frame))->name, name);
  }
}

TEST_F(ClientFrames, HelloCarriesItsFlags) {
  for (const std::uint8_t flags : {kIndependentFlowsBit, std::uint8_t{2 << kSlowPolicyShift}, std::uint8_t{7}}) {
    Bytes frame;
    write_hello(frame, {1, 1, flags, "a"});
    expect_exact(frame, read_hello);
    EXPECT_EQ(read_hello(body_of(frame))->flags, flags);
  }
}

TEST_F(ClientFrames, HelloCarriesAToken) {
  for (const std::size_t size : {1u, 78u, 255u}) {
    const std::string token(size, '\xff');
    Bytes frame;
    write_hello(frame, {1, 1, kTellTakenBit, "a", token});
    EXPECT_EQ(read_hello(body_of(frame))->token, token);
    EXPECT_EQ(read_hello(body_of(frame))->flags, kTellTakenBit);
  }
}

TEST_F(ClientFrames, HelloCarriesWhatATakenUpSessionNeeds) {
  Bytes frame;
  Hello hello{1, 1, 0, "a", "secret", true, Resume{{7, {1, 2, 3}}, 300}, 5000, true};
  write_hello(frame, hello);
  const std::optional<Hello> read = read_hello(body_of(frame));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->is_resumable);
  EXPECT_EQ(read->resume, hello.resume);
  EXPECT_EQ(read->keepalive_ms, 5000u);
  EXPECT_TRUE(read->moves);
  EXPECT_EQ(read->token, "secret");

  frame.clear();
  const Welcome welcome{1, "#a#d", Resumable{{7, {9}}, 5000}, 299};
  write_welcome(frame, welcome);
  const std::optional<Welcome> answer = read_welcome(body_of(frame));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->resumable, welcome.resumable);
  EXPECT_EQ(answer->resumed, 299u);
}

TEST_F(ClientFrames, OptionsThatAreNotKnownAreSkipped) {
  for (const bool is_hello : {true, false}) {
    const auto with = [&](const Bytes& options) {
      Bytes frame;
      is_hello ? write_hello(frame, {1, 1, 0, "a"}) : write_welcome(frame, {1, "#a#d"});
      Bytes body(frame.begin() + kFrameHeadBytes, frame.end());
      body.insert(body.end(), options.begin(), options.end());
      return is_hello ? read_hello(body).has_value() : read_welcome(body).has_value();
    };
    EXPECT_TRUE(with({}));
    EXPECT_TRUE(with({200, 2, 0, 'x', 'y'}));
    EXPECT_TRUE(with({200, 0, 0, 201, 0, 0}));
    EXPECT_FALSE(with({200})) << "no length";
    EXPECT_FALSE(with({200, 2, 0, 'x'})) << "cut short";
    EXPECT_FALSE(with({201, 0, 0, 200, 0, 0})) << "out of order";
    EXPECT_FALSE(with({200, 0, 0, 200, 0, 0})) << "twice";
    EXPECT_FALSE(with({2, 1, 0, 'x'})) << "of another length than a known one has";
    EXPECT_FALSE(with({0, 0, 0})) << "no option has the number 0";
  }
}

TEST_F(ClientFrames, HelloIsRefused) {
  Bytes frame;
  write_hello(frame, {2, 1, 0, "a"});
  EXPECT_FALSE(read_hello(body_of(frame))) << "an empty range of versions";
  frame.clear();
  write_hello(frame, {1, 1, 32, "a"});
  EXPECT_FALSE(read_hello(body_of(frame))) << "an unknown flag";
  frame.clear();
  write_hello(frame, {1, 1, 0, "a"});
  const std::uint8_t no_token[] = {1, 0, 0};
  frame.insert(frame.end(), std::begin(no_token), std::end(no_token));
  EXPECT_FALSE(read_hello(ByteView(frame).subspan(kFrameHeadBytes))) << "an empty token";
  frame.clear();
  write_hello(frame, {1, 1, 0, "a"});
  frame[kFrameHeadBytes] ^= 1;
  EXPECT_FALSE(read_hello(body_of(frame))) << "another protocol";
}

TEST_F(ClientFrames, FlowRequestComesBack) {
  for (int round = 0; round < 50; ++round) {
    const FlowRequest request{static_cast<std::uint32_t>(number(0, UINT32_MAX)),
                              static_cast<std::uint32_t>(number(0, kHandlesMax - 1))};
    Bytes frame;
    write_flow_request(frame, request);
    expect_head(frame, ClientFrame::flow_request);
    expect_exact(frame, read_flow_request);
    EXPECT_EQ(read_flow_request(body_of(frame))->request, request.request);
    EXPECT_EQ(read_flow_request(body_of(frame))->handle, request.handle);
  }
  Bytes frame;
  write_flow_request(frame, {1, kHandlesMax});
  EXPECT_FALSE(read_flow_request(body_of(frame))) << "no such handle can be";
}

TEST_F(ClientFrames, ConfirmAndItsAnswerComeBack) {
  for (int round = 0; round < 50; ++round) {
    const Confirmed confirmed{static_cast<std::uint32_t>(number(0, UINT32_MAX)), number(0, UINT64_MAX)};
    Bytes frame;
    write_confirm(frame, confirmed.request);
    expect_head(frame, ClientFrame::confirm);
    expect_exact(frame, read_confirm);
    EXPECT_EQ(read_confirm(body_of(frame)), confirmed.request);
    frame.clear();
    write_confirmed(frame, confirmed);
    expect_head(frame, ClientFrame::confirmed);
    expect_exact(frame, read_confirmed);
    EXPECT_EQ(read_confirmed(body_of(frame))->request, confirmed.request);
    EXPECT_EQ(read_confirmed(body_of(frame))->taken, confirmed.taken);
  }
}

TEST_F(ClientFrames, GoingComesBack) {
  for (int round = 0; round < 50; ++round) {
    const auto milliseconds = static_cast<std::uint32_t>(number(0, UINT32_MAX));
    Bytes frame;
    write_going(frame, milliseconds);
    expect_head(frame, ClientFrame::going);
    expect_exact(frame, read_going);
    EXPECT_EQ(read_going(body_of(frame)), milliseconds);
  }
}

TEST_F(ClientFrames, AnOrderViewAndAPlaceComeBack) {
  for (int round = 0; round < 50; ++round) {
    const GroupViewId change{number(0, UINT64_MAX), "alpha", number(0, UINT64_MAX), number(0, UINT64_MAX)};
    Bytes frame;
    write_order_view(frame, change);
    expect_head(frame, ClientFrame::order_view);
    expect_exact(frame, read_order_view);
    EXPECT_EQ(read_order_view(body_of(frame)), change);
    MessageHead message{4, 7, "#ann#alpha", {"news"}, 0, {}};
    message.place = {number(1, UINT64_MAX), static_cast<std::uint32_t>(number(0, UINT32_MAX))};
    frame.clear();
    spindle::test::append_message_frame(frame, message);
    ASSERT_TRUE(read_message(body_of(frame)));
    EXPECT_EQ(read_message(body_of(frame))->place, message.place);
    const auto packed = read_packed_message(body_of(frame));
    ASSERT_TRUE(packed);
    const auto* place = reinterpret_cast<const std::uint8_t*>(packed->sender.data()) - packed->place_bytes;
    Reader reader(ByteView(place, packed->place_bytes));
    EXPECT_EQ(reader.varint(), message.place.order);
    EXPECT_EQ(reader.varint(), message.place.index);
  }
}

TEST_F(ClientFrames, AdmittedComesBack) {
  for (int round = 0; round < 50; ++round) {
    const Admitted admitted{static_cast<std::uint32_t>(number(0, kHandlesMax - 1)),
                            static_cast<std::uint32_t>(number(1, UINT32_MAX))};
    Bytes frame;
    write_admitted(frame, admitted);
    expect_head(frame, ClientFrame::admitted);
    expect_exact(frame, read_admitted);
    EXPECT_EQ(read_admitted(body_of(frame))->handle, admitted.handle);
    EXPECT_EQ(read_admitted(body_of(frame))->bytes, admitted.bytes);
  }
  for (const Admitted& bad : {Admitted{kHandlesMax, 1}, Admitted{0, 0}}) {
    Bytes frame;
    write_admitted(frame, bad);
    EXPECT_FALSE(read_admitted(body_of(frame))) << bad.handle << " " << bad.bytes;
  }
}

TEST_F(ClientFrames, FlowReportComesBack) {
  for (int round = 0; round < 50; ++round) {
    const std::string limit(number(0, kLimitBytesMax), 'l');
    const FlowReport report{static_cast<std::uint32_t>(number(0, UINT32_MAX)),
                            number(0, UINT64_MAX),
                            static_cast<std::int64_t>(number(0, UINT64_MAX)),  // as often negative as not
                            number(0, INT64_MAX / 1000),
                            number(0, UINT64_MAX),
                            static_cast<std::uint16_t>(number(0, kBlockedMax)),
                            limit};
    Bytes frame;
    write_flow_report(frame, report);
    expect_head(frame, ClientFrame::flow);
    expect_exact(frame, read_flow_report);
    const auto read = read_flow_report(body_of(frame));
    EXPECT_EQ(read->request, report.request);
    EXPECT_EQ(read->price, report.price);
    EXPECT_EQ(read->budget, report.budget);
    EXPECT_EQ(read->period, report.period);
    EXPECT_EQ(read->rate, report.rate);
    EXPECT_EQ(read->blocked, report.blocked);
    EXPECT_EQ(read->limit, report.limit);
  }
}

TEST_F(ClientFrames, FlowReportKeepsItsLimits) {
  for (const std::int64_t budget : {std::int64_t{0}, std::int64_t{-1}, INT64_MAX, INT64_MIN}) {
    Bytes frame;
    write_flow_report(frame, {1, 2, budget, 3, 4, 5, ""});
    EXPECT_EQ(read_flow_report(body_of(frame))->budget, budget);
  }
  const auto parses = [](std::uint64_t period, std::uint16_t blocked) {
    Bytes frame;
    write_flow_report(frame, {1, 2, 3, period, 4, blocked, "limit"});
    return read_flow_report(body_of(frame)).has_value();
  };
  EXPECT_TRUE(parses(INT64_MAX / 1000, kBlockedMax));
  EXPECT_FALSE(parses(INT64_MAX / 1000 + 1, 0)) << "more than a time can hold";
  EXPECT_FALSE(parses(0, kBlockedMax + 1)) << "more than always";
  const std::string longer(kLimitBytesMax + 1, 'l');
  Bytes frame;
  write_flow_report(frame, {1, 2, 3, 4, 5, 6, longer});
  EXPECT_EQ(read_flow_report(body_of(frame))->limit.size(), kLimitBytesMax) << "cut";
}

TEST_F(ClientFrames, DefineComesBack) {
  for (int round = 0; round < 50; ++round) {
    const Define define{static_cast<std::uint32_t>(number(0, kHandlesMax - 1)), names(0, 5, round % 2 == 0)};
    Bytes frame;
    write_define(frame, define);
    expect_head(frame, ClientFrame::define);
    expect_exact(frame, read_define);
    const auto read = read_define(body_of(frame));
    EXPECT_EQ(read->handle, define.handle);
    EXPECT_EQ(read->groups, define.groups);
  }
}

TEST_F(ClientFrames, DefineKeepsItsLimits) {
  const auto parses = [](std::uint32_t handle, std::vector<std::string_view> groups) {
    Bytes frame;
    write_define(frame, {handle, std::move(groups)});
    return read_define(body_of(frame)).has_value();
  };
  const std::string longest(255, 'g');
  EXPECT_TRUE(parses(kHandlesMax - 1, {"a"}));
  EXPECT_FALSE(parses(kHandlesMax, {"a"}));
  EXPECT_TRUE(parses(0, {}));
  EXPECT_TRUE(parses(0, std::vector<std::string_view>(1000, longest)));
  EXPECT_FALSE(parses(0, std::vector<std::string_view>(1001, "a")));
  EXPECT_FALSE(parses(0, {"a", ""}));
  EXPECT_FALSE(parses(0, {"#a"}));
  EXPECT_FALSE(parses(0, {"#a#b#c"}));
  EXPECT_TRUE(parses(0, {"#a#b"}));
}

TEST_F(ClientFrames, SendComesBack) {
  for (int round = 0; round < 50; ++round) {
    Send send{static_cast<std::uint32_t>(number(0, kHandlesMax - 1)),
              static_cast<std::uint8_t>(number(0, 5)),
              round % 2 == 0,
              static_cast<std::uint16_t>(number(0, 65535)),
              0,
              payload(number(0, 300))};
    send.total = static_cast<std::uint32_t>(send.chunk.size());
    const Bytes frame = send_frame(send);
    expect_head(frame, ClientFrame::send);
    expect_exact(frame, read_send);
    const auto read = read_send(body_of(frame));
    EXPECT_EQ(read->handle, send.handle);
    EXPECT_EQ(read->service, send.service);
    EXPECT_EQ(read->self_discard, send.self_discard);
    EXPECT_EQ(read->type, send.type);
    EXPECT_TRUE(std::ranges::equal(read->chunk, send.chunk));
  }
}

TEST_F(ClientFrames, SendKeepsItsLimits) {
  const auto parses = [this](std::uint32_t handle, std::uint8_t service, std::size_t total, std::size_t chunk) {
    const Send send{handle, service, false, 0, static_cast<std::uint32_t>(total), payload(chunk)};
    return read_send(body_of(send_frame(send))).has_value();
  };
  EXPECT_TRUE(parses(0, 0, kChunkBytesMax, kChunkBytesMax));
  EXPECT_FALSE(parses(0, 0, kChunkBytesMax, kChunkBytesMax - 1));
  EXPECT_TRUE(parses(0, 0, kMessageBytesMax, kChunkBytesMax));
  EXPECT_FALSE(parses(0, 0, kMessageBytesMax + 1, kChunkBytesMax));
  EXPECT_FALSE(parses(0, 0, kChunkBytesMax + 1, kChunkBytesMax + 1));
  EXPECT_FALSE(parses(0, 0, kChunkBytesMax + 1, kChunkBytesMax - 1));
  EXPECT_TRUE(parses(kHandlesMax - 1, 5, 1, 1));
  EXPECT_FALSE(parses(kHandlesMax, 0, 1, 1));
  EXPECT_FALSE(parses(0, 6, 1, 1));
  EXPECT_FALSE(parses(0, 16, 1, 1)) << "a flag that is not defined";
}

TEST_F(ClientFrames, RequestsAndRepliesComeBack) {
  for (int round = 0; round < 50; ++round) {
    const auto request = static_cast<std::uint32_t>(random_() >> number(0, 31));
    const std::string group = group_name();
    Bytes frame;
    for (const ClientFrame type : {ClientFrame::join, ClientFrame::leave}) {
      const auto read = [type](ByteView body) { return read_group_request(type, body); };
      const std::uint8_t flags = type == ClientFrame::join && round % 2 == 0 ? kSynchronousBit : 0;
      frame.clear();
      write_group_request(frame, type, {request, group, flags});
      expect_head(frame, type);
      expect_exact(frame, read);
      EXPECT_EQ(read(body_of(frame))->request, request);
      EXPECT_EQ(read(body_of(frame))->group, group);
      EXPECT_EQ(read(body_of(frame))->flags, flags);
    }
    frame.clear();
    write_reply(frame, {request, static_cast<std::uint16_t>(round)});
    expect_head(frame, ClientFrame::reply);
    expect_exact(frame, read_reply);
    EXPECT_EQ(read_reply(body_of(frame))->request, request);
    EXPECT_EQ(read_reply(body_of(frame))->code, round);
  }
  Bytes frame;
  write_group_request(frame, ClientFrame::join, {1, "#a#b"});
  EXPECT_TRUE(read_group_request(ClientFrame::join, body_of(frame))) << "for the daemon to refuse with a reason";
  frame.back() = 2;
  EXPECT_FALSE(read_group_request(ClientFrame::join, body_of(frame))) << "a flag that is not defined";
}

TEST_F(ClientFrames, SmallFramesComeBack) {
  Bytes frame;
  write_ping(frame, ClientFrame::pong, 0x0102030405060708);
  expect_head(frame, ClientFrame::pong);
  expect_exact(frame, read_ping);
  EXPECT_EQ(read_ping(body_of(frame)), 0x0102030405060708u);

  frame.clear();
  write_bye(frame);
  expect_head(frame, ClientFrame::bye);

  frame.clear();
  write_welcome(frame, {1, "#me#here"});
  expect_head(frame, ClientFrame::welcome);
  expect_exact(frame, read_welcome);
  EXPECT_EQ(read_welcome(body_of(frame))->private_name, "#me#here");

  frame.clear();
  write_close(frame, {18, "too slow"});
  expect_head(frame, ClientFrame::close);
  expect_exact(frame, read_close);
  EXPECT_EQ(read_close(body_of(frame))->text, "too slow");

  frame.clear();
  write_close(frame, {18, std::string(70'000, 'x')});
  EXPECT_EQ(read_close(body_of(frame))->text.size(), 65'535u) << "longer texts are cut";

  frame.clear();
  write_transitional(frame, "news");
  expect_head(frame, ClientFrame::transitional);
  expect_exact(frame, read_transitional);
  EXPECT_EQ(read_transitional(body_of(frame)), "news");
}

TEST_F(ClientFrames, MessageComesBack) {
  for (int round = 0; round < 50; ++round) {
    const std::string sender = private_name();
    MessageHead message{static_cast<std::uint8_t>(number(0, 5)),
                        static_cast<std::uint16_t>(number(0, 65535)),
                        sender,
                        names(1, 4, true),
                        0,
                        payload(number(0, 300))};
    message.total = static_cast<std::uint32_t>(message.chunk.size());
    const Bytes frame = message_frame(message);
    expect_head(frame, ClientFrame::message);
    const auto read = read_message(body_of(frame));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->service, message.service);
    EXPECT_EQ(read->type, message.type);
    EXPECT_EQ(read->sender, sender);
    EXPECT_EQ(read->groups, message.groups);
    EXPECT_EQ(read->total, message.total);
    EXPECT_TRUE(std::ranges::equal(read->chunk, message.chunk));
    const ByteView body = body_of(frame);
    for (std::size_t size = 0; size <= body.size() - message.chunk.size(); ++size) {
      const Bytes cut(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_EQ(read_message(cut).has_value(), size == body.size() && message.chunk.empty());
    }
  }
}

TEST_F(ClientFrames, PackedMessageLiesWithoutAGap) {
  const MessageHead message{4, 9, "#a#b", {"one", "three"}, 3, payload(3)};
  const Bytes frame = message_frame(message);
  const auto packed = read_packed_message(body_of(frame));
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->group_count, 2u);
  EXPECT_EQ(as_bytes(packed->sender).data() + packed->sender.size(), packed->groups.data());
  EXPECT_EQ(packed->groups.data() + packed->groups.size(), packed->chunk.data());
}

TEST_F(ClientFrames, MessageKeepsItsLimits) {
  const auto parses = [this](MessageHead message, std::size_t chunk) {
    message.chunk = payload(chunk);
    return read_message(body_of(message_frame(message))).has_value();
  };
  const MessageHead good{4, 0, "#a#b", {"g"}, 10, {}};
  EXPECT_TRUE(parses(good, 10));
  EXPECT_TRUE(parses(good, 4)) << "the first chunk of several";
  EXPECT_FALSE(parses(good, 0));
  EXPECT_FALSE(parses(good, 11));
  EXPECT_FALSE(parses({6, 0, "#a#b", {"g"}, 10, {}}, 10));
  EXPECT_FALSE(parses({4, 0, "a", {"g"}, 10, {}}, 10));
  EXPECT_FALSE(parses({4, 0, "#a#b", {}, 10, {}}, 10));
  EXPECT_FALSE(parses({4, 0, "#a#b", {""}, 10, {}}, 10));
  EXPECT_FALSE(parses({4, 0, "#a#b", std::vector<std::string_view>(1001, "g"), 10, {}}, 10));
  EXPECT_FALSE(parses({4, 0, "#a#b", {"g"}, kMessageBytesMax + 1, {}}, 10));
  EXPECT_FALSE(parses({4, 0, "#a#b", {"g"}, kMessageBytesMax, {}}, kChunkBytesMax + 1));
}

TEST_F(ClientFrames, ViewComesBack) {
  for (int round = 0; round < 40; ++round) {
    const std::string group = group_name();
    GroupViewFrame view{group, {random_(), plain_name(64), random_()}, static_cast<ViewCause>(number(1, 4))};
    view.form = round % 2 == 0 ? ViewForm::full : ViewForm::change;
    view.digest = random_();
    view.joined = names(0, 4, false);
    view.left = names(0, 4, false);
    if (view.cause == ViewCause::network) view.apart = names(0, 4, false);
    if (view.form == ViewForm::full) view.members = names(0, 4, false);
    view.member_count = static_cast<std::uint32_t>(view.form == ViewForm::full ? view.members.size() : random_());
    Bytes frame;
    write_view(frame, view);
    expect_head(frame, ClientFrame::view);
    expect_exact(frame, read_view);
    const auto read = read_view(body_of(frame));
    EXPECT_EQ(read->group, view.group);
    EXPECT_EQ(read->id, view.id);
    EXPECT_EQ(read->cause, view.cause);
    EXPECT_EQ(read->form, view.form);
    EXPECT_EQ(read->member_count, view.member_count);
    EXPECT_EQ(read->digest, view.digest);
    EXPECT_EQ(read->joined, view.joined);
    EXPECT_EQ(read->left, view.left);
    EXPECT_EQ(read->apart, view.apart);
    EXPECT_EQ(read->members, view.members);
  }
}

TEST_F(ClientFrames, ViewsKeepToTheirFormAndCause) {
  const auto parses = [](const GroupViewFrame& view) {
    Bytes frame;
    write_view(frame, view);
    return read_view(body_of(frame)).has_value();
  };
  const GroupViewFrame full{"g", {1, "d", 3, 1}};
  EXPECT_TRUE(parses(full));
  for (const int cause : {0, 5, 255}) {
    GroupViewFrame view = full;
    view.cause = static_cast<ViewCause>(cause);
    EXPECT_FALSE(parses(view)) << cause;
  }
  GroupViewFrame unknown_form = full;
  unknown_form.form = static_cast<ViewForm>(4);
  EXPECT_FALSE(parses(unknown_form));
  GroupViewFrame apart = full;
  apart.apart = {"#a#d"};
  EXPECT_FALSE(parses(apart)) << "nobody is apart where somebody joins";
  apart.cause = ViewCause::network;
  EXPECT_TRUE(parses(apart));

  GroupViewFrame answer{"g", {1, "d", 3, 1}, ViewCause::network, ViewForm::answer};
  answer.members = {"#a#d"};
  EXPECT_TRUE(parses(answer));
  for (auto part : {&GroupViewFrame::joined, &GroupViewFrame::left, &GroupViewFrame::apart}) {
    GroupViewFrame changed = answer;
    changed.*part = {"#b#d"};
    EXPECT_FALSE(parses(changed)) << "an answer changes nothing";
  }

  GroupViewFrame farewell{"g", {1, "d", 3, 1}, ViewCause::leave, ViewForm::farewell};
  EXPECT_FALSE(parses(farewell)) << "somebody left";
  farewell.left = {"#a#d"};
  EXPECT_TRUE(parses(farewell));
  GroupViewFrame counted = farewell;
  counted.member_count = 1;
  EXPECT_FALSE(parses(counted));
  GroupViewFrame digested = farewell;
  digested.digest = 1;
  EXPECT_FALSE(parses(digested));
  GroupViewFrame torn = farewell;
  torn.cause = ViewCause::network;
  EXPECT_FALSE(parses(torn));
}

TEST_F(ClientFrames, ClaimedCountsAreNotBelieved) {
  // Views that claim 2^60 or 2^31 names in each of the lists: refused without an attempt to make room for them.
  for (std::size_t list = 0; list < 4; ++list) {
    for (const int bits : {31, 60}) {
      Bytes body(64);
      Writer writer(body.data());
      writer.short_string("g");
      writer.varint(1);
      writer.short_string("d");
      writer.varint(1);
      writer.u8(static_cast<std::uint8_t>(ViewCause::network));
      writer.u8(static_cast<std::uint8_t>(ViewForm::full));
      writer.u64(0);
      for (std::size_t before = 0; before < list; ++before) writer.varint(0);
      writer.varint(std::uint64_t{1} << bits);
      body.resize(writer.size());
      EXPECT_FALSE(read_view(body));
    }
  }
}

TEST_F(ClientFrames, GapComesBack) {
  for (int round = 0; round < 50; ++round) {
    Gap gap{number(1, 1'000'000), number(0, SIZE_MAX), {}, 0};
    for (const std::string_view name : names(0, 5, round % 2 == 0))
      gap.names.push_back({name, number(1, gap.messages)});
    gap.unlisted = number(0, gap.messages);
    Bytes frame;
    write_gap(frame, gap);
    expect_head(frame, ClientFrame::gap);
    expect_exact(frame, read_gap);
    const auto read = read_gap(body_of(frame));
    EXPECT_EQ(read->messages, gap.messages);
    EXPECT_EQ(read->bytes, gap.bytes);
    EXPECT_EQ(read->names, gap.names);
    EXPECT_EQ(read->unlisted, gap.unlisted);
  }
}

TEST_F(ClientFrames, GapKeepsItsLimits) {
  const auto parses = [](const Gap& gap) {
    Bytes frame;
    write_gap(frame, gap);
    return read_gap(body_of(frame)).has_value();
  };
  EXPECT_TRUE(parses({2, 0, {{"g", 2}}, 2}));
  EXPECT_FALSE(parses({0, 0, {}, 0})) << "nothing was lost";
  EXPECT_FALSE(parses({2, 0, {{"g", 3}}, 0})) << "more than were lost";
  EXPECT_FALSE(parses({2, 0, {{"g", 0}}, 0}));
  EXPECT_FALSE(parses({2, 0, {}, 3}));
  EXPECT_FALSE(parses({2, 0, {{"#g", 1}}, 0})) << "a name that nothing can be sent to";
  EXPECT_FALSE(parses({2, 0, {{"", 1}}, 0}));
  EXPECT_TRUE(parses({2, 0, std::vector<Gap::Name>(kGapNamesMax, {"g", 1}), 0}));
  EXPECT_FALSE(parses({2, 0, std::vector<Gap::Name>(kGapNamesMax + 1, {"g", 1}), 0}));
}

TEST_F(ClientFrames, WarningComesBack) {
  Bytes frame;
  write_warning(frame, {80, 3'400'000, 4'194'304});
  expect_head(frame, ClientFrame::warning);
  expect_exact(frame, read_warning);
  const auto read = read_warning(body_of(frame));
  EXPECT_EQ(read->percent, 80);
  EXPECT_EQ(read->bytes, 3'400'000u);
  EXPECT_EQ(read->limit_bytes, 4'194'304u);
  for (const auto percent : {std::uint8_t{0}, std::uint8_t{101}}) {
    frame.clear();
    write_warning(frame, {percent, 1, 1});
    EXPECT_FALSE(read_warning(body_of(frame))) << int{percent};
  }
}

TEST_F(ClientFrames, RefusedComesBack) {
  Bytes frame;
  write_refused(frame, {Refused::What::messages, 39, 300, "#ann#alpha"});
  expect_head(frame, ClientFrame::refused);
  expect_exact(frame, read_refused);
  const auto read = read_refused(body_of(frame));
  EXPECT_EQ(read->what, Refused::What::messages);
  EXPECT_EQ(read->code, 39);
  EXPECT_EQ(read->messages, 300u);
  EXPECT_EQ(read->name, "#ann#alpha");
  const auto is_read = [&](const Refused& refused) {
    frame.clear();
    write_refused(frame, refused);
    return read_refused(body_of(frame)).has_value();
  };
  EXPECT_TRUE(is_read({Refused::What::membership, 39, 0, "news"}));
  EXPECT_FALSE(is_read({Refused::What::membership, 39, 1, "news"})) << "no messages take part";
  EXPECT_FALSE(is_read({Refused::What::membership, 39, 0, "#ann#alpha"})) << "no group";
  EXPECT_FALSE(is_read({Refused::What::messages, 39, 0, "news"})) << "none";
  EXPECT_FALSE(is_read({Refused::What::messages, 0, 1, "news"})) << "for no reason";
  EXPECT_FALSE(is_read({static_cast<Refused::What>(3), 39, 0, "news"}));
}

// Whatever the bytes, decoders return; the sanitizers watch what they touch.
TEST_F(ClientFrames, MutatedBytesDoNoHarm) {
  Bytes frames[7];
  write_hello(frames[0], {1, 1, 0, "name", "token", true, Resume{{7, {}}, 300}, 5000});
  write_define(frames[1], {3, names(1, 4, true)});
  GroupViewFrame view{"g", {1, "d", 3, 1}, ViewCause::network};
  view.joined = names(1, 3, false);
  view.apart = names(1, 3, false);
  view.members = names(1, 3, false);
  write_view(frames[2], view);
  frames[3] = message_frame({4, 0, "#a#b", {"g", "h"}, 20, payload(20)});
  write_gap(frames[4], {3, 300, {{"g", 2}, {"#a#b", 1}}, 1});
  write_warning(frames[5], {50, 300, 600});
  write_refused(frames[6], {Refused::What::messages, 39, 3, "g"});
  std::size_t parsed = 0;
  for (int round = 0; round < 20'000; ++round) {
    Bytes body = frames[number(0, 6)];
    body.erase(body.begin(), body.begin() + kFrameHeadBytes);
    for (std::size_t count = number(1, 4); count > 0; --count) {
      body[number(0, body.size() - 1)] = static_cast<std::uint8_t>(random_());
    }
    if (number(0, 3) == 0) body.resize(number(1, body.size()));
    parsed += read_hello(body).has_value() + read_define(body).has_value() + read_send(body).has_value() +
              read_group_request(ClientFrame::join, body).has_value() + read_ping(body).has_value() +
              read_welcome(body).has_value() + read_close(body).has_value() + read_message(body).has_value() +
              read_view(body).has_value() + read_transitional(body).has_value() + read_reply(body).has_value() +
              read_gap(body).has_value() + read_warning(body).has_value() + read_refused(body).has_value();
  }
  EXPECT_GT(parsed, 0u) << "some mutations leave a frame well-formed";
}

TEST_F(ClientFrames, Names) {
  EXPECT_TRUE(is_group_name("a b#c"));
  EXPECT_TRUE(is_group_name(std::string(255, 'a')));
  EXPECT_FALSE(is_group_name(std::string(256, 'a')));
  EXPECT_FALSE(is_group_name(""));
  EXPECT_FALSE(is_group_name("#a"));
  EXPECT_TRUE(is_client_name(std::string(64, '~')));
  EXPECT_FALSE(is_client_name(std::string(65, 'a')));
  for (const std::string_view bad : {"", "a b", "a#b", "a\n", "\x7f", "\xc3\xa4"}) {
    EXPECT_FALSE(is_client_name(bad)) << bad;
    EXPECT_FALSE(is_daemon_name(bad)) << bad;
  }
  EXPECT_EQ(make_private_name("c", "d"), "#c#d");
  ASSERT_TRUE(parse_private_name("#c#d"));
  EXPECT_EQ(parse_private_name("#c#d")->client, "c");
  EXPECT_EQ(parse_private_name("#c#d")->daemon, "d");
  for (const std::string_view bad : {"", "#", "##", "c#d", "#c#", "##d", "#c#d#", "#c d#e"}) {
    EXPECT_FALSE(parse_private_name(bad)) << bad;
    EXPECT_FALSE(is_destination_name(bad) && bad.starts_with('#')) << bad;
  }
}

}  // namespace
}  // namespace spindle::protocol
