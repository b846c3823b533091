// A connection by the C interface to a daemon that the test plays.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "bindings/c/src/handles.h"
#include "tests/unit/client_fake_daemon.h"

namespace spindle::c {

inline constexpr std::int64_t kMillisecond = 1'000'000;
inline constexpr std::int64_t kSecond = 1'000 * kMillisecond;

inline std::string text(spindle_bytes bytes) { return std::string(text_of(bytes)); }

inline test::Bytes welcome_frame() {
  test::Bytes bytes;
  protocol::write_welcome(bytes, {protocol::kClientVersionMax, "#me#fake"});
  return bytes;
}

class ConnectionTest : public testing::Test {
 protected:
  void SetUp() override {
    options_ = spindle_options_new();
    spindle_options_set_address(options_, daemon_.path().c_str());
    spindle_options_set_disconnect_timeout(options_, kMillisecond);  // nobody answers a goodbye
    spindle_options_set_reconnect_timeout(options_, 0);              // tests look at the end of a connection
  }
  void TearDown() override {
    spindle_close(connection_);
    spindle_options_free(options_);
  }

  spindle_code connect(const test::Bytes& answer = welcome_frame()) {
    std::thread server([&] {
      daemon_.accept();
      hello_ = daemon_.read();
      daemon_.write(answer);
    });
    const spindle_code code = spindle_connect(options_, &connection_, text_, sizeof text_);
    server.join();
    return code;
  }

  /// The next event, which the caller frees.
  spindle_event* next() {
    spindle_event* event = nullptr;
    std::size_t count = 0;
    EXPECT_EQ(spindle_next(connection_, &event, 1, &count, SPINDLE_NO_TIMEOUT), 0);
    EXPECT_EQ(count, 1u);
    return event;
  }
  unsigned next_kind() {
    spindle_event* event = next();
    const unsigned kind = spindle_event_kind(event);
    spindle_event_free(event);
    return kind;
  }

  test::FakeDaemon daemon_;
  spindle_options* options_ = nullptr;
  spindle_connection* connection_ = nullptr;
  test::Frame hello_;
  char text_[200] = "before";
};

}  // namespace spindle::c
