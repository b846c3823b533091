// Connections, against a daemon that the test plays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "bindings/c/src/handles.h"
#include "bindings/c/tests/c99.h"
#include "bindings/c/tests/connection.h"
#include "libclient/protocol/header_block.h"
#include "tests/support/payload_frames.h"

namespace spindle::c {
namespace {

using protocol::ClientFrame;
using test::Bytes;
using test::close_frame;
using test::Frame;
using test::message_frame;

const spindle_bytes kNews = spindle_text("news");

Bytes view_frame() {
  Bytes frame;
  protocol::GroupViewFrame view{"news", {1, "fake", 1, 1}};
  view.joined = {"#me#fake"};
  view.members = {"#me#fake", "#you#fake"};
  protocol::write_view(frame, view);
  return frame;
}

Bytes reply_frame(const Frame& request, Errc code) {
  Bytes frame;
  const auto read = protocol::read_group_request(request.type, request.body);
  EXPECT_TRUE(read);
  protocol::write_reply(frame, {read ? read->request : 0, static_cast<std::uint16_t>(code)});
  return frame;
}

using CConnections = ConnectionTest;

TEST_F(CConnections, AreNamedByTheDaemon) {
  ASSERT_EQ(connect(), 0);
  EXPECT_STREQ(text_, "");
  EXPECT_EQ(text(spindle_private_name(connection_)), "#me#fake");
  EXPECT_EQ(spindle_is_open(connection_), 1);
}

TEST_F(CConnections, SayInWordsWhyThereIsNone) {
  EXPECT_EQ(connect(close_frame(Errc::name_in_use, "that name is taken")), SPINDLE_ERROR_NAME_IN_USE);
  EXPECT_EQ(connection_, nullptr);
  EXPECT_THAT(text_, testing::HasSubstr("that name is taken"));
}

TEST_F(CConnections, CutWordsToTheRoomThatThereIs) {
  spindle_options_set_address(options_, "/nowhere/at/all");
  char full[200], little[8] = {'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x'}, none = 'x';
  EXPECT_EQ(spindle_connect(options_, &connection_, full, sizeof full), SPINDLE_ERROR_CONNECT_FAILED);
  EXPECT_EQ(spindle_connect(options_, &connection_, little, sizeof little), SPINDLE_ERROR_CONNECT_FAILED);
  EXPECT_EQ(spindle_connect(options_, &connection_, &none, 0), SPINDLE_ERROR_CONNECT_FAILED);
  EXPECT_EQ(spindle_connect(options_, &connection_, nullptr, 10), SPINDLE_ERROR_CONNECT_FAILED);
  EXPECT_THAT(full, testing::HasSubstr("/nowhere/at/all"));
  EXPECT_EQ(std::string(full).substr(0, sizeof little - 1), little);
  EXPECT_EQ(none, 'x');
}

TEST_F(CConnections, TakeTheirOptions) {
  EXPECT_EQ(spindle_options_set_name(options_, "ann"), 0);
  EXPECT_EQ(spindle_options_set_token(options_, "secret"), 0);
  EXPECT_EQ(spindle_options_set_independent_flows(options_, 1), 0);
  EXPECT_EQ(spindle_options_set_slow_policy(options_, SPINDLE_SLOW_DROP), 0);
  EXPECT_EQ(spindle_options_set_slow_policy(options_, SPINDLE_SLOW_DISCONNECT + 1), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_options_set_tls_bundle(options_, "bundle.pem"), 0);
  EXPECT_EQ(spindle_options_set_tls_revocation_lists(options_, "lists.pem"), 0);
  EXPECT_EQ(spindle_options_set_connect_timeout(options_, 1), 0);
  EXPECT_EQ(spindle_options_set_send_timeout(options_, -7), 0);
  EXPECT_EQ(spindle_options_set_disconnect_timeout(options_, SPINDLE_NO_TIMEOUT), 0);
  EXPECT_EQ(spindle_options_set_send_buffer(options_, 1), 0);
  EXPECT_EQ(spindle_options_set_receive_buffer(options_, 2), 0);
  const ConnectOptions& value = options_->value;
  EXPECT_EQ(value.name, "ann");
  EXPECT_EQ(value.token, "secret");
  EXPECT_TRUE(value.independent_flows);
  EXPECT_EQ(value.slow_policy, SlowPolicy::drop);
  EXPECT_EQ(value.tls_bundle, "bundle.pem");
  EXPECT_EQ(value.tls_revocation_lists, "lists.pem");
  EXPECT_EQ(value.connect_timeout, std::chrono::milliseconds(1)) << "not less than what was asked for";
  EXPECT_EQ(value.send_timeout, std::chrono::nanoseconds::max());
  EXPECT_GT(value.disconnect_timeout, std::chrono::hours(1'000));
  EXPECT_EQ(value.send_buffer_bytes, 1u);
  EXPECT_EQ(value.receive_buffer_bytes, 2u);
  EXPECT_EQ(spindle_options_set_name(options_, nullptr), 0);
  EXPECT_EQ(value.name, "");
  EXPECT_EQ(value.reconnect_timeout, std::chrono::seconds(0));
  EXPECT_EQ(spindle_options_set_reconnect_timeout(options_, 30'000 * kMillisecond), 0);
  EXPECT_EQ(value.reconnect_timeout, std::chrono::seconds(30));
  spindle_options* untouched = spindle_options_new();
  EXPECT_EQ(untouched->value.reconnect_timeout, std::chrono::minutes(1));
  spindle_options_free(untouched);
}

TEST_F(CConnections, NeedTheirOptionsNoLonger) {
  spindle_options_set_name(options_, "ann");
  ASSERT_EQ(connect(), 0);
  spindle_options_free(options_);
  options_ = nullptr;
  EXPECT_EQ(protocol::read_hello(hello_.body)->name, "ann");
  EXPECT_EQ(spindle_leave(connection_, kNews), 0);
  EXPECT_EQ(daemon_.read().type, ClientFrame::leave);
}

TEST_F(CConnections, QueueRequests) {
  ASSERT_EQ(connect(), 0);
  EXPECT_EQ(spindle_join(connection_, kNews, 0, 0), 0);
  EXPECT_EQ(daemon_.read().type, ClientFrame::join);
  EXPECT_EQ(spindle_leave(connection_, kNews), 0);
  EXPECT_EQ(daemon_.read().type, ClientFrame::leave);
  EXPECT_EQ(spindle_request_view(connection_, kNews), 0);
  EXPECT_EQ(daemon_.read().type, ClientFrame::view_request);
  EXPECT_EQ(spindle_request_flow(connection_, &kNews, 1), 0);
  EXPECT_EQ(daemon_.read().type, ClientFrame::define);
  EXPECT_EQ(daemon_.read().type, ClientFrame::flow_request);
}

TEST_F(CConnections, RefuseRequestsThatAreNone) {
  ASSERT_EQ(connect(), 0);
  EXPECT_EQ(spindle_join(connection_, spindle_text("#x"), 0, 0), SPINDLE_ERROR_BAD_GROUP_NAME);
  EXPECT_EQ(spindle_join(connection_, {nullptr, 5}, 0, 0), SPINDLE_ERROR_BAD_GROUP_NAME);
  EXPECT_EQ(spindle_join(connection_, kNews, 0x80, 0), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_leave(connection_, spindle_text("")), SPINDLE_ERROR_BAD_GROUP_NAME);
  EXPECT_EQ(spindle_request_flow(connection_, nullptr, 1), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_request_flow(connection_, nullptr, 0), SPINDLE_ERROR_TOO_MANY_GROUPS);
  EXPECT_EQ(spindle_wait_writable(connection_, nullptr, 0, 0), SPINDLE_ERROR_TOO_MANY_GROUPS);
}

TEST_F(CConnections, WaitForTheViewOfAGroup) {
  ASSERT_EQ(connect(), 0);
  std::thread server([&] {
    const Frame request = daemon_.read();
    daemon_.write(reply_frame(request, Errc{}));
    daemon_.write(view_frame());
  });
  EXPECT_EQ(spindle_join(connection_, kNews, 0, SPINDLE_NO_TIMEOUT), 0);
  server.join();
  EXPECT_EQ(next_kind(), unsigned{SPINDLE_EVENT_GROUP_VIEW});
}

TEST_F(CConnections, SayWhyTheyMayNotJoin) {
  ASSERT_EQ(connect(), 0);
  std::thread server([&] { daemon_.write(reply_frame(daemon_.read(), Errc::access_denied)); });
  EXPECT_EQ(spindle_join(connection_, kNews, 0, 60 * kSecond), SPINDLE_ERROR_ACCESS_DENIED);
  server.join();
  EXPECT_EQ(spindle_join(connection_, kNews, 0, kMillisecond), SPINDLE_ERROR_TIMED_OUT);
}

TEST_F(CConnections, SendPayloadsWholeAndInPieces) {
  ASSERT_EQ(connect(), 0);
  const spindle_bytes pieces[] = {spindle_text("a"), {nullptr, 0}, {"b\0c", 3}};
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_AGREED, &kNews, 1, {"x\0y", 3}, nullptr, SPINDLE_NO_TIMEOUT), 0);
  EXPECT_EQ(spindle_multicast_pieces(connection_, SPINDLE_SAFE, &kNews, 1, pieces, 3, nullptr, kSecond), 0);
  EXPECT_EQ(spindle_multicast_pieces(connection_, SPINDLE_FIFO, &kNews, 1, nullptr, 0, nullptr, 0), 0);
  EXPECT_THAT(daemon_.read_messages(3),
              testing::ElementsAre(std::string("x\0y", 3), std::string("ab\0c", 4), std::string()));
}

TEST_F(CConnections, SendToManyWithOptions) {
  ASSERT_EQ(connect(), 0);
  std::vector<std::string> names;
  for (int i = 0; i < 1'000; ++i) names.push_back("g" + std::to_string(i));
  std::vector<spindle_bytes> groups;
  for (const std::string& name : names) groups.push_back(bytes_of(name));
  spindle_send_options* how = spindle_send_options_new();
  EXPECT_EQ(spindle_send_options_set_type(how, 77), 0);
  EXPECT_EQ(spindle_send_options_set_self_discard(how, 1), 0);
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, groups.data(), 1'000, kNews, how, 0), 0);
  spindle_send_options_free(how);

  const Frame definition = daemon_.read();
  ASSERT_EQ(definition.type, ClientFrame::define);
  const auto define = protocol::read_define(definition.body);
  ASSERT_TRUE(define);
  EXPECT_EQ(std::vector<std::string>(define->groups.begin(), define->groups.end()), names);
  const Frame sent = daemon_.read();
  const auto send = protocol::read_send(sent.body);
  ASSERT_TRUE(send);
  EXPECT_EQ(send->type, 77u);
  EXPECT_TRUE(send->self_discard);
  EXPECT_EQ(send->service, SPINDLE_FIFO);
}

/// A message of "#you#fake" with one header of the library's and one of a program's.
Bytes message_with_headers(std::string_view key, std::string_view value, std::string_view payload) {
  Bytes content;
  protocol::write_header_block(content, {key, value}, {{"colour", "blue"}});
  content.insert(content.end(), payload.begin(), payload.end());
  protocol::MessageHead head{4, 0, "#you#fake", {"news"}, static_cast<std::uint32_t>(content.size()), content};
  head.has_headers = true;
  Bytes frame;
  spindle::test::append_message_frame(frame, head);
  return frame;
}

TEST_F(CConnections, SendHeadersOfAnyBytes) {
  ASSERT_EQ(connect(), 0);
  spindle_send_options* how = spindle_send_options_new();
  for (int i = 0; i < 3; ++i) {  // what was added before stays where it is
    EXPECT_EQ(spindle_send_options_add_header(how, {"k\0y", 3}, bytes_of(std::to_string(i))), 0);
  }
  EXPECT_EQ(spindle_send_options_add_header(how, spindle_text("$id"), kNews), SPINDLE_ERROR_BAD_HEADERS);
  EXPECT_EQ(spindle_send_options_add_header(how, {nullptr, 0}, kNews), SPINDLE_ERROR_BAD_HEADERS);
  EXPECT_EQ(spindle_send_options_add_header(how, kNews, bytes_of(std::string(4096, 'x'))), SPINDLE_ERROR_BAD_HEADERS);
  EXPECT_EQ(spindle_send_options_add_header(how, {nullptr, 1}, kNews), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_AGREED, &kNews, 1, kNews, how, 0), 0);
  EXPECT_EQ(spindle_send_options_clear_headers(how), 0);
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_AGREED, &kNews, 1, kNews, how, 0), 0);
  spindle_send_options_free(how);
  ASSERT_EQ(daemon_.read().type, ClientFrame::define);
  const Frame with = daemon_.read(), without = daemon_.read();
  const auto sent = protocol::read_send(with.body), plain = protocol::read_send(without.body);
  ASSERT_TRUE(sent && plain);
  EXPECT_TRUE(sent->has_headers);
  Bytes block;
  const std::string key("k\0y", 3);
  protocol::write_header_block(block, {}, {{key, "0"}, {key, "1"}, {key, "2"}});
  EXPECT_TRUE(std::equal(block.begin(), block.end(), sent->chunk.begin()));
  EXPECT_FALSE(plain->has_headers);
}

TEST_F(CConnections, GiveHeadersAndRequestsAndAnswerThem) {
  ASSERT_EQ(connect(), 0);
  daemon_.write(message_with_headers("$id", "12345678", "question"));
  spindle_event* event = next();
  EXPECT_EQ(text(spindle_message_payload(event)), "question");
  ASSERT_EQ(spindle_message_header_count(event), 1u);
  EXPECT_EQ(text(spindle_message_header_key_at(event, 0)), "colour");
  EXPECT_EQ(text(spindle_message_header_value_at(event, 0)), "blue");
  EXPECT_EQ(spindle_message_header_key_at(event, 1).data, nullptr);
  EXPECT_EQ(text(spindle_message_header(event, spindle_text("colour"))), "blue");
  EXPECT_EQ(spindle_message_header(event, spindle_text("$id")).data, nullptr);
  EXPECT_EQ(spindle_message_is_request(event), 1);
  spindle_send_options* how = spindle_send_options_new();
  spindle_cancel_token* token = spindle_cancel_token_new();
  EXPECT_EQ(spindle_send_options_set_cancel_token(how, token), 0);
  EXPECT_EQ(spindle_cancel(token), 0);
  spindle_cancel_token_free(token);
  EXPECT_EQ(spindle_reply(connection_, event, spindle_text("cancelled"), how, 0), SPINDLE_ERROR_CANCELLED);
  spindle_send_options_free(how);
  EXPECT_EQ(spindle_reply(connection_, event, spindle_text("answer"), nullptr, 0), 0);
  EXPECT_EQ(spindle_reply(connection_, event, {nullptr, 1}, nullptr, 0), SPINDLE_ERROR_BAD_ARGUMENT);
  spindle_event_free(event);
  const Frame define = daemon_.read(), answer = daemon_.read();
  const auto to = protocol::read_define(define.body);
  const auto sent = protocol::read_send(answer.body);
  ASSERT_TRUE(to && sent);
  EXPECT_EQ(to->groups, std::vector<std::string_view>{"#you#fake"});
  EXPECT_EQ(sent->service, SPINDLE_FIFO);
  EXPECT_EQ(protocol::find_header(sent->chunk, "$re"), "12345678");

  daemon_.write(message_frame("no request"));
  event = next();
  EXPECT_EQ(spindle_message_is_request(event), 0);
  EXPECT_EQ(spindle_reply(connection_, event, kNews, nullptr, 0), SPINDLE_ERROR_BAD_ARGUMENT);
  spindle_event_free(event);
}

TEST_F(CConnections, WaitForTheAnswersToARequest) {
  ASSERT_EQ(connect(), 0);
  std::thread server([&] {
    ASSERT_EQ(daemon_.read().type, ClientFrame::define);
    const Frame frame = daemon_.read();
    const auto sent = protocol::read_send(frame.body);
    ASSERT_TRUE(sent && sent->has_headers);
    EXPECT_EQ(sent->service, SPINDLE_SAFE);
    daemon_.write(message_with_headers("$re", *protocol::find_header(sent->chunk, "$id"), "answer"));
  });
  spindle_answers* answers = nullptr;
  EXPECT_EQ(spindle_request(connection_, SPINDLE_SAFE, &kNews, 1, kNews, nullptr, 1, 60 * kSecond, &answers), 0);
  server.join();
  ASSERT_EQ(spindle_answers_count(answers), 1u);
  EXPECT_EQ(text(spindle_message_payload(spindle_answers_at(answers, 0))), "answer");
  spindle_event* copy = spindle_event_copy(spindle_answers_at(answers, 0));
  EXPECT_EQ(spindle_answers_at(answers, 1), nullptr);
  EXPECT_EQ(spindle_answers_missing_count(answers), 0u);
  EXPECT_EQ(spindle_answers_missing_at(answers, 0).data, nullptr);
  spindle_answers_free(answers);
  EXPECT_EQ(text(spindle_message_sender(copy)), "#you#fake");
  spindle_event_free(copy);
  EXPECT_EQ(spindle_request(connection_, SPINDLE_AGREED, &kNews, 1, kNews, nullptr, 1, kMillisecond, &answers),
            SPINDLE_ERROR_TIMED_OUT);
  EXPECT_EQ(spindle_answers_count(answers), 0u);
  spindle_answers_free(answers);
  EXPECT_EQ(
      spindle_request(connection_, SPINDLE_AGREED, &kNews, 1, kNews, nullptr, SPINDLE_ALL_MEMBERS, kSecond, nullptr),
      SPINDLE_ERROR_NOT_A_MEMBER);
  EXPECT_EQ(spindle_request(connection_, 6, &kNews, 1, kNews, nullptr, 1, kSecond, nullptr),
            SPINDLE_ERROR_BAD_ARGUMENT);
}

TEST_F(CConnections, RefuseMessagesThatAreNone) {
  ASSERT_EQ(connect(), 0);
  const auto send = [&](unsigned service, const spindle_bytes* groups, std::size_t count, spindle_bytes payload) {
    return spindle_multicast(connection_, service, groups, count, payload, nullptr, 0);
  };
  const std::string large((16u << 20) + 1, 'x');
  const std::vector<spindle_bytes> many(1'001, kNews);
  const spindle_bytes bad{nullptr, 1};
  EXPECT_EQ(send(SPINDLE_SAFE + 1, &kNews, 1, kNews), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(send(256 + SPINDLE_SAFE, &kNews, 1, kNews), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(send(SPINDLE_SAFE, nullptr, 1, kNews), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(send(SPINDLE_SAFE, &kNews, 0, kNews), SPINDLE_ERROR_TOO_MANY_GROUPS);
  EXPECT_EQ(send(SPINDLE_SAFE, many.data(), many.size(), kNews), SPINDLE_ERROR_TOO_MANY_GROUPS);
  EXPECT_EQ(send(SPINDLE_SAFE, &bad, 1, kNews), SPINDLE_ERROR_BAD_GROUP_NAME);
  EXPECT_EQ(send(SPINDLE_SAFE, &kNews, 1, bad), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(send(SPINDLE_SAFE, &kNews, 1, bytes_of(large)), SPINDLE_ERROR_MESSAGE_TOO_LARGE);
  EXPECT_EQ(spindle_multicast_pieces(connection_, 0, &kNews, 1, &bad, 1, nullptr, 0), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_multicast_pieces(connection_, 0, &kNews, 1, nullptr, 1, nullptr, 0), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_multicast_pieces(connection_, 0, &kNews, 1, nullptr, SIZE_MAX, nullptr, 0),
            SPINDLE_ERROR_BAD_ARGUMENT);
}

TEST_F(CConnections, SayWhereSendingWouldWait) {
  spindle_options_set_send_buffer(options_, 1);
  spindle_options_set_send_timeout(options_, kMillisecond);
  ASSERT_EQ(connect(), 0);
  const std::string large(8u << 20, 'x');  // more than sockets hold
  ASSERT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &kNews, 1, bytes_of(large), nullptr, 0), 0);
  const auto send = [&](std::int64_t timeout_ns) {
    return spindle_multicast(connection_, SPINDLE_FIFO, &kNews, 1, kNews, nullptr, timeout_ns);
  };
  EXPECT_EQ(send(0), SPINDLE_ERROR_WOULD_BLOCK);
  EXPECT_EQ(send(kMillisecond), SPINDLE_ERROR_TIMED_OUT);
  EXPECT_EQ(send(SPINDLE_NO_TIMEOUT), SPINDLE_ERROR_TIMED_OUT) << "by the connection's send timeout";
  EXPECT_EQ(spindle_wait_writable(connection_, &kNews, 1, kMillisecond), SPINDLE_ERROR_TIMED_OUT);
  std::thread server([&] { daemon_.read_messages(1); });
  EXPECT_EQ(spindle_wait_writable(connection_, &kNews, 1, SPINDLE_NO_TIMEOUT), 0);
  server.join();
  EXPECT_EQ(send(0), 0);
}

/// Cancels its token in a while, when a call most often waits with it.
class Canceller {
 public:
  Canceller() : token(spindle_cancel_token_new()) {}
  ~Canceller() {
    thread_.join();
    spindle_cancel_token_free(token);
  }
  spindle_cancel_token* const token;

 private:
  std::thread thread_{[this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(spindle_cancel(token), 0);
  }};
};

TEST_F(CConnections, CancelSending) {
  spindle_options_set_send_buffer(options_, 1);
  ASSERT_EQ(connect(), 0);
  const std::string large(8u << 20, 'x');  // more than sockets hold
  ASSERT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &kNews, 1, bytes_of(large), nullptr, 0), 0);
  spindle_send_options* how = spindle_send_options_new();
  {
    const Canceller canceller;
    EXPECT_EQ(spindle_send_options_set_cancel_token(how, canceller.token), 0);
    EXPECT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &kNews, 1, kNews, how, SPINDLE_NO_TIMEOUT),
              SPINDLE_ERROR_CANCELLED);
    EXPECT_EQ(spindle_wait_writable_cancellable(connection_, &kNews, 1, SPINDLE_NO_TIMEOUT, canceller.token),
              SPINDLE_ERROR_CANCELLED);
  }
  {
    const Canceller canceller;
    EXPECT_EQ(spindle_join_cancellable(connection_, kNews, 0, 0, canceller.token), SPINDLE_ERROR_CANCELLED);
  }
  EXPECT_EQ(spindle_multicast_pieces(connection_, SPINDLE_FIFO, &kNews, 1, &kNews, 1, how, 0), SPINDLE_ERROR_CANCELLED)
      << "the token is freed, and cancelled still";
  EXPECT_EQ(spindle_send_options_set_cancel_token(how, nullptr), 0);
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &kNews, 1, kNews, how, 0), SPINDLE_ERROR_WOULD_BLOCK);
  spindle_cancel_token* token = spindle_cancel_token_new();
  EXPECT_EQ(spindle_send_options_set_cancel_token(how, token), 0);
  spindle_cancel_token_free(token);
  std::thread server([&] { EXPECT_THAT(daemon_.read_messages(2), testing::ElementsAre(large, "news")); });
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &kNews, 1, kNews, how, SPINDLE_NO_TIMEOUT), 0);
  server.join();
  spindle_send_options_free(how);
}

