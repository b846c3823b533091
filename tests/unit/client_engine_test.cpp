#include "libclient/protocol/client_engine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/payload_frames.h"

namespace spindle::protocol {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Frame {
  ClientFrame type;
  Bytes body;
};

std::vector<Frame> cut_frames(ByteView bytes) {
  std::vector<Frame> frames;
  while (const auto head = read_frame_head(bytes)) {
    const ByteView body = bytes.subspan(kFrameHeadBytes, head->length);
    frames.push_back({static_cast<ClientFrame>(head->type), Bytes(body.begin(), body.end())});
    bytes = bytes.subspan(kFrameHeadBytes + head->length);
  }
  EXPECT_TRUE(bytes.empty());
  return frames;
}

void append_message(Bytes& out, std::string_view payload, std::vector<std::string_view> groups = {"news"},
                    Place place = {}) {
  const ByteView bytes = as_bytes(payload);
  const MessageHead message{4,
                            7,
                            "#peer#d",
                            std::move(groups),
                            static_cast<std::uint32_t>(bytes.size()),
                            bytes.first(std::min(bytes.size(), kChunkBytesMax)),
                            place};
  test::append_message_frame(out, message);
  for (std::size_t at = message.chunk.size(); at < bytes.size(); at += kChunkBytesMax) {
    const ByteView chunk = bytes.subspan(at, std::min(bytes.size() - at, kChunkBytesMax));
    std::uint8_t head[kFrameHeadBytes];
    Writer head_writer(head);
    write_frame_head(head_writer, static_cast<std::uint8_t>(ClientFrame::message_more), chunk.size());
    out.insert(out.end(), head, head + sizeof head);
    out.insert(out.end(), chunk.begin(), chunk.end());
  }
}

class ClientEngineTest : public testing::Test {
 protected:
  void welcome(ClientEngine& engine) {
    engine.start({.name = "me"});
    engine.consume(engine.output().size());
    Bytes bytes;
    write_welcome(bytes, {1, "#me#d"});
    engine.handle_bytes(bytes);
    ASSERT_TRUE(engine.is_open());
  }
  std::vector<Frame> sent() {
    std::vector<Frame> frames = cut_frames(engine_.output());
    engine_.consume(engine_.output().size());
    return frames;
  }
  // The reason of the end that `bytes` bring about.
  std::error_code end_of(const Bytes& bytes) {
    ClientEngine engine;
    welcome(engine);
    engine.handle_bytes(bytes);
    const std::vector<Event> events = engine.take_events();
    EXPECT_FALSE(events.empty());
    const auto* last = events.empty() ? nullptr : events.back().get_if<Disconnected>();
    EXPECT_EQ(engine.ended(), last != nullptr);
    return last == nullptr ? std::error_code() : last->error;
  }

  ClientEngine engine_;
};

TEST_F(ClientEngineTest, HandshakeOpensTheClient) {
  engine_.start({.name = "me"});
  EXPECT_EQ(engine_.join("g"), Errc::not_connected);
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(read_hello(frames[0].body)->name, "me");
  Bytes bytes;
  write_welcome(bytes, {1, "#me#d"});
  engine_.handle_bytes(bytes);
  EXPECT_TRUE(engine_.is_open());
  EXPECT_EQ(engine_.private_name(), "#me#d");
  EXPECT_FALSE(engine_.join("g"));
}

TEST_F(ClientEngineTest, ARefusalKeepsTheDaemonsWords) {
  engine_.start({.name = "me"});
  Bytes bytes;
  write_close(bytes, {static_cast<std::uint16_t>(Errc::name_in_use), "taken by another"});
  engine_.handle_bytes(bytes);
  const auto events = engine_.take_events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].get<Disconnected>().error, Errc::name_in_use);
  EXPECT_EQ(events[0].get<Disconnected>().text, "taken by another");
  EXPECT_FALSE(engine_.is_open());
}

TEST_F(ClientEngineTest, ASetOfGroupsIsDefinedOnce) {
  welcome(engine_);
  EXPECT_FALSE(engine_.multicast(Service::agreed, "a", "1", {.type = 3}));
  EXPECT_FALSE(engine_.multicast(Service::fifo, {"a", "#x#y"}, "22", {.self_discard = true}));
  EXPECT_FALSE(engine_.multicast(Service::safe, "a", ""));
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 5u);
  const auto first = read_define(frames[0].body);
  const auto second = read_define(frames[2].body);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->groups, std::vector<std::string_view>{"a"});
  EXPECT_EQ(second->groups, (std::vector<std::string_view>{"a", "#x#y"}));
  EXPECT_NE(first->handle, second->handle);
  const auto one = read_send(frames[1].body);
  const auto two = read_send(frames[3].body);
  const auto three = read_send(frames[4].body);
  ASSERT_TRUE(one && two && three);
  EXPECT_EQ(one->handle, first->handle);
  EXPECT_EQ(one->type, 3);
  EXPECT_EQ(one->service, 4);
  EXPECT_FALSE(one->self_discard);
  EXPECT_EQ(as_text(one->chunk), "1");
  EXPECT_EQ(two->handle, second->handle);
  EXPECT_TRUE(two->self_discard);
  EXPECT_EQ(three->handle, first->handle);
}

TEST_F(ClientEngineTest, TheOldestHandleIsReused) {
  welcome(engine_);
  std::vector<std::string> meaning(kHandlesMax);  // as the daemon knows it
  const auto send = [&](const std::string& group, bool expect_define) {
    ASSERT_FALSE(engine_.multicast(Service::fifo, group, "x"));
    const auto frames = sent();
    ASSERT_EQ(frames.size(), expect_define ? 2u : 1u) << group;
    if (expect_define) {
      const auto define = read_define(frames[0].body);
      ASSERT_TRUE(define);
      meaning[define->handle] = define->groups.at(0);
    }
    EXPECT_EQ(meaning[read_send(frames.back().body)->handle], group);
  };
  for (std::size_t i = 0; i < kHandlesMax; ++i) send("g" + std::to_string(i), true);
  for (std::size_t i = 0; i < kHandlesMax; ++i) send("g" + std::to_string(i), false);
  for (int i = 0; i < 10; ++i) send("h" + std::to_string(i), true);
  for (int i = 0; i < 10; ++i) send("h" + std::to_string(i), false);
  send("g10", false);
  send("g0", true);
  send("g10", true);
  send("g4095", false);
}

