// Members of a synchronous group at several daemons, which send all the time, and one client that comes and goes: how
// long each change takes to become a view. `tools/bench flush` starts it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "bench/hosts/client_lines.h"
#include "spindle/connection.h"

namespace spindle::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kGroup = "flushed";

struct Options {
  std::vector<std::string> addresses;
  std::size_t members = 30;
  std::size_t changes = 1000;
  unsigned rate = 300;  // messages a second of all members
  std::size_t bytes = 100;
};

Connection connect(const std::string& address, const std::string& name) {
  ConnectOptions options;
  options.address = address;
  options.name = name;
  options.reconnect_timeout = {};  // a measurement with a lost connection is none
  Result<Connection> connection = Connection::connect(options);
  if (!connection) fail("cannot connect to {}: {}", address, connection.text());
  return *std::move(connection);
}

/// Counts the views that all members have got.
class Views {
 public:
  explicit Views(std::size_t members) : seen_(members) {}

  void add(std::size_t member) {
    const std::lock_guard lock(mutex_);
    ++seen_[member];
    changed_.notify_all();
  }
  std::size_t of_all() {
    const std::lock_guard lock(mutex_);
    return *std::min_element(seen_.begin(), seen_.end());
  }
  void wait_for(std::size_t views) {
    std::unique_lock lock(mutex_);
    const auto have = [&] { return *std::min_element(seen_.begin(), seen_.end()) >= views; };
    if (!changed_.wait_for(lock, std::chrono::seconds(20), have)) fail("a view did not come to all within 20 s");
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::size_t> seen_;  // by each member
};

void join(Connection& connection) {
  if (const std::error_code error = connection.join(kGroup, {.synchronous = true, .auto_flush = true})) {
    fail("cannot join: {}", error.message());
  }
}

/// Members send in turn, agreed messages; one that has flushed leaves its turn out.
void send(std::vector<Connection>& members, const Options& options, const std::atomic<bool>& is_over) {
  const std::string payload(options.bytes, 'x');
  auto next = Clock::now();
  for (std::size_t i = 0; !is_over; ++i) {
    std::this_thread::sleep_until(next += std::chrono::nanoseconds(1'000'000'000 / options.rate));
    static_cast<void>(members[i % members.size()].try_multicast(Service::agreed, kGroup, payload));
  }
}

/// Milliseconds from each request until all members have the view.
std::vector<double> change(Connection& mover, Views& views, std::size_t changes) {
  std::vector<double> times;
  for (std::size_t i = 0; i < changes; ++i) {
    const std::size_t before = views.of_all();
    const auto begin = Clock::now();
    if (i % 2 == 0) {
      join(mover);
    } else if (const std::error_code error = mover.leave(kGroup)) {
      fail("cannot leave: {}", error.message());
    }
    views.wait_for(before + 1);
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the mover has its view, too
  }
  std::sort(times.begin(), times.end());
  return times;
}

void measure(const Options& options) {
  Views views(options.members);
  std::vector<Connection> members;
  for (std::size_t i = 0; i < options.members; ++i) {
    members.push_back(connect(options.addresses[i % options.addresses.size()], fmt::format("member{}", i)));
    members.back().set_handler([&views, i, all = options.members](Event&& event) {
      const auto* view = event.get_if<GroupView>();
      if (view != nullptr && view->member_count >= all) views.add(i);
      if (event.is<Disconnected>()) fail("a member was closed");
    });
    join(members.back());
  }
  views.wait_for(1);
  Connection mover = connect(options.addresses.front(), "mover");
  mover.set_handler([](Event&&) {});
  std::this_thread::sleep_for(std::chrono::seconds(1));
  std::atomic<bool> is_over = false;
  std::thread sender([&] { send(members, options, is_over); });
  const std::vector<double> times = change(mover, views, options.changes);
  is_over = true;
  sender.join();
  for (Connection& member : members) member.set_handler([](Event&&) {});
  say(fmt::format(R"({{"changes": {}, "median_ms": {:.3f}, "p99_ms": {:.3f}}})", times.size(), times[times.size() / 2],
                  times[times.size() * 99 / 100]));
}

}  // namespace
}  // namespace spindle::bench

int main(int argc, char** argv) {
  spindle::bench::Options options;
  CLI::App app("Measures how long the views of a synchronous group take.");
  app.add_option("--address", options.addresses, "of a daemon; several")->required();
  app.add_option("--members", options.members, "in all")->capture_default_str()->check(CLI::Range(1, 10'000));
  app.add_option("--changes", options.changes, "joins and leaves")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--rate", options.rate, "messages a second of all members")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--bytes", options.bytes, "of each message")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  spindle::bench::measure(options);
}