TEST_F(CConnections, CancelJoiningAndConfirming) {
  ASSERT_EQ(connect(), 0);
  spindle_cancel_token* token = spindle_cancel_token_new();
  std::thread server([&] {
    EXPECT_EQ(daemon_.read().type, ClientFrame::join);
    EXPECT_EQ(spindle_cancel(token), 0);
  });
  EXPECT_EQ(spindle_join_cancellable(connection_, kNews, 0, SPINDLE_NO_TIMEOUT, token), SPINDLE_ERROR_CANCELLED);
  server.join();
  EXPECT_EQ(spindle_join_cancellable(connection_, kNews, 0, 0, token), SPINDLE_ERROR_CANCELLED);
  spindle_cancel_token_free(token);
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &kNews, 1, kNews, nullptr, 0), 0);
  EXPECT_EQ(daemon_.read_messages(1).size(), 1u) << "and no second request before it";
  std::uint64_t not_taken = 99;
  int is_exact = 99;
  {
    const Canceller canceller;
    EXPECT_EQ(spindle_confirm_cancellable(connection_, SPINDLE_NO_TIMEOUT, &not_taken, &is_exact, canceller.token),
              SPINDLE_ERROR_CANCELLED);
  }
  EXPECT_EQ(not_taken, 1u);
  EXPECT_EQ(is_exact, 0);
  {
    const Canceller canceller;
    EXPECT_EQ(spindle_drain_cancellable(connection_, SPINDLE_NO_TIMEOUT, &not_taken, nullptr, canceller.token),
              SPINDLE_ERROR_CANCELLED);
  }
  EXPECT_EQ(not_taken, 1u);
  EXPECT_EQ(spindle_is_open(connection_), 0);
}

