// What a program in C does: errors, options, connections, sending, waiting.
#include <future>

#include "bindings/c/tests/c_client.h"
#include "bindings/c/tests/use_in_c.h"
#include "spindle/error.h"
#include "spindle/version.h"
#include "tests/integration/daemon.h"

namespace spindle::test {
namespace {

using protocol::ClientFrame;

TEST(CLibrary, IsUsedInC99) {
  Daemon daemon({});
  const char* const wrong = use_spindle_in_c(daemon.socket().c_str());
  EXPECT_EQ(wrong, nullptr) << wrong;
}

TEST(CLibrary, HasTheCodesOfTheTable) {
#define CHECK_CODE(name, number, text)             \
  EXPECT_STREQ(spindle_error_name(number), #name); \
  EXPECT_STREQ(spindle_error_text(number), text);
  SPINDLE_ERRORS(CHECK_CODE)
#undef CHECK_CODE
  EXPECT_STREQ(spindle_error_name(SPINDLE_OK), "ok");
  EXPECT_STREQ(spindle_error_text(SPINDLE_OK), "success");
  EXPECT_STREQ(spindle_error_name(60'000), "unknown_error");
  EXPECT_EQ(SPINDLE_SLOW_RECEIVER, static_cast<int>(Errc::slow_receiver));
  EXPECT_EQ(SPINDLE_ACCESS_DENIED, static_cast<int>(Errc::access_denied));
  EXPECT_EQ(SPINDLE_OUT_OF_MEMORY, static_cast<int>(Errc::out_of_memory));
  EXPECT_EQ(spindle_version(), version());
  EXPECT_EQ(to_string(spindle_text("text")), "text");
  EXPECT_EQ(spindle_text(nullptr).size, 0u);
}

TEST(CLibrary, SaysWhatIsMissing) {
  EXPECT_EQ(spindle_options_set_name(nullptr, "x"), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_connect(nullptr, 0, nullptr, nullptr, 0), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_join(nullptr, spindle_text("g"), 0, 0), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_leave(nullptr, spindle_text("g")), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_request_view(nullptr, spindle_text("g")), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_request_flow(nullptr, nullptr, 0), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_multicast(nullptr, SPINDLE_FIFO, nullptr, 0, {}, nullptr, 0), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_confirm(nullptr, 0, nullptr, nullptr), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_drain(nullptr, 0, nullptr, nullptr), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_disconnect(nullptr, nullptr, nullptr), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_set_handler(nullptr, nullptr, nullptr), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_next(nullptr, nullptr, 1, 0), 0u);
  EXPECT_EQ(spindle_descriptor(nullptr), -1);
  EXPECT_EQ(spindle_is_open(nullptr), 0);
  EXPECT_EQ(spindle_private_name(nullptr).size, 0u);
  spindle_close(nullptr);
  spindle_options_free(nullptr);
  spindle_send_options_free(nullptr);
}

TEST_F(CClient, OptionsReachTheDaemon) {
  EXPECT_EQ(spindle_options_set_name(options_, "ann"), SPINDLE_OK);
  EXPECT_EQ(spindle_options_set_name(options_, nullptr), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_options_set_token(options_, ""), SPINDLE_OK);
  EXPECT_EQ(spindle_options_set_tls_bundle(options_, "file"), SPINDLE_OK);
  EXPECT_EQ(spindle_options_set_tls_revocation_lists(options_, "file"), SPINDLE_OK);
  EXPECT_EQ(spindle_options_set_send_timeout(options_, SPINDLE_FOREVER), SPINDLE_OK);
  EXPECT_EQ(spindle_options_set_send_buffer(options_, 10'000), SPINDLE_OK);
  EXPECT_EQ(spindle_options_set_receive_buffer(options_, 10'000), SPINDLE_OK);
  EXPECT_EQ(spindle_options_set_independent_flows(options_, 1), SPINDLE_OK);
  EXPECT_EQ(spindle_options_set_slow_policy(options_, SPINDLE_SLOW_DROP), SPINDLE_OK);
  EXPECT_EQ(spindle_options_set_slow_policy(options_, 4), SPINDLE_BAD_ARGUMENT);
  connect();
  const auto hello = protocol::read_hello(hello_.body);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->name, "ann");
  EXPECT_NE(hello->flags & protocol::kIndependentFlowsBit, 0);
  EXPECT_EQ((hello->flags & protocol::kSlowPolicyMask) >> protocol::kSlowPolicyShift, SPINDLE_SLOW_DROP);
  EXPECT_EQ(to_string(spindle_private_name(connection_)), "#me#fake");
  EXPECT_NE(spindle_is_open(connection_), 0);
}

TEST_F(CClient, ARefusalIsCutWhereItDoesNotFit) {
  spindle_options_set_address(options_, "/nowhere/at/all");
  char text[9] = "unwanted";
  EXPECT_EQ(spindle_connect(options_, kHour, &connection_, text, sizeof text), SPINDLE_CONNECT_FAILED);
  EXPECT_STREQ(text, "/nowhere");
  EXPECT_EQ(connection_, nullptr);
  EXPECT_EQ(spindle_connect(options_, kHour, &connection_, nullptr, 0), SPINDLE_CONNECT_FAILED);
  EXPECT_EQ(spindle_connect(options_, kHour, &connection_, text, 0), SPINDLE_CONNECT_FAILED);
}

TEST_F(CClient, ConnectingEndsInTime) {
  EXPECT_EQ(spindle_connect(options_, kMillisecond, &connection_, nullptr, 0), SPINDLE_TIMED_OUT);
}

TEST_F(CClient, SendsWithOptionsAndInPieces) {
  connect();
  spindle_send_options* options = spindle_send_options_new();
  EXPECT_EQ(spindle_send_options_set_type(options, 300), SPINDLE_OK);
  EXPECT_EQ(spindle_send_options_set_self_discard(options, 1), SPINDLE_OK);
  EXPECT_EQ(spindle_send_options_set_type(nullptr, 300), SPINDLE_BAD_ARGUMENT);
  const spindle_bytes groups[] = {spindle_text("a"), spindle_text("#b#c")};
  const spindle_bytes zero = to_bytes(std::string_view("a\0b", 3));
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_SAFE, groups, 2, zero, options, kHour), SPINDLE_OK);
  const Frame define = daemon_.read(), frame = daemon_.read();
  const auto defined = protocol::read_define(define.body);
  ASSERT_TRUE(defined);
  EXPECT_EQ(defined->groups, (std::vector<std::string_view>{"a", "#b#c"}));
  const auto send = protocol::read_send(frame.body);
  ASSERT_TRUE(send);
  EXPECT_EQ(send->service, SPINDLE_SAFE);
  EXPECT_EQ(send->type, 300);
  EXPECT_TRUE(send->self_discard);
  EXPECT_EQ(as_text(send->chunk), std::string_view("a\0b", 3));
  const spindle_bytes pieces[] = {spindle_text("one"), {}, spindle_text("two")};
  EXPECT_EQ(spindle_multicast_pieces(connection_, SPINDLE_FIFO, groups, 1, pieces, 3, nullptr, 0), SPINDLE_OK);
  EXPECT_EQ(spindle_multicast_pieces(connection_, SPINDLE_FIFO, groups, 1, nullptr, 0, nullptr, 0), SPINDLE_OK);
  EXPECT_EQ(daemon_.read_messages(2), (std::vector<std::string>{"onetwo", ""}));
  spindle_send_options_free(options);
}

TEST_F(CClient, RefusesWhatCannotBeSent) {
  connect();
  const spindle_bytes group = spindle_text("g");
  const spindle_bytes nothing{nullptr, 1};
  EXPECT_EQ(spindle_multicast(connection_, 6, &group, 1, {}, nullptr, 0), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &group, 1, nothing, nullptr, 0), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &nothing, 1, {}, nullptr, 0), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, nullptr, 1, {}, nullptr, 0), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, nullptr, 0, {}, nullptr, 0), SPINDLE_TOO_MANY_GROUPS);
  EXPECT_EQ(spindle_multicast_pieces(connection_, SPINDLE_FIFO, &group, 1, nullptr, 1, nullptr, 0),
            SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_multicast_pieces(connection_, SPINDLE_FIFO, &group, 1, &nothing, 1, nullptr, 0),
            SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_join(connection_, spindle_text("#g"), 0, 0), SPINDLE_BAD_GROUP_NAME);
  EXPECT_EQ(spindle_join(connection_, group, 0x80, 0), SPINDLE_BAD_ARGUMENT) << "no such flag";
  EXPECT_EQ(spindle_join(connection_, nothing, 0, 0), SPINDLE_BAD_ARGUMENT);
}

TEST_F(CClient, SendingEndsInTime) {
  spindle_options_set_send_buffer(options_, 1);
  connect();
  const spindle_bytes group = spindle_text("g");
  const std::string payload(100'000, 'x');
  while (spindle_multicast(connection_, SPINDLE_FIFO, &group, 1, to_bytes(payload), nullptr, 100 * kMillisecond) ==
         SPINDLE_OK) {
  }
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &group, 1, {}, nullptr, 0), SPINDLE_WOULD_BLOCK);
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &group, 1, {}, nullptr, kMillisecond), SPINDLE_TIMED_OUT);
  std::promise<spindle_code> late;
  EXPECT_EQ(spindle_when_writable(
                connection_, &group, 1, kMillisecond,
                [](spindle_code code, void* told) { static_cast<std::promise<spindle_code>*>(told)->set_value(code); },
                &late),
            SPINDLE_OK);
  EXPECT_EQ(late.get_future().get(), SPINDLE_TIMED_OUT);
  EXPECT_EQ(spindle_when_writable(connection_, &group, 1, 0, nullptr, nullptr), SPINDLE_BAD_ARGUMENT);
}

