// A client that survives its connections, without sockets, threads and clocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libclient/protocol/back_off.h"
#include "libclient/protocol/client_engine.h"
#include "libclient/protocol/instant.h"

namespace spindle::protocol {

struct SessionOptions {
  std::string name{};      // empty: the daemon chooses
  std::uint8_t flags = 0;  // of Hello
  std::size_t servers = 1;
  /// How long a server may take to welcome the client, and all of them to do so for the first time.
  std::chrono::milliseconds connect_timeout{5'000};
  /// How long a client that has lost its connection tries to get another one; 0: the loss is the end. Where no more is
  /// left of that than `connect_timeout` each server has its share of what is left, or kAttemptPeriod.
  std::chrono::milliseconds reconnect_timeout{60'000};
  /// Whether it asks for a session that can be resumed.
  bool may_resume = true;
  /// How often it makes sure that the daemon is there, and shows that itself is; 0: never.
  std::chrono::milliseconds keepalive{10'000};
  std::uint64_t seed = 1;  // of what it draws
  /// Whether it wants to hear of bulk channels.
  bool wants_channels = false;
};

/// Decides which server to connect to and when, says hello, and joins the groups of before again; where a session can
/// be resumed nobody but the caller, by one Reconnected, gets to know of a lost connection. A driver does what it says:
///
///   session.start(now);                           then again and again, after each input:
///   if (auto server = session.take_dial()) ...    connect to it: `connected`, or `failed`
///   if (session.take_hang_up()) ...               the connection is of no use: close it, and tell nothing more of it
///   write session.output(); session.consume(n)
///   read into session.reader().prepare(), commit; the stream's end: session.reader().end(reason, text)
///   session.settle(now)                           whenever is_settling_due()
///   session.handle_time(now)                      at next_deadline()
///   take events
///
/// Disconnected, the last event, comes when it gives up: `is_over()`. Requests are taken from the first welcome on,
/// with or without a connection.
///
/// Threads: as ClientEngine. `is_settling_due` and `reader()` are for the thread that reads; everything else is for one
/// thread at a time, and what settles needs the reader at rest.
class ClientSession {
 public:
  explicit ClientSession(SessionOptions options);

  void start(Instant now);
  std::optional<std::size_t> take_dial();
  /// By when the server that take_dial() gave has to have welcomed the client.
  Instant dial_until() const { return welcome_until_; }
  bool take_hang_up() { return std::exchange(hangs_up_, false); }
  /// Whether one of the two has something to say.
  bool wants_connection_changed() const { return dials_ || hangs_up_; }
  /// The server can be written to. `token` proves to it who the client is; empty: nothing does.
  void connected(Instant now, std::string_view token = {});
  /// There is no connection to be had.
  void failed(Instant now, Errc reason, std::string_view text);

  bool is_settling_due() const { return engine_.reader().has_news() || is_telling_to_be_timed() || is_telling_due(); }
  void settle(Instant now);
  void handle_time(Instant now);
  Instant next_deadline() const;
  /// Whether bytes of the daemon are taken: where the driver does not read, silence means nothing.
  void set_reading(bool on) { is_reading_ = on; }

  std::error_code multicast(Service service, const Groups& groups, const Payload& payload,
                            const SendOptions& options = {}) {
    return engine_.multicast(service, groups, payload, options);
  }
  std::error_code join(std::string_view group, bool synchronous = false) { return engine_.join(group, synchronous); }
  std::error_code flush_ok(const FlushRequest& request) { return engine_.flush_ok(request); }
  std::error_code leave(std::string_view group);
  std::error_code request_view(std::string_view group) { return engine_.request_view(group); }
  std::error_code request_flow(const Groups& groups) { return engine_.request_flow(groups); }
  void bye() { engine_.bye(); }

  /// The end, whatever is on its way.
  void give_up(Errc reason, std::string_view text);

  ByteView output() { return engine_.output(); }
  void consume(std::size_t bytes);

  /// Whether the loss of a connection is not the end.
  bool returns() const { return options_.reconnect_timeout.count() != 0; }
  /// Whether there is a connection, and a welcome has come on it.
  bool is_connected() const { return phase_ == Phase::open; }
  /// With what the session could be taken up.
  std::optional<Resume> resume() const {
    const bool may_go_on = key_ && engine_.writer().is_resumable();
    return may_go_on ? std::optional(Resume{*key_, engine_.reader().frames()}) : std::nullopt;
  }
  /// Whether what is sent waits for the end of the former session.
  bool is_fenced() const { return !fence_.empty(); }
  /// Whether one has come ever.
  bool was_welcomed() const { return was_welcomed_; }
  bool is_over() const { return phase_ == Phase::over; }
  const std::string& private_name() const { return engine_.private_name(); }
  /// How often it was connected again.
  std::uint64_t reconnections() const { return reconnections_; }
  /// Messages that are unknown count among them until `note_told` says that the program has been given the event.
  NotTaken not_taken() const { return engine_.not_taken(); }
  void note_told(const Reconnected& event) { engine_.writer().note_told_unknown(event.unknown.size()); }

  ClientEngine& engine() { return engine_; }
  const ClientEngine& engine() const { return engine_; }
  RequestWriter& writer() { return engine_.writer(); }
  const RequestWriter& writer() const { return engine_.writer(); }
  EventReader& reader() { return engine_.reader(); }

  /// The daemon is told of what has come after so many bytes, or after this time.
  static constexpr std::size_t kToldBytes = 64u << 10;
  static constexpr std::chrono::milliseconds kToldPeriod{200};
  /// So many periods without a sign of the daemon, and the connection counts as lost.
  static constexpr int kSilentPeriods = 3;
  /// A former session is gone when its daemon has missed it and has waited for it, and this much later.
  static constexpr std::chrono::milliseconds kGonePeriod{5'000};
  static constexpr std::chrono::milliseconds kAttemptPeriod{5'000};

 private:
  enum class Phase : std::uint8_t { idle, dialling, greeting, open, waiting, over };
  /// Of a daemon that goes: it is asked whether all has entered, and then told goodbye.
  enum class Leaving : std::uint8_t { no, asked, told };

  /// Something has come that the daemon is to be told of in a while.
  bool is_telling_to_be_timed() const {
    return is_resumable_ && tell_at_ == kNeverAgain && engine_.reader().has_untold_frames();
  }
  bool is_telling_due() const {
    return is_resumable_ && engine_.reader().bytes() - told_bytes_ >= kToldBytes &&
           engine_.reader().has_untold_frames();
  }
  void dial(Instant now);
  Instant time_for_attempt(Instant now) const;
  std::size_t handle_welcome(Instant now, const EventReader::News::PlacedWelcome& welcome);
  /// Nothing where the daemon is wrong.
  std::optional<Reconnected> come_back(Instant now, const EventReader::News::PlacedWelcome& welcome);
  /// Whether there is anything to wait for.
  bool build_fence();
  void tell_received();
  void lose_connection(Instant now);
  /// The daemon goes: has all that was sent enter, and says goodbye then.
  void leave_daemon();
  void try_next(Instant now, Errc reason, std::string_view text);
  void end();
  void look_for_silence(Instant now);
  /// What the reader has seen meanwhile: for `settle`, as is all that touches the reader.
  void watch_fence();
  /// Groups that there is nothing to wait for in any more are no part of it.
  void narrow_fence();
  void open_fence();

  /// Where nothing may be sent before the former session is gone.
  struct FencedGroup {
    bool has_view = false;
    std::set<std::string> names;  // of former sessions, as far as they are not known to have left it
  };

  const SessionOptions options_;
  ClientEngine engine_;
  Phase phase_ = Phase::idle;
  BackOff back_off_;
  std::size_t server_ = 0;
  bool dials_ = false;
  bool hangs_up_ = false;
  bool was_welcomed_ = false;
  std::uint64_t reconnections_ = 0;
  Instant dial_at_ = kNeverAgain;
  Instant welcome_until_ = kNeverAgain;
  Instant lost_at_{};
  std::size_t refusals_ = 0;  // in a row, that will not change soon
  std::string former_name_;   // of the session before a lost connection
  Leaving leaving_ = Leaving::no;

  std::optional<SessionKey> key_;  // of the session that can be resumed
  std::size_t last_server_ = 0;    // where it is
  bool is_resumable_ = false;
  std::uint64_t told_bytes_ = 0;
  Instant tell_at_ = kNeverAgain;

  bool is_reading_ = true;
  Instant look_at_ = kNeverAgain;
  std::uint64_t heard_bytes_ = 0;
  bool has_written_ = false;
  int silent_looks_ = 0;

  std::map<std::string, FencedGroup, std::less<>> fence_;
  /// Sessions that it stands for, by name: the groups that they were in. Those that they had only asked to join tell
  /// nothing: they may join after this one.
  std::map<std::string, std::set<std::string, std::less<>>> former_;
  Instant fence_until_ = kNeverAgain;
  std::chrono::milliseconds resume_timeout_{};  // of the session, as its daemon has said
};

}  // namespace spindle::protocol
