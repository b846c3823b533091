#include "libclient/protocol/client_session.h"

#include <algorithm>

namespace spindle::protocol {

namespace {

/// Sends seeds that are near each other far apart: an odd number near 2^64 divided by the golden ratio.
constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;

/// Whether the daemon has ended the connection for something that another connection would not change.
bool is_final(Errc reason) {
  switch (reason) {
    case Errc::connection_lost:
    case Errc::daemon_stopping:
    case Errc::silent_peer:
    case Errc::handshake_timeout:
      return false;
    default:
      return true;
  }
}

/// Whether a server that refuses a client for that reason will go on doing so.
bool is_lasting(Errc refusal) {
  switch (refusal) {
    case Errc::bad_address:
    case Errc::bad_argument:
    case Errc::bad_client_name:
    case Errc::version_mismatch:
    case Errc::access_denied:
    case Errc::identity_mismatch:
    case Errc::tls_failed:
    case Errc::token_unknown:
    case Errc::token_expired:
    case Errc::token_missing:
    case Errc::token_exposed:
      return true;
    default:
      return false;
  }
}

}  // namespace

ClientSession::ClientSession(SessionOptions options) : options_(std::move(options)), back_off_(options_.seed) {
  engine_.requests().count_from(options_.seed * kSpread);
  if (!returns()) return;
  engine_.writer().expect_return();
  engine_.reader().track_memberships();
}

// --- Connections ---

void ClientSession::start(Instant now) {
  lost_at_ = now;
  static_cast<void>(back_off_.next());  // the first attempt is this one
  dial(now);
}

void ClientSession::dial(Instant now) {
  phase_ = Phase::dialling;
  welcome_until_ = now + time_for_attempt(now);
  dial_at_ = kNeverAgain;
  dials_ = true;
}

Instant ClientSession::time_for_attempt(Instant now) const {
  const auto servers = static_cast<Instant::rep>(options_.servers);
  if (!was_welcomed_) {
    // A program that starts waits no longer for all of them: each has its share of what is left.
    return (lost_at_ + options_.connect_timeout - now) / (servers - static_cast<Instant::rep>(server_));
  }
  const Instant left = lost_at_ + options_.reconnect_timeout - now;
  if (options_.connect_timeout < left) return options_.connect_timeout;
  return std::min<Instant>(options_.connect_timeout, std::max<Instant>(left / servers, kAttemptPeriod));
}

std::optional<std::size_t> ClientSession::take_dial() {
  if (!std::exchange(dials_, false)) return std::nullopt;
  return server_;
}

void ClientSession::connected(Instant, std::string_view token) {
  if (phase_ != Phase::dialling) return;
  phase_ = Phase::greeting;
  Hello hello;
  hello.name = options_.name;
  hello.flags = options_.flags;
  hello.token = token;
  hello.is_resumable = options_.may_resume && returns();
  hello.keepalive_ms = static_cast<std::uint32_t>(std::min<std::int64_t>(options_.keepalive.count(), UINT32_MAX));
  hello.moves = returns();
  hello.wants_channels = options_.wants_channels;
  if (server_ == last_server_) hello.resume = resume();
  engine_.reader().restart();  // whatever came of an earlier connection
  engine_.start(hello);
}

void ClientSession::failed(Instant now, Errc reason, std::string_view text) { try_next(now, reason, text); }

void ClientSession::try_next(Instant now, Errc reason, std::string_view text) {
  dials_ = false;  // where nobody has taken it, its time is over
  const bool has_lasted = !returns() || now - lost_at_ >= options_.reconnect_timeout;
  refusals_ = is_lasting(reason) ? refusals_ + 1 : 0;
  const bool are_all_tried = server_ + 1 == options_.servers;
  // A program that starts wants to know that it cannot.
  if (was_welcomed_ ? has_lasted || refusals_ >= options_.servers : are_all_tried) return give_up(reason, text);
  server_ = (server_ + 1) % options_.servers;
  welcome_until_ = kNeverAgain;
  if (!was_welcomed_) return dial(now);
  phase_ = Phase::waiting;
  dial_at_ = now + back_off_.next();
}

void ClientSession::give_up(Errc reason, std::string_view text) {
  if (phase_ == Phase::over) return;
  engine_.reader().restart();
  engine_.reader().end(reason, text);
  end();
}

void ClientSession::end() {
  phase_ = Phase::over;
  hangs_up_ = true;
  dials_ = false;
  dial_at_ = welcome_until_ = look_at_ = tell_at_ = fence_until_ = kNeverAgain;
  engine_.disconnect();
}

/// The reader has come to its end.
void ClientSession::lose_connection(Instant now) {
  EventReader& reader = engine_.reader();
  const Errc reason = reader.end_reason();
  const bool was_open = phase_ == Phase::open;
  hangs_up_ = true;
  look_at_ = tell_at_ = kNeverAgain;
  if (reader.has_news()) reader.take_news();
  if (!was_open) {
    engine_.writer().cut();
    const std::string text = reader.end_text();
    return try_next(now, reason, text);
  }
  const bool was_leaving = std::exchange(leaving_, Leaving::no) != Leaving::no;
  const bool is_final_here = is_final(reason) && !(was_leaving && reason == Errc::closed_by_client);
  const bool is_done = engine_.writer().said_bye() && !engine_.writer().holds_messages();
  if (!returns() || is_done || is_final_here) return end();
  engine_.writer().cut();
  lost_at_ = now;
  former_name_ = reader.private_name();
  if (fence_.empty()) former_.clear();
  former_[former_name_] = reader.memberships();
  // That it is not in a group that it has asked to leave does not say that it is gone.
  std::erase_if(former_[former_name_], [&](const std::string& group) { return engine_.writer().is_leaving(group); });
  last_server_ = server_;
  back_off_.reset();
  refusals_ = 0;
  // A daemon that stops is not there to come back to.
  if (was_leaving) key_.reset();
  if (was_leaving || reason == Errc::daemon_stopping) server_ = (server_ + 1) % options_.servers;
  phase_ = Phase::waiting;
  dial_at_ = now + back_off_.next();
}

// --- What comes of a connection ---

void ClientSession::settle(Instant now) {
  if (phase_ != Phase::greeting && phase_ != Phase::open) return;  // of a connection that is over
  engine_.settle([&](const EventReader::News::PlacedWelcome& welcome) { return handle_welcome(now, welcome); });
  watch_fence();
  if (engine_.reader().ended()) return lose_connection(now);
  if (engine_.reader().daemon_goes()) leave_daemon();
  if (is_telling_due()) {
    tell_received();
  } else if (is_telling_to_be_timed()) {
    tell_at_ = now + kToldPeriod;
  }
}

void ClientSession::leave_daemon() {
  RequestWriter& writer = engine_.writer();
  if (!returns()) return;
  if (leaving_ == Leaving::no && !writer.said_bye()) {
    writer.part();
    leaving_ = Leaving::asked;
  }
  if (leaving_ == Leaving::asked && writer.has_all_entered()) {
    writer.end_session();
    leaving_ = Leaving::told;
  }
}

std::size_t ClientSession::handle_welcome(Instant now, const EventReader::News::PlacedWelcome& welcome) {
  RequestWriter& writer = engine_.writer();
  phase_ = Phase::open;
  welcome_until_ = kNeverAgain;
  back_off_.reset();
  refusals_ = 0;
  std::size_t added = 0;
  if (was_welcomed_) {
    std::optional<Reconnected> event = come_back(now, welcome);
    if (!event) return 0;
    engine_.reader().insert_event(welcome.before, std::move(*event));
    ++reconnections_;
    added = 1;
  } else {
    writer.open();
  }
  was_welcomed_ = true;
  is_resumable_ = welcome.resumable.has_value();
  key_.reset();
  if (is_resumable_) key_ = welcome.resumable->key;
  resume_timeout_ = std::chrono::milliseconds(is_resumable_ ? welcome.resumable->timeout_ms : 0);
  last_server_ = server_;
  if (!welcome.resumed) writer.set_resumable(is_resumable_);
  told_bytes_ = engine_.reader().bytes();
  if (options_.keepalive.count() != 0) look_at_ = now + options_.keepalive;
  heard_bytes_ = engine_.reader().bytes();
  silent_looks_ = 0;
  return added;
}

std::optional<Reconnected> ClientSession::come_back(Instant now, const EventReader::News::PlacedWelcome& welcome) {
  RequestWriter& writer = engine_.writer();
  const std::string& name = engine_.reader().private_name();
  Reconnected event{welcome.resumed.has_value(), former_name_, name, {}, false};
  if (event.resumed) {
    if (!writer.resume(*welcome.resumed)) {
      engine_.reader().end(Errc::unexpected_frame, "the daemon resumed a session at a place where it was not");
      return std::nullopt;
    }
    return event;
  }
  former_.erase(name);  // a daemon ends the session that had it before
  event.fenced = build_fence();
  event.unknown = writer.start_anew(event.fenced);
  engine_.begin_anew();
  writer.open();
  // Its name may be that of another client by then, who is no reason to wait.
  fence_until_ = event.fenced ? now + kSilentPeriods * options_.keepalive + resume_timeout_ + kGonePeriod : kNeverAgain;
  return event;
}

std::error_code ClientSession::leave(std::string_view group) {
  const std::error_code error = engine_.leave(group);
  if (!error && !fence_.empty()) narrow_fence();
  return error;
}

void ClientSession::consume(std::size_t bytes) {
  has_written_ = has_written_ || bytes != 0;
  engine_.consume(bytes);
}

// --- The fence ---

bool ClientSession::build_fence() {
  fence_.clear();
  for (const auto& [name, groups] : former_) {
    for (const std::string& group : groups) {
      if (engine_.writer().groups().contains(group)) fence_[group].names.insert(name);
    }
  }
  return !fence_.empty();
}

void ClientSession::watch_fence() {
  for (const EventReader::SeenView& view : engine_.reader().take_seen_views()) {
    const auto found = fence_.find(view.group);
    if (found == fence_.end()) continue;
    FencedGroup& group = found->second;
    group.has_view = true;
    const auto is_there = [&](const std::string& name) {
      return std::find(view.names.begin(), view.names.end(), name) != view.names.end();
    };
    std::erase_if(group.names,
                  [&](const std::string& name) { return is_there(name) != spindle::has_members(view.form); });
  }
  if (!fence_.empty()) narrow_fence();
  engine_.reader().watch_views(!fence_.empty());
}

void ClientSession::narrow_fence() {
  const auto& groups = engine_.writer().groups();
  std::erase_if(fence_, [&](const auto& group) {
    return (group.second.has_view && group.second.names.empty()) || !groups.contains(group.first);
  });
  if (fence_.empty()) open_fence();
}

void ClientSession::open_fence() {
  fence_.clear();
  fence_until_ = kNeverAgain;
  if (leaving_ == Leaving::no) engine_.writer().release();
}

// --- Time ---

void ClientSession::tell_received() {
  engine_.writer().tell_received(engine_.reader().frames());
  engine_.reader().note_told();
  told_bytes_ = engine_.reader().bytes();
  tell_at_ = kNeverAgain;
}

void ClientSession::look_for_silence(Instant now) {
  look_at_ = now + options_.keepalive;
  const std::uint64_t bytes = engine_.reader().bytes();
  const bool has_heard = std::exchange(heard_bytes_, bytes) != bytes;
  const bool has_written = std::exchange(has_written_, false);
  silent_looks_ = has_heard || !is_reading_ ? 0 : silent_looks_ + 1;
  if (silent_looks_ > kSilentPeriods) {
    engine_.reader().end(Errc::silent_peer, "nothing was heard from the daemon");
    return lose_connection(now);
  }
  if (!has_heard || !has_written) engine_.writer().show_life();
}

void ClientSession::handle_time(Instant now) {
  if (dial_at_ <= now) dial(now);
  if (welcome_until_ <= now) {
    hangs_up_ = true;
    engine_.writer().cut();
    try_next(now, Errc::timed_out, "the daemon did not welcome the client in time");
  }
  if (look_at_ <= now) look_for_silence(now);
  if (tell_at_ <= now) tell_received();
  if (fence_until_ <= now) open_fence();
}

Instant ClientSession::next_deadline() const {
  return std::min({dial_at_, welcome_until_, look_at_, tell_at_, fence_until_});
}

}  // namespace spindle::protocol
