#include "tools/spuser/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "tools/spuser/exit.h"

namespace spuser {

namespace {

constexpr std::chrono::seconds kPatience{2};

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

Signals::Signals() {
  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal_descriptor_ = ::signalfd(-1, &set, SFD_CLOEXEC);
  came_ = ::eventfd(0, EFD_CLOEXEC);
  quit_ = ::eventfd(0, EFD_CLOEXEC);
  if (signal_descriptor_ < 0 || came_ < 0 || quit_ < 0) throw Exit{kExitInputOutput, std::strerror(errno)};
  thread_ = std::thread([this] { run(); });
}

Signals::~Signals() {
  ::eventfd_write(quit_, 1);
  thread_.join();
  for (const int descriptor : {signal_descriptor_, came_, quit_}) ::close(descriptor);
}

void Signals::set_handler(std::function<void()> handler) {
  const std::lock_guard lock(mutex_);
  handler_ = std::move(handler);
}

void Signals::run() {
  pollfd waiting[2] = {{signal_descriptor_, POLLIN, 0}, {quit_, POLLIN, 0}};
  while (::poll(waiting, 2, -1) < 0) {
  }
  if (waiting[0].revents == 0) return;
  take_signal();
  ::eventfd_t value = 0;
  ::eventfd_read(quit_, &value);
}

void Signals::take_signal() {
  signalfd_siginfo info{};
  if (::read(signal_descriptor_, &info, sizeof info) != sizeof info) return;
  const int number = static_cast<int>(info.ssi_signo);
  received_ = number;
  // The next one finds this thread open for it, and ends the process in the usual way.
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  std::thread([number] {
    std::this_thread::sleep_for(kPatience);
    ::_exit(kExitSignal + number);
  }).detach();
  ::eventfd_write(came_, 1);
  const std::lock_guard lock(mutex_);
  if (handler_) handler_();
}

}  // namespace spuser