TEST_F(CClient, JoinsAndConfirmsWithoutWaiting) {
  connect();
  std::promise<spindle_code> joined, late;
  const auto tell = [](spindle_code code, void* told) {
    static_cast<std::promise<spindle_code>*>(told)->set_value(code);
  };
  EXPECT_EQ(spindle_join_then(connection_, spindle_text("g"), 0, kHour, tell, &joined), SPINDLE_OK);
  EXPECT_EQ(spindle_join_then(connection_, spindle_text("g"), 0, kHour, nullptr, nullptr), SPINDLE_BAD_ARGUMENT);
  EXPECT_EQ(spindle_join(connection_, spindle_text("late"), 0, kMillisecond), SPINDLE_TIMED_OUT);
  const auto request = protocol::read_group_request(daemon_.read().body);
  ASSERT_TRUE(request);
  Bytes reply;
  protocol::write_reply(reply, {request->request, SPINDLE_ACCESS_DENIED});
  daemon_.write(reply);
  EXPECT_EQ(joined.get_future().get(), SPINDLE_ACCESS_DENIED);

  const spindle_bytes group = spindle_text("g");
  ASSERT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &group, 1, {}, nullptr, 0), SPINDLE_OK);
  uint64_t not_taken = 0;
  int exact = 1;
  EXPECT_EQ(spindle_confirm(connection_, kMillisecond, &not_taken, &exact), SPINDLE_TIMED_OUT);
  EXPECT_EQ(not_taken, 1u);
  EXPECT_EQ(exact, 0);
  std::promise<std::pair<uint64_t, int>> confirmed;
  EXPECT_EQ(spindle_confirm_then(
                connection_, kHour,
                [](uint64_t messages, int is_exact, void* told) {
                  static_cast<std::promise<std::pair<uint64_t, int>>*>(told)->set_value({messages, is_exact});
                },
                &confirmed),
            SPINDLE_OK);
  EXPECT_EQ(spindle_confirm_then(connection_, kHour, nullptr, nullptr), SPINDLE_BAD_ARGUMENT);
  daemon_.read();  // the other join
  daemon_.read_messages(1);
  Frame confirm = daemon_.read();
  confirm = daemon_.read();  // the second one
  Bytes answer;
  protocol::write_confirmed(answer, {protocol::read_confirm(confirm.body).value_or(0), 1});
  daemon_.write(answer);
  EXPECT_EQ(confirmed.get_future().get(), (std::pair<uint64_t, int>{0, 1}));
}

