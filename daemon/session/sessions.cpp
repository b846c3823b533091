#include "daemon/session/sessions.h"

#include <algorithm>

#include "daemon/base/check.h"
#include "daemon/base/gather_buffers.h"

namespace spindled {

namespace protocol = spindle::protocol;

namespace {
/// How often the patience with clients is checked, while there is any to lose.
constexpr Duration kTick = QueueWatch::kLookPeriod;
constexpr Duration kClosingPatience = 2s;  // for the last words to be read, while nothing at all is,
constexpr Duration kClosingTime = 30s;     // and in all: a slow client first reads what is on its way
constexpr Duration kSilenceLook = 500ms;   // how often clients are looked at that promised to send something
/// What is written to clients in one turn, which takes some four milliseconds: what is left waits for the next, behind
/// what comes in meanwhile.
constexpr std::size_t kWrittenPerTurn = 8u << 20;
/// Of that to one client before the others have had their turn.
constexpr std::size_t kWrittenAtOnce = 256u << 10;
/// A write that is smaller takes as long as this one.
constexpr std::size_t kWriteBytes = 4u << 10;
/// Sessions that end in one turn: where a switch fails, or a token is taken away, very many do at the same moment.
constexpr std::size_t kEndedPerTurn = 64;
/// Clients that were refused and have yet to read why. Further ones are not told.
constexpr std::size_t kRefusedMax = 64;
/// Groups that a client may have been taken out of and not have joined again: each of them is remembered.
constexpr std::size_t kExpelledMax = 1'000;

}  // namespace

Sessions::Sessions(Context& context, Driver& driver, Groups& groups, Channels& channels, Feeds& feeds,
                   Admission& admission)
    : context_(context),
      log_(context.log_sink, "session"),
      driver_(driver),
      groups_(groups),
      channels_(channels),
      feeds_(feeds),
      admission_(admission),
      slow_clients_(context.config, context.memory, context.turn, admission, *this),
      access_review_(context, groups, sessions_),
      delivery_(context, sessions_, slow_clients_),
      bulk_delivery_(sessions_),
      feed_delivery_(sessions_),
      relief_(context, sessions_) {}

Sessions::~Sessions() = default;

// --- Inputs ---

void Sessions::handle_accepted(Time now, ConnectionId connection, const Peer& peer) {
  const SessionId id = ++last_id_;
  Session& added = sessions_.add(std::make_unique<Session>(context_, *this, groups_, channels_, feeds_, admission_,
                                                           quotas_, id, connection, peer, now));
  timers_.set_earlier(Timer::tick, now + kTick);
  if (stopping_) {
    refuse(now, added, {Errc::daemon_stopping, {}});
  } else if (sessions_.size() - refused_ > context_.config.session.sessions_max) {
    refuse(now, added, {Errc::too_many_sessions, {}});
  } else if (context_.memory.is_full()) {
    refuse(now, added, {Errc::limit_exceeded, "the daemon has no memory left (limits.memory_bytes)"});
  }
}

void Sessions::refuse(Time now, Session& session, const Error& reason) {
  session.marks.refused = true;
  ++refused_;
  close(now, session, reason);
  // No lingering: the bound holds whatever clients read.
  if (refused_ > kRefusedMax) let_go(session);
}

std::span<std::uint8_t> Sessions::read_space(ConnectionId connection) {
  return sessions_.find(connection)->read_space();
}

void Sessions::handle_read(Time now, ConnectionId connection, std::size_t bytes) {
  Session& session = *sessions_.find(connection);
  session.commit_read(bytes);
  if (hand_over(now, session)) return;
  if (session.state() == Session::State::closing || session.is_waiting()) return;
  context_.turn.begin_client();
  process(now, session);
}

bool Sessions::hand_over(Time now, Session& session) {
  if (taker_ == nullptr || session.state() != Session::State::handshake) return false;
  const ConnectionTaker::Claim claim = taker_->claim_on(Port::client, session.unread());
  if (claim != ConnectionTaker::Claim::now) return claim == ConnectionTaker::Claim::later;
  const ConnectionId connection = session.connection();
  const Peer peer(session.peer());
  InputBuffer unread = session.take_input();
  forget(session);
  taker_->take_over(now, connection, Port::client, peer, std::move(unread));
  return true;
}

void Sessions::process(Time now, Session& session) {
  const std::size_t before = context_.turn.input();
  if (const std::optional<Error> error = session.process(now)) {
    close(now, session, *error);
    return;
  }
  // One for which nothing was left has had nothing.
  if (context_.turn.input() != before && !context_.turn.may_take_input()) session.marks.fed_in = context_.turn.number();
  if (session.resume()) return resume(now, session);
  if (const Time due = session.tell_at(); due <= now) {
    session.tell(now);  // a timer for what is due would cost more
  } else if (due != kNever) {
    timers_.set_earlier(Timer::tell, due);
    if (!std::exchange(session.marks.untold, true)) untold_.push_back(session.id());
  }
  count_memory(now, session);
  if (session.has_keepalive()) timers_.set_earlier(Timer::silence, now + kSilenceLook);
  const bool has_output = !session.queue().empty() || session.has_waiting_feeds();
  if (has_output || relief_.objection_to(now, session)) sessions_.mark_dirty(session);
  if (session.unfinished_since() != kNever) timers_.set_earlier(Timer::tick, now + kTick);
  if (session.is_waiting() || session.ingress().holds_messages()) {
    sessions_.mark_waiting(session);
  }
  set_reading(session, !session.is_waiting());
}

void Sessions::set_reading(Session& session, bool on) {
  if (session.marks.reading == on || session.marks.lost || session.is_detached()) return;
  session.marks.reading = on;
  driver_.set_reading(session.connection(), on);
}

void Sessions::resume_waiting(Time now) {
  admission_.start_turn(now);
  const bool all = std::exchange(seen_news_, admission_.news()) != admission_.news() || resume_all_;
  resume_all_ = false;
  if (!all && sessions_.waiting_retry_at() > now) return;
  sessions_.forget_waiting_retry();
  context_.turn.begin_waiting_input();
  // Those that have had nothing for longest go first; who had something taken, or looked at by rules, and has to wait
  // again goes behind them. Who had its share of this turn already waits for the next. Before all of them goes, in the
  // next turn, who was not even asked: where there is news in each turn others would be asked in vain time and again.
  bool any_served = false, any_unasked = false;
  for (const SessionId id : std::exchange(sessions_.waiting(), {})) {
    Session* session = sessions_.find(id);
    if (session == nullptr || session->state() == Session::State::closing) continue;
    // Who is gone before it has said who it is has nothing that could enter.
    if (session->marks.lost && session->state() == Session::State::handshake) continue;
    if (!context_.turn.has_input_left() || session->marks.fed_in == context_.turn.number()) {
      session->marks.served = session->marks.fed_in == context_.turn.number();
      session->marks.unasked = !session->marks.served;
      any_served = any_served || session->marks.served;
      any_unasked = any_unasked || session->marks.unasked;
      session->marks.due = session->marks.due || all;
      sessions_.waiting().push_back(id);
      sessions_.retry_waiting_at(now);
      continue;
    }
    session->marks.unasked = false;
    const bool was_due = std::exchange(session->marks.due, false);
    const bool may_go_on = session->take_requests_done() || was_due;
    if (all || may_go_on || session->retry_at() <= now) {
      session->marks.listed = false;
      context_.turn.begin_client();
      const std::size_t input = context_.turn.input();
      const std::uint64_t before = session->ingress().entered();
      const std::size_t checked = context_.turn.checked();
      session->ingress().release_held(now, all || may_go_on);
      process(now, *session);
      const bool took_any = context_.turn.input() != input;
      if (!took_any) context_.turn.count_input(1);  // it was asked in vain
      session = sessions_.find(id);
      if (session == nullptr) continue;  // its client goes on in another one
      session->marks.served = session->ingress().entered() != before || context_.turn.checked() != checked || took_any;
      any_served = any_served || session->marks.served;
    } else {
      session->marks.served = false;
      sessions_.waiting().push_back(id);
      sessions_.retry_waiting_at(session->retry_at());
    }
  }
  const auto put_first = [this](bool SessionMarks::*mark, bool value) {
    std::vector<SessionId>& waiting = sessions_.waiting();
    std::stable_partition(waiting.begin(), waiting.end(), [&](SessionId id) {
      const Session* session = sessions_.find(id);
      return session != nullptr && session->marks.*mark == value;
    });
  };
  if (any_served) put_first(&SessionMarks::served, false);
  if (any_unasked) put_first(&SessionMarks::unasked, true);
}

void Sessions::handle_writable(Time now, ConnectionId connection) {
  Session& session = *sessions_.find(connection);
  session.marks.blocked = false;
  if (written_ >= kWrittenPerTurn) return sessions_.mark_dirty(session);
  write(now, session);
  if (sessions_.find(connection) == nullptr) return;  // a closing session goes once all is written
  look_at_queue(now, session);
}

void Sessions::handle_closed(Time now, ConnectionId connection, std::string_view why) {
  Session& session = *sessions_.find(connection);
  if (session.is_resumable() && !stopping_) return lose(now, session, why);
  if (session.state() != Session::State::closing) {
    log_.info("client {} from {} is gone: {}", session.name().empty() ? "(no name)" : session.name(), session.peer(),
              why);
    context_.counters.add(Counter::sessions_closed);
    context_.counters.add_close(static_cast<std::uint16_t>(Errc::connection_lost));
  }
  session.marks.lost = session.marks.blocked = true;
  lost_.push_back(session.id());
}

void Sessions::handle_revoked(Time now, ConnectionId connection) {
  Session& session = *sessions_.find(connection);
  if (session.state() == Session::State::closing) return;
  session.marks.revoked = true;
  if (may_end(now, session)) end_revoked(now, session);
}

void Sessions::end_revoked(Time now, Session& session) {
  close(now, session, {Errc::token_unknown, "the token has been removed from the configuration of the daemon"});
}

void Sessions::reconsider(Time now) {
  access_review_.start();
  if (access_review_.is_under_way()) timers_.set_earlier(Timer::review, now);
}

Time Sessions::stop(Time now) {
  stopping_ = true;
  const Duration grace = context_.config.session.going_time;
  std::size_t movers = 0;
  sessions_.for_each([&](Session& session) {
    if (session.state() == Session::State::handshake || session.is_detached()) {
      close(now, session, {Errc::daemon_stopping, {}});
    } else if (grace != Duration::zero() && session.may_move()) {
      session.tell_going();
      sessions_.mark_dirty(session);
      ++movers;
    }
  });
  if (movers == 0) return now;
  log_.info("{} clients are told to go elsewhere, and have {:.1f} s for it (session.going_ms)", movers,
            to_seconds(grace));
  return now + grace;
}

bool Sessions::has_movers() const {
  bool any = false;
  sessions_.for_each([&any](const Session& session) { any = any || session.may_move(); });
  return any;
}

void Sessions::close_all(Time now) {
  sessions_.for_each([&](Session& session) {
    if (session.state() != Session::State::closing) close(now, session, {Errc::daemon_stopping, {}});
  });
}

Result<std::string> Sessions::identify(const Session& session, std::string_view token) {
  return driver_.identify(session.connection(), token);
}

Result<std::string> Sessions::take_name(Time now, Session& session, std::string_view wish) {
  // A program that was started anew does not wait for its former life to be given up.
  const std::optional<SessionId> holder_id = sessions_.find_client(wish);
  Session* holder = holder_id ? sessions_.find(*holder_id) : nullptr;
  if (holder != nullptr && holder->marks.lost && holder->state() != Session::State::closing) {
    holder->start_closing(now);  // it is gone, and only waits for its turn to be taken out
    leave_everything(now, *holder);
  } else if (holder != nullptr && holder->is_detached() && holder->identities() == session.identities()) {
    close(now, *holder, {Errc::connection_lost, "a new client has taken its name"});
  }
  Result<std::string> name = sessions_.take_name(session, wish);
  if (name) log_.info("client {} from {}", *name, session.peer());
  return name;
}

std::optional<SessionId> Sessions::session_by_token(SessionId id, const SessionToken& token) const {
  const Session* session = sessions_.find(id);
  const bool is_of_session =
      session != nullptr && session->state() == Session::State::open && session->bulk().has_token(token);
  return is_of_session ? std::optional(id) : std::nullopt;
}

bool Sessions::is_reached_by(SessionId session, std::string_view name) const {
  if (groups_.requests().is_member(session, name)) return true;
  const auto parts = spindle::parse_private_name(name);
  return parts && parts->daemon == context_.config.name && sessions_.find_client(parts->client) == session;
}

std::string_view Sessions::client_name_of(SessionId session) const {
  const Session* found = sessions_.find(session);
  return found == nullptr ? std::string_view() : found->name();
}

// --- Memory ---

SessionMemory Sessions::memory() const {
  SessionMemory sum;
  sessions_.for_each([&](const Session& session) { sum += session.memory(); });
  return sum;
}

void Sessions::count_memory(Time now, Session& session) {
  relief_.count(session);
  // Those that hold more than this one are looked at then.
  if (session.quota().holds_too_much()) timers_.set_earlier(Timer::tick, now + kTick);
}

void Sessions::hold_to_memory(Time now, bool may_cut_off) {
  for (Session* largest : relief_.find_largest(now)) {
    if (!relief_.is_to_give_up(now, *largest)) continue;  // others have given up enough
    const bool is_full = context_.memory.is_full();
    const std::size_t packets = is_full ? largest->drop_feeds() : 0;
    feed_delivery_.count_dropped(packets);
    const bool drops = packets != 0 || (is_full && largest->drop_messages(0));
    if (!drops && is_full && largest->give_up_return()) {
      sessions_.mark_dirty(*largest);  // it may have waited for room there
    } else if (!drops && may_cut_off) {
      const Error reason = relief_.reason_for(*largest);
      largest->queue().drop_unwritten();
      close(now, *largest, reason);
    }
    count_memory(now, *largest);
  }
}

// --- Writing, and clients that do not read ---

void Sessions::flush(Time now) {
  std::vector<SessionId>& dirty = sessions_.dirty();
  // One that has had its share of a turn and has more waits behind the others.
  while (!dirty.empty() && written_ < kWrittenPerTurn) {
    being_flushed_.swap(dirty);
    std::size_t done = 0;
    while (done < being_flushed_.size() && written_ < kWrittenPerTurn) flush(now, being_flushed_[done++]);
    const auto rest = being_flushed_.begin() + static_cast<std::ptrdiff_t>(done);
    if (rest != being_flushed_.end()) dirty.insert(dirty.begin(), rest, being_flushed_.end());
    being_flushed_.clear();
  }
  written_ = ended_ = 0;
  note_unwritten();
  // What clients would take at once, however much a turn has brought them, is not held against them.
  hold_to_memory(now, dirty.empty());
  if (relief_.look(now) || admission_.is_room_back()) timers_.set_earlier(Timer::resume, now);
  if (context_.memory.is_short()) timers_.set_earlier(Timer::tick, now + kTick);
  slow_clients_.flush(now);
  flush_at_ = dirty.empty() ? kNever : now;
}

void Sessions::note_unwritten() {
  std::size_t bytes = 0, small = 0;
  for (const SessionId id : sessions_.dirty()) {
    const Session* session = sessions_.find(id);
    if (session == nullptr || session->marks.blocked) continue;
    const std::size_t waits = session->queue().bytes();
    bytes += waits;
    small += kWriteBytes - std::min(waits, kWriteBytes);
  }
  context_.turn.set_unwritten(bytes, small);
}

void Sessions::flush(Time now, SessionId id) {
  Session* session = sessions_.find(id);
  if (session == nullptr) return;
  session->marks.dirty = false;
  if (session->is_detached()) return look_for_missing(now, *session);
  if (!session->marks.blocked) write(now, *session);
  session = sessions_.find(id);  // a closing session goes once all is written
  if (session != nullptr) look_at_queue(now, *session);
}

void Sessions::look_at_queue(Time now, Session& session) {
  count_memory(now, session);
  // That it has not had its next share yet is not held against the client: it is looked at when all is written or it
  // takes no more, and at ticks.
  if (session.marks.dirty) return timers_.set_earlier(Timer::tick, now + kTick);
  watch_queue(now, session);
}

void Sessions::write(Time now, Session& session) {
  GatherBuffers<64> room;
  const std::span<ByteView> buffers = room.all();
  for (std::size_t share = kWrittenAtOnce; session.has_output() && session.may_write(now);) {
    if (share == 0) {
      sessions_.mark_dirty(session);
      break;
    }
    std::span<ByteView> some = buffers.first(session.queue().gather(buffers));
    const std::size_t offered = cut_buffers(some, share);
    const std::size_t taken = driver_.write(session.connection(), some);
    session.note_written(now, taken);
    written_ += std::max(taken, kWriteBytes);
    if (taken < offered) {
      session.marks.blocked = true;
      break;
    }
    share -= taken;
  }
  if (session.state() == Session::State::closing) {
    if (session.queue().empty()) let_go(session);
    return;
  }
  // What it asked for enters at the start of a turn, as everything does.
  if (session.may_answer_again()) timers_.set_earlier(Timer::resume, now);
}

void Sessions::watch_queue(Time now, Session& session) {
  if (session.state() != Session::State::open || session.is_detached()) return;
  if (session.marks.view_too_large) {
    return close(now, session, {Errc::limit_exceeded, "a group of the client has too many members to be told"});
  }
  if (const std::optional<Error> error = session.hold_to_limits(now)) {
    context_.counters.add(Counter::sessions_slow);
    return close(now, session, *error);
  }
  if (const std::optional<Error> error = relief_.objection_to(now, session)) {
    session.queue().drop_unwritten();
    return close(now, session, *error);
  }
  const std::size_t bytes = session.queue().bytes_without_feeds();
  if (session.watch().is_priced()) {
    slow_clients_.note_behind(now, session.id(), bytes, session.traffic().bytes_out);
  } else {
    slow_clients_.note_caught_up(now, session.id(), bytes, session.traffic().bytes_out);
  }
  if (session.watch().is_behind()) timers_.set_earlier(Timer::tick, now + kTick);
}

void Sessions::close(Time now, Session& session, const Error& reason) {
  if (session.marks.lost) return;  // handle_closed has told of it, and it goes at the end of the turn
  const bool was_open = session.state() == Session::State::open;
  session.start_closing(now);
  set_reading(session, false);
  const std::string text = reason.message();
  const std::string_view name = session.name().empty() ? std::string_view("(no name)") : session.name();
  log_.info("client {} from {} closed: {}: {}", name, session.peer(), spindle::to_string(reason.code), text);
  context_.counters.add(was_open ? Counter::sessions_closed : Counter::sessions_refused);
  context_.counters.add_close(static_cast<std::uint16_t>(reason.code));
  if (reason.code == Errc::malformed_frame || reason.code == Errc::frame_too_large ||
      reason.code == Errc::unexpected_frame) {
    context_.counters.add(Counter::client_frames_bad);
  }
  leave_everything(now, session);
  if (session.is_detached()) {
    session.queue().drop_unwritten();
    session.marks.lost = true;
    lost_.push_back(session.id());
    timers_.set_earlier(Timer::tick, now);
    return;
  }
  // What waits is given up where the client was too slow for it; otherwise the reason follows it.
  if (reason.code == Errc::slow_receiver) session.queue().drop_unwritten();
  std::vector<std::uint8_t> frame;
  protocol::write_close(frame, {static_cast<std::uint16_t>(reason.code), text, session.traffic().messages_in});
  session.queue().append_frame(frame);
  sessions_.mark_dirty(session);
  timers_.set_earlier(Timer::tick, now + kTick);
}

void Sessions::leave_everything(Time now, Session& session) {
  slow_clients_.forget(session.id());
  sessions_.give_up_name(session);
  channels_.close_session(now, session.id());
  session.feeds().close(now);
  groups_.close_session(now, session.id());
}

void Sessions::let_go(Session& session) {
  driver_.close(session.connection());
  forget(session);
}

void Sessions::forget(const Session& session) {
  relief_.forget(session);
  if (session.marks.refused) --refused_;
  sessions_.forget(session);
}

void Sessions::remove_lost(Time now) {
  for (; !lost_.empty() && ended_ < kEndedPerTurn; ++ended_) {
    Session* session = sessions_.find(lost_.front());
    lost_.pop_front();
    SPINDLE_CHECK(session != nullptr);  // from `handle_closed` on, nothing else forgets it
    if (session->state() != Session::State::closing) leave_everything(now, *session);
    forget(*session);
  }
  if (!lost_.empty()) timers_.set_earlier(Timer::end, now);
}

void Sessions::handle_time(Time now) {
  slow_clients_.handle_time(now);
  if (timers_.take_due(Timer::resume, now)) resume_all_ = true;
  if (timers_.take_due(Timer::tell, now)) tell(now);
  if (timers_.take_due(Timer::end, now)) end_those_put_off(now);
  if (timers_.take_due(Timer::silence, now)) look_for_silence(now);
  check_flushes(now);
  if (timers_.take_due(Timer::review, now)) {
    access_review_.go_on(now);
    if (access_review_.is_under_way()) timers_.set_earlier(Timer::review, now);
  }
  if (!timers_.take_due(Timer::tick, now)) return;
  bool impatient = false;
  sessions_.for_each_of_now([&](Session& session) { impatient = check_patience(now, session) || impatient; });
  if (impatient) timers_.set_earlier(Timer::tick, now + kTick);
}

void Sessions::tell(Time now) {
  for (const SessionId id : std::exchange(untold_, {})) {
    Session* session = sessions_.find(id);
    if (session == nullptr || session->state() != Session::State::open) continue;
    const Time due = session->tell_at();
    session->marks.untold = due != kNever && due > now;
    if (session->marks.untold) {
      untold_.push_back(id);
      timers_.set_earlier(Timer::tell, due);
    } else if (due != kNever) {
      session->tell(now);
      sessions_.mark_dirty(*session);
    }
  }
}

// --- Clients whose connection is lost ---

void Sessions::detach(Time now, Session& session, std::string_view why) {
  log_.info("the connection of client {} from {} is lost: {}; it may come back within {:.1f} s", session.name(),
            session.peer(), why, to_seconds(context_.config.session.resume_timeout));
  context_.counters.add(Counter::sessions_detached);
  session.detach(now);
  sessions_.detach(session);
  session.marks.blocked = true;
  // It costs nobody anything while it is away.
  slow_clients_.forget(session.id());
  count_memory(now, session);
  timers_.set_earlier(Timer::tick, now + kTick);
}

bool Sessions::may_resume(const Session& session, const protocol::Resume& resume) const {
  const Session* former = sessions_.find(SessionId{resume.key.session});
  return former != nullptr && former->may_be_resumed_by(resume) && former->identities() == session.identities();
}

void Sessions::resume(Time now, Session& fresh) {
  Session& session = *sessions_.find(SessionId{fresh.resume()->key.session});
  const Duration away = session.is_detached() ? now - session.detached_since() : Duration::zero();
  if (!session.is_detached()) {
    // The client has noticed the end of that connection first.
    driver_.close(session.connection());
    detach(now, session, "the client has come back on another connection");
  }
  session.attach(now, fresh);
  session.marks.reading = fresh.marks.reading;  // what it sent may have had to wait for its turn
  session.marks.revoked = fresh.marks.revoked;  // and so may that the former connection was to end
  session.marks.blocked = false;
  forget(fresh);
  sessions_.attach(session, session.connection());
  log_.info("client {} from {} is back after {:.3f} s", session.name(), session.peer(), to_seconds(away));
  context_.counters.add(Counter::sessions_resumed);
  set_reading(session, !session.is_waiting());
  sessions_.mark_dirty(session);
}

void Sessions::lose(Time now, Session& session, std::string_view why) {
  detach(now, session, why);
  look_for_missing(now, session);
}

void Sessions::look_for_missing(Time now, Session& session) {
  if (session.state() != Session::State::open) return;
  const Duration timeout = context_.config.session.resume_timeout;
  const bool is_over = now - session.detached_since() >= timeout;
  const bool is_to_end = session.was_put_out() || session.holds_too_much() || is_over;
  if (!is_to_end || !may_end(now, session)) return;
  if (session.was_put_out()) {
    close(now, session, {Errc::connection_lost, "it has not come back, and had to leave a group without knowing it"});
  } else if (session.holds_too_much()) {
    close(now, session, {Errc::connection_lost, "it has not come back, and too much waits for it"});
  } else {
    close(now, session,
          {Errc::connection_lost,
           fmt::format("it has not come back within {:.1f} s (session.resume_timeout_ms)", to_seconds(timeout))});
  }
}

void Sessions::look_for_silence(Time now) {
  bool any = false;
  sessions_.for_each_of_now([&](Session& session) {
    any = any || session.has_keepalive();
    if (session.marks.lost || !session.look_for_silence(kSilenceLook)) return;
    if (may_end(now, session)) end_silent(now, session);
  });
  if (any) timers_.set_earlier(Timer::silence, now + kSilenceLook);
}

void Sessions::end_silent(Time now, Session& session) {
  constexpr std::string_view kWhy = "nothing was heard from it for three times as long as it promised";
  if (!session.is_resumable() || stopping_) return close(now, session, {Errc::silent_peer, std::string(kWhy)});
  driver_.close(session.connection());
  lose(now, session, kWhy);
}

bool Sessions::may_end(Time now, Session& session) {
  if (ended_ < kEndedPerTurn) {
    ++ended_;
    return true;
  }
  if (!std::exchange(session.marks.put_off, true)) put_off_.push_back(session.id());
  timers_.set_earlier(Timer::end, now);
  return false;
}

void Sessions::end_those_put_off(Time now) {
  while (!put_off_.empty() && ended_ < kEndedPerTurn) {
    Session* session = sessions_.find(put_off_.front());
    put_off_.pop_front();
    if (session == nullptr) continue;
    session->marks.put_off = false;
    if (session->state() == Session::State::closing || session->marks.lost) continue;
    if (session->marks.revoked) {
      ++ended_;
      end_revoked(now, *session);
    } else if (session->is_detached()) {
      look_for_missing(now, *session);
    } else if (session->has_keepalive() && session->is_silent(kSilenceLook)) {
      ++ended_;
      end_silent(now, *session);
    }
  }
  if (!put_off_.empty()) timers_.set_earlier(Timer::end, now);
}

void Sessions::check_flushes(Time now) {
  const auto is_held_up = [this](SessionId id) {
    const Session* session = sessions_.find(id);
    return session != nullptr && session->is_waiting();
  };
  for (const Flushes::Overdue& overdue : groups_.flushes().take_overdue(now, is_held_up)) {
    Session* session = sessions_.find(overdue.session);
    if (session == nullptr || session->state() != Session::State::open) continue;
    if (!session->take_out(now, overdue.group, Errc::flush_timeout)) continue;
    groups_.flushes().expel(overdue.session, overdue.group);
    context_.counters.add(Counter::flush_timeouts);
    log_.info("client {} has left the group {}: it did not answer a flush request in time (session.flush_timeout_ms)",
              session->name(), overdue.group);
    sessions_.mark_dirty(*session);
    if (groups_.flushes().expelled_from(overdue.session) <= kExpelledMax) continue;
    close(now, *session,
          {Errc::limit_exceeded, fmt::format("the client did not answer flush requests of {} groups in time "
                                             "(session.flush_timeout_ms), and has joined none of them again",
                                             kExpelledMax + 1)});
  }
}

bool Sessions::check_unfinished(Time now, Session& session) {
  const Time since = session.unfinished_since();
  if (since == kNever) return false;
  // Ticks are counted, and not time: after a pause of the daemon what has come meanwhile is read before the next one.
  if (std::exchange(session.marks.unfinished_since, since) != since) session.marks.unfinished_ticks = 0;
  const Duration timeout = context_.config.session.message_timeout;
  if (++session.marks.unfinished_ticks * kTick < timeout) return true;
  close(now, session,
        {Errc::timed_out, fmt::format("{} bytes of a message or request have come, and nothing of the rest for {} s "
                                      "(session.message_timeout_ms)",
                                      session.memory().unfinished, to_seconds(timeout))});
  return true;
}

bool Sessions::check_patience(Time now, Session& session) {
  if (session.marks.lost) return false;  // it goes at the end of the turn
  const SessionConfig& config = context_.config.session;
  switch (session.state()) {
    case Session::State::handshake:
      // Its first frame may be there, and wait for its turn.
      if (now - session.opened_at() >= config.handshake_timeout && !session.is_waiting()) {
        close(now, session, {Errc::handshake_timeout, {}});
      }
      return true;
    case Session::State::open:
      if (session.is_detached()) {
        look_for_missing(now, session);
        return true;
      }
      if (session.watch().is_behind() || session.marks.dirty || relief_.objection_to(now, session)) {
        watch_queue(now, session);
      }
      return check_unfinished(now, session) || session.watch().is_behind();
    case Session::State::closing:
      if (now - std::max(session.closing_since(), session.watch().progress_at()) >= kClosingPatience ||
          now - session.closing_since() >= kClosingTime) {
        let_go(session);
        return false;
      }
      return true;
  }
  return false;
}

}  // namespace spindled
