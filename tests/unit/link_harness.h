// Daemons of which only the links exist, joined in memory: streams with a capacity that tests control, on a clock that
// moves only when told to.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/link/links.h"
#include "tests/support/toy_cipher.h"

namespace spindled::test {

class LinkNet;

struct LinkEvent {
  enum Kind { up, down, frame, round_trip } kind{};
  LinkId link{};
  std::string peer;
  LinkFrame type{};
  std::string body;
  Error reason;
};

class LinkDaemon final : public Driver, public LinkEvents, public LogSink {
 public:
  LinkDaemon(LinkNet& net, NodeConfig config, std::uint64_t seed)
      : net_(net), context(std::move(config), *this, seed), links(context, *this) {
    links.attach(*this);
  }

  // Driver
  ConnectionId dial(std::string_view address) override;
  std::size_t write(ConnectionId connection, std::span<const ByteView> buffers) override;
  void close(ConnectionId connection) override;
  void set_reading(ConnectionId, bool) override {}
  Duration shortest_round_trip(ConnectionId) override { return round_trip_below; }
  void wake_at(Time) override {}
  std::uint16_t datagram_port(ConnectionId) override { return datagrams_at.port; }
  std::optional<DatagramAddress> datagram_address(ConnectionId connection, std::uint16_t port) override;
  std::unique_ptr<DatagramCipher> datagram_cipher(ConnectionId connection) override;
  std::size_t send_datagrams(std::span<const OutgoingDatagram> datagrams) override;
  std::optional<Secret> draw_secret() override {
    Secret secret{};
    Writer writer(secret.data());
    writer.u64(context.random.next());
    return secret;
  }

  // LinkEvents
  void link_up(Time, LinkId link) override {
    events.push_back({LinkEvent::up, link, links.peer(link).name, {}, {}, {}});
  }
  void link_down(Time, LinkId link, const Error& reason) override {
    EXPECT_FALSE(links.is_established(link));
    events.push_back({LinkEvent::down, link, links.peer(link).name, {}, {}, reason});
  }
  void frame_received(Time, LinkId link, LinkFrame type, Slice body) override {
    events.push_back(
        {LinkEvent::frame, link, links.peer(link).name, type, std::string(spindle::as_text(body.view())), {}});
  }
  void round_trip_changed(Time, LinkId link) override {
    events.push_back({LinkEvent::round_trip, link, links.peer(link).name, {}, {}, {}});
  }

  void partition_learned(Time now, const PartitionOrder& order) override {
    learned.push_back(order);
    if (links.partition().is_news(order)) links.impose(now, order);
  }

  // LogSink
  bool wants(LogLevel) const override { return true; }
  void write(LogLevel level, std::string_view, std::string_view line) override {
    log.push_back({level, std::string(line)});
  }

  std::vector<LinkEvent> of_kind(LinkEvent::Kind kind) const {
    std::vector<LinkEvent> result;
    std::copy_if(events.begin(), events.end(), std::back_inserter(result), [&](auto& e) { return e.kind == kind; });
    return result;
  }
  std::size_t logged(LogLevel level, std::string_view part = {}) const {
    return static_cast<std::size_t>(std::count_if(log.begin(), log.end(), [&](const auto& line) {
      return line.first == level && line.second.find(part) != std::string::npos;
    }));
  }
  std::uint64_t closes(Errc code) const { return context.counters.closes(static_cast<std::uint16_t>(code)); }
  /// The one established link to `peer`.
  LinkId link_to(std::string_view peer) const {
    for (const LinkId link : links.established()) {
      if (links.peer(link).name == peer) return link;
    }
    ADD_FAILURE() << "no link to " << peer;
    return {};
  }
  Slice slice(std::string_view text) { return context.arena.copy(spindle::as_bytes(text)); }
  const std::string& name() const { return context.config.name; }

 private:
  LinkNet& net_;

