// One connection that carries bulk content: a hop to another daemon, or the attachment of a client.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/base/driver.h"
#include "daemon/base/input_buffer.h"
#include "daemon/base/output_queue.h"
#include "daemon/base/result.h"
#include "daemon/bulk/channel_schedule.h"
#include "daemon/bulk/relay/channel_relay.h"
#include "daemon/group/operations.h"
#include "libclient/bulk/bulk_frames.h"

namespace spindled {

/// Framing, the numbers of channels in both directions, and what waits to be written. What frames mean is decided
/// elsewhere (BulkPlane).
class BulkConnection {
 public:
  using BulkChannelId = spindle::bulk::BulkChannelId;
  using BulkFrame = spindle::bulk::BulkFrame;

  enum class Phase : std::uint8_t {
    dialling,  // of a hop
    greeting,  // one side has yet to say who it is, or to be welcomed
    open,
  };

  BulkConnection(Context& context, Driver& driver, ConnectionId connection, Phase phase, Time now);

  ConnectionId id() const { return connection_; }
  Phase phase() const { return phase_; }
  void enter(Phase phase) { phase_ = phase; }
  Time since() const { return since_; }

  /// Of a hop: the daemon at the other end.
  const std::string& daemon() const { return daemon_; }
  void set_daemon(std::string_view daemon) { daemon_ = daemon; }
  /// Of an attachment: the session that it is of. 0: it is none, or not yet.
  SessionId session() const { return session_; }
  void set_session(SessionId session) { session_ = session; }
  bool is_hop() const { return !daemon_.empty(); }
  /// Who is at the other end has proved to be (Peer); empty: nobody in particular.
  const std::string& identity() const { return identity_; }
  void set_identity(std::string_view identity) { identity_ = identity; }

  bool is_dirty = false;  // there may be something to write

  // Input. `read_space`, `handle_read`, then `next_frame` until it has none.

  std::span<std::uint8_t> read_space() { return input_.prepare(context_.read_arena, wanted_); }
  void handle_read(Time now, std::size_t bytes) {
    input_.commit(context_.read_arena, bytes);
    heard_at_ = now;
  }
  Time heard_at() const { return heard_at_; }
  void go_on_with(InputBuffer unread) { input_ = std::move(unread); }
  struct Frame {
    BulkFrame type{};
    Slice body;
  };
  /// An error for one that is too large.
  Result<std::optional<Frame>> next_frame();

  // Numbers of channels, by which the other side names them, and this one.

  void opened(std::uint32_t number, const BulkChannelId& id) { theirs_[number] = id; }
  void shut(std::uint32_t number) { theirs_.erase(number); }
  /// Null where none is open under that number.
  const BulkChannelId* channel_of(std::uint32_t number) const;
  std::optional<std::uint32_t> number_of(const BulkChannelId& id) const;
  /// A number for a channel that has none yet; nothing: there is none free.
  std::optional<std::uint32_t> open(const BulkChannelId& id);
  void forget(const BulkChannelId& id);

  // Output.

  /// Whole frames.
  void send(ByteView frames) { output_.append_copy(frames); }
  /// A symbol under that number of this side.
  void send(std::uint32_t number, const RelayedSymbol& symbol);
  /// Whether more symbols may be queued: but for what is to be written next, they wait where others can still go first.
  bool has_room() const { return phase_ == Phase::open && !blocked_ && output_.bytes() < ahead_; }
  /// The other side does not read, and what it has to be told has grown beyond bounds.
  bool is_overflowing() const { return output_.bytes() > kQueueBytesMax; }
  /// Writes what can be written, once the connection is there; how many bytes that were.
  std::size_t write();
  /// The system took less than there was.
  bool is_blocked() const { return blocked_; }
  void handle_writable() { blocked_ = false; }

  ChannelSchedule& schedule() { return schedule_; }

 private:
  /// Of a connection that takes less than there is; of others it doubles with each write, up to the latter. A write
  /// costs little more for more bytes.
  static constexpr std::size_t kAheadBytes = 64u << 10;
  static constexpr std::size_t kAheadBytesMax = 256u << 10;
  static constexpr std::size_t kQueueBytesMax = 4u << 20;

  Context& context_;
  Driver& driver_;
  ConnectionId connection_;
  Phase phase_;
  Time since_;
  Time heard_at_;
  std::string daemon_;
  std::string identity_;
  SessionId session_ = 0;
  InputBuffer input_;
  std::size_t wanted_ = 0;
  std::map<std::uint32_t, BulkChannelId> theirs_;
  std::map<BulkChannelId, std::uint32_t> ours_;
  std::uint32_t numbers_ = 0;             // that were ever taken: those below this one
  std::set<std::uint32_t> free_numbers_;  // of these
  OutputQueue output_;
  std::size_t ahead_ = kAheadBytes;
  bool blocked_ = false;
  ChannelSchedule schedule_;
};

}  // namespace spindled
