#include "tests/sim/sim_host.h"

#include <algorithm>
#include <utility>

#include "daemon/base/check.h"
#include "tests/support/sha256.h"
#include "tests/support/toy_cipher.h"

namespace spindled::sim {

namespace {

StreamRef ref_of(ConnectionId connection) {
  const auto key = static_cast<std::uint64_t>(connection);
  return {key / 2, static_cast<std::uint8_t>(key % 2)};
}

ConnectionId id_of(StreamRef end) { return ConnectionId{end.key()}; }

}  // namespace

SimHost::SimHost(World world, NodeConfig config, std::string address, std::uint64_t seed)
    : world_(world),
      config_(std::move(config)),
      address_(std::move(address)),
      random_(seed),
      secrets_(~seed),
      log_(world.log, config_.name),
      index_(world.network.add_host(config_.name, address_, *this)),
      clock_offset_(std::chrono::milliseconds(random_.below(1'000'000))),
      recorder_(world.events, world.member_lists) {
  world_.network.datagrams().add_host(index_, *this);
}

SimHost::~SimHost() = default;

void SimHost::start() {
  SPINDLE_CHECK(node_ == nullptr);
  ++life_;
  config_.incarnation = draw_incarnation();
  world_.trace.record(world_.events.now(), index_, TraceEvent::start, config_.incarnation);
  world_.log.note(fmt::format("{} starts", name()));
  world_.network.restart(index_);
  Driver& driver = *this;
  recorder_.begin({config_.name, config_.incarnation});
  note_rules();
  if (config_.bulk.mesh && !watch_) watch_.emplace(name());
  node_ = std::make_unique<Node>(config_, driver, log_, random_.next(), world_.keep_histories ? &recorder_ : nullptr);
  in_turn_ = true;
  node_->start(node_time());
  node_->end_turn(node_time());
  in_turn_ = false;
}

std::uint64_t SimHost::draw_incarnation() {
  const std::uint64_t life = ++lives_;
  const std::uint64_t drawn = random_.next();
  switch (incarnations_) {
    case Incarnations::rising:
      return life << 32 | (drawn & 0xffffffff);
    case Incarnations::falling:
      return ((std::uint64_t{1} << 31) - life) << 32 | (drawn & 0xffffffff);
    case Incarnations::drawn:
      return drawn;
    case Incarnations::equal:
      return 1;
  }
  return drawn;
}

void SimHost::stop() {
  if (node_ == nullptr || stopping_) return;
  world_.log.note(fmt::format("{} stops", name()));
  stopping_ = true;
  in_turn_ = true;
  const Duration grace = node_->stop(node_time()) - node_time();
  node_->end_turn(node_time());
  in_turn_ = false;
  schedule_turn();
  world_.events.after(grace + kStopPatience, [this, life = life_] {
    if (life == life_ && node_ != nullptr) end_process();
  });
}

void SimHost::crash(bool silent) {
  SPINDLE_CHECK(!in_turn_);
  if (node_ == nullptr) return;
  world_.trace.record(world_.events.now(), index_, TraceEvent::crash, silent ? 1 : 0);
  world_.log.note(fmt::format("{} {}", name(), silent ? "loses power" : "is killed"));
  connections_.clear();
  recorder_.end(checkers::DaemonHistory::End::crashed);
  world_.network.crash(index_, silent);
  end_process();
}

void SimHost::end_process() {
  // The system closes what the process left open.
  for (const auto& [end, connection] : connections_) world_.network.abort(end, "connection reset by peer");
  connections_.clear();
  inputs_.clear();
  datagrams_waiting_ = 0;
  node_.reset();
  if (watch_) watch_->end();
  recorder_.end(checkers::DaemonHistory::End::stopped);
  ++life_;
  paused_ = stopping_ = turn_scheduled_ = catching_up_ = false;
  deadline_ = scheduled_wake_ = kNever;
  // A host without a daemon refuses connections; one that lost power stays silent.
  world_.network.process_ended(index_);
}

void SimHost::pause() {
  world_.log.note(fmt::format("{} stalls", name()));
  paused_ = true;
}

void SimHost::resume() {
  world_.log.note(fmt::format("{} goes on", name()));
  paused_ = false;
  catching_up_ = true;
  if (node_ != nullptr) schedule_turn();
}

void SimHost::reload() {
  if (node_ == nullptr) return;
  world_.log.note(fmt::format("{} is to read its configuration", name()));
  push({InputKind::hang_up, {}, {}, {}});
}

void SimHost::act(Act act) {
  if (node_ == nullptr) return;
  Input input;
  input.kind = InputKind::act;
  input.act = std::move(act);
  push(std::move(input));
}

void SimHost::note_rules() {
  if (rules_.empty() && config_.access == AccessConfig()) return;
  rules_.push_back({config_.name, world_.events.now(), config_.access});
}

void SimHost::expect(StreamRef end, std::vector<std::string> identities) {
  if (!identities.empty()) expected_[end] = std::move(identities);
}

// Turns.

void SimHost::push(Input input) {
  inputs_.push_back(std::move(input));
  schedule_turn();
}

void SimHost::push_readable(Connection& connection) {
  if (connection.read_pending || !connection.connected || !connection.reading) return;
  connection.read_pending = true;
  push({InputKind::readable, connection.end, {}, {}});
}

void SimHost::schedule_turn() {
  if (turn_scheduled_ || paused_) return;
  turn_scheduled_ = true;
  const Duration wait = std::chrono::microseconds(1 + random_.below(30)) + busy_time();
  world_.events.after(wait, [this, life = life_] {
    if (life == life_) turn();
  });
}

/// How long a turn took that had more to do than it may: virtual time goes by while it is left, as it would for other
/// daemons. Where a test has turns do less, each unit takes longer.
Duration SimHost::busy_time() const {
  if (node_ == nullptr) return {};
  const std::size_t max = config_.turn_work_max, done = node_->work().last_turn;
  if (done < max) return {};
  constexpr Duration kUnitMax = 100us, kFullTurn = 10ms;
  return static_cast<std::int64_t>(done) * std::min<Duration>(kUnitMax, kFullTurn / static_cast<std::int64_t>(max));
}

void SimHost::turn() {
  turn_scheduled_ = false;
  if (node_ == nullptr || paused_) return;
  ++turns_;
  const Time now = node_time();
  in_turn_ = true;
  has_acted_ = false;
  const bool is_by_clock = inputs_.empty();
  do {
    datagrams_waiting_ = 0;
    handled_.swap(inputs_);
    for (const Input& input : handled_) {
      handle(now, input);
      if (watch_) watch_->handled(*node_);
    }
    handled_.clear();
  } while (catching_up_ && !inputs_.empty());
  catching_up_ = false;
  if (deadline_ <= now) {
    deadline_ = kNever;
    node_->handle_time(now);
    if (watch_) watch_->handled(*node_);
  }
  node_->end_turn(now);
  in_turn_ = false;
  const NodeWork work = node_->work();
  note_spin(is_by_clock && !has_acted_ && work.last_turn == 0 && work.last_input == 0 && deadline_ <= now);
  if (stopping_ && node_->is_stopped()) end_process();
}

void SimHost::note_spin(bool is_idle) {
  spin_ = is_idle ? spin_ + 1 : 0;
  longest_spin_ = std::max(longest_spin_, spin_);
}

/// Administrators are root. Clients may send tokens, and need none.
Peer SimHost::peer_of(const Input& input) {
  Peer peer(input.text);
  peer.is_private = true;
  peer.may_come_back = input.port == Port::client;
  if (input.port == Port::admin) peer.identities.emplace_back("uid:0");
  if (auto expected = expected_.extract(input.end)) peer.identities = std::move(expected.mapped());
  return peer;
}

void SimHost::handle(Time now, const Input& input) {
  if (input.kind == InputKind::hang_up) {
    note_rules();
    return node_->reconfigure(now, config_);
  }
  if (input.kind == InputKind::datagram) {
    std::vector<std::uint8_t> bytes = input.datagram;
    const IncomingDatagram datagram{input.from, bytes};
    return node_->handle_datagrams(now, {&datagram, 1});
  }
  if (input.kind == InputKind::act) return input.act(*node_, now);
  const auto found = connections_.find(input.end);
  if (found == connections_.end()) return;  // closed by the node in the meantime
  Connection& connection = found->second;
  switch (input.kind) {
    case InputKind::accepted:
      connection.connected = true;
      node_->handle_accepted(now, id_of(input.end), input.port, peer_of(input));
      if (const auto still = connections_.find(input.end); still != connections_.end()) push_readable(still->second);
      break;
    case InputKind::connected:
      connection.connected = true;
      node_->handle_connected(now, id_of(input.end));
      if (const auto still = connections_.find(input.end); still != connections_.end()) push_readable(still->second);
      break;
    case InputKind::readable:
      connection.read_pending = false;
      read(now, input.end);
      break;
    case InputKind::writable:
      node_->handle_writable(now, id_of(input.end));
      break;
    case InputKind::closed:
      connections_.erase(found);
      if (watch_) watch_->closed(input.end);
      node_->handle_closed(now, id_of(input.end), input.text);
      break;
    case InputKind::hang_up:
    case InputKind::datagram:
    case InputKind::act:
      break;  // of no connection
  }
}

void SimHost::read(Time now, StreamRef end) {
  std::size_t total = 0;
  for (;;) {
    // The node may have closed the connection, or stopped reading, in the call before.
    const auto found = connections_.find(end);
    if (found == connections_.end() || !found->second.reading) return;
    const std::size_t available = world_.network.readable(end);
    if (available == 0) {
      if (!world_.network.at_end(end)) return;
      connections_.erase(found);
      if (watch_) watch_->closed(end);
      world_.network.close(end);
      node_->handle_closed(now, id_of(end), "closed by the peer");
      return;
    }
    if (total >= kReadBytesPerTurn) {
      push_readable(found->second);
      return;
    }
    std::span<std::uint8_t> space = node_->read_space(id_of(end));
    SPINDLE_CHECK(!space.empty());
    std::size_t wanted = std::min(space.size(), available);
    if (wanted > 1 && random_.below(8) == 0) wanted = 1 + random_.below(wanted);
    const std::size_t count = world_.network.read(end, space.first(wanted));
    total += count;
    if (watch_) watch_->reading(*node_, end, space.first(count));
    node_->handle_read(now, id_of(end), count);
    if (watch_) watch_->handled(*node_);
  }
}

// Driver.

ConnectionId SimHost::dial(std::string_view address) {
  SPINDLE_CHECK(in_turn_);
  has_acted_ = true;
  world_.trace.record(world_.events.now(), index_, TraceEvent::dial, address);
  const StreamRef end = world_.network.dial(index_, address, *this);
  connections_[end].end = end;
  return id_of(end);
}

std::size_t SimHost::write(ConnectionId connection, std::span<const ByteView> buffers) {
  SPINDLE_CHECK(in_turn_);
  const StreamRef end = ref_of(connection);
  const auto found = connections_.find(end);
  SPINDLE_CHECK(found != connections_.end());  // the node writes to what it closed or lost
  SPINDLE_CHECK(found->second.connected);      // or to what is not open yet
  const std::size_t taken = lies_to_peers_ ? write_lies(found->second, buffers) : world_.network.write(end, buffers);
  has_acted_ = has_acted_ || taken != 0;
  if (watch_) watch_->wrote(world_.events.now(), *node_, end, buffers, taken);
  world_.trace.record_write(world_.events.now(), index_, end.key(), buffers, taken);
  return taken;
}

std::size_t SimHost::write_lies(Connection& connection, std::span<const ByteView> buffers) {
  if (!connection.lies) connection.lies.emplace();
  std::vector<std::uint8_t> bytes;
  for (const ByteView& buffer : buffers) bytes.insert(bytes.end(), buffer.begin(), buffer.end());
  const std::vector<std::uint8_t> lies = connection.lies->lies_of(bytes);
  const ByteView view(lies);
  const std::size_t taken = world_.network.write(connection.end, {&view, 1});
  connection.lies->written(bytes, taken);
  return taken;
}

void SimHost::close(ConnectionId connection) {
  SPINDLE_CHECK(in_turn_);
  has_acted_ = true;
  const StreamRef end = ref_of(connection);
  world_.trace.record(world_.events.now(), index_, TraceEvent::close, end.key());
  SPINDLE_CHECK(connections_.erase(end) == 1);
  if (watch_) watch_->closed(end);
  world_.network.close(end);
}

void SimHost::set_reading(ConnectionId connection, bool on) {
  SPINDLE_CHECK(in_turn_);
  has_acted_ = true;
  const StreamRef end = ref_of(connection);
  world_.trace.record(world_.events.now(), index_, TraceEvent::set_reading, end.key() << 1 | (on ? 1 : 0));
  const auto found = connections_.find(end);
  SPINDLE_CHECK(found != connections_.end());
  found->second.reading = on;
  if (on && (world_.network.readable(end) > 0 || world_.network.at_end(end))) push_readable(found->second);
}

Duration SimHost::shortest_round_trip(ConnectionId connection) {
  return world_.network.shortest_round_trip(ref_of(connection));
}

Duration SimHost::round_trip(ConnectionId connection) { return world_.network.round_trip(ref_of(connection)); }

std::size_t SimHost::unacknowledged_bytes(ConnectionId connection) {
  return world_.network.unacknowledged_bytes(ref_of(connection));
}

/// "token-of-web" is the token of "token:web".
Result<std::string> SimHost::identify(ConnectionId, std::string_view token) {
  constexpr std::string_view kPrefix = "token-of-";
  if (!token.starts_with(kPrefix)) return fail(Errc::token_unknown);
  return fmt::format("token:{}", token.substr(kPrefix.size()));
}

std::optional<Driver::Secret> SimHost::draw_secret() {
  Secret secret;
  for (std::uint8_t& byte : secret) byte = static_cast<std::uint8_t>(secrets_.below(256));
  return secret;
}

std::optional<Driver::Digest> SimHost::sha256(ByteView bytes) const { return spindle::test::Sha256().hash(bytes); }

std::uint16_t SimHost::datagram_port(ConnectionId) {
  const DatagramNetwork& datagrams = world_.network.datagrams();
  return datagrams.is_on() ? datagrams.address_of(index_).port : std::uint16_t{0};
}

std::optional<DatagramAddress> SimHost::datagram_address(ConnectionId connection, std::uint16_t port) {
  return DatagramNetwork::make_address(world_.network.peer_host(ref_of(connection)), port);
}

std::unique_ptr<DatagramCipher> SimHost::datagram_cipher(ConnectionId connection) {
  if (!world_.network.datagrams().is_protecting()) return nullptr;
  const StreamRef end = ref_of(connection);
  return std::make_unique<test::ToyCipher>(end.stream, end.side == 0);
}

std::size_t SimHost::send_datagrams(std::span<const OutgoingDatagram> datagrams) {
  SPINDLE_CHECK(in_turn_);
  has_acted_ = true;
  for (const OutgoingDatagram& each : datagrams) {
    world_.trace.record(world_.events.now(), index_, TraceEvent::datagram, spindle::as_text(each.bytes));
    world_.network.datagrams().send(index_, each.to, each.bytes);
  }
  return datagrams.size();
}

void SimHost::datagram_arrived(const DatagramAddress& from, std::vector<std::uint8_t> bytes) {
  if (node_ == nullptr || datagrams_waiting_ == kDatagramsWaitingMax) return;
  ++datagrams_waiting_;
  push({InputKind::datagram, {}, {}, {}, from, std::move(bytes)});
}

void SimHost::wake_at(Time deadline) {
  if (deadline == deadline_) return;
  deadline_ = deadline;
  world_.trace.record(world_.events.now(), index_, TraceEvent::wake,
                      static_cast<std::uint64_t>(deadline.time_since_epoch().count()));
  schedule_wake();
}

void SimHost::schedule_wake() {
  // One event is enough for a deadline that keeps moving away: when it comes it looks where the deadline is by then.
  if (deadline_ == kNever || deadline_ >= scheduled_wake_) return;
  scheduled_wake_ = deadline_;
  world_.events.at(deadline_ - clock_offset_, [this, life = life_, mine = deadline_] {
    if (life != life_ || mine != scheduled_wake_) return;
    scheduled_wake_ = kNever;
    if (deadline_ <= node_time()) {
      schedule_turn();
    } else {
      schedule_wake();
    }
  });
}

// StreamOwner, StreamListener.

void SimHost::stream_connected(StreamRef end) { push({InputKind::connected, end, {}, {}}); }

void SimHost::stream_readable(StreamRef end) {
  if (const auto found = connections_.find(end); found != connections_.end()) push_readable(found->second);
}

void SimHost::stream_writable(StreamRef end) { push({InputKind::writable, end, {}, {}}); }

void SimHost::stream_closed(StreamRef end, std::string_view why) {
  push({InputKind::closed, end, {}, std::string(why)});
}

StreamOwner* SimHost::stream_accepted(StreamRef end, Port port, std::string_view peer) {
  if (node_ == nullptr || node_->is_stopped()) return nullptr;
  connections_[end].end = end;
  push({InputKind::accepted, end, port, std::string(peer)});
  return this;
}

}  // namespace spindled::sim