 public:
  Context context;
  Links links;
  DatagramAddress datagrams_at;          // of its socket for datagrams; port 0: it has none
  std::size_t datagram_room = SIZE_MAX;  // so many datagrams are taken in one call
  Duration round_trip_below{};           // as the driver tells it; zero: it does not know
  std::vector<LinkEvent> events;
  std::vector<PartitionOrder> learned;
  std::vector<std::pair<LogLevel, std::string>> log;
};

struct LinkStream {
  struct Side {
    LinkDaemon* daemon = nullptr;  // none: a stranger, played by the test
    ConnectionId id{};
    bool open = true;
    std::string inbox;        // on its way to this side
    bool wants_room = false;  // had a short write
  };
  std::array<Side, 2> sides;        // 0 dialled
  std::size_t capacity = SIZE_MAX;  // bytes on the way, per direction
  bool held = false;                // nothing moves
  bool connected = false;
  std::string address;
};

struct FlyingDatagram {
  DatagramAddress from, to;
  std::string bytes;
};

class LinkNet {
 public:
  static NodeConfig config(std::string name, std::vector<std::string> neighbours = {}) {
    NodeConfig result;
    result.name = std::move(name);
    result.incarnation = 1;
    for (std::string& address : neighbours) result.link.neighbours.push_back({std::move(address), 0});
    return result;
  }

  /// Reachable at every address that `listens` names, its own name first.
  LinkDaemon& add(NodeConfig config) {
    auto daemon = std::make_unique<LinkDaemon>(*this, std::move(config), 7 + daemons_.size());
    LinkDaemon& result = *daemon;
    listeners[result.name()] = &result;
    result.datagrams_at.host[0] = static_cast<std::uint8_t>(1 + daemons_.size());
    daemons_.push_back(std::move(daemon));
    return result;
  }
  void start(LinkDaemon& daemon) {
    daemon.links.start(now);
    daemon.links.flush(now);
  }
  /// The process is gone: its streams break, its address refuses.
  void kill(LinkDaemon& daemon) {
    for (auto& stream : streams) {
      for (std::size_t i = 0; i < 2; ++i) {
        if (stream->sides[i].daemon == &daemon) stream->sides[i].open = false;
      }
    }
    std::erase_if(listeners, [&](const auto& item) { return item.second == &daemon; });
    dead_.push_back(&daemon);
  }

  /// Side 0 is the test's to write to and read from.
  LinkStream& stranger(LinkDaemon& daemon) {
    LinkStream& stream = add_stream();
    stream.sides[1].daemon = &daemon;
    stream.connected = true;
    daemon.links.handle_accepted(now, stream.sides[1].id, "stranger");
    daemon.links.flush(now);
    return stream;
  }

