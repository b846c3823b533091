// delay_line: a long way between two network namespaces. It makes a TAP device in each, and what is sent on one arrives
// on the other when the delay has passed. It does nothing else: rate and queue are those of a `tc` discipline on the
// devices. It says "ready" when both devices are there, and ends, with one line of JSON about each direction, when it
// is told to (SIGTERM, SIGINT); the devices go with it.
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <system_error>

#include "bench/hosts/client_lines.h"
#include "bench/hosts/field/delay_line/direction.h"

namespace spindle::bench {
namespace {

volatile sig_atomic_t is_ended = 0;

/// Ends `run` between two turns and nowhere else: both signals are blocked but while it waits.
sigset_t catch_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { is_ended = 1; };
  sigset_t both, before;
  sigemptyset(&both);
  for (const int signal : {SIGTERM, SIGINT}) {
    ::sigaction(signal, &action, nullptr);
    sigaddset(&both, signal);
  }
  ::sigprocmask(SIG_BLOCK, &both, &before);
  for (const int signal : {SIGTERM, SIGINT}) sigdelset(&before, signal);
  return before;
}

/// A cable does not wait for a processor, nor do its frames for a rounded timer. Without the right to it the line works
/// as well, and is less precise on a busy machine.
void be_punctual() {
  static_cast<void>(::prctl(PR_SET_TIMERSLACK, 1));
  sched_param parameter{};
  parameter.sched_priority = 1;
  static_cast<void>(::sched_setscheduler(0, SCHED_FIFO, &parameter));
}

void run(std::array<Direction, 2>& directions, const sigset_t& while_waiting) {
  while (is_ended == 0) {
    for (Direction& direction : directions) direction.give();
    const Clock::time_point next = std::min(directions[0].next(), directions[1].next());
    timespec timeout{};
    if (next != Clock::time_point::max()) {
      const auto left = std::chrono::nanoseconds(std::max(Clock::duration::zero(), next - Clock::now())).count();
      timeout = {left / 1'000'000'000, left % 1'000'000'000};
    }
    std::array<pollfd, 2> devices{};
    for (std::size_t i = 0; i < devices.size(); ++i) devices[i] = {directions[i].from().descriptor(), POLLIN, 0};
    const int ready =
        ::ppoll(devices.data(), devices.size(), next == Clock::time_point::max() ? nullptr : &timeout, &while_waiting);
    if (ready < 0 && errno != EINTR) fail("cannot wait: {}", std::generic_category().message(errno));
    for (std::size_t i = 0; ready > 0 && i < devices.size(); ++i) {
      if ((devices[i].revents & POLLIN) != 0) directions[i].take();
      // Whoever deletes a namespace deletes its devices.
      else if (devices[i].revents != 0)
        fail("a device is gone");
    }
  }
}

}  // namespace
}  // namespace spindle::bench

int main(int argc, char** argv) {
  using namespace spindle::bench;
  std::vector<std::string> ends;
  double delay_ms = 0;
  std::size_t room_bytes = 64u << 20;
  CLI::App app("A long way between two network namespaces, which have a TAP device each.", "delay_line");
  app.add_option("--ends", ends, "The devices to make: NAMESPACE:DEVICE NAMESPACE:DEVICE")->required()->expected(2);
  app.add_option("--delay-ms", delay_ms, "How long a frame is on its way, in either direction")
      ->required()
      ->check(CLI::Range(0.0, 10'000.0));
  app.add_option("--room-bytes", room_bytes, "What may be on its way in a direction; more is dropped, and counted")
      ->capture_default_str()
      ->check(CLI::Range(std::size_t{2048}, std::size_t{1} << 32));
  CLI11_PARSE(app, argc, argv);

  const sigset_t while_waiting = catch_signals();
  const auto open = [](const std::string& end) {
    const std::size_t colon = end.rfind(':');
    if (colon == std::string::npos) fail("--ends: '{}' is not NAMESPACE:DEVICE", end);
    return Tap(end.substr(0, colon), end.substr(colon + 1));
  };
  try {
    Tap one = open(ends[0]), other = open(ends[1]);
    const auto delay = std::chrono::nanoseconds(std::llround(delay_ms * 1e6));
    std::array<Direction, 2> directions{Direction(one, other, delay, room_bytes),
                                        Direction(other, one, delay, room_bytes)};
    be_punctual();
    say("ready");
    run(directions, while_waiting);
    say(fmt::format(R"({{"there": {}, "back": {}}})", directions[0].counts(), directions[1].counts()));
  } catch (const std::exception& error) {
    fail("{}", error.what());
  }
}
