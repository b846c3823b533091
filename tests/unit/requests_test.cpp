// Requests and their answers, at an engine that a test plays the daemon of.
#include "libclient/protocol/requests.h"

#include <gtest/gtest.h>

#include <map>

#include "libclient/protocol/client_engine.h"
#include "libclient/protocol/header_block.h"
#include "libclient/protocol/member_list.h"
#include "tests/support/payload_frames.h"

namespace spindle::protocol {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Names = std::vector<std::string>;

constexpr std::size_t kAll = RequestOptions::kAllMembers;

class RequestsTest : public testing::Test, private RequestObserver {
 protected:
  RequestsTest() {
    engine_.observe(this);
    engine_.start({.name = "me"});
    Bytes bytes;
    write_welcome(bytes, {1, "#me#d"});
    engine_.handle_bytes(bytes);
    drop_output();
  }

  Requests::Number ask(const RequestOptions& options, std::string_view group = "g") {
    Requests::Number number = 0;
    EXPECT_FALSE(engine_.ask(group, "question", options, number));
    return number;
  }
  /// What the daemon sends.
  void message(std::string_view sender, const Header& own, std::string_view payload = "text") {
    Bytes content;
    if (!own.key.empty()) write_header_block(content, own, {});
    content.insert(content.end(), payload.begin(), payload.end());
    MessageHead head{4, 0, sender, {"g"}, static_cast<std::uint32_t>(content.size()), content};
    head.has_headers = !own.key.empty();
    Bytes frame;
    test::append_message_frame(frame, head);
    engine_.handle_bytes(frame);
  }
  void answer(std::string_view sender, Requests::Number number) {
    message(sender, {kAnswerKey, Requests::to_header(number)}, sender);
  }
  void own_request(Requests::Number number) { message("#me#d", {kRequestKey, Requests::to_header(number)}); }
  void view(ViewForm form, const Names& members, const Names& joined, const Names& left,
            ViewCause cause = ViewCause::join, const Names& apart = {}) {
    GroupViewFrame view{"g", {1, "d", 1, ++position_}, cause, form};
    view.member_count = static_cast<std::uint32_t>(members.size());
    view.digest = MemberList(members).digest();
    if (form != ViewForm::change) view.members = {members.begin(), members.end()};
    view.joined = {joined.begin(), joined.end()};
    view.left = {left.begin(), left.end()};
    view.apart = {apart.begin(), apart.end()};
    Bytes frame;
    write_view(frame, view);
    engine_.handle_bytes(frame);
  }
  void farewell() {
    GroupViewFrame view{"g", {1, "d", 1, ++position_}, ViewCause::leave, ViewForm::farewell};
    view.left = {"#me#d"};
    Bytes frame;
    write_view(frame, view);
    engine_.handle_bytes(frame);
  }
  void reply(std::uint32_t request, Errc error = {}) {
    Bytes frame;
    write_reply(frame, {request, static_cast<std::uint16_t>(error)});
    engine_.handle_bytes(frame);
  }
  void join(const Names& members) {
    ASSERT_FALSE(engine_.join("g"));
    reply(engine_.writer().last_request());
    view(ViewForm::full, members, {"#me#d"}, {});
    engine_.take_events();
    drop_output();
  }
  std::vector<ClientFrame> sent() {
    std::vector<ClientFrame> types;
    ByteView bytes = engine_.output();
    while (const auto head = read_frame_head(bytes)) {
      types.push_back(static_cast<ClientFrame>(head->type));
      bytes = bytes.subspan(kFrameHeadBytes + head->length);
    }
    drop_output();
    return types;
  }
  std::size_t events() { return engine_.take_events().size(); }
  Names senders(Requests::Number number) const {
    Names names;
    for (const Message& message : outcomes_.at(number).messages) names.emplace_back(message.sender());
    return names;
  }

  ClientEngine engine_;
  std::map<Requests::Number, Answers> outcomes_;

 private:
  void drop_output() {
    while (engine_.output().size() != 0) engine_.consume(engine_.output().size());
  }
  bool refused(std::uint32_t, const RequestFailed&) override { return false; }
  void confirmed(std::uint32_t) override {}
  void answered(Requests::Number number, Answers answers) override {
    EXPECT_TRUE(outcomes_.emplace(number, std::move(answers)).second) << "it ends once";
  }

