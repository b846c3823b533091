// Sessions: the memory that clients hold.
#include <algorithm>

#include "daemon/session/sessions.h"

namespace spindled {

namespace {
/// Who holds less is not worth cutting off.
constexpr std::size_t kLargeBytes = 256u << 10;
/// Sessions that are cut off in a turn, each of which takes a look at all.
constexpr int kCutOffMax = 16;

Error reason_for(const SessionMemory& memory, std::string_view limit, std::size_t bytes_max) {
  const bool is_queue = memory.queued > memory.total() / 2;
  std::string text = fmt::format(
      "it holds {} bytes of the daemon's memory: {} of messages that are not complete or wait, {} of definitions, {} "
      "that it has not read; {} is {}",
      memory.total(), memory.unfinished + memory.held, memory.definitions, memory.queued, limit, bytes_max);
  return {is_queue ? Errc::slow_receiver : Errc::limit_exceeded, std::move(text)};
}
}  // namespace

SessionMemory Sessions::memory() const {
  SessionMemory sum;
  sessions_.for_each([&](const Session& session) { sum += session.memory(); });
  return sum;
}

void Sessions::count_memory(Session& session) {
  const SessionMemory memory = session.memory();
  memory_.change(std::exchange(session.marks.counted, memory), memory);
}

std::optional<Error> Sessions::object_to_memory(Time now, const Session& session) const {
  const SessionMemory& memory = session.marks.counted;
  const std::size_t bytes_max = context_.config.session.client_memory_bytes_max;
  // What others have sent is not its own doing while it reads.
  const std::size_t excused = session.watch().is_paid_for(now) ? memory.queued : 0;
  if (memory.total() - excused <= bytes_max || session.state() != Session::State::open) return std::nullopt;
  return reason_for(memory, "session.client_memory_max_bytes", bytes_max);
}

void Sessions::hold_to_memory(Time now) {
  for (int i = 0; i < kCutOffMax && memory_.is_exceeded(context_.slabs.bytes_in_use()); ++i) {
    Session* largest = find_largest(now);
    if (largest == nullptr) break;
    const std::size_t bytes_max = context_.config.session.memory_bytes_max;
    const Error reason = reason_for(largest->memory(), "session.memory_max_bytes", bytes_max);
    largest->queue().drop_unwritten();
    close(now, *largest, reason);
    count_memory(*largest);
  }
  const bool is_short = memory_.is_short(context_.slabs.bytes_in_use());
  if (std::exchange(memory_short_, is_short) == is_short) return;
  if (is_short) {
    log_.warning("the memory for clients is nearly used up ({} of {} bytes): no message of more than 32 KiB is begun",
                 memory_.total(), context_.config.session.memory_bytes_max);
  } else {
    timers_.set_earlier(Timer::resume, now);
  }
}

Session* Sessions::find_largest(Time now) const {
  // One that has begun something and lets it lie is worth less than one that is about to complete it.
  Session* unfinished = nullptr;
  Session* largest = nullptr;
  double weight_max = 0;
  std::size_t bytes_max = kLargeBytes;
  sessions_.for_each([&](Session& session) {
    if (session.state() != Session::State::open || session.marks.lost) return;
    const SessionMemory memory = session.memory();
    if (memory.unfinished >= kLargeBytes && session.unfinished_since() != kNever) {
      const double weight =
          static_cast<double>(memory.unfinished) * (0.01 + to_seconds(now - session.unfinished_since()));
      if (weight > weight_max) {
        weight_max = weight;
        unfinished = &session;
      }
    }
    if (memory.total() > bytes_max) {
      bytes_max = memory.total();
      largest = &session;
    }
  });
  return unfinished != nullptr ? unfinished : largest;
}

}  // namespace spindled
