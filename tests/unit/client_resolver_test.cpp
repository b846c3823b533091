#include "libclient/src/resolver.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace spindle {
namespace {

using namespace std::chrono_literals;

Deadline in(std::chrono::nanoseconds time) { return std::chrono::steady_clock::now() + time; }

/// A resolver that answers when it is let, at the latest when this goes.
class SlowResolver {
 public:
  ~SlowResolver() { answer(); }
  Lookup lookup() {
    return [state = state_](const char*, const char* port, const addrinfo* hints, addrinfo** found) {
      std::unique_lock lock(state->mutex);
      state->changed.wait(lock, [&] { return state->may_answer; });
      return ::getaddrinfo("127.0.0.1", port, hints, found);
    };
  }
  void answer() {
    const std::lock_guard lock(state_->mutex);
    state_->may_answer = true;
    state_->changed.notify_all();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool may_answer = false;
  };

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

TEST(ClientResolver, NeedsNobodyForAnAddress) {
  std::error_code error;
  std::string text;
  const Lookup never = [](const char*, const char*, const addrinfo*, addrinfo**) {
    ADD_FAILURE() << "the resolver is asked";
    return EAI_FAIL;
  };
  for (const char* host : {"127.0.0.1", "::1"}) {
    EXPECT_NE(resolve(host, "4803", Deadline::min(), error, text, never), nullptr) << host;
    EXPECT_FALSE(error);
  }
}

TEST(ClientResolver, FindsTheAddressesOfAHost) {
  std::error_code error;
  std::string text;
  SlowResolver resolver;
  resolver.answer();
  const Addresses found = resolve("host", "4803", Deadline::max(), error, text, resolver.lookup());
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->ai_family, AF_INET);
  EXPECT_EQ(reinterpret_cast<const sockaddr_in*>(found->ai_addr)->sin_port, htons(4803));
}

TEST(ClientResolver, SaysWhatTheResolverSays) {
  std::error_code error;
  std::string text;
  const Lookup unknown = [](const char*, const char*, const addrinfo*, addrinfo**) { return EAI_NONAME; };
  EXPECT_EQ(resolve("nowhere", "4803", Deadline::max(), error, text, unknown), nullptr);
  EXPECT_EQ(error, Errc::connect_failed);
  EXPECT_EQ(text, ::gai_strerror(EAI_NONAME));
}

TEST(ClientResolver, IsLeftBehindAtTheDeadline) {
  std::error_code error;
  std::string text;
  SlowResolver resolver;
  EXPECT_EQ(resolve("host", "4803", in(1ms), error, text, resolver.lookup()), nullptr);
  EXPECT_EQ(error, Errc::timed_out);
  EXPECT_EQ(text, "the resolver did not answer in time");
}

TEST(ClientResolver, IsLeftBehindNoMoreOftenThanItMay) {
  while (running_lookups() != 0) std::this_thread::yield();  // of other tests
  std::error_code error;
  std::string text;
  SlowResolver resolver;
  for (int i = 0; i < kLookupsMax; ++i) {
    EXPECT_EQ(resolve("host", "4803", in(0ms), error, text, resolver.lookup()), nullptr);
    EXPECT_EQ(error, Errc::timed_out);
  }
  EXPECT_EQ(resolve("host", "4803", Deadline::max(), error, text, resolver.lookup()), nullptr);
  EXPECT_EQ(error, Errc::connect_failed);
}

}  // namespace
}  // namespace spindle