/// What a daemon keeps of the sets that a client defines.
class Definitions {
 public:
  /// Goes through what the client has sent. The groups of the last message; nothing where there was none.
  std::vector<std::string> take(const std::vector<Frame>& frames) {
    std::vector<std::string> sent_to;
    for (const Frame& frame : frames) {
      if (frame.type == ClientFrame::define) {
        const auto define = read_define(frame.body);
        EXPECT_TRUE(define);
        bytes_ -= defined_bytes(sets_[define->handle]);
        sets_[define->handle].assign(define->groups.begin(), define->groups.end());
        bytes_ += defined_bytes(define->groups);
        EXPECT_LE(bytes_, kDefinedBytesMax);
      } else if (frame.type == ClientFrame::send) {
        sent_to = sets_[read_send(frame.body)->handle];
      }
    }
    return sent_to;
  }
  std::size_t bytes() const { return bytes_; }
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::count_if(sets_.begin(), sets_.end(), [](const auto& item) { return !item.second.empty(); }));
  }

 private:
  std::map<std::uint32_t, std::vector<std::string>> sets_;
  std::size_t bytes_ = 0;
};

/// A set of `count` names, each of which counts 128 bytes, unlike those of other `number`s.
std::vector<std::string> names_of_128(std::size_t count, std::size_t number) {
  std::string name = std::to_string(number);
  name.resize(128 - kDefinedNameBytes, '-');
  return std::vector<std::string>(count, name);
}

TEST_F(ClientEngineTest, SetsAreGivenUpWhereTheyTakeTooMuch) {
  welcome(engine_);
  Definitions daemon;
  const auto send = [&](const std::vector<std::string>& groups) {
    EXPECT_FALSE(engine_.multicast(Service::fifo, std::vector<std::string_view>(groups.begin(), groups.end()), "x"));
    const std::vector<Frame> frames = sent();
    EXPECT_EQ(daemon.take(frames), groups);
    return frames.size();
  };
  constexpr std::size_t kSets = kDefinedBytesMax / 128 / kGroupsPerMessageMax;
  constexpr std::size_t kRest = kDefinedBytesMax / 128 % kGroupsPerMessageMax;
  for (std::size_t i = 0; i < kSets; ++i) EXPECT_EQ(send(names_of_128(kGroupsPerMessageMax, i)), 2u);
  EXPECT_EQ(send(names_of_128(kRest, kSets)), 2u);
  EXPECT_EQ(daemon.bytes(), kDefinedBytesMax);
  EXPECT_EQ(daemon.count(), kSets + 1);
  EXPECT_EQ(send(names_of_128(kGroupsPerMessageMax, 0)), 1u) << "all are there";
  // The oldest makes room for a name, and for many more.
  EXPECT_EQ(send({"a"}), 2u);
  EXPECT_EQ(send({"b"}), 2u);
  EXPECT_EQ(daemon.count(), kSets + 2);
  EXPECT_EQ(send(names_of_128(kGroupsPerMessageMax, 1)), 1u);
  EXPECT_EQ(send(names_of_128(kGroupsPerMessageMax, 0)), 2u) << "was given up";
  EXPECT_EQ(send(names_of_128(kGroupsPerMessageMax, 1)), 2u) << "was given up in its turn";
}

