#include "daemon/net/asio_driver.h"

#include <openssl/sha.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "daemon/base/check.h"
#include "daemon/config/address.h"
#include "daemon/net/wrong_port.h"

namespace spindled {

namespace {

/// A connection that has more waiting goes on in the next turn.
constexpr std::size_t kReadPerConnection = 128u << 10;
/// So do all that were not reached: what a turn reads must be written out before it gets old.
constexpr std::size_t kReadPerTurn = 1u << 20;
/// A connection that brought this much in one turn is read from in the next without asking whether it has bytes: under
/// load that saves the system call that asks.
constexpr std::size_t kBusyBytes = 4u << 10;
constexpr int kHandlersPerTurn = 256;

/// How long, and for how many bytes, a peer may go on sending on a connection that was closed on this side.
constexpr Duration kLingerTime = 1s;
constexpr std::size_t kLingerBytesMax = 1u << 20;

constexpr Duration kStopPatience = 2s;

Time read_clock() { return Time(std::chrono::steady_clock::now().time_since_epoch()); }

std::chrono::steady_clock::time_point to_steady(Time time) {
  return std::chrono::steady_clock::time_point(time.time_since_epoch());
}

std::size_t total_bytes(std::span<const ByteView> buffers) {
  std::size_t total = 0;
  for (const ByteView& buffer : buffers) total += buffer.size();
  return total;
}

/// A client that has proved nothing, and comes from this host, is "local". Who comes by TLS has to prove something, as
/// one without a certificate could be anybody.
Peer peer_of(const SocketConnection& connection, const std::string& address) {
  Peer peer(address, connection.identities());
  peer.is_private = connection.is_private();
  peer.needs_token = connection.port == Port::client && peer.is_private && peer.identities.empty();
  const std::optional<Address> from = parse_address(address);
  peer.may_come_back = !connection.is_unix();
  const bool is_local = connection.port == Port::client && from && is_loopback(from->host);
  if (peer.identities.empty() && is_local) peer.identities.emplace_back("local");
  return peer;
}

}  // namespace

AsioDriver::AsioDriver(LogSink& sink, std::function<void()> hang_up)
    : sink_(sink),
      log_(sink, "net"),
      io_(1),
      hang_up_(std::move(hang_up)),
      signals_(io_, SIGTERM, SIGINT, SIGHUP),
      dialler_(io_, [this](ConnectionId id, Result<FileDescriptor> socket) { dialled(id, std::move(socket)); }),
      datagram_sockets_(io_, [this](auto datagrams) { node_->handle_datagrams(now(), datagrams); }),
      handshake_timer_(io_),
      certificate_timer_(io_),
      thrown_away_(64u << 10),
      linger_timer_(io_),
      timer_(io_),
      stop_timer_(io_) {
  wait_for_signal();
}

AsioDriver::~AsioDriver() {
  if (beside_.joinable()) beside_.join();
}

void AsioDriver::run_beside(Work work) {
  SPINDLE_CHECK(!is_beside_busy_);
  if (beside_.joinable()) beside_.join();  // it is done
  is_beside_busy_ = true;
  beside_ = std::thread([this, work = std::move(work)] {
    asio::post(io_, [this, finish = work()] {
      is_beside_busy_ = false;
      if (!stopping_) finish();
    });
  });
}

void AsioDriver::start(Node& node) {
  node_ = &node;
  node.start(now());
  node.end_turn(now());
  time_is_known_ = false;
  for (const auto& listener : listeners_) listener->start();
  datagram_sockets_.start();
}

void AsioDriver::run() {
  while (!is_finished()) turn();
}

void AsioDriver::turn() {
  if (!is_left_over()) io_.run_one();
  // First, so that what has come meanwhile is not only read but answered in this turn.
  shake_hands();
  for (int i = 0; i < kHandlersPerTurn && io_.poll_one() != 0; ++i) continue;
  for (const auto& listener : listeners_) listener->accept_ready();
  datagram_sockets_.read_ready();
  read_all();
  // Bytes that have waited as long as this thread was held up count before the timeouts that they prevent.
  if (time_is_known_ && deadline_ <= now_) {
    deadline_ = kNever;
    node_->handle_time(now_);
  }
  if (time_is_known_) node_->end_turn(now_);
  // The timer may have gone off in this turn: early, or after the time of the turn was read and before the deadline.
  if (deadline_ < timer_set_) arm_timer();
  for (const ConnectionId id : buried_) {
    const SocketConnection& connection = *find(id);
    if (connection.is_protected()) --protected_;
    unsent_ -= connection.counted_unsent;
    connections_.erase(static_cast<std::uint64_t>(id));
  }
  buried_.clear();
  time_is_known_ = false;
}

/// What another turn goes on with at once.
bool AsioDriver::is_left_over() const {
  const auto is_ready = [](const auto& listener) { return listener->is_ready(); };
  return !to_read_.empty() || has_handshakes_to_do() || datagram_sockets_.is_ready() ||
         std::any_of(listeners_.begin(), listeners_.end(), is_ready);
}

Time AsioDriver::now() {
  if (!time_is_known_) now_ = read_clock();
  time_is_known_ = true;
  return now_;
}

// Connections.

void AsioDriver::accepted(FileDescriptor socket, Port port, const std::string& peer, bool is_protected) {
  if (stopping_ && node_->is_stopped()) return;
  SocketConnection& connection = add(next_id(), std::move(socket), port);
  connection.is_new = true;
  if (!is_protected) return open_accepted(connection, peer);
  connection.state = SocketConnection::State::handshaking;
  if (!pending_.add(now(), connection.id, port, peer)) {
    ++handshakes_.refused;
    log_.warning("a connection from {} is refused: too many wait for their handshake", peer);
    return bury(connection);
  }
  start_handshakes(port);
}

void AsioDriver::open_accepted(SocketConnection& connection, const std::string& peer) {
  read_soon(connection);
  node_->handle_accepted(now(), connection.id, connection.port, peer_of(connection, peer));
}

ConnectionId AsioDriver::dial(std::string_view address) {
  const ConnectionId id = next_id();
  dialler_.dial(id, address);
  return id;
}

void AsioDriver::dialled(ConnectionId id, Result<FileDescriptor> socket) {
  if (!socket) return node_->handle_closed(now(), id, socket.error().message());
  SocketConnection& connection = add(id, std::move(*socket), Port::link);
  if (!protection_) return open_dialled(connection);
  connection.state = SocketConnection::State::handshaking;
  protect(connection, protection_.dialled_link);
  to_shake_[static_cast<std::size_t>(Port::link)].push_back(id);
}

void AsioDriver::open_dialled(SocketConnection& connection) {
  read_soon(connection);
  node_->handle_connected(now(), connection.id, Peer(std::string(), connection.identities()).identity());
}

std::size_t AsioDriver::write(ConnectionId id, std::span<const ByteView> buffers) {
  SocketConnection* connection = find(id);
  if (connection == nullptr || connection->state != SocketConnection::State::open) return 0;
  if (connection->waits_writable || !connection->write_failure.empty()) return 0;
  const IoResult result = connection->write(now(), buffers);
  if (result.is_failure()) {
    connection->write_failure = connection->reason_of(result);
    read_soon(*connection);  // which comes to the failure when it has read the peer's last words
  } else if (result.bytes < total_bytes(buffers) || connection->unsent() != 0) {
    wait_writable(*connection);
  }
  return result.bytes;
}

/// The kernel would answer bytes that nobody reads with a reset, and throw away what it has not yet sent. So the stream
/// is ended on this side, and the rest of the other side read, for a while.
void AsioDriver::close(ConnectionId id) {
  if (dialler_.cancel(id)) return;
  SocketConnection* connection = find(id);
  if (connection == nullptr) return;
  if (connection->state == SocketConnection::State::handshaking) return bury(*connection);
  if (connection->state != SocketConnection::State::open) return;
  if (!connection->write_failure.empty()) return bury(*connection);
  linger(*connection);
}

void AsioDriver::linger(SocketConnection& connection) {
  leave_line(connection);
  connection.state = SocketConnection::State::lingering;
  connection.finish_writing();
  end_protection(connection);
  if (connection.unsent() != 0) wait_writable(connection);
  lingering_.push_back({now() + kLingerTime, connection.id});
  end_lingering();
  read_soon(connection);
}

void AsioDriver::set_reading(ConnectionId id, bool on) {
  SocketConnection* connection = find(id);
  if (connection == nullptr) return;
  connection->reading = on;
  // Off costs nothing: when the connection turns readable it is left alone.
  if (on && !connection->waits_readable) read_soon(*connection);
}

Duration AsioDriver::shortest_round_trip(ConnectionId id) {
  SocketConnection* connection = find(id);
  return connection == nullptr ? Duration::zero() : connection->shortest_round_trip();
}

Duration AsioDriver::round_trip(ConnectionId id) {
  SocketConnection* connection = find(id);
  return connection == nullptr ? Duration::zero() : connection->round_trip();
}

std::size_t AsioDriver::unacknowledged_bytes(ConnectionId id) {
  SocketConnection* connection = find(id);
  return connection == nullptr ? 0 : connection->unacknowledged_bytes();
}

void AsioDriver::lose(SocketConnection& connection, const IoResult& failure) {
  const std::string why = connection.reason_of(failure);
  if (failure.error != IoResult::kProtectionFailed) return lose(connection, why);
  linger(connection);  // so that the alert reaches the peer
  node_->handle_closed(now(), connection.id, why);
}

void AsioDriver::lose(SocketConnection& connection, const std::string& why) {
  bury(connection);
  node_->handle_closed(now(), connection.id, why);
}

void AsioDriver::bury(SocketConnection& connection) {
  leave_line(connection);
  connection.state = SocketConnection::State::gone;
  connection.close();
  buried_.push_back(connection.id);
}

void AsioDriver::end_lingering() {
  const Time time = now();
  while (!lingering_.empty() && lingering_.front().until <= time) {
    SocketConnection* connection = find(lingering_.front().id);
    if (connection != nullptr && connection->state == SocketConnection::State::lingering) bury(*connection);
    lingering_.pop_front();
  }
  if (lingering_.empty() || linger_timer_set_) return;
  linger_timer_set_ = true;
  linger_timer_.expires_at(to_steady(lingering_.front().until));
  linger_timer_.async_wait([this](const std::error_code&) {
    linger_timer_set_ = false;
    end_lingering();
  });
}

SocketConnection& AsioDriver::add(ConnectionId id, FileDescriptor socket, Port port) {
  auto& slot = connections_[static_cast<std::uint64_t>(id)];
  slot = std::make_unique<SocketConnection>(io_, id, std::move(socket), port);
  return *slot;
}

SocketConnection* AsioDriver::find(ConnectionId id) {
  const auto found = connections_.find(static_cast<std::uint64_t>(id));
  return found == connections_.end() ? nullptr : found->second.get();
}

// Reading and waiting.

void AsioDriver::read_soon(SocketConnection& connection) {
  if (connection.in_read_list) return;
  connection.in_read_list = true;
  to_read_.push_back(connection.id);
}

void AsioDriver::read_all() {
  if (to_read_.empty()) return;
  being_read_.swap(to_read_);
  std::size_t total = 0;
  for (std::size_t i = 0; i < being_read_.size(); ++i) {
    if (total >= kReadPerTurn) {  // the others come first in the next turn
      to_read_.insert(to_read_.begin(), being_read_.begin() + static_cast<std::ptrdiff_t>(i), being_read_.end());
      break;
    }
    SocketConnection* connection = find(being_read_[i]);
    if (connection == nullptr) continue;
    connection->in_read_list = false;
    if (connection->state == SocketConnection::State::handshaking) {
      to_shake_[static_cast<std::size_t>(connection->port)].push_back(connection->id);
    }
    if (connection->state == SocketConnection::State::open) total += read_from(*connection);
    if (connection->state == SocketConnection::State::lingering) throw_away(*connection);
  }
  being_read_.clear();
}

std::size_t AsioDriver::read_from(SocketConnection& connection) {
  const bool write_failed = !connection.write_failure.empty();
  std::size_t total = 0;
  bool emptied = false;
  bool ends = false;
  while (connection.state == SocketConnection::State::open && connection.reading && !emptied &&
         total < kReadPerConnection) {
    std::span<std::uint8_t> space = node_->read_space(connection.id);
    space = space.first(std::min(space.size(), kReadPerConnection - total));
    const IoResult result = connection.read(space);
    total += result.bytes;
    emptied = result.bytes < space.size();
    ends = result.is_failure();
    if (result.bytes == 0) {
      if (!ends) continue;
      write_failed ? lose(connection, connection.write_failure) : lose(connection, result);
      return total;
    }
    if (std::exchange(connection.is_new, false) && refuse_at_wrong_port(connection, space.first(result.bytes))) break;
    node_->handle_read(now(), connection.id, result.bytes);
  }
  if (connection.state != SocketConnection::State::open) return total;
  if (connection.unsent() != 0) wait_writable(connection);  // reading has brought about an answer
  if (write_failed && (emptied || !connection.reading)) {
    lose(connection, connection.write_failure);
  } else if (connection.reading) {
    // An end that lay behind bytes is for the next turn: the node has not answered them yet.
    if (emptied && total < kBusyBytes && !write_failed && !ends) {
      wait_readable(connection);
    } else {
      read_soon(connection);
    }
  }
  return total;
}

bool AsioDriver::refuse_at_wrong_port(SocketConnection& connection, ByteView first_bytes) {
  const std::optional<Port> meant = find_meant_port(first_bytes);
  if (!meant || *meant == connection.port) return false;
  const std::string text = explain_wrong_port(daemon_name_, connection.port, *meant);
  log_.info("a connection is refused: {}", text);
  const std::vector<std::uint8_t> frame = encode_refusal(*meant, text);
  const ByteView buffers[] = {frame};
  write(connection.id, buffers);
  close(connection.id);
  node_->handle_closed(now(), connection.id, text);
  return true;
}

void AsioDriver::throw_away(SocketConnection& connection) {
  for (std::size_t total = 0; total < kReadPerConnection;) {
    const IoResult result = connection.discard(thrown_away_);
    if (result.would_block()) return wait_readable(connection);
    total += result.bytes;
    connection.thrown_away += result.bytes;
    if (result.is_failure() || connection.thrown_away > kLingerBytesMax) return bury(connection);
  }
  read_soon(connection);
}

void AsioDriver::wait_readable(SocketConnection& connection) {
  if (connection.waits_readable) return;
  connection.waits_readable = true;
  connection.wait_readable([this, id = connection.id](const std::error_code&) {
    SocketConnection* ready = find(id);
    if (ready == nullptr) return;
    ready->waits_readable = false;
    read_soon(*ready);
  });
}

void AsioDriver::wait_writable(SocketConnection& connection) {
  if (connection.waits_writable) return;
  connection.waits_writable = true;
  connection.counted_unsent = connection.unsent();  // while it waits it takes nothing more
  unsent_ += connection.counted_unsent;
  connection.wait_writable([this, id = connection.id](const std::error_code&) {
    SocketConnection* ready = find(id);
    if (ready == nullptr) return;
    ready->waits_writable = false;
    unsent_ -= std::exchange(ready->counted_unsent, 0);
    if (ready->state == SocketConnection::State::gone) return;
    if (const IoResult result = ready->flush(); result.is_failure()) {
      ready->write_failure = ready->reason_of(result);
      return read_soon(*ready);
    }
    if (ready->unsent() != 0) return wait_writable(*ready);
    if (ready->state == SocketConnection::State::lingering) end_protection(*ready);
    if (ready->state != SocketConnection::State::open) return;
    ready->drained(now());
    node_->handle_writable(now(), id);
  });
}

// Datagrams.

std::uint16_t AsioDriver::datagram_port(ConnectionId id) {
  SocketConnection* connection = find(id);
  return connection == nullptr ? 0 : datagram_sockets_.port_of(connection->descriptor());
}

std::optional<DatagramAddress> AsioDriver::datagram_address(ConnectionId id, std::uint16_t port) {
  SocketConnection* connection = find(id);
  if (connection == nullptr) return std::nullopt;
  return datagram_sockets_.address_of(connection->descriptor(), port);
}

std::unique_ptr<DatagramCipher> AsioDriver::datagram_cipher(ConnectionId id) { return find(id)->datagram_cipher(); }

std::size_t AsioDriver::send_datagrams(std::span<const OutgoingDatagram> datagrams) {
  return datagram_sockets_.send(datagrams);
}

// Time and signals.

std::optional<Driver::Secret> AsioDriver::draw_secret() {
  Secret secret;
  if (::getentropy(secret.data(), secret.size()) != 0) return std::nullopt;
  return secret;
}

std::optional<Driver::Digest> AsioDriver::sha256(ByteView bytes) const {
  Digest digest;
  ::SHA256(bytes.data(), bytes.size(), digest.data());
  return digest;
}

void AsioDriver::wake_at(Time deadline) {
  deadline_ = deadline;
  if (deadline_ < timer_set_) arm_timer();
}

void AsioDriver::arm_timer() {
  timer_set_ = deadline_;
  timer_.expires_at(to_steady(deadline_));
  timer_.async_wait([this](const std::error_code& replaced) {
    if (replaced) return;
    // The end of the turn sets it again where the deadline is still to come.
    timer_set_ = kNever;
    if (deadline_ <= read_clock()) now();  // asking for the time is what makes this a turn of the node
  });
}

void AsioDriver::wait_for_signal() {
  signals_.async_wait([this](const std::error_code& cancelled, int number) {
    if (cancelled) return;
    signalled(number);
    wait_for_signal();
  });
}

void AsioDriver::signalled(int number) {
  if (number == SIGHUP) return hang_up_();
  if (stopping_) {
    log_.warning("a second signal: stopping at once");
    out_of_patience_ = true;
    return;
  }
  log_.info("stopping on signal {}", number);
  stopping_ = true;
  stop_timer_.expires_at(to_steady(node_->stop(now()) + kStopPatience));
  stop_timer_.async_wait([this](const std::error_code&) {
    log_.warning("not every connection could be closed in time");
    out_of_patience_ = true;
  });
}

bool AsioDriver::is_finished() const {
  if (out_of_patience_) return true;
  if (!stopping_ || !node_->is_stopped()) return false;
  return std::none_of(connections_.begin(), connections_.end(),
                      [](const auto& entry) { return entry.second->state == SocketConnection::State::lingering; });
}

}  // namespace spindled
