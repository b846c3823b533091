#include "daemon/admin/admin.h"

#include <algorithm>

#include "daemon/access/access_rules.h"
#include "daemon/admin/admin_frames.h"
#include "daemon/admin/report.h"
#include "daemon/base/check.h"
#include "daemon/base/input_buffer.h"
#include "daemon/base/output_queue.h"

namespace spindled {

struct Admin::Connection {
  Connection(Context& context, ConnectionId connection, const Peer& from, Time now)
      : id(connection), peer(from), output(context.slabs), deadline(now + kAdminPatience) {}

  const ConnectionId id;
  const Peer peer;
  InputBuffer input;
  std::size_t wanted = 0;  // bytes of the frame at the front of `input`, as far as known
  OutputQueue output;      // the rest of one reply; no request is taken while there is any
  bool idle = false;       // has had its reply, and sent nothing since
  bool blocked = false;    // the last write was short
  bool reading = true;
  bool touched = false;  // is in `touched_`
  Time deadline;

  /// Whether all that there is to know of the next one is here: the request, or a head that is none of a request's.
  bool has_request() const {
    const std::optional<spindle::FrameHead> head = spindle::read_frame_head(input.unread());
    if (!head) return false;
    return !is_request(*head) || input.unread().size() >= spindle::kFrameHeadBytes + head->length;
  }
  static bool is_request(const spindle::FrameHead& head) {
    return head.type == static_cast<std::uint8_t>(AdminFrame::request) && head.length <= kAdminRequestBytesMax;
  }
};

Admin::Admin(Context& context, Driver& driver, const AdminSubjects& subjects)
    : context_(context), log_(context.log_sink, "admin"), driver_(driver), subjects_(subjects) {}

Admin::~Admin() = default;

void Admin::start(Time now) { started_at_ = now; }

void Admin::stop() {
  stopping_ = true;
  while (!connections_.empty()) close(*connections_.begin()->second, {Errc::daemon_stopping, {}});
}

bool Admin::is_stopped() const { return stopping_ && connections_.empty(); }

Admin::Connection* Admin::find(ConnectionId connection) const {
  const auto at = connections_.find(connection);
  return at == connections_.end() ? nullptr : at->second.get();
}

void Admin::handle_accepted(Time now, ConnectionId connection, const Peer& peer) {
  auto& slot = connections_[connection] = std::make_unique<Connection>(context_, connection, peer, now);
  if (stopping_) {
    close(*slot, {Errc::daemon_stopping, {}});
  } else if (admin_role_of(context_.config.admin, peer) == AdminRole::none) {
    close(*slot, no_administrator(peer));
  } else if (connections_.size() > kAdminConnectionsMax) {
    close(*slot, {Errc::limit_exceeded,
                  fmt::format("more than {} connections ask about this daemon already", kAdminConnectionsMax)});
  }
}

std::span<std::uint8_t> Admin::read_space(ConnectionId connection) {
  Connection* reader = find(connection);
  SPINDLE_CHECK(reader != nullptr);
  return reader->input.prepare(context_.read_arena, reader->wanted);
}

void Admin::handle_read(Time now, ConnectionId connection, std::size_t bytes) {
  Connection* reader = find(connection);
  SPINDLE_CHECK(reader != nullptr);
  reader->input.commit(context_.read_arena, bytes);
  if (bytes == 0) return;
  if (std::exchange(reader->idle, false)) reader->deadline = now + kAdminPatience;
  touch(*reader);
}

void Admin::handle_writable(Time, ConnectionId connection) {
  Connection* writer = find(connection);
  SPINDLE_CHECK(writer != nullptr);
  writer->blocked = false;
  touch(*writer);
}

void Admin::touch(Connection& connection) {
  if (!std::exchange(connection.touched, true)) touched_.push_back(connection.id);
}

void Admin::handle_closed(Time, ConnectionId connection, std::string_view) { connections_.erase(connection); }

void Admin::handle_time(Time now) {
  std::vector<Connection*> due;
  for (const auto& [id, connection] : connections_) {
    if (connection->deadline <= now) due.push_back(connection.get());
  }
  for (Connection* connection : due) {
    const std::string_view text = connection->idle             ? "no request came"
                                  : connection->output.empty() ? "the request was not completed in time"
                                                               : "the reply was not read in time";
    close(*connection, {Errc::timed_out, std::string(text)});
  }
}

Time Admin::next_deadline() const {
  Time next = goes_on_at_;
  for (const auto& [id, connection] : connections_) next = std::min(next, connection->deadline);
  return next;
}

// Requests are answered here, behind all other layers, so that what a reply says is the state between two turns.
void Admin::flush(Time now) {
  std::optional<ConnectionId> answered;
  for (const ConnectionId id : std::exchange(touched_, {})) {
    Connection* connection = find(id);
    if (connection == nullptr) continue;
    connection->touched = false;
    if (connection->blocked) continue;
    if (!connection->output.empty()) write(now, *connection);
    if (!connection->output.empty()) continue;
    if (!connection->has_request()) {
      expect_rest(*connection);
    } else if (answered) {
      wait_for_turn(now, *connection);
    } else {
      answered = id;
      take_request(now, *connection);
    }
  }
  // Behind those that have had no answer yet.
  Connection* const last = answered ? find(*answered) : nullptr;
  if (last != nullptr && last->output.empty()) last->has_request() ? wait_for_turn(now, *last) : expect_rest(*last);
  goes_on_at_ = touched_.empty() ? kNever : now;
}

/// Nothing more is read until its turn has come, and it is this daemon that takes its time.
void Admin::wait_for_turn(Time now, Connection& connection) {
  connection.deadline = now + kAdminPatience;
  set_reading(connection, false);
  touch(connection);
}

/// The next request is not all there.
void Admin::expect_rest(Connection& connection) {
  const std::optional<spindle::FrameHead> head = spindle::read_frame_head(connection.input.unread());
  connection.wanted = head ? spindle::kFrameHeadBytes + head->length : 0;
  set_reading(connection, true);
}

void Admin::take_request(Time now, Connection& connection) {
  const std::optional<spindle::FrameHead> head = spindle::read_frame_head(connection.input.unread());
  SPINDLE_CHECK(head);
  if (head->type != static_cast<std::uint8_t>(AdminFrame::request)) {
    return close(connection, {Errc::unexpected_frame, fmt::format("a frame of type {} is no request", head->type)});
  }
  if (head->length > kAdminRequestBytesMax) {
    return close(connection, {Errc::frame_too_large, fmt::format("a request has {} bytes, more than the limit of {}",
                                                                 head->length, kAdminRequestBytesMax)});
  }
  const Slice frame = connection.input.take(spindle::kFrameHeadBytes + head->length);
  connection.wanted = 0;
  answer(now, connection, frame.part(spindle::kFrameHeadBytes).view());
}

void Admin::answer(Time now, Connection& connection, ByteView request) {
  const LogLosses losses = context_.log_sink.losses();
  context_.counters.set(Counter::log_lines_lost, losses.lost);
  context_.counters.set(Counter::log_lines_left_out, losses.left_out);
  const HandshakeCounts handshakes = driver_.handshakes();
  context_.counters.set(Counter::tls_handshakes, handshakes.done);
  context_.counters.set(Counter::tls_handshakes_refused, handshakes.refused);
  const Result<std::vector<std::uint8_t>> reply =
      AdminReport(context_, subjects_, connection.peer, started_at_).answer(now, request);
  if (!reply) return close(connection, reply.error());
  context_.counters.add(Counter::admin_requests);
  std::uint8_t head[spindle::kFrameHeadBytes];
  spindle::Writer writer(head);
  spindle::write_frame_head(writer, static_cast<std::uint8_t>(AdminFrame::reply), reply->size());
  connection.output.append_copy(head);
  connection.output.append_copy(*reply);
  connection.deadline = now + kAdminPatience;
  write(now, connection);
}

void Admin::write(Time now, Connection& connection) {
  while (!connection.output.empty()) {
    std::array<ByteView, 4> buffers;
    const std::size_t count = connection.output.gather(buffers);
    std::size_t offered = 0;
    for (std::size_t i = 0; i < count; ++i) offered += buffers[i].size();
    const std::size_t taken = driver_.write(connection.id, std::span(buffers.data(), count));
    connection.output.consume(taken);
    if (taken < offered) {
      // While a reply waits nothing more is read: one reply is all that a connection can have in memory.
      connection.blocked = true;
      set_reading(connection, false);
      return;
    }
  }
  connection.idle = connection.input.unread().empty();
  connection.deadline = now + (connection.idle ? kAdminIdle : kAdminPatience);
  set_reading(connection, !connection.has_request());
}

void Admin::set_reading(Connection& connection, bool on) {
  if (std::exchange(connection.reading, on) != on) driver_.set_reading(connection.id, on);
}

void Admin::close(Connection& connection, const Error& reason) {
  const std::string text = reason.message();
  const auto code = static_cast<std::uint16_t>(reason.code);
  log_.info("connection from {} closed: {}: {}", connection.peer.address, spindle::to_string(reason.code), text);
  context_.counters.add_close(code);
  if (reason.code == Errc::malformed_frame || reason.code == Errc::frame_too_large ||
      reason.code == Errc::unexpected_frame || reason.code == Errc::unknown_request) {
    context_.counters.add(Counter::admin_frames_bad);
  }
  // A last word in the middle of a reply would be taken for a part of it.
  if (connection.output.empty()) {
    std::vector<std::uint8_t> frame(spindle::kFrameHeadBytes + 2);
    spindle::Writer writer(frame.data());
    spindle::write_frame_head(writer, static_cast<std::uint8_t>(AdminFrame::error), 2 + text.size());
    writer.u16(code);
    frame.insert(frame.end(), text.begin(), text.end());
    const ByteView buffers[] = {frame};
    driver_.write(connection.id, buffers);
  }
  const ConnectionId id = connection.id;
  driver_.close(id);
  connections_.erase(id);
}

}  // namespace spindled