TEST_F(CConnections, CancelReceivingAndLoseNothing) {
  ASSERT_EQ(connect(), 0);
  spindle_event* event = nullptr;
  std::size_t count = 7;
  {
    const Canceller canceller;
    EXPECT_EQ(spindle_next_cancellable(connection_, &event, 1, &count, SPINDLE_NO_TIMEOUT, canceller.token),
              SPINDLE_ERROR_CANCELLED);
    EXPECT_EQ(count, 0u);
    daemon_.write(message_frame("kept"));
    pollfd descriptor{spindle_descriptor(connection_), POLLIN, 0};
    EXPECT_EQ(::poll(&descriptor, 1, -1), 1);
    EXPECT_EQ(spindle_is_cancelled(canceller.token), 1);
    EXPECT_EQ(spindle_next_cancellable(connection_, &event, 1, &count, 0, canceller.token), SPINDLE_ERROR_CANCELLED);
  }
  spindle_cancel_token* token = spindle_cancel_token_new();
  EXPECT_EQ(spindle_is_cancelled(token), 0);
  EXPECT_EQ(spindle_next_cancellable(connection_, &event, 1, &count, 0, token), 0);
  EXPECT_EQ(text(spindle_message_payload(event)), "kept");
  spindle_event_free(event);
  EXPECT_EQ(spindle_next_cancellable(connection_, &event, 1, &count, 0, nullptr), SPINDLE_ERROR_TIMED_OUT);
  spindle_cancel_token_free(token);
}