TEST_F(ClientEngineTest, ALargeSetTakesThePlaceOfManySmallOnes) {
  welcome(engine_);
  Definitions daemon;
  const auto send = [&](const std::vector<std::string>& groups) {
    EXPECT_FALSE(engine_.multicast(Service::fifo, std::vector<std::string_view>(groups.begin(), groups.end()), "x"));
    EXPECT_EQ(daemon.take(sent()), groups);
  };
  constexpr std::size_t kSmall = 64;
  for (std::size_t i = 0; i < kDefinedBytesMax / 128 / kSmall; ++i) send(names_of_128(kSmall, i));
  ASSERT_EQ(daemon.bytes(), kDefinedBytesMax);
  const std::size_t before = daemon.count();
  send(names_of_128(10 * kSmall, 10'000));
  EXPECT_EQ(daemon.count(), before - 9);
  EXPECT_EQ(daemon.bytes(), kDefinedBytesMax);
  // The numbers that stand for nothing are used again, and at last all are in use.
  for (std::size_t i = 0; i < 2 * kHandlesMax; ++i) send({"g" + std::to_string(i)});
  EXPECT_EQ(daemon.count(), kHandlesMax);
  send(names_of_128(kSmall, 3));
}

TEST_F(ClientEngineTest, AReportMayTakeThePlaceOfTheSetThatWasSentToLast) {
  welcome(engine_);
  Definitions daemon;
  const auto as_groups = [](const std::vector<std::string>& names) {
    return std::vector<std::string_view>(names.begin(), names.end());
  };
  const std::vector<std::string> first = names_of_128(kGroupsPerMessageMax, 0);
  EXPECT_FALSE(engine_.multicast(Service::fifo, as_groups(first), "x"));
  for (std::size_t i = 1; i <= kDefinedBytesMax / 128 / kGroupsPerMessageMax; ++i) {
    EXPECT_FALSE(engine_.request_flow(as_groups(names_of_128(kGroupsPerMessageMax, i))));
  }
  daemon.take(sent());
  EXPECT_FALSE(engine_.multicast(Service::fifo, as_groups(first), "x"));
  EXPECT_EQ(daemon.take(sent()), first);
}

TEST_F(ClientEngineTest, BadRequestsChangeNothing) {
  welcome(engine_);
  const std::string large(kMessageBytesMax + 1, 'x');
  const std::vector<std::string_view> none;
  const std::vector<std::string_view> many(kGroupsPerMessageMax + 1, "g");
  EXPECT_EQ(engine_.multicast(Service::agreed, "g", large), Errc::message_too_large);
  EXPECT_EQ(engine_.multicast(Service::agreed, none, "x"), Errc::too_many_groups);
  EXPECT_EQ(engine_.multicast(Service::agreed, many, "x"), Errc::too_many_groups);
  EXPECT_EQ(engine_.multicast(Service::agreed, "", "x"), Errc::bad_group_name);
  EXPECT_EQ(engine_.multicast(Service::agreed, "#a", "x"), Errc::bad_group_name);
  EXPECT_EQ(engine_.multicast(Service::agreed, std::string(256, 'g'), "x"), Errc::bad_group_name);
  EXPECT_EQ(engine_.multicast(static_cast<Service>(6), "g", "x"), Errc::bad_argument);
  EXPECT_EQ(engine_.join(""), Errc::bad_group_name);
  EXPECT_EQ(engine_.leave("#a#b"), Errc::bad_group_name);
  EXPECT_TRUE(engine_.output().empty());
}

TEST_F(ClientEngineTest, LargeMessagesGoInChunks) {
  welcome(engine_);
  for (const std::size_t size : {kChunkBytesMax, kChunkBytesMax + 1, 3 * kChunkBytesMax, kMessageBytesMax}) {
    std::string payload(size, '\0');
    for (std::size_t i = 0; i < size; ++i) payload[i] = static_cast<char>(i * 31 / 7);
    ASSERT_FALSE(engine_.multicast(Service::agreed, "g" + std::to_string(size), payload));
    const auto frames = sent();
    const auto send = read_send(frames.at(1).body);
    ASSERT_TRUE(send);
    EXPECT_EQ(send->total, size);
    std::string together(as_text(send->chunk));
    for (std::size_t i = 2; i < frames.size(); ++i) {
      EXPECT_EQ(frames[i].type, ClientFrame::send_more);
      EXPECT_TRUE(i + 1 == frames.size() || frames[i].body.size() == kChunkBytesMax);
      EXPECT_FALSE(frames[i].body.empty());
      together += as_text(frames[i].body);
    }
    EXPECT_TRUE(together == payload);
  }
}

TEST_F(ClientEngineTest, EventsArriveWhereverTheBytesAreCut) {
  Bytes bytes;
  append_message(bytes, "hello", {"news", "#me#d"});
  GroupViewFrame sent_view{"news", {5, "d", 3, 6}, ViewCause::network};
  sent_view.digest = 77;
  sent_view.joined = {"#a#d"};
  sent_view.left = {"#gone#d"};
  sent_view.apart = {"#b#d"};
  sent_view.members = {"#a#d", "#b#d", "#me#d"};
  write_view(bytes, sent_view);
  write_transitional(bytes, "news");
  append_message(bytes, "");
  write_close(bytes, {static_cast<std::uint16_t>(Errc::daemon_stopping), "going down"});
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    ClientEngine engine;
    welcome(engine);
    engine.handle_bytes(ByteView(bytes).first(cut));
    engine.handle_bytes(ByteView(bytes).subspan(cut));
    const auto events = engine.take_events();
    ASSERT_EQ(events.size(), 5u) << cut;
    const auto& message = events[0].get<Message>();
    EXPECT_EQ(message.text(), "hello");
    EXPECT_EQ(message.sender(), "#peer#d");
    EXPECT_EQ(message.service(), Service::agreed);
    EXPECT_EQ(message.type(), 7);
    EXPECT_EQ(message.groups().size(), 2u);
    EXPECT_EQ(std::vector<std::string_view>(message.groups().begin(), message.groups().end()),
              (std::vector<std::string_view>{"news", "#me#d"}));
    const auto& view = events[1].get<GroupView>();
    EXPECT_EQ(view.group, "news");
    EXPECT_EQ(view.id, (spindle::GroupViewId{5, "d", 3, 6}));
    EXPECT_EQ(view.cause, spindle::ViewCause::network);
    EXPECT_EQ(view.form, spindle::ViewForm::full);
    EXPECT_EQ(view.member_count, 3u);
    EXPECT_EQ(view.digest, 77u);
    EXPECT_EQ(view.members, (std::vector<std::string>{"#a#d", "#b#d", "#me#d"}));
    EXPECT_EQ(view.vs_set, std::vector<std::string>{"#me#d"});
    EXPECT_EQ(view.joined, std::vector<std::string>{"#a#d"});
    EXPECT_EQ(view.left, std::vector<std::string>{"#gone#d"});
    EXPECT_EQ(view.apart, std::vector<std::string>{"#b#d"}) << "as on the wire";
    EXPECT_EQ(view.my_index, 2u);
    EXPECT_EQ(events[2].get<Transitional>().group, "news");
    EXPECT_EQ(events[3].get<Message>().text(), "");
    EXPECT_EQ(events[4].get<Disconnected>().error, Errc::daemon_stopping);
  }
}

// The parts of a view with two thousand members of long names, each a frame.
std::vector<Bytes> parts_of_a_large_view(std::size_t members) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < members; ++i)
    names.push_back("#" + std::string(60, 'x') + std::to_string(1000 + i) + "#d");
  GroupViewFrame view{"g", {1, "d", 3, 1}};
  view.members.assign(names.begin(), names.end());
  Bytes bytes;
  write_view(bytes, view);
  std::vector<Bytes> parts;
  for (const Frame& frame : cut_frames(bytes)) {
    Bytes& part = parts.emplace_back(kFrameHeadBytes);
    Writer writer(part.data());
    write_frame_head(writer, static_cast<std::uint8_t>(frame.type), frame.body.size());
    part.insert(part.end(), frame.body.begin(), frame.body.end());
  }
  return parts;
}

