// What ends calls before their time: a stop that the program requests.
#include "libclient/src/connection_impl.h"

namespace spindle {

// Events that wait are no reason to go on: who has them handled one by one wants to be stopped between two.
std::optional<Event> Connection::Impl::receive(std::chrono::nanoseconds timeout, const std::stop_token& stop) {
  if (stop.stop_requested()) return std::nullopt;
  std::optional<Event> event = events_.take();
  if (event || timeout <= std::chrono::nanoseconds::zero()) return event;
  const Deadline deadline = deadline_after(timeout);
  const auto wake = on_stop(stop, [this] { events_.wake(); });
  return events_.wait(deadline == Deadline::max() ? std::nullopt : std::optional(deadline), &stop);
}

// Null where nobody can request a stop.
Connection::Impl::Stoppable Connection::Impl::stoppable_call(const std::stop_token& stop) {
  return stop.stop_possible() ? std::make_shared<StoppableCall>(weak_from_this(), stop) : nullptr;
}

// A call that has no number yet finds the stop itself.
void Connection::Impl::cancel(const StoppableCall& call) {
  if (is_inherited()) return;
  const Lock lock(mutex_);
  if (calls_.end_call(call.id, Errc::cancelled)) wake_thread();
}

}  // namespace spindle