TEST_F(CClient, TakesSeveralEventsAtOnce) {
  connect();
  for (int i = 0; i < 10; ++i) daemon_.write(message_frame(std::to_string(i)));
  spindle_event* events[4];
  for (int i = 0; i < 10;) {
    const std::size_t count = spindle_next(connection_, events, 4, kHour);
    ASSERT_GT(count, 0u);
    for (std::size_t at = 0; at < count; ++at, ++i) {
      EXPECT_EQ(to_string(spindle_message_payload(events[at])), std::to_string(i));
      spindle_event_free(events[at]);
    }
  }
  EXPECT_EQ(spindle_next(connection_, events, 4, 0), 0u);
  EXPECT_EQ(spindle_next(connection_, events, 4, kMillisecond), 0u);
}

struct Handled {
  std::promise<std::string> text;
};

TEST_F(CClient, HandsEventsToAHandler) {
  connect();
  Handled handled;
  EXPECT_EQ(spindle_set_handler(
                connection_,
                [](spindle_event* event, void* context) {
                  static_cast<Handled*>(context)->text.set_value(to_string(spindle_message_payload(event)));
                  spindle_event_free(event);
                },
                &handled),
            SPINDLE_OK);
  daemon_.write(message_frame("to the handler"));
  EXPECT_EQ(handled.text.get_future().get(), "to the handler");
  EXPECT_EQ(spindle_set_handler(connection_, nullptr, nullptr), SPINDLE_OK);
  daemon_.write(message_frame("to whoever asks"));
  spindle_event* event = next();
  EXPECT_EQ(to_string(spindle_message_payload(event)), "to whoever asks");
  spindle_event_free(event);
}

TEST_F(CClient, DisconnectingSaysWhatWasNotTaken) {
  connect();
  const spindle_bytes group = spindle_text("g");
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &group, 1, {}, nullptr, 0), SPINDLE_OK);
  }
  uint64_t not_taken = 0;
  int exact = 1;
  EXPECT_EQ(spindle_disconnect(connection_, &not_taken, &exact), SPINDLE_OK);
  EXPECT_EQ(not_taken, 3u);
  EXPECT_EQ(exact, 0);
  EXPECT_EQ(spindle_disconnect(connection_, nullptr, nullptr), SPINDLE_OK);
  EXPECT_EQ(spindle_is_open(connection_), 0);
  EXPECT_EQ(spindle_multicast(connection_, SPINDLE_FIFO, &group, 1, {}, nullptr, 0), SPINDLE_NOT_CONNECTED);
  EXPECT_EQ(spindle_confirm(connection_, kHour, nullptr, nullptr), SPINDLE_NOT_CONNECTED);
}

}  // namespace
}  // namespace spindle::test