  /// Lets everything happen that can happen now.
  void settle() {
    for (int round = 0; step(); ++round) ASSERT_LT(round, 100'000) << "the links never come to rest";
  }
  void advance(Duration duration) {
    const Time end = now + duration;
    settle();
    for (;;) {
      Time next = end;
      for (auto& daemon : daemons_) {
        if (alive(*daemon)) next = std::min(next, daemon->links.next_deadline());
      }
      now = std::max(now, next);
      for (auto& daemon : daemons_) {
        if (!alive(*daemon) || daemon->links.next_deadline() > now) continue;
        daemon->links.handle_time(now);
        daemon->links.flush(now);
        ASSERT_GT(daemon->links.next_deadline(), now) << "a deadline that does not move";
      }
      settle();
      if (now >= end) return;
    }
  }

  LinkStream& add_stream() {
    auto& stream = streams.emplace_back(std::make_unique<LinkStream>());
    for (auto& side : stream->sides) side.id = static_cast<ConnectionId>(++last_id_);
    return *stream;
  }
  LinkStream* find(ConnectionId id, std::size_t& side) {
    for (auto& stream : streams) {
      for (side = 0; side < 2; ++side) {
        if (stream->sides[side].id == id) return stream.get();
      }
    }
    return nullptr;
  }
  std::size_t open_streams() const {
    return static_cast<std::size_t>(std::count_if(streams.begin(), streams.end(), [](const auto& stream) {
      return stream->connected && stream->sides[0].open && stream->sides[1].open;
    }));
  }

  /// Gives it to whoever has the address that it is for.
  void deliver(const FlyingDatagram& datagram) {
    for (auto& daemon : daemons_) {
      if (daemon->datagrams_at != datagram.to || !alive(*daemon)) continue;
      std::vector<std::uint8_t> bytes(datagram.bytes.begin(), datagram.bytes.end());
      const IncomingDatagram incoming{datagram.from, bytes};
      daemon->links.handle_datagrams(now, {&incoming, 1});
      daemon->links.flush(now);
    }
  }

  Time now{1s};
  std::vector<FlyingDatagram> flying;     // datagrams on their way
  std::vector<FlyingDatagram> datagrams;  // all that were ever sent
  std::function<bool(const FlyingDatagram&)> loses = [](const FlyingDatagram&) { return false; };
  bool seals = false;                            // links that come up protect their datagrams
  std::map<std::string, LinkDaemon*> listeners;  // by address
  std::vector<std::unique_ptr<LinkStream>> streams;
  std::size_t chunk = SIZE_MAX;  // bytes of one read
  bool black_hole = false;       // dials of unknown addresses hang rather than fail
  std::vector<std::pair<std::string, Time>> dials;

 private:
  bool alive(const LinkDaemon& daemon) const { return std::find(dead_.begin(), dead_.end(), &daemon) == dead_.end(); }

  bool step() {
    bool moved = !flying.empty();
    for (const FlyingDatagram& datagram : std::exchange(flying, {})) {
      if (!loses(datagram)) deliver(datagram);
    }
    for (std::size_t i = 0; i < streams.size(); ++i) {
      LinkStream& stream = *streams[i];
      if (stream.held) continue;
      if (stream.connected) {
        moved |= move(stream, 0);
        moved |= move(stream, 1);
      } else {
        moved |= connect(stream);
      }
    }
    return moved;
  }

  bool connect(LinkStream& stream) {
    auto& [dialler, acceptor] = stream.sides;
    if (!dialler.open || !alive(*dialler.daemon)) return false;
    const auto listener = listeners.find(stream.address);
    if (listener == listeners.end()) {
      if (black_hole) return false;
      dialler.open = false;
      dialler.daemon->links.handle_closed(now, dialler.id, "connection refused");
      dialler.daemon->links.flush(now);
      return true;
    }
    stream.connected = true;
    acceptor.daemon = listener->second;
    acceptor.daemon->links.handle_accepted(now, acceptor.id, dialler.daemon->name() + ":1024");
    acceptor.daemon->links.flush(now);
    dialler.daemon->links.handle_connected(now, dialler.id);
    dialler.daemon->links.flush(now);
    return true;
  }

  /// Delivers to one side what is on its way there: bytes, room, the end.
  bool move(LinkStream& stream, std::size_t index) {
    auto& side = stream.sides[index];
    auto& other = stream.sides[1 - index];
    if (!side.open || side.daemon == nullptr) return false;
    Links& links = side.daemon->links;
    bool moved = false;
    if (!side.inbox.empty()) {
      const std::span<std::uint8_t> space = links.read_space(side.id);
      const std::size_t bytes = std::min({space.size(), side.inbox.size(), chunk});
      std::copy_n(side.inbox.begin(), bytes, space.begin());
      side.inbox.erase(0, bytes);
      links.handle_read(now, side.id, bytes);
      moved = true;
    } else if (!other.open) {
      side.open = false;
      links.handle_closed(now, side.id, "closed by the other side");
      moved = true;
    }
    if (side.open && side.wants_room && other.inbox.size() < stream.capacity) {
      side.wants_room = false;
      links.handle_writable(now, side.id);
      moved = true;
    }
    links.flush(now);
    return moved;
  }

  std::vector<std::unique_ptr<LinkDaemon>> daemons_;
  std::vector<const LinkDaemon*> dead_;
  std::uint64_t last_id_ = 0;
};

inline ConnectionId LinkDaemon::dial(std::string_view address) {
  net_.dials.push_back({std::string(address), net_.now});
  LinkStream& stream = net_.add_stream();
  stream.sides[0].daemon = this;
  stream.address = address;
  return stream.sides[0].id;
}

inline std::size_t LinkDaemon::write(ConnectionId connection, std::span<const ByteView> buffers) {
  std::size_t index = 0;
  LinkStream* stream = net_.find(connection, index);
  EXPECT_TRUE(stream != nullptr && stream->sides[index].open);
  std::string& inbox = stream->sides[1 - index].inbox;
  std::size_t taken = 0;
  for (const ByteView& buffer : buffers) {
    EXPECT_FALSE(buffer.empty());
    const std::size_t bytes = std::min(buffer.size(), stream->capacity - std::min(inbox.size(), stream->capacity));
    inbox.append(spindle::as_text(buffer.first(bytes)));
    taken += bytes;
    if (bytes < buffer.size()) {
      stream->sides[index].wants_room = true;
      break;
    }
  }
  return taken;
}

inline std::optional<DatagramAddress> LinkDaemon::datagram_address(ConnectionId connection, std::uint16_t port) {
  std::size_t index = 0;
  DatagramAddress to{.port = port};
  const LinkDaemon* const peer = net_.find(connection, index)->sides[1 - index].daemon;
  if (peer != nullptr) to.host = peer->datagrams_at.host;
  return to;
}

inline std::unique_ptr<DatagramCipher> LinkDaemon::datagram_cipher(ConnectionId connection) {
  std::size_t index = 0;
  const LinkStream* const stream = net_.find(connection, index);
  if (!net_.seals) return nullptr;
  return std::make_unique<ToyCipher>(static_cast<std::uint64_t>(stream->sides[0].id), index == 0);
}

inline std::size_t LinkDaemon::send_datagrams(std::span<const OutgoingDatagram> datagrams) {
  const std::size_t count = std::min(datagram_room, datagrams.size());
  for (const OutgoingDatagram& each : datagrams.first(count)) {
    net_.flying.push_back({datagrams_at, each.to, std::string(spindle::as_text(each.bytes))});
    net_.datagrams.push_back(net_.flying.back());
  }
  return count;
}

inline void LinkDaemon::close(ConnectionId connection) {
  std::size_t index = 0;
  LinkStream* stream = net_.find(connection, index);
  EXPECT_TRUE(stream != nullptr && stream->sides[index].open);
  stream->sides[index].open = false;
}

/// A whole frame as bytes.
inline std::string frame(LinkFrame type, std::string_view body) {
  std::string bytes(kFrameHeadBytes, '\0');
  Writer writer(reinterpret_cast<std::uint8_t*>(bytes.data()));
  write_frame_head(writer, static_cast<std::uint8_t>(type), body.size());
  return bytes + std::string(body);
}

inline std::string control_frame(const ControlMessage& message) {
  return frame(LinkFrame::control, spindle::as_text(ByteView(encode_control(message))));
}

/// The frames in `bytes`, which holds whole ones only.
inline std::vector<std::pair<LinkFrame, std::string>> frames_of(std::string_view bytes) {
  std::vector<std::pair<LinkFrame, std::string>> result;
  while (!bytes.empty()) {
    const auto head = spindle::read_frame_head(spindle::as_bytes(bytes));
    if (!head || bytes.size() < kFrameHeadBytes + head->length) {
      ADD_FAILURE() << "a frame is cut short";
      return result;
    }
    result.emplace_back(static_cast<LinkFrame>(head->type), bytes.substr(kFrameHeadBytes, head->length));
    bytes.remove_prefix(kFrameHeadBytes + head->length);
  }
  return result;
}

}  // namespace spindled::test