Bytes joined(const std::vector<Bytes>& frames) {
  Bytes all;
  for (const Bytes& frame : frames) all.insert(all.end(), frame.begin(), frame.end());
  return all;
}

TEST_F(ClientEngineTest, ALargeViewIsPutTogether) {
  const std::vector<Bytes> parts = parts_of_a_large_view(9000);
  ASSERT_EQ(parts.size(), 3u);
  for (const Bytes& part : parts) EXPECT_LE(part.size(), kFrameHeadBytes + kViewPartBytesMax);
  welcome(engine_);
  Bytes warning;
  write_warning(warning, {50, 1, 2});
  engine_.handle_bytes(joined({parts[0], warning, parts[1], parts[2]}));
  const auto events = engine_.take_events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_TRUE(events[0].is<QueueWarning>()) << "a warning overtakes";
  EXPECT_EQ(events[1].get<GroupView>().members.size(), 9000u);
}

TEST_F(ClientEngineTest, ALargeViewThatIsNotCompletedEndsTheConnection) {
  const std::vector<Bytes> parts = parts_of_a_large_view(9000);
  Bytes message, transitional, reply, empty(kFrameHeadBytes);
  append_message(message, "between");
  write_transitional(transitional, "g");
  write_reply(reply, {1, 0});
  Writer writer(empty.data());
  write_frame_head(writer, static_cast<std::uint8_t>(ClientFrame::view_part), 0);
  EXPECT_EQ(end_of(joined({parts[0], message})), Errc::unexpected_frame);
  EXPECT_EQ(end_of(joined({parts[0], transitional})), Errc::unexpected_frame);
  EXPECT_EQ(end_of(joined({parts[0], reply})), Errc::unexpected_frame);
  EXPECT_EQ(end_of(joined({parts[0], empty})), Errc::malformed_frame);
  EXPECT_EQ(end_of(joined({parts[0], parts[2]})), Errc::malformed_frame) << "the middle is missing";
  Bytes close;
  write_close(close, {static_cast<std::uint16_t>(Errc::daemon_stopping), ""});
  EXPECT_EQ(end_of(joined({parts[0], close})), Errc::daemon_stopping);
}

TEST_F(ClientEngineTest, ALargeViewIsBounded) {
  welcome(engine_);
  Bytes part(kFrameHeadBytes + kViewPartBytesMax);
  Writer writer(part.data());
  write_frame_head(writer, static_cast<std::uint8_t>(ClientFrame::view_part), kViewPartBytesMax);
  for (std::size_t bytes = 0; bytes < kViewBytesMax; bytes += kViewPartBytesMax) engine_.handle_bytes(part);
  EXPECT_TRUE(engine_.is_open());
  engine_.handle_bytes(part);
  const auto events = engine_.take_events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].get<Disconnected>().error, Errc::frame_too_large);
}

TEST_F(ClientEngineTest, OtherFormsOfViewsHaveOnlyWhatTheySay) {
  welcome(engine_);
  GroupViewFrame change{"g", {1, "d", 3, 1}, ViewCause::network, ViewForm::change, 5, 9};
  change.joined = {"#a#d"};
  change.apart = {"#b#d"};
  GroupViewFrame answer{"g", {1, "d", 3, 1}, ViewCause::network, ViewForm::answer, 0, 9};
  answer.members = {"#a#d", "#me#d"};
  GroupViewFrame farewell{"g", {1, "d", 3, 2}, ViewCause::leave, ViewForm::farewell};
  farewell.left = {"#me#d"};
  ASSERT_FALSE(engine_.request_view("g"));
  Bytes bytes;
  write_view(bytes, change);
  write_view(bytes, answer);
  write_reply(bytes, {engine_.writer().last_request(), 0});
  write_view(bytes, farewell);
  engine_.handle_bytes(bytes);
  const auto events = engine_.take_events();
  ASSERT_EQ(events.size(), 3u);
  const auto& first = events[0].get<GroupView>();
  EXPECT_EQ(first.form, spindle::ViewForm::change);
  EXPECT_FALSE(first.has_members());
  EXPECT_EQ(first.member_count, 5u);
  EXPECT_EQ(first.apart, std::vector<std::string>{"#b#d"});
  EXPECT_TRUE(first.members.empty() && first.vs_set.empty() && !first.my_index);
  const auto& second = events[1].get<GroupView>();
  EXPECT_TRUE(second.has_members());
  EXPECT_EQ(second.my_index, 1u);
  EXPECT_TRUE(second.vs_set.empty() && second.apart.empty()) << "an answer does not know who came along";
  const auto& third = events[2].get<GroupView>();
  EXPECT_EQ(third.form, spindle::ViewForm::farewell);
  EXPECT_EQ(third.left, std::vector<std::string>{"#me#d"});
}

TEST_F(ClientEngineTest, AMemberIsInItsVsSetAlsoWhereItIsNew) {
  welcome(engine_);
  GroupViewFrame first{"g", {5, "d", 3, 1}, ViewCause::network};
  first.joined = {"#me#d"};
  first.apart = {"#a#d"};
  first.members = {"#a#d", "#me#d"};
  Bytes bytes;
  write_view(bytes, first);
  engine_.handle_bytes(bytes);
  const auto events = engine_.take_events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].get<GroupView>().vs_set, std::vector<std::string>{"#me#d"});
}

