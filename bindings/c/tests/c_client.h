// A client of the C library at a daemon that a test plays.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "bindings/c/include/spindle/spindle.h"
#include "tests/unit/client_fake_daemon.h"

namespace spindle::test {

inline constexpr std::int64_t kHour = 3'600'000'000'000;
inline constexpr std::int64_t kMillisecond = 1'000'000;

inline std::string to_string(spindle_bytes bytes) { return {static_cast<const char*>(bytes.data), bytes.size}; }
inline spindle_bytes to_bytes(std::string_view text) { return {text.data(), text.size()}; }

class CClient : public testing::Test {
 protected:
  CClient() : options_(spindle_options_new()) {
    spindle_options_set_address(options_, daemon_.path().c_str());
    spindle_options_set_disconnect_timeout(options_, kMillisecond);  // nobody answers a goodbye
  }
  ~CClient() override {
    spindle_options_free(options_);
    spindle_close(connection_);
  }
  void connect() {
    std::thread server([this] {
      daemon_.accept();
      hello_ = daemon_.read();
      Bytes welcome;
      protocol::write_welcome(welcome, {protocol::kClientVersionMax, "#me#fake"});
      daemon_.write(welcome);
    });
    char text[200];
    ASSERT_EQ(spindle_connect(options_, kHour, &connection_, text, sizeof text), SPINDLE_OK) << text;
    server.join();
  }
  /// To be freed.
  spindle_event* next() {
    spindle_event* event = nullptr;
    EXPECT_EQ(spindle_next(connection_, &event, 1, kHour), 1u);
    return event;
  }

  FakeDaemon daemon_;
  spindle_options* options_;
  spindle_connection* connection_ = nullptr;
  Frame hello_;
};

}  // namespace spindle::test
