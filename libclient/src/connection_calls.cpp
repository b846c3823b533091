// Calls that end with what the daemon does: joining, confirming, draining.
#include <memory>

#include "libclient/src/answer.h"
#include "libclient/src/connection_impl.h"

namespace spindle {

// What the call comes to, which ends at the deadline or with a stop at the latest, whatever the connection's thread
// does: that may be in code of the program's, which waits for who waits here.
template <typename T>
T Connection::Impl::outcome_of(Lock& lock, PendingCalls::Id call, Answer<T>& answer, Deadline deadline,
                               const std::stop_token& stop) {
  lock.unlock();
  const auto wake = on_stop(stop, [&answer] { answer.wake(); });
  if (std::optional<T> outcome = answer.wait(deadline, stop)) return *std::move(outcome);
  lock.lock();
  calls_.end_call(call, stop.stop_requested() ? Errc::cancelled : Errc::timed_out);
  lock.unlock();
  return *answer.wait(Deadline::max());  // it is there
}

void Connection::Impl::join_then(std::string_view group, Deadline deadline, PendingCalls::Joined done,
                                 JoinOptions options, const std::stop_token& stop) {
  const Stoppable call = stoppable_call(stop);
  Lock lock(mutex_);
  std::error_code error = Errc::cancelled;
  if (!stop.stop_requested()) error = ask_to_join(lock, group, Patience::none(), options);
  if (error == Errc::would_block) {
    PendingCalls::Writable go_on = [this, name = std::string(group), deadline, done = std::move(done), options,
                                    stop](std::error_code failure) {
      failure ? done(failure) : join_then(name, deadline, done, options, stop);
    };
    set_id(call, calls_.add_writable(Groups(group), deadline, keeping(call, std::move(go_on))));
  } else if (error) {
    lock.unlock();
    return done(error);
  } else {
    set_id(call, calls_.add_join(session_.writer().last_request(), group, deadline, keeping(call, std::move(done))));
    flush(lock);
  }
  wake_thread();
}

Result<GroupView> Connection::Impl::join(std::string_view group, Deadline deadline, JoinOptions options,
                                         const std::stop_token& stop) {
  if (on_thread()) return Failure{Errc::would_block, "a handler cannot wait for the view of a group"};
  if (stop.stop_requested()) return Errc::cancelled;
  const auto answer = std::make_shared<Answer<Result<GroupView>>>();
  Lock lock(mutex_);
  if (const std::error_code error = ask_to_join(lock, group, Patience(deadline, stop), options)) return error;
  const PendingCalls::Id id = calls_.add_join(
      session_.writer().last_request(), group, Deadline::max(),
      [answer](Result<GroupView> result) { answer->give(std::move(result)); }, PendingCalls::Ends::at_once);
  flush(lock);
  return outcome_of(lock, id, *answer, deadline, stop);
}

// Queues the request, once there is room for it. It is written with the next flush, so that whoever waits for its
// outcome can be there before.
std::error_code Connection::Impl::ask_to_join(Lock& lock, std::string_view group, Patience patience,
                                              JoinOptions options) {
  if (!spindle::is_group_name(group)) return Errc::bad_group_name;
  if (const std::error_code error = wait_for_room(lock, patience)) return error;
  if (const std::error_code error = session_.join(group, options.synchronous)) return error;
  joined_.asked(group);
  if (options.synchronous && options.auto_flush) {
    auto_flush_.emplace(group);
  } else if (const auto known = auto_flush_.find(group); known != auto_flush_.end()) {
    auto_flush_.erase(known);
  }
  return {};
}

std::error_code Connection::Impl::join(std::string_view group, JoinOptions options, const std::stop_token& stop) {
  if (stop.stop_requested()) return Errc::cancelled;
  const Patience patience(options_.send_timeout, stop);
  Lock lock(mutex_);
  if (const std::error_code error = ask_to_join(lock, group, patience, options)) return error;
  flush(lock);
  return {};
}

// Waits for nothing: who is asked to flush may be the one who makes room.
std::error_code Connection::Impl::flush_ok(const FlushRequest& request) {
  Lock lock(mutex_);
  if (!can_send()) return Errc::not_connected;
  if (const std::error_code error = session_.flush_ok(request)) return error;
  flush(lock);
  return {};
}

void Connection::Impl::note_taken(const Event& event) {
  if (const auto* again = event.get_if<Reconnected>()) {
    const Lock lock(mutex_);
    if (!draining_ && !closing_) session_.note_told(*again);  // otherwise they are told by who drains or disconnects
  }
  const auto* request = event.get_if<FlushRequest>();
  if (request == nullptr) return;
  {
    const Lock lock(mutex_);
    if (!auto_flush_.contains(request->group)) return;
  }
  static_cast<void>(flush_ok(*request));
}

void Connection::Impl::confirm_then(Deadline deadline, PendingCalls::Confirmed done, const std::stop_token& stop) {
  const Stoppable call = stoppable_call(stop);
  Lock lock(mutex_);
  if (stop.stop_requested() || !can_send() || session_.engine().confirm()) {
    const NotTaken not_taken = session_.not_taken();
    lock.unlock();
    return done(not_taken);
  }
  set_id(call, calls_.add_confirm(session_.writer().last_request(), deadline, keeping(call, std::move(done))));
  flush(lock);
  wake_thread();
}

NotTaken Connection::Impl::confirm(Deadline deadline, const std::stop_token& stop) {
  const auto answer = std::make_shared<Answer<NotTaken>>();
  Lock lock(mutex_);
  if (on_thread() || stop.stop_requested() || !can_send() || session_.engine().confirm()) return session_.not_taken();
  const PendingCalls::Id id = calls_.add_confirm(
      session_.writer().last_request(), Deadline::max(), [answer](NotTaken not_taken) { answer->give(not_taken); },
      PendingCalls::Ends::at_once);
  flush(lock);
  return outcome_of(lock, id, *answer, deadline, stop);
}

void Connection::Impl::when_writable(const Groups& groups, Deadline deadline, PendingCalls::Writable done,
                                     const std::stop_token& stop) {
  const Stoppable call = stoppable_call(stop);
  Lock lock(mutex_);
  std::error_code error = can_send() ? std::error_code() : Errc::not_connected;
  if (!error && stop.stop_requested()) error = Errc::cancelled;
  if (!error && !has_room_for(groups)) {
    set_id(call, calls_.add_writable(groups, deadline, keeping(call, std::move(done))));
    wake_thread();
    return;
  }
  lock.unlock();
  done(error);
}

void Connection::Impl::ask_then(const Groups& groups, const Payload& payload, Deadline deadline,
                                PendingCalls::Answered done, const RequestOptions& options,
                                const std::stop_token& stop) {
  const Stoppable call = stoppable_call(stop);
  Lock lock(mutex_);
  protocol::Requests::Number number = 0;
  std::error_code error = Errc::cancelled;
  const auto ask = [&] {
    const std::error_code failure = session_.engine().ask(groups, payload, options, number);
    if (failure) return failure;
    set_id(call, calls_.add_request(number, deadline, keeping(call, std::move(done))));
    return failure;
  };
  if (!stop.stop_requested()) error = send(lock, groups, Patience::none(), ask);
  wake_thread();
  if (!error) return;
  lock.unlock();
  done({error, {}, {}});
}

Answers Connection::Impl::ask(const Groups& groups, const Payload& payload, Deadline deadline,
                              const RequestOptions& options, const std::stop_token& stop) {
  if (on_thread()) return {Errc::would_block, {}, {}};
  if (stop.stop_requested()) return {Errc::cancelled, {}, {}};
  const auto answer = std::make_shared<Answer<Answers>>();
  PendingCalls::Id id = 0;
  const auto ask = [&] {
    protocol::Requests::Number number = 0;
    const std::error_code failure = session_.engine().ask(groups, payload, options, number);
    if (failure) return failure;
    id = calls_.add_request(
        number, Deadline::max(), [answer](Answers answers) { answer->give(std::move(answers)); },
        PendingCalls::Ends::at_once);
    return failure;
  };
  Lock lock(mutex_);
  if (const std::error_code error = send(lock, groups, Patience(deadline, stop), ask)) return {error, {}, {}};
  return outcome_of(lock, id, *answer, deadline, stop);
}

NotTaken Connection::Impl::drain(Deadline deadline, const std::stop_token& stop) {
  Patience patience(deadline, stop);
  {
    Lock lock(mutex_);
    draining_ = !on_thread();
    for (const std::string& group : joined_.names()) {
      if (wait_for_room(lock, patience) || session_.leave(group)) break;
      flush(lock);
    }
    if (draining_) {
      raise_event(wake_);  // it may have stopped reading
      static_cast<void>(wait_for(lock, patience, [this] { return joined_.empty() || !can_send(); }));
    }
  }
  return disconnect(deadline, stop);
}

// Whether a message to the groups could be sent at once. The caller holds the lock.
bool Connection::Impl::has_room_for(const Groups& groups) {
  protocol::RequestWriter& writer = session_.writer();
  return !is_full() && writer.has_room(groups) && !writer.is_flushed(groups);
}

void Connection::Impl::note_room() {
  calls_.note_room([this](const Groups& groups) { return !can_send() || has_room_for(groups); });
  if (calls_.has_done()) wake_thread();
}

bool Connection::Impl::refused(std::uint32_t request, const RequestFailed& failed) {
  joined_.note_refused(failed);
  if (failed.request == RequestFailed::Request::listen) feeds_.forget_group(failed.group);
  return calls_.note_refused(request, failed.error);
}

bool Connection::Impl::join_refused(const RequestFailed& failed) {
  joined_.note_refused(failed);
  return calls_.note_join_refused(failed.group, failed.error);
}

void Connection::Impl::confirmed(std::uint32_t request) { calls_.note_confirmed(request); }

void Connection::Impl::answered(protocol::Requests::Number number, Answers answers) {
  calls_.note_answered(number, std::move(answers));
}

void Connection::Impl::note_views() {
  for (const Event& event : arrived_) {
    joined_.note(event, session_.writer().groups());
    if (const auto* view = event.get_if<GroupView>()) calls_.note_view(*view, private_name());
  }
  tell_feeds();
}

// Calls what calls that have ended are to be told with, without the lock.
void Connection::Impl::run_done(Lock& lock) {
  while (calls_.has_done()) {
    std::vector<std::function<void()>> done = calls_.take_done();
    begin_program_code();
    lock.unlock();
    for (const std::function<void()>& each : done) {
      each();
      if (is_inherited()) return;
    }
    done.clear();  // without the lock, too
    lock.lock();
    in_handler_ = false;
  }
}

}  // namespace spindle