TEST_F(CConnections, GiveEventsInBatches) {
  ASSERT_EQ(connect(), 0);
  spindle_event* events[3];
  std::size_t count = 7;
  EXPECT_EQ(spindle_next(connection_, events, 3, &count, 0), SPINDLE_ERROR_TIMED_OUT);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(spindle_next(connection_, events, 3, &count, kMillisecond), SPINDLE_ERROR_TIMED_OUT);
  for (const char* payload : {"one", "two", "three", "four"}) daemon_.write(message_frame(payload));
  std::vector<std::string> received;
  while (received.size() < 4) {
    ASSERT_EQ(spindle_next(connection_, events, 3, &count, SPINDLE_NO_TIMEOUT), 0);
    ASSERT_LE(count, 3u);
    for (std::size_t i = 0; i < count; ++i) {
      received.push_back(text(spindle_message_payload(events[i])));
      EXPECT_EQ(text(spindle_message_sender(events[i])), "#peer#fake");
      EXPECT_EQ(spindle_message_service(events[i]), unsigned{SPINDLE_AGREED});
      EXPECT_EQ(spindle_event_group_count(events[i]), 1u);
      EXPECT_EQ(text(spindle_event_group(events[i])), "news");
      spindle_event_free(events[i]);
    }
  }
  EXPECT_THAT(received, testing::ElementsAre("one", "two", "three", "four"));
  EXPECT_EQ(spindle_next(connection_, events, 0, &count, 0), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_next(connection_, nullptr, 3, &count, 0), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_next(connection_, events, 3, nullptr, 0), SPINDLE_ERROR_BAD_ARGUMENT);
}