TEST_F(ClientEngineTest, ARequestForAViewThatIsRefusedIsAnEvent) {
  welcome(engine_);
  EXPECT_EQ(engine_.request_view("#no"), Errc::bad_group_name);
  ASSERT_FALSE(engine_.request_view("g"));
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].type, ClientFrame::view_request);
  const auto request = read_group_request(frames[0].type, frames[0].body);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->group, "g");
  Bytes bytes;
  write_reply(bytes, {request->request, static_cast<std::uint16_t>(Errc::not_a_member)});
  engine_.handle_bytes(bytes);
  const auto events = engine_.take_events();
  ASSERT_EQ(events.size(), 1u);
  const auto& failed = events[0].get<RequestFailed>();
  EXPECT_EQ(failed.request, RequestFailed::Request::view);
  EXPECT_EQ(failed.error, Errc::not_a_member);
}

TEST_F(ClientEngineTest, ChunkedMessagesComeTogether) {
  welcome(engine_);
  std::string large(kMessageBytesMax, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 17 / 5);
  Bytes bytes;
  append_message(bytes, large, {"a", "b"});
  append_message(bytes, "after");
  for (std::size_t at = 0; at < bytes.size(); at += 50'001) {
    engine_.handle_bytes(ByteView(bytes).subspan(at, std::min<std::size_t>(50'001, bytes.size() - at)));
  }
  const auto events = engine_.take_events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_TRUE(events[0].get<Message>().text() == large);
  EXPECT_EQ(events[0].get<Message>().groups().size(), 2u);
  EXPECT_EQ(events[0].get<Message>().sender(), "#peer#d");
  EXPECT_EQ(events[1].get<Message>().text(), "after");
}

TEST_F(ClientEngineTest, GapsAndWarningsAreEvents) {
  welcome(engine_);
  Bytes large;
  append_message(large, std::string(kChunkBytesMax + 1, 'x'));
  const std::size_t first_frame = kFrameHeadBytes + read_frame_head(large)->length;
  Bytes bytes;
  write_gap(bytes, {3, 3000, {{"news", 2}, {"#me#d", 1}}, 1});
  bytes.insert(bytes.end(), large.begin(), large.begin() + static_cast<std::ptrdiff_t>(first_frame));
  write_warning(bytes, {50, 600, 1200});  // overtakes the rest of a message
  bytes.insert(bytes.end(), large.begin() + static_cast<std::ptrdiff_t>(first_frame), large.end());
  engine_.handle_bytes(bytes);
  const auto events = engine_.take_events();
  ASSERT_EQ(events.size(), 3u);
  const auto& gap = events[0].get<spindle::Gap>();
  EXPECT_EQ(gap.messages, 3u);
  EXPECT_EQ(gap.bytes, 3000u);
  ASSERT_EQ(gap.names.size(), 2u);
  EXPECT_EQ(gap.names[0].name, "news");
  EXPECT_EQ(gap.names[0].messages, 2u);
  EXPECT_EQ(gap.names[1].name, "#me#d");
  EXPECT_EQ(gap.unlisted, 1u);
  const auto& warning = events[1].get<QueueWarning>();
  EXPECT_EQ(warning.percent, 50u);
  EXPECT_EQ(warning.bytes, 600u);
  EXPECT_EQ(warning.limit_bytes, 1200u);
  EXPECT_EQ(events[2].get<Message>().payload().size(), kChunkBytesMax + 1);
}

TEST_F(ClientEngineTest, MessagesOutliveTheEngineAndItsBlocks) {
  std::vector<Event> kept;
  {
    ClientEngine engine;
    welcome(engine);
    for (int i = 0; i < 20'000; ++i) {
      Bytes bytes;
      append_message(bytes, "message " + std::to_string(i));
      engine.handle_bytes(bytes);
      for (Event& event : engine.take_events()) kept.push_back(std::move(event));
    }
  }
  ASSERT_EQ(kept.size(), 20'000u);
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_EQ(kept[static_cast<std::size_t>(i)].get<Message>().text(), "message " + std::to_string(i));
  }
}

TEST_F(ClientEngineTest, FramesLargerThanABlockAreRead) {
  welcome(engine_);
  std::vector<std::string> members;
  for (int i = 0; i < 40'000; ++i) members.push_back(make_private_name("client-" + std::to_string(i), "daemon"));
  Bytes bytes;
  GroupViewFrame view{"g", {1, "d", 3, 1}, ViewCause::join};
  view.members = {members.begin(), members.end()};
  write_view(bytes, view);
  ASSERT_GT(bytes.size(), 2 * EventReader::kBlockBytes);
  engine_.handle_bytes(bytes);
  const auto events = engine_.take_events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].get<GroupView>().members, members);
  EXPECT_FALSE(events[0].get<GroupView>().my_index);
}

TEST_F(ClientEngineTest, RefusedRequestsAreEventsInTheirPlace) {
  welcome(engine_);
  ASSERT_FALSE(engine_.join("first"));
  ASSERT_FALSE(engine_.join("second"));
  ASSERT_FALSE(engine_.leave("third"));
  std::vector<std::uint32_t> requests;
  for (const Frame& frame : sent()) requests.push_back(read_group_request(frame.type, frame.body)->request);
  Bytes bytes;
  append_message(bytes, "1");
  write_reply(bytes, {requests.at(1), static_cast<std::uint16_t>(Errc::too_many_memberships)});
  append_message(bytes, "2");
  write_reply(bytes, {requests.at(0), 0});
  write_reply(bytes, {requests.at(2), static_cast<std::uint16_t>(Errc::not_a_member)});
  engine_.handle_bytes(bytes);
  const auto events = engine_.take_events();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].get<Message>().text(), "1");
  EXPECT_EQ(events[1].get<RequestFailed>().group, "second");
  EXPECT_EQ(events[1].get<RequestFailed>().request, RequestFailed::Request::join);
  EXPECT_EQ(events[1].get<RequestFailed>().error, Errc::too_many_memberships);
  EXPECT_EQ(events[2].get<Message>().text(), "2");
  EXPECT_EQ(events[3].get<RequestFailed>().group, "third");
  EXPECT_EQ(events[3].get<RequestFailed>().request, RequestFailed::Request::leave);
}

