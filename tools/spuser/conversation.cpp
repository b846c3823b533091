#include "tools/spuser/conversation.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "tools/spuser/events.h"
#include "tools/spuser/exit.h"

namespace spuser {

namespace {

/// Events handled in a row before signals are looked at.
constexpr int kEventsInARow = 1000;

std::string reason(const spindle::Disconnected& end) {
  const auto code = static_cast<spindle::Errc>(end.error.value());
  return fmt::format("{} ({})", end.text.empty() ? end.error.message() : end.text, spindle::to_string(code));
}

}  // namespace

Conversation::Conversation(Signals& signals, Output& output, const spindle::ConnectOptions& options)
    : signals_(signals), output_(output) {
  spindle::Result<spindle::Connection> connected = spindle::Connection::connect(options);
  if (!connected) {
    const std::string where = options.address.empty() ? "" : " to " + options.address;
    const auto code = static_cast<spindle::Errc>(connected.error().value());
    throw Exit{exit_code_of(connected.error(), kExitConnection),
               fmt::format("cannot connect{}: {} ({})", where, connected.text(), spindle::to_string(code))};
  }
  connection_ = *std::move(connected);
  signals_.set_handler([this] { connection_.disconnect(); });
}

Conversation::~Conversation() { signals_.set_handler({}); }

void Conversation::handle(spindle::Event&& event) {
  if (const auto* end = event.get_if<spindle::Disconnected>()) {
    if (const int signal = signals_.received()) throw Exit{kExitSignal + signal};
    throw Exit{kExitConnection, "the connection is over: " + reason(*end)};
  }
  if (const auto* failed = event.get_if<spindle::RequestFailed>(); failed != nullptr && refusals_end_) {
    // Only who is no member any more is not told who the members are.
    if (failed->request == spindle::RequestFailed::Request::view) return;
    throw Exit{kExitRefused, refusal_text(*failed)};
  }
  if (handler_) handler_(std::move(event));
}

bool Conversation::handle_events() {
  bool any = false;
  for (int i = 0; i < kEventsInARow; ++i) {
    std::optional<spindle::Event> event = connection_.receive(std::chrono::nanoseconds(0));
    if (!event) break;
    any = true;
    handle(std::move(*event));
  }
  return any;
}

bool Conversation::wait(int descriptor, std::optional<Clock::time_point> deadline) {
  output_.flush();
  // Of standard output nothing is asked: poll tells even so when a pipe has lost its reader.
  pollfd waiting[4] = {{connection_.descriptor(), POLLIN, 0},
                       {signals_.descriptor(), POLLIN, 0},
                       {descriptor, POLLIN, 0},
                       {readers_end_ ? STDOUT_FILENO : -1, 0, 0}};
  int timeout_ms = -1;
  if (deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
    timeout_ms = static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }
  if (::poll(waiting, 4, timeout_ms) <= 0) return false;
  if (waiting[1].revents != 0) throw Exit{kExitSignal + signals_.received()};
  if ((waiting[3].revents & POLLERR) != 0) throw Exit{kExitDone};
  return waiting[2].revents != 0;
}

void Conversation::wait_until(const std::function<bool()>& done) {
  while (!done()) {
    if (signals_.received() != 0) throw Exit{kExitSignal + signals_.received()};
    std::optional<spindle::Event> event = connection_.receive(std::chrono::nanoseconds(0));
    if (event) {
      handle(std::move(*event));
    } else {
      wait(-1, std::nullopt);
    }
  }
}

void Conversation::wait_until(Clock::time_point time) {
  while (Clock::now() < time) {
    if (!handle_events()) wait(-1, time);
  }
}

void Conversation::wait_readable(int descriptor) {
  do {
    handle_events();
  } while (!wait(descriptor, std::nullopt));
}

void Conversation::check(std::error_code error) {
  if (!error) return;
  if (error == spindle::Errc::not_connected) {
    // The reason is the last event; what came before it is of no interest any more.
    handler_ = nullptr;
    while (std::optional<spindle::Event> event = connection_.receive()) handle(std::move(*event));
  }
  const bool connection = error == spindle::Errc::not_connected;
  throw Exit{connection ? kExitConnection : exit_code_of(error, kExitInputOutput), error.message()};
}

void Conversation::finish() {
  connection_.disconnect();
  while (std::optional<spindle::Event> event = connection_.receive()) {
    const auto* end = event->get_if<spindle::Disconnected>();
    if (end != nullptr && end->error == spindle::Errc::closed_by_client && signals_.received() == 0) return;
    if (end != nullptr || event->is<spindle::RequestFailed>()) handle(std::move(*event));
  }
}

}  // namespace spuser