TEST_F(CConnections, GiveMoreEventsThanOnePieceOfMemoryHolds) {
  ASSERT_EQ(connect(), 0);
  constexpr std::size_t kMessages = 100;
  for (std::size_t i = 0; i < kMessages; ++i) daemon_.write(message_frame(std::to_string(i)));
  std::vector<spindle_event*> events(kMessages);
  std::size_t received = 0;
  while (received < kMessages) {
    std::size_t count = 0;
    ASSERT_EQ(spindle_next(connection_, &events[received], kMessages - received, &count, SPINDLE_NO_TIMEOUT), 0);
    received += count;
  }
  // Every other one first, and by another thread.
  for (std::size_t i = 0; i < kMessages; i += 2) spindle_event_free(events[i]);
  std::thread([&] {
    for (std::size_t i = 1; i < kMessages; i += 2) {
      EXPECT_EQ(text(spindle_message_payload(events[i])), std::to_string(i));
      spindle_event_free(events[i]);
    }
  }).join();
}

TEST_F(CConnections, HaveADescriptorThatTellsOfEvents) {
  ASSERT_EQ(connect(), 0);
  pollfd descriptor{spindle_descriptor(connection_), POLLIN, 0};
  ASSERT_GE(descriptor.fd, 0);
  EXPECT_EQ(::poll(&descriptor, 1, 0), 0);
  daemon_.write(message_frame("one"));
  EXPECT_EQ(::poll(&descriptor, 1, -1), 1);
  EXPECT_EQ(::poll(&descriptor, 1, 0), 1) << "as long as the event waits";
  spindle_event_free(next());
  EXPECT_EQ(::poll(&descriptor, 1, 0), 0);
}