TEST_F(ClientEngineTest, PingIsAnswered) {
  welcome(engine_);
  ASSERT_FALSE(engine_.ping(42));
  EXPECT_EQ(read_ping(sent().at(0).body), 42u);
  EXPECT_FALSE(engine_.last_pong());
  Bytes bytes;
  write_ping(bytes, ClientFrame::pong, 42);
  engine_.handle_bytes(bytes);
  EXPECT_EQ(engine_.last_pong(), 42u);
}

TEST_F(ClientEngineTest, TheEndHasItsReason) {
  ClientEngine lost;
  welcome(lost);
  lost.handle_end();
  lost.handle_end();
  const auto events = lost.take_events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].get<Disconnected>().error, Errc::connection_lost);
  EXPECT_EQ(lost.join("g"), Errc::not_connected);

  welcome(engine_);
  engine_.bye();
  EXPECT_EQ(sent().at(0).type, ClientFrame::bye);
  EXPECT_EQ(engine_.multicast(Service::fifo, "g", "x"), Errc::not_connected);
  engine_.handle_end();
  EXPECT_EQ(engine_.take_events().at(0).get<Disconnected>().error, Errc::closed_by_client);
}

TEST_F(ClientEngineTest, WhatCameInFrontOfTheEndIsTold) {
  class Told : public RequestObserver {
   public:
    bool refused(std::uint32_t, const RequestFailed&) override { return false; }
    void confirmed(std::uint32_t request) override { confirmed_.push_back(request); }
    void answered(Requests::Number, Answers) override {}
    std::optional<Event> channel_news(BulkNews news, std::size_t before) override {
      news_.emplace_back(std::move(news), before);
      return std::nullopt;
    }
    std::vector<std::uint32_t> confirmed_;
    std::vector<std::pair<BulkNews, std::size_t>> news_;
  };
  Told told;
  welcome(engine_);
  engine_.observe(&told);
  ASSERT_FALSE(engine_.confirm());
  const std::uint32_t confirm = engine_.writer().last_request();
  BulkOffered offered;
  offered.channel = {"d", 1, 1};
  offered.group = "news";
  offered.source = "#peer#d";
  Bytes bytes;
  append_message(bytes, "1");
  write_bulk_news(bytes, offered);
  append_message(bytes, "2");
  write_confirmed(bytes, {confirm, 0});
  write_close(bytes, {static_cast<std::uint16_t>(Errc::daemon_stopping), "stops"});
  engine_.handle_bytes(bytes);
  EXPECT_EQ(engine_.take_events().size(), 3u);
  ASSERT_EQ(told.news_.size(), 1u);
  EXPECT_EQ(std::get<BulkOffered>(told.news_[0].first).channel, offered.channel);
  EXPECT_EQ(told.news_[0].second, 1u);
  EXPECT_EQ(told.confirmed_, std::vector<std::uint32_t>{confirm});
}

TEST_F(ClientEngineTest, SetsOfGroupsThatLookAlikeAreDifferent) {
  welcome(engine_);
  EXPECT_FALSE(engine_.multicast(Service::agreed, {"a", "b"}, "1"));
  EXPECT_FALSE(engine_.multicast(Service::agreed, "a", "2"));
  EXPECT_FALSE(engine_.multicast(Service::agreed, "ab", "3"));
  EXPECT_FALSE(engine_.multicast(Service::agreed, {"a", "b", "c"}, "4"));
  EXPECT_FALSE(engine_.multicast(Service::agreed, {"a", "b"}, "5"));
  std::vector<std::uint32_t> handles;
  for (const Frame& frame : sent()) {
    if (frame.type == ClientFrame::send) handles.push_back(read_send(frame.body)->handle);
  }
  EXPECT_EQ(handles, (std::vector<std::uint32_t>{0, 1, 2, 3, 0}));
}

TEST_F(ClientEngineTest, WrongFramesEndTheConnection) {
  Bytes bytes;
  write_bye(bytes);
  EXPECT_EQ(end_of(bytes), Errc::unexpected_frame) << "a frame of a client";
  bytes.clear();
  write_welcome(bytes, {1, "#me#d"});
  EXPECT_EQ(end_of(bytes), Errc::unexpected_frame) << "a second welcome";
  bytes = {0, 0, 0, 200};
  EXPECT_EQ(end_of(bytes), Errc::unexpected_frame) << "an unknown type";
  bytes = {1, 0, 0, static_cast<std::uint8_t>(ClientFrame::message_more), 0};
  EXPECT_EQ(end_of(bytes), Errc::unexpected_frame) << "no message before";
  bytes = {1, 0, 0, static_cast<std::uint8_t>(ClientFrame::message), 0};
  EXPECT_EQ(end_of(bytes), Errc::malformed_frame);
  bytes = {0, 0, 255, static_cast<std::uint8_t>(ClientFrame::message)};
  EXPECT_EQ(end_of(bytes), Errc::frame_too_large) << "known from its head";
  bytes.clear();
  write_reply(bytes, {99, 0});
  EXPECT_EQ(end_of(bytes), Errc::unexpected_frame) << "nothing was asked";
  bytes.clear();
  write_close(bytes, {0, ""});
  EXPECT_EQ(end_of(bytes), Errc::malformed_frame) << "a close without a reason";
  bytes = {1, 0, 0, static_cast<std::uint8_t>(ClientFrame::gap), 0};
  EXPECT_EQ(end_of(bytes), Errc::malformed_frame);
  bytes = {1, 0, 0, static_cast<std::uint8_t>(ClientFrame::warning), 0};
  EXPECT_EQ(end_of(bytes), Errc::malformed_frame);

  ClientEngine engine;
  engine.start({});
  bytes.clear();
  append_message(bytes, "early");
  engine.handle_bytes(bytes);
  EXPECT_EQ(engine.take_events().at(0).get<Disconnected>().error, Errc::unexpected_frame);
}