  std::uint64_t position_ = 0;
};

TEST_F(RequestsTest, TheFirstAnswerEndsItAndIsNoEvent) {
  const Requests::Number number = ask({});
  EXPECT_EQ(sent(), (std::vector{ClientFrame::define, ClientFrame::send}));
  answer("#a#d", number);
  ASSERT_TRUE(outcomes_.contains(number));
  EXPECT_FALSE(outcomes_.at(number).error);
  EXPECT_EQ(senders(number), Names{"#a#d"});
  EXPECT_EQ(outcomes_.at(number).messages[0].text(), "#a#d");
  answer("#b#d", number);
  EXPECT_EQ(events(), 0u) << "one that comes late is nobody's";
}

TEST_F(RequestsTest, CountsOneAnswerOfEachClient) {
  const Requests::Number number = ask({.answers = 2}), other = ask({.answers = 2});
  EXPECT_NE(number, other);
  answer("#a#d", number);
  answer("#a#d", number);
  answer("#a#d", other);
  EXPECT_TRUE(outcomes_.empty());
  answer("#b#d", number);
  EXPECT_EQ(senders(number), (Names{"#a#d", "#b#d"}));
  EXPECT_FALSE(outcomes_.contains(other));
}

TEST_F(RequestsTest, WhatIsNoAnswerIsLeftAlone) {
  const Requests::Number number = ask({});
  message("#a#d", {kAnswerKey, "short"});
  message("#a#d", {kRequestKey, Requests::to_header(number)});
  message("#me#d", {kRequestKey, Requests::to_header(number)});
  message("#a#d", {});
  EXPECT_TRUE(outcomes_.empty());
  EXPECT_EQ(events(), 3u) << "all but the malformed answer";
}

TEST_F(RequestsTest, OnlyMembersAskAllMembers) {
  Requests::Number number = 0;
  EXPECT_EQ(engine_.ask("g", "x", {.answers = kAll}, number), Errc::not_a_member);
  EXPECT_EQ(engine_.ask({"g", "h"}, "x", {.answers = kAll}, number), Errc::bad_argument);
  EXPECT_EQ(engine_.ask("#a#d", "x", {.answers = kAll}, number), Errc::bad_group_name);
  EXPECT_TRUE(sent().empty());
}

TEST_F(RequestsTest, AllMembersAreThoseWhereTheRequestComes) {
  join({"#a#d", "#me#d"});
  const Requests::Number number = ask({.answers = kAll});
  ASSERT_EQ(sent(), (std::vector{ClientFrame::view_request, ClientFrame::define, ClientFrame::send}));
  const std::uint32_t list = engine_.writer().last_request();
  view(ViewForm::answer, {"#a#d", "#me#d"}, {}, {});
  reply(list);
  EXPECT_EQ(events(), 0u) << "nobody but the requests has asked";
  view(ViewForm::change, {"#a#d", "#me#d", "#b#d"}, {"#b#d"}, {});
  answer("#b#d", number);
  own_request(number);
  view(ViewForm::change, {"#a#d", "#me#d", "#b#d", "#c#d"}, {"#c#d"}, {});
  answer("#c#d", number);
  answer("#a#d", number);
  EXPECT_TRUE(outcomes_.empty());
  answer("#me#d", number);
  ASSERT_TRUE(outcomes_.contains(number));
  EXPECT_EQ(senders(number), (Names{"#b#d", "#a#d", "#me#d"})) << "who has joined behind it is no member";
  EXPECT_EQ(events(), 3u) << "two views and the request itself";
  ask({.answers = kAll});
  EXPECT_EQ(sent(), std::vector{ClientFrame::send}) << "the list is known";
}

TEST_F(RequestsTest, ARequestThatIsNotWantedBackIsNotGiven) {
  join({"#a#d", "#me#d"});
  const RequestOptions options{.answers = kAll, .self_discard = true};
  const Requests::Number number = ask(options), late = ask(options);
  view(ViewForm::answer, {"#a#d", "#me#d"}, {}, {});
  reply(2);
  own_request(number);
  answer("#a#d", number);
  EXPECT_EQ(senders(number), Names{"#a#d"});
  EXPECT_EQ(engine_.requests().end(late, Errc::timed_out)->error, Errc::timed_out);
  own_request(late);
  EXPECT_EQ(events(), 0u) << "although it has ended";
}

TEST_F(RequestsTest, WhoLeavesHasAnswered) {
  join({"#a#d", "#me#d", "#b#e", "#c#e"});
  const Requests::Number number = ask({.answers = kAll, .self_discard = true});
  view(ViewForm::answer, {"#a#d", "#me#d", "#b#e", "#c#e"}, {}, {});
  reply(2);
  own_request(number);
  answer("#a#d", number);
  view(ViewForm::full, {"#a#d", "#me#d", "#c#e"}, {}, {"#b#e"}, ViewCause::leave);
  EXPECT_TRUE(outcomes_.empty());
  view(ViewForm::full, {"#a#d", "#me#d", "#c#e"}, {}, {}, ViewCause::network, {"#c#e"});
  ASSERT_TRUE(outcomes_.contains(number)) << "who did not come along cannot answer";
  EXPECT_EQ(senders(number), Names{"#a#d"});
}

TEST_F(RequestsTest, TellsWhoIsMissing) {
  join({"#a#d", "#b#d", "#me#d"});
  const Requests::Number number = ask({.answers = kAll, .self_discard = true});
  view(ViewForm::answer, {"#a#d", "#b#d", "#me#d"}, {}, {});
  reply(2);
  own_request(number);
  answer("#a#d", number);
  const std::optional<Answers> answers = engine_.requests().end(number, Errc::timed_out);
  ASSERT_TRUE(answers);
  EXPECT_EQ(answers->messages.size(), 1u);
  EXPECT_EQ(answers->missing, Names{"#b#d"});
  EXPECT_FALSE(engine_.requests().end(number, Errc::timed_out)) << "it ends once";
}

TEST_F(RequestsTest, WhoLeavesTheGroupGetsNoMoreAnswers) {
  join({"#a#d", "#me#d"});
  const Requests::Number number = ask({.answers = kAll});
  view(ViewForm::answer, {"#a#d", "#me#d"}, {}, {});
  reply(2);
  farewell();
  ASSERT_TRUE(outcomes_.contains(number));
  EXPECT_EQ(outcomes_.at(number).error, Errc::not_a_member);
}

TEST_F(RequestsTest, AListThatIsRefusedEndsThem) {
  join({"#a#d", "#me#d"});
  const Requests::Number number = ask({.answers = kAll}), counted = ask({});
  reply(2, Errc::not_a_member);
  ASSERT_TRUE(outcomes_.contains(number));
  EXPECT_EQ(outcomes_.at(number).error, Errc::not_a_member);
  EXPECT_EQ(events(), 0u);
  answer("#a#d", counted);
  EXPECT_TRUE(outcomes_.contains(counted)) << "others do not need it";
}

TEST_F(RequestsTest, TheFirstViewIsAListOfItsOwn) {
  ASSERT_FALSE(engine_.join("g"));
  const std::uint32_t joining = engine_.writer().last_request();
  const Requests::Number number = ask({.answers = kAll, .self_discard = true});
  EXPECT_EQ(sent(), (std::vector{ClientFrame::join, ClientFrame::define, ClientFrame::send}));
  reply(joining);
  view(ViewForm::full, {"#a#d", "#me#d"}, {"#me#d"}, {});
  own_request(number);
  answer("#a#d", number);
  EXPECT_TRUE(outcomes_.contains(number));
}

TEST_F(RequestsTest, AProgramsOwnRequestForAViewIsItsEvent) {
  join({"#a#d", "#me#d"});
  ASSERT_FALSE(engine_.request_view("g"));
  const std::uint32_t programs = engine_.writer().last_request();
  ask({.answers = kAll});
  view(ViewForm::answer, {"#a#d", "#me#d"}, {}, {});
  reply(programs);
  view(ViewForm::answer, {"#a#d", "#me#d"}, {}, {});
  reply(programs + 1);
  const std::vector<Event> events = engine_.take_events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].get<GroupView>().form, ViewForm::answer);
}