// As docs/c.md shows it.
TEST_F(CConnections, ALoopOnTheDescriptorEndsBehindTheLastEvent) {
  ASSERT_EQ(connect(), 0);
  daemon_.write(message_frame("one"));
  daemon_.hang_up();
  pollfd source{spindle_descriptor(connection_), POLLIN, 0};
  spindle_event* events[64];
  std::size_t count = 0, seen = 0;
  spindle_code code = 0;
  while (code != SPINDLE_ERROR_NOT_CONNECTED && ::poll(&source, 1, -1) >= 0) {
    while ((code = spindle_next(connection_, events, 64, &count, 0)) == 0) {
      for (std::size_t i = 0; i < count; ++i) spindle_event_free(events[i]);
      seen += count;
    }
  }
  EXPECT_EQ(seen, 2u) << "the message, and that it is over";
  EXPECT_EQ(::poll(&source, 1, 0), 0);
}

TEST_F(CConnections, LeaveEventsToWhoHasThem) {
  ASSERT_EQ(connect(), 0);
  daemon_.write(message_frame("one"));
  spindle_event* event = next();
  spindle_close(connection_);
  connection_ = nullptr;
  EXPECT_EQ(text(spindle_message_payload(event)), "one");
  spindle_event* copy = spindle_event_copy(event);
  spindle_event_free(event);
  EXPECT_EQ(text(spindle_message_payload(copy)), "one");
  spindle_event_free(copy);
}