TEST_F(ClientEngineTest, NamesAreCheckedAndToldWhereverTheyChange) {
  Bytes bytes;
  const std::vector<std::vector<std::string_view>> sent = {{"news"}, {"news"}, {"new"}, {"news", "more"}, {"news"}};
  for (const std::vector<std::string_view>& groups : sent) append_message(bytes, "text", groups);
  welcome(engine_);
  engine_.handle_bytes(bytes);
  const std::vector<Event> events = engine_.take_events();
  ASSERT_EQ(events.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto& message = events[i].get<Message>();
    EXPECT_EQ(std::vector<std::string_view>(message.groups().begin(), message.groups().end()), sent[i]);
    EXPECT_EQ(message.sender(), "#peer#d");
    EXPECT_EQ(message.text(), "text");
  }
  append_message(bytes, "text", {"#nobody"});
  EXPECT_EQ(end_of(bytes), Errc::malformed_frame);
}

TEST_F(ClientEngineTest, AMessageMustBeCompletedBeforeTheNext) {
  Bytes bytes;
  append_message(bytes, std::string(kChunkBytesMax + 10, 'x'));
  const std::size_t last_frame = kFrameHeadBytes + 10;
  Bytes broken(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(last_frame));
  append_message(broken, "next");
  EXPECT_EQ(end_of(broken), Errc::unexpected_frame);

  Bytes excess(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(last_frame));
  Bytes more{11, 0, 0, static_cast<std::uint8_t>(ClientFrame::message_more)};
  more.resize(more.size() + 11);
  excess.insert(excess.end(), more.begin(), more.end());
  EXPECT_EQ(end_of(excess), Errc::malformed_frame);
}

/// The same with a place.
void append_placed(Bytes& out, std::string_view payload, Place place) { append_message(out, payload, {"news"}, place); }

TEST_F(ClientEngineTest, MessagesTellTheirPositions) {
  welcome(engine_);
  Bytes bytes;
  const GroupViewId first{3, "d", 9, 4}, second{3, "d", 9, 5};
  append_message(bytes, "nowhere");
  write_order_view(bytes, first);
  append_placed(bytes, "one", {1000, 0});
  append_placed(bytes, "two", {1000, 300});
  const std::string large(3 * kChunkBytesMax, 'x');
  append_placed(bytes, large, {UINT64_MAX, UINT32_MAX});
  write_order_view(bytes, second);
  append_placed(bytes, "three", {1, 0});
  append_message(bytes, "nowhere again");
  engine_.handle_bytes(bytes);
  const std::vector<Event> events = engine_.take_events();
  // More blocks than one, so that what the positions refer to has to be kept.
  Bytes more;
  append_message(more, std::string(2 * EventReader::kBlockBytes, 'y'));
  engine_.handle_bytes(more);
  ASSERT_EQ(events.size(), 6u);
  const auto position = [&](std::size_t at) { return events[at].get<Message>().position(); };
  EXPECT_FALSE(position(0));
  EXPECT_EQ(position(1), (MessagePosition{first, 1000, 0}));
  EXPECT_EQ(position(2), (MessagePosition{first, 1000, 300}));
  EXPECT_EQ(position(3), (MessagePosition{first, UINT64_MAX, UINT32_MAX}));
  EXPECT_EQ(events[3].get<Message>().text(), large);
  EXPECT_EQ(events[3].get<Message>().sender(), "#peer#d");
  EXPECT_EQ(position(4), (MessagePosition{second, 1, 0}));
  for (const std::size_t at : {1u, 2u, 3u}) EXPECT_EQ(position(at)->change, first);
  EXPECT_EQ(position(4)->change, second);
  EXPECT_FALSE(position(5));
  EXPECT_EQ(events[4].get<Message>().text(), "three");
}

TEST_F(ClientEngineTest, APlaceInAnOrderThatWasNotToldEndsTheConnection) {
  Bytes bytes;
  append_placed(bytes, "lost", {1, 0});
  EXPECT_EQ(end_of(bytes), Errc::unexpected_frame);
  bytes.clear();
  write_order_view(bytes, {3, "no daemon", 9, 4});
  EXPECT_EQ(end_of(bytes), Errc::malformed_frame);
  bytes.clear();
  write_order_view(bytes, {3, "d", 9, 4});
  const std::size_t start = bytes.size();
  append_placed(bytes, "nowhere", {1, 0});
  bytes[start + kFrameHeadBytes + 4] = 0;
  EXPECT_EQ(end_of(bytes), Errc::malformed_frame) << "no message stands at 0";
}

TEST(MessagePosition, ComparesWithinAnOrder) {
  const GroupViewId change{3, "d", 9, 4};
  const MessagePosition position{change, 10, 1};
  EXPECT_LT((MessagePosition{change, 9, 5}), position);
  EXPECT_LT((MessagePosition{change, 10, 0}), position);
  EXPECT_GT((MessagePosition{{3, "d", 9, 5}, 11, 0}), position) << "changes of groups are in between";
  for (const GroupViewId& other : {GroupViewId{4, "d", 9, 4}, {3, "e", 9, 4}, {3, "d", 8, 4}}) {
    EXPECT_TRUE((position <=> MessagePosition{other, 11, 0}) == std::partial_ordering::unordered);
    EXPECT_FALSE(position.is_behind(other));
  }
  EXPECT_EQ((MessagePosition{{3, "d", 9, 2}, 10, 1}), position) << "who has missed a change got it there, too";
  EXPECT_NE((MessagePosition{change, 10, 2}), position);
  EXPECT_NE((MessagePosition{change, 11, 1}), position);
  EXPECT_NE((MessagePosition{{4, "d", 9, 4}, 10, 1}), position);
  EXPECT_TRUE(position.is_behind({3, "d", 9, 4}));
  EXPECT_TRUE(position.is_behind({3, "d", 9, 1}));
  EXPECT_FALSE(position.is_behind({3, "d", 9, 5}));
}