TEST_F(RequestsTest, TheEndOfTheConnectionEndsThem) {
  const Requests::Number number = ask({.answers = 2});
  answer("#a#d", number);
  engine_.handle_end();
  ASSERT_TRUE(outcomes_.contains(number));
  EXPECT_EQ(outcomes_.at(number).error, Errc::connection_lost);
  EXPECT_EQ(outcomes_.at(number).messages.size(), 1u);
}

TEST_F(RequestsTest, OnlyARequestIsAnswered) {
  message("#a#d", {kRequestKey, "12345678"});
  message("#a#d", {kRequestKey, "other"});
  message("#a#d", {});
  const std::vector<Event> events = engine_.take_events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_TRUE(events[0].get<Message>().is_request());
  EXPECT_FALSE(engine_.answer(events[0].get<Message>(), "yes", {}));
  EXPECT_EQ(sent(), (std::vector{ClientFrame::define, ClientFrame::send}));
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_FALSE(events[i].get<Message>().is_request());
    EXPECT_EQ(engine_.answer(events[i].get<Message>(), "yes", {}), Errc::bad_argument);
  }
}

TEST(Requests, OfANewSessionGoOnWhereTheyWereNotSent) {
  Requests requests;
  requests.add(1, {1, {}, false, 10});
  requests.add(2, {1, {}, false, 11});
  requests.start_anew(10);
  const std::vector<Requests::Outcome> outcomes = requests.take_outcomes();
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].number, 1u);
  EXPECT_EQ(outcomes[0].answers.error, Errc::connection_lost);
  EXPECT_TRUE(requests.end(2, {}));
}

}  // namespace
}  // namespace spindle::protocol