TEST_F(CConnections, SayWhatWasNotTaken) {
  ASSERT_EQ(connect(), 0);
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &kNews, 1, kNews, nullptr, 0), 0);
  std::uint64_t not_taken = 99;
  int is_exact = 99;
  EXPECT_EQ(spindle_confirm(connection_, kMillisecond, &not_taken, &is_exact), SPINDLE_ERROR_TIMED_OUT);
  EXPECT_EQ(not_taken, 1u);
  EXPECT_EQ(is_exact, 0);
  EXPECT_EQ(spindle_drain(connection_, kMillisecond, nullptr, nullptr), SPINDLE_ERROR_TIMED_OUT);
  EXPECT_EQ(spindle_confirm(connection_, kMillisecond, &not_taken, nullptr), SPINDLE_ERROR_NOT_CONNECTED);
  EXPECT_EQ(not_taken, 1u);
}

TEST_F(CConnections, AreConfirmedWhatTheNetworkHasTaken) {
  ASSERT_EQ(connect(), 0);
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &kNews, 1, kNews, nullptr, 0), 0);
  std::thread server([&] {
    daemon_.read_messages(1);
    const Frame frame = daemon_.read();
    Bytes answer;
    protocol::write_confirmed(answer, {protocol::read_confirm(frame.body).value_or(0), 1});
    daemon_.write(answer);
  });
  std::uint64_t not_taken = 99;
  EXPECT_EQ(spindle_confirm(connection_, SPINDLE_NO_TIMEOUT, &not_taken, nullptr), 0);
  EXPECT_EQ(not_taken, 0u);
  server.join();
}

