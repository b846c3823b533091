#include "tests/adversary/stream.h"

#include "tests/integration/clients.h"

namespace spindle::test {

namespace {
/// How long the receiver waits for an event before it looks whether it is to stop, and the sender until it sends more.
constexpr std::chrono::milliseconds kLook{50};
constexpr std::chrono::milliseconds kStep{5};
}  // namespace

Stream::Stream(Daemon& sending, Daemon& receiving, const Load& load)
    : load_(load), sender_(sending.connect("stream-sender")), receiver_(receiving.connect("stream-receiver")) {
  for (std::size_t i = 0; i < load_.groups; ++i) {
    groups_.push_back("stream " + std::to_string(i));
    if (const std::error_code error = receiver_.join(groups_.back())) {
      throw std::system_error(error, "the receiver of the stream cannot join");
    }
    wait_for_members(receiver_, groups_.back(), {std::string(receiver_.private_name())});
  }
  since_ = Clock::now();
  receiving_thread_ = std::thread(&Stream::receive, this);
  sending_thread_ = std::thread(&Stream::send, this);
}

Stream::~Stream() {
  stopping_ = true;
  sending_thread_.join();
  receiving_thread_.join();
}

void Stream::send() {
  const std::string payload(load_.bytes, 's');
  const Clock::time_point start = Clock::now();
  std::uint64_t sent = 0;
  while (!stopping_) {
    const double due = load_.rate * std::chrono::duration<double>(Clock::now() - start).count();
    for (; static_cast<double>(sent) < due && !stopping_; ++sent) {
      if (sender_.multicast(Service::fifo, groups_[sent % groups_.size()], payload)) return fail("cannot send");
    }
    std::this_thread::sleep_for(kStep);
  }
}

void Stream::receive() {
  while (!stopping_) {
    std::error_code error;
    const std::optional<Event> event = receiver_.receive(kLook, error);
    if (!event && error != Errc::timed_out) return fail("the receiver of the stream is cut off");
    if (!event) continue;
    if (const auto* end = event->get_if<Disconnected>()) {
      return fail("the receiver of the stream is cut off: " + end->text);
    }
    if (event->is<Message>()) ++received_;
  }
}

double Stream::take_share() {
  const Clock::time_point now = Clock::now();
  const std::uint64_t received = received_;
  const double due = load_.rate * std::chrono::duration<double>(now - since_).count();
  const double share = due > 0 ? static_cast<double>(received - taken_) / due : 0;
  taken_ = received;
  since_ = now;
  return share;
}

std::string Stream::trouble() {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void Stream::fail(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (trouble_.empty()) trouble_ = why + "; ";
}

}  // namespace spindle::test
