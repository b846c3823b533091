// The clients of this daemon.
//
// A newcomer reads this class first. A Session parses what one client sends, and its Ingress has that enter;
// ClientDelivery puts what comes for clients into their queues. Sessions opens and closes them, lets those that wait go
// on, writes, and deals with clients that do not read.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "daemon/admission/admission.h"
#include "daemon/base/connection_taker.h"
#include "daemon/base/context.h"
#include "daemon/base/driver.h"
#include "daemon/base/port_handler.h"
#include "daemon/base/timers.h"
#include "daemon/channel/channels.h"
#include "daemon/channel/session_tokens.h"
#include "daemon/session/access_review.h"
#include "daemon/session/bulk_delivery.h"
#include "daemon/session/client_delivery.h"
#include "daemon/session/feed_delivery.h"
#include "daemon/session/memory_relief.h"
#include "daemon/session/session_table.h"
#include "daemon/session/slow_clients.h"

namespace spindled {

class Sessions final : public PortHandler, public SessionHost, public ClientNames, public SessionTokens {
 public:
  Sessions(Context& context, Driver& driver, Groups& groups, Channels& channels, Feeds& feeds, Admission& admission);
  ~Sessions() override;

  /// Who takes connections to the port of clients that are none of a session.
  void attach(ConnectionTaker& taker) { taker_ = &taker; }
  /// The configuration has changed: what the rules of access no longer allow ends.
  void reconsider(Time now);
  /// The daemon stops: takes in no client any more, and tells those that may go elsewhere to go. Until when they may.
  Time stop(Time now);
  /// Whether some of them have yet to go.
  bool has_movers() const;
  /// Tells every client that is left that the daemon stops, and closes.
  void close_all(Time now);
  bool is_stopped() const { return stopping_ && sessions_.empty(); }

  // PortHandler, for connections of Port::client.
  void handle_accepted(Time now, ConnectionId connection, const Peer& peer) override;
  std::span<std::uint8_t> read_space(ConnectionId connection) override;
  void handle_read(Time now, ConnectionId connection, std::size_t bytes) override;
  void handle_writable(Time now, ConnectionId connection) override;
  void handle_closed(Time now, ConnectionId connection, std::string_view why) override;
  /// The token that the client was identified by counts no longer: it is told so, and the connection ends.
  void handle_revoked(Time now, ConnectionId connection);
  void handle_time(Time now);
  Time next_deadline() const {
    return std::min({timers_.next(), sessions_.waiting_retry_at(), flush_at_, slow_clients_.next_deadline(),
                     groups_.flushes().next_deadline()});
  }

  /// Lets go of the sessions whose connections were lost in this turn. Apart from `handle_closed`, so that a client's
  /// last messages enter before it leaves its groups.
  void remove_lost(Time now);
  /// Lets the sessions go on whose next message had to wait.
  void resume_waiting(Time now);
  /// Writes what the turn brought, or as much of it as a turn may write: the rest in the next.
  void flush(Time now);

  /// What all clients hold.
  SessionMemory memory() const;

  const SessionTable& table() const { return sessions_; }
  /// What the group layer delivers through.
  LocalClients& clients() { return delivery_; }
  /// And what bulk channels are told through.
  ChannelClients& channel_clients() { return bulk_delivery_; }
  /// And feeds.
  FeedClients& feed_clients() { return feed_delivery_; }
  const FeedDelivery& feed_delivery() const { return feed_delivery_; }

  // SessionHost
  Result<std::string> identify(const Session& session, std::string_view token) override;
  Result<std::string> take_name(Time now, Session& session, std::string_view wish) override;
  bool may_resume(const Session& session, const spindle::protocol::Resume& resume) const override;
  std::optional<Driver::Secret> draw_secret() override { return driver_.draw_secret(); }
  bool may_send_part(const Session& session) override { return relief_.may_send_part(session); }

  // SessionTokens
  std::optional<SessionId> session_by_token(SessionId session, const SessionToken& token) const override;

  // ClientNames
  bool is_reached_by(SessionId session, std::string_view name) const override;
  std::string_view client_name_of(SessionId session) const override;

 private:
  enum class Timer : std::uint8_t { tick, resume, tell, review, silence, end, count_ };

  void process(Time now, Session& session);
  /// Whether the connection has turned out to be none of a session: it is another's now, or will be with the next
  /// bytes.
  bool hand_over(Time now, Session& session);
  /// Tells those clients what was taken of them for whom it is time.
  void tell(Time now);

  /// Has the session wait for its client, whose connection is lost.
  void detach(Time now, Session& session, std::string_view why);
  /// The same, where there is something to wait for.
  void lose(Time now, Session& session, std::string_view why);
  /// `fresh` has the connection with which its client goes on in another session.
  void resume(Time now, Session& fresh);
  void look_for_silence(Time now);
  void end_silent(Time now, Session& session);
  void end_revoked(Time now, Session& session);
  void look_for_missing(Time now, Session& session);
  /// Whether the turn has room for one more session to end; otherwise it does so in the next, if it is to end still.
  bool may_end(Time now, Session& session);
  void end_those_put_off(Time now);

  void set_reading(Session& session, bool on);
  void flush(Time now, SessionId id);
  /// Its share of what a turn writes.
  void write(Time now, Session& session);
  /// When that is done.
  void look_at_queue(Time now, Session& session);
  void watch_queue(Time now, Session& session);
  bool check_patience(Time now, Session& session);
  bool check_unfinished(Time now, Session& session);
  /// Takes members out of synchronous groups that have not answered.
  void check_flushes(Time now);

  /// Turns away one that has just come.
  void refuse(Time now, Session& session, const Error& reason);
  void close(Time now, Session& session, const Error& reason);
  void leave_everything(Time now, Session& session);

  void count_memory(Time now, Session& session);
  /// Of those that take more, and have had their share of a turn, or none.
  void note_unwritten();
  /// The end of a turn: who holds most gives up something where there is no memory left; its connection only where
  /// `may_cut_off`.
  void hold_to_memory(Time now, bool may_cut_off);
  /// Closes the connection and forgets the session.
  void let_go(Session& session);
  void forget(const Session& session);

  Context& context_;
  Log log_;
  Driver& driver_;
  ConnectionTaker* taker_ = nullptr;
  Groups& groups_;
  Channels& channels_;
  Feeds& feeds_;
  Admission& admission_;
  Quotas quotas_;
  SessionTable sessions_;
  SlowClients slow_clients_;
  AccessReview access_review_;
  ClientDelivery delivery_;
  BulkDelivery bulk_delivery_;
  FeedDelivery feed_delivery_;
  MemoryRelief relief_;
  Timers<Timer> timers_;
  bool stopping_ = false;
  SessionId last_id_ = 0;
  std::size_t refused_ = 0;               // sessions that only wait to read why
  std::uint64_t seen_news_ = 0;           // of admission
  bool resume_all_ = false;               // some waits for room in its own queue
  std::vector<SessionId> untold_;         // to be told how many of their messages have entered
  std::vector<SessionId> being_flushed_;  // empty but in `flush`; kept for its memory
  std::size_t written_ = 0;               // bytes, in this turn; small writes count more
  std::size_t ended_ = 0;                 // sessions, in this turn
  std::deque<SessionId> put_off_;         // that are to end
  Time flush_at_ = kNever;                // where this turn has left something to write
  std::deque<SessionId> lost_;
};

}  // namespace spindled