TEST_F(CConnections, SayWhatWasLostWithAFormerOne) {
  spindle_options_set_reconnect_timeout(options_, 60 * kSecond);
  ASSERT_EQ(connect(), 0);
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &kNews, 1, kNews, nullptr, 0), 0);
  std::thread server([&] {
    daemon_.read_messages(1);
    EXPECT_EQ(daemon_.read().type, ClientFrame::confirm);
    daemon_.hang_up();
    daemon_.accept();
    EXPECT_EQ(daemon_.read().type, ClientFrame::hello);
    daemon_.write(welcome_frame());
  });
  std::uint64_t not_taken = 99;
  int is_exact = 99;
  EXPECT_EQ(spindle_confirm(connection_, SPINDLE_NO_TIMEOUT, &not_taken, &is_exact), SPINDLE_ERROR_CONNECTION_LOST);
  EXPECT_EQ(not_taken, 1u);
  EXPECT_EQ(is_exact, 0);
  server.join();
}

TEST_F(CConnections, AreClosedForGood) {
  ASSERT_EQ(connect(), 0);
  std::uint64_t not_taken = 99;
  int is_exact = 99;
  EXPECT_EQ(spindle_disconnect(connection_, &not_taken, &is_exact), 0);
  EXPECT_EQ(not_taken, 0u);
  EXPECT_EQ(spindle_is_open(connection_), 0);
  EXPECT_EQ(spindle_join(connection_, kNews, 0, 0), SPINDLE_ERROR_NOT_CONNECTED);
  EXPECT_EQ(spindle_join(connection_, kNews, 0, kSecond), SPINDLE_ERROR_NOT_CONNECTED);
  EXPECT_EQ(spindle_multicast(connection_, 0, &kNews, 1, kNews, nullptr, 0), SPINDLE_ERROR_NOT_CONNECTED);
  EXPECT_EQ(spindle_wait_writable(connection_, &kNews, 1, kSecond), SPINDLE_ERROR_NOT_CONNECTED);
  EXPECT_EQ(next_kind(), unsigned{SPINDLE_EVENT_DISCONNECTED});
  spindle_event* event = nullptr;
  std::size_t count = 99;
  EXPECT_EQ(spindle_next(connection_, &event, 1, &count, SPINDLE_NO_TIMEOUT), SPINDLE_ERROR_NOT_CONNECTED);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(spindle_disconnect(connection_, nullptr, nullptr), 0);
}

TEST_F(CConnections, ServeProgramsInC) {
  std::thread server([&] {
    daemon_.accept();
    daemon_.read();
    daemon_.write(welcome_frame());
    EXPECT_EQ(daemon_.read().type, ClientFrame::join);
    EXPECT_THAT(daemon_.read_messages(1), testing::ElementsAre("hello"));
    daemon_.write(view_frame());
    daemon_.write(message_frame("and hello to you"));
    EXPECT_EQ(daemon_.read().type, ClientFrame::bye);
    daemon_.hang_up();
  });
  char received[9];
  EXPECT_EQ(exchange(daemon_.path().c_str(), "hello", received, sizeof received), 0);
  EXPECT_STREQ(received, "and hell");
  server.join();
}

TEST_F(CConnections, AreClosedOnesInAChild) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer does not survive fork() in a program with threads";
#endif
  ASSERT_EQ(connect(), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);  // one that hangs does not outlive the test
    spindle_event* event = nullptr;
    std::size_t count = 0;
    const bool closed = spindle_is_open(connection_) == 0 && spindle_descriptor(connection_) == -1 &&
                        spindle_leave(connection_, kNews) == SPINDLE_ERROR_NOT_CONNECTED &&
                        spindle_next(connection_, &event, 1, &count, SPINDLE_NO_TIMEOUT) == SPINDLE_ERROR_NOT_CONNECTED;
    spindle_close(connection_);
    ::_exit(closed ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(spindle_leave(connection_, kNews), 0);
  EXPECT_EQ(daemon_.read().type, ClientFrame::leave);
}

}  // namespace
}  // namespace spindle::c
