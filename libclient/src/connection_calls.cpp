// Calls that end with what the daemon does: joining, confirming, draining.
#include <memory>

#include "libclient/src/answer.h"
#include "libclient/src/connection_impl.h"

namespace spindle {

void Connection::Impl::join_then(std::string_view group, Deadline deadline, PendingCalls::Joined done) {
  Lock lock(mutex_);
  std::error_code error = ask_to_join(lock, group, Patience::none());
  if (error == Errc::would_block) {
    const auto go_on = [this, name = std::string(group), deadline, done = std::move(done)](std::error_code failure) {
      failure ? done(failure) : join_then(name, deadline, done);
    };
    calls_.add_writable(Groups(group), deadline, go_on);
  } else if (error) {
    lock.unlock();
    return done(error);
  } else {
    calls_.add_join(engine_.writer().last_request(), group, deadline, std::move(done));
    flush(lock);
  }
  wake_thread();
}

Result<GroupView> Connection::Impl::join(std::string_view group, Deadline deadline) {
  if (on_thread()) return Failure{Errc::would_block, "a handler cannot wait for the view of a group"};
  const auto answer = std::make_shared<Answer<Result<GroupView>>>();
  Lock lock(mutex_);
  if (const std::error_code error = ask_to_join(lock, group, Patience(deadline))) return error;
  const PendingCalls::Id id = calls_.add_join(engine_.writer().last_request(), group, Deadline::max(),
                                              [answer](Result<GroupView> result) { answer->give(std::move(result)); });
  flush(lock);
  lock.unlock();
  if (auto result = answer->wait(deadline)) return *std::move(result);
  lock.lock();
  if (calls_.forget(id)) return Errc::timed_out;
  lock.unlock();
  return *answer->wait(Deadline::max());  // it has come just now
}

// Queues the request, once there is room for it. It is written with the next flush, so that whoever waits for its
// outcome can be there before.
std::error_code Connection::Impl::ask_to_join(Lock& lock, std::string_view group, Patience patience) {
  if (!spindle::is_group_name(group)) return Errc::bad_group_name;
  if (const std::error_code error = wait_for_room(lock, patience)) return error;
  if (const std::error_code error = engine_.join(group)) return error;
  joined_.asked(group);
  return {};
}

void Connection::Impl::confirm_then(Deadline deadline, PendingCalls::Confirmed done) {
  Lock lock(mutex_);
  if (!can_send() || engine_.confirm()) {
    const NotTaken not_taken = engine_.not_taken();
    lock.unlock();
    return done(not_taken);
  }
  calls_.add_confirm(engine_.writer().last_request(), deadline, std::move(done));
  flush(lock);
  wake_thread();
}

NotTaken Connection::Impl::confirm(Deadline deadline) {
  const auto answer = std::make_shared<Answer<NotTaken>>();
  Lock lock(mutex_);
  if (on_thread() || !can_send() || engine_.confirm()) return engine_.not_taken();
  const std::uint64_t accepted = engine_.writer().accepted();
  const PendingCalls::Id id = calls_.add_confirm(engine_.writer().last_request(), Deadline::max(),
                                                 [answer](NotTaken not_taken) { answer->give(not_taken); });
  flush(lock);
  lock.unlock();
  if (const auto not_taken = answer->wait(deadline)) return *not_taken;
  lock.lock();
  if (calls_.forget(id)) return engine_.writer().not_taken_of(accepted);
  lock.unlock();
  return *answer->wait(Deadline::max());  // it has come just now
}

void Connection::Impl::when_writable(const Groups& groups, Deadline deadline, PendingCalls::Writable done) {
  Lock lock(mutex_);
  if (can_send() && !has_room_for(groups)) {
    calls_.add_writable(groups, deadline, std::move(done));
    wake_thread();
    return;
  }
  const std::error_code error = can_send() ? std::error_code() : Errc::not_connected;
  lock.unlock();
  done(error);
}

NotTaken Connection::Impl::drain(Deadline deadline) {
  Patience patience(deadline);
  {
    Lock lock(mutex_);
    for (const std::string& group : joined_.names()) {
      if (wait_for_room(lock, patience) || engine_.leave(group)) break;
      flush(lock);
    }
    if (!on_thread()) {
      draining_ = true;
      raise_event(wake_);  // it may have stopped reading
      wait_until(lock, deadline, [this] { return joined_.empty() || !can_send(); });
    }
  }
  return disconnect(deadline);
}

// Whether a message to the groups could be sent at once. The caller holds the lock.
bool Connection::Impl::has_room_for(const Groups& groups) { return !is_full() && engine_.writer().has_room(groups); }

void Connection::Impl::note_room() {
  calls_.note_room([this](const Groups& groups) { return !can_send() || has_room_for(groups); });
  if (calls_.has_done()) wake_thread();
}

bool Connection::Impl::refused(std::uint32_t request, const RequestFailed& failed) {
  if (failed.request == RequestFailed::Request::join) joined_.ended(failed.group);
  return calls_.note_refused(request, failed.error);
}

void Connection::Impl::confirmed(std::uint32_t request) { calls_.note_confirmed(request); }

void Connection::Impl::note_views() {
  for (const Event& event : arrived_) {
    const auto* view = event.get_if<GroupView>();
    if (view == nullptr) continue;
    if (view->form == ViewForm::farewell) joined_.ended(view->group);
    calls_.note_view(*view, private_name_);
  }
}

// Calls what calls that have ended are to be told with, without the lock.
void Connection::Impl::run_done(Lock& lock) {
  while (calls_.has_done()) {
    const std::vector<std::function<void()>> done = calls_.take_done();
    in_handler_ = true;
    lock.unlock();
    for (const std::function<void()>& each : done) {
      each();
      if (is_inherited()) return;
    }
    lock.lock();
    in_handler_ = false;
  }
}

}  // namespace spindle