TEST_F(ClientEngineTest, OutputIsConsumedPieceByPiece) {
  welcome(engine_);
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(engine_.multicast(Service::fifo, "g", std::to_string(i)));
  const Bytes all(engine_.output().begin(), engine_.output().end());
  Bytes pieces;
  while (!engine_.output().empty()) {
    const std::size_t count = std::min<std::size_t>(7, engine_.output().size());
    pieces.insert(pieces.end(), engine_.output().begin(),
                  engine_.output().begin() + static_cast<std::ptrdiff_t>(count));
    engine_.consume(count);
  }
  EXPECT_EQ(pieces, all);
}

TEST_F(ClientEngineTest, WhatIsBeingWrittenStaysWhereItIs) {
  welcome(engine_);
  ASSERT_FALSE(engine_.ping(1));
  const ByteView first = engine_.output();
  const Bytes before(first.begin(), first.end());
  engine_.consume(2);
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(engine_.ping(2));
  EXPECT_EQ(Bytes(first.begin(), first.end()), before);
  EXPECT_EQ(engine_.output().data(), first.data() + 2);
  EXPECT_EQ(engine_.output().size(), kFrameHeadBytes + 8 - 2);
  engine_.consume(engine_.output().size());
  EXPECT_EQ(engine_.output().size(), 1000 * (kFrameHeadBytes + 8));
}

TEST_F(ClientEngineTest, AfterAFlushNothingIsSentBeforeTheNextView) {
  welcome(engine_);
  EXPECT_EQ(engine_.flush_ok({"g", 0}), Errc::bad_argument) << "nobody has asked for it";
  EXPECT_EQ(engine_.flush_ok({"g", 1}), Errc::bad_argument) << "nobody has asked for it yet";
  ASSERT_FALSE(engine_.join("g", true));
  sent();
  Bytes bytes;
  write_flush(bytes, ClientFrame::flush_request, {7, "g"});
  engine_.handle_bytes(bytes);
  const std::vector<Event> events = engine_.take_events();
  ASSERT_EQ(events.size(), 1u);
  const auto& request = events[0].get<FlushRequest>();
  EXPECT_EQ(request.group, "g");
  EXPECT_FALSE(engine_.multicast(Service::fifo, "g", "before"));
  sent();
  ASSERT_FALSE(engine_.flush_ok(request));
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].type, ClientFrame::flush_ok);
  EXPECT_EQ(read_flush(frames[0].body)->request, 7u);
  EXPECT_FALSE(engine_.flush_ok(request)) << "it has answered";
  EXPECT_TRUE(sent().empty());
  EXPECT_EQ(engine_.multicast(Service::fifo, {"h", "g"}, "between"), Errc::flushing);
  EXPECT_FALSE(engine_.multicast(Service::fifo, "h", "elsewhere"));
  for (const ViewForm form : {ViewForm::answer, ViewForm::full}) {
    EXPECT_EQ(engine_.multicast(Service::fifo, "g", "between"), Errc::flushing);
    GroupViewFrame view;
    view.group = "g";
    view.id = {1, "d", 1, 1};
    view.form = form;
    view.synchronous = true;
    view.members = {"#me#d"};
    bytes.clear();
    write_view(bytes, view);
    engine_.handle_bytes(bytes);
  }
  EXPECT_FALSE(engine_.multicast(Service::fifo, "g", "after"));
  EXPECT_TRUE(engine_.take_events().back().get<GroupView>().synchronous);
}

TEST_F(ClientEngineTest, AnAnswerIsToTheRequestThatItNames) {
  welcome(engine_);
  Bytes bytes;
  write_flush(bytes, ClientFrame::flush_request, {7, "g"});
  GroupViewFrame view;
  view.group = "g";
  view.id = {1, "d", 1, 1};
  view.form = ViewForm::full;
  view.synchronous = true;
  view.members = {"#me#d"};
  write_view(bytes, view);
  write_flush(bytes, ClientFrame::flush_request, {8, "g"});
  engine_.handle_bytes(bytes);
  const std::vector<Event> events = engine_.take_events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_FALSE(engine_.flush_ok(events[0].get<FlushRequest>()));
  EXPECT_TRUE(sent().empty()) << "the view that it makes way for is here";
  EXPECT_FALSE(engine_.multicast(Service::fifo, "g", "in the view that came"));
  sent();
  EXPECT_FALSE(engine_.flush_ok(events[2].get<FlushRequest>()));
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(read_flush(frames[0].body)->request, 8u);
}

TEST_F(ClientEngineTest, ADaemonAsksOnceToFlushForAView) {
  welcome(engine_);
  Bytes bytes;
  write_flush(bytes, ClientFrame::flush_request, {7, "g"});
  engine_.handle_bytes(bytes);
  bytes.clear();
  write_flush(bytes, ClientFrame::flush_request, {8, "g"});
  engine_.handle_bytes(bytes);
  EXPECT_TRUE(engine_.ended());
}

TEST_F(ClientEngineTest, AJoinMayBeRefusedWhenItWasOnItsWay) {
  welcome(engine_);
  ASSERT_FALSE(engine_.join("g", true));
  Bytes bytes;
  write_refused(bytes, {Refused::What::join, static_cast<std::uint16_t>(Errc::mode_mismatch), 0, "g"});
  engine_.handle_bytes(bytes);
  const std::vector<Event> events = engine_.take_events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].get<RequestFailed>().request, RequestFailed::Request::join);
  EXPECT_EQ(events[0].get<RequestFailed>().error, Errc::mode_mismatch);
}

}  // namespace
}  // namespace spindle::protocol
