// Agreed messages and requests between two clients at different daemons, at a rate: how long a message takes to its
// receiver, and a request until its answer is there. `tools/bench requests` starts it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench/hosts/client_lines.h"
#include "bench/hosts/cluster/clock.h"
#include "spindle/connection.h"

namespace spindle::bench {
namespace {

constexpr const char* kGroup = "requests";

struct Options {
  std::string asks_at;
  std::string answers_at;
  double rate = 900;
  double seconds = 2;
  std::size_t bytes = 100;
  std::string what = "message";
};

Connection connect(const std::string& address, const std::string& name) {
  ConnectOptions options;
  options.address = address;
  options.name = name;
  Result<Connection> connection = Connection::connect(options);
  if (!connection) fail("cannot connect to {}: {}", address, connection.text());
  return *std::move(connection);
}

/// What each took, in nanoseconds.
class Times {
 public:
  void add(std::int64_t begun_ns) {
    const std::int64_t took = now_ns() - begun_ns;
    const std::lock_guard lock(mutex_);
    times_.push_back(took);
    changed_.notify_all();
  }
  /// Waits until all have come. Gives them in order.
  std::vector<std::int64_t> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    const auto are_there = [&] { return times_.size() >= count; };
    if (!changed_.wait_for(lock, std::chrono::seconds(10), are_there)) fail("some did not come within 10 s");
    std::sort(times_.begin(), times_.end());
    return times_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int64_t> times_;
};

/// A payload that begins with the time.
std::string stamped(std::int64_t time_ns, std::size_t bytes) {
  std::string payload(std::max(bytes, sizeof time_ns), 'x');
  std::memcpy(payload.data(), &time_ns, sizeof time_ns);
  return payload;
}

/// Until the daemons have one view.
void wait_for_each_other(Connection& asking) {
  for (int tries = 0; tries < 100; ++tries) {
    if (!asking.request(kGroup, "are you there?", std::chrono::milliseconds(200)).error) return;
  }
  fail("the clients do not reach each other");
}

void measure(const Options& options) {
  Times times;
  Connection receiver = connect(options.answers_at, "answers");
  if (!receiver.join(kGroup, std::chrono::seconds(10))) fail("cannot join");
  receiver.set_handler([&](Event&& event) {
    const auto* message = event.get_if<Message>();
    if (message == nullptr) return;
    if (message->is_request()) {
      if (receiver.try_reply(*message, message->payload())) fail("cannot answer");
      return;
    }
    std::int64_t sent_ns = 0;
    std::memcpy(&sent_ns, message->payload().data(), sizeof sent_ns);
    times.add(sent_ns);
  });
  Connection asking = connect(options.asks_at, "asks");
  wait_for_each_other(asking);
  const bool asks = options.what == "request";
  const auto count = static_cast<std::size_t>(options.rate * options.seconds);
  const double gap_ns = 1e9 / options.rate;
  const std::int64_t start = now_ns();
  for (std::size_t i = 0; i < count; ++i) {
    sleep_until(start + static_cast<std::int64_t>(gap_ns * static_cast<double>(i)));
    const std::int64_t now = now_ns();
    const std::string payload = stamped(now, options.bytes);
    if (asks) {
      asking.request_then(kGroup, payload, std::chrono::seconds(10), [&times, now](const Answers& answers) {
        if (answers.error) fail("a request failed: {}", answers.error.message());
        times.add(now);
      });
    } else if (const std::error_code error = asking.multicast(Service::agreed, kGroup, payload)) {
      fail("cannot send: {}", error.message());
    }
  }
  const std::vector<std::int64_t> all = times.wait_for(count);
  receiver.set_handler([](Event&&) {});
  say(fmt::format(R"({{"count": {}, "p50_us": {:.1f}, "p99_us": {:.1f}}})", all.size(),
                  static_cast<double>(all[all.size() / 2]) / 1e3,
                  static_cast<double>(all[all.size() * 99 / 100]) / 1e3));
}

}  // namespace
}  // namespace spindle::bench

int main(int argc, char** argv) {
  spindle::bench::Options options;
  CLI::App app("Measures how long messages take, or requests with their answers.");
  app.add_option("--asks-at", options.asks_at, "address of the daemon of the client that sends")->required();
  app.add_option("--answers-at", options.answers_at, "address of the daemon of the one that receives")->required();
  app.add_option("--what", options.what)->capture_default_str()->check(CLI::IsMember({"message", "request"}));
  app.add_option("--rate", options.rate, "a second")->capture_default_str()->check(CLI::Range(1.0, 1e6));
  app.add_option("--seconds", options.seconds)->capture_default_str()->check(CLI::Range(0.1, 3600.0));
  app.add_option("--bytes", options.bytes, "of each, at least 8")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  spindle::bench::measure(options);
}
