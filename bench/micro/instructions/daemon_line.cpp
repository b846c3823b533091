#include "bench/micro/instructions/daemon_line.h"

#include <algorithm>
#include <cstring>

namespace spindled::bench {

namespace {

constexpr std::size_t kDaemons = 3;
constexpr Duration kIdle = 1ms;
/// From one batch to the next: so long that reports of what was received, which may take 50 ms, come before the window
/// of what was not is full.
constexpr Duration kRound = 5ms;
constexpr std::string_view kGroup = "group";
/// What a flow earns and may save here: admission does all its work, and nobody ever waits.
constexpr double kPlenty = 1e9;

std::string name_of(std::size_t daemon) { return std::string(1, static_cast<char>('a' + daemon)); }

std::vector<std::uint8_t> take_output(spindle::protocol::ClientEngine& engine) {
  const ByteView output = engine.output();
  std::vector<std::uint8_t> bytes(output.begin(), output.end());
  engine.consume(bytes.size());
  return bytes;
}

}  // namespace

ConnectionId WireDriver::dial(std::string_view address) {
  dials.push_back({new_connection(), std::string(address)});
  return dials.back().connection;
}

std::size_t WireDriver::write(ConnectionId connection, std::span<const ByteView> buffers) {
  std::size_t taken = 0;
  meter_.not_counted([&] {
    std::vector<std::uint8_t>& out = written[connection];
    for (const ByteView& buffer : buffers) {
      out.insert(out.end(), buffer.begin(), buffer.end());
      taken += buffer.size();
    }
  });
  return taken;
}

DaemonLine::DaemonLine(Meter& meter, const CountedParts& counted, std::size_t readers, std::size_t bytes,
                       spindle::Service service)
    : meter_(meter), counted_(counted), service_(service), payload_(bytes) {
  for (std::size_t i = 0; i < kDaemons; ++i) {
    daemons_.push_back(std::make_unique<Daemon>(meter, config(i), silence_));
    daemons_[i]->node.start(now_);
  }
  pass_time(2s);
  const View& view = daemons_.front()->node.view();
  SPINDLE_CHECK(view.size() == kDaemons && view.members[view.sequencer].name == "b");
  writer_ = &open_client(0, "writer");
  for (std::size_t i = 0; i < readers; ++i) {
    SPINDLE_CHECK(!open_client(kDaemons - 1, "reader" + std::to_string(i)).engine.join(kGroup));
  }
  pass_time(1s);
  // Its first message opens the flow, which then has earned enough for all that follow.
  send(1);
  pass_time(1s);
  SPINDLE_CHECK(received_ == readers);
}

NodeConfig DaemonLine::config(std::size_t daemon) const {
  NodeConfig config;
  config.name = name_of(daemon);
  config.incarnation = 1;
  if (daemon + 1 < kDaemons) config.link.neighbours.push_back({name_of(daemon + 1), 1});
  config.admission.salary = kPlenty;
  config.admission.savings_max = kPlenty;
  return config;
}

DaemonLine::Client& DaemonLine::open_client(std::size_t daemon, const std::string& name) {
  Daemon& at = *daemons_[daemon];
  Client& client = clients_.emplace_back();
  client.daemon = daemon;
  client.connection = at.driver.new_connection();
  at.node.handle_accepted(now_, client.connection, Port::client, name);
  spindle::protocol::Hello hello;
  hello.name = name;
  client.engine.start(hello);
  pass_time(2 * kIdle);
  SPINDLE_CHECK(client.engine.is_open());
  return client;
}

void DaemonLine::pass_time(Duration duration) {
  for (const Time end = now_ + duration; now_ < end;) turn(kIdle);
}

void DaemonLine::round() {
  if (counted_.writer) {
    meter_.counted([&] { send(kBatch); });
  } else {
    send(kBatch);
  }
  received_ = 0;
  turn(kRound);
  SPINDLE_CHECK(received_ == kBatch * (clients_.size() - 1));
}

void DaemonLine::send(std::size_t messages) {
  for (std::size_t i = 0; i < messages; ++i) {
    SPINDLE_CHECK(!writer_->engine.multicast(service_, kGroup, std::span(payload_)));
  }
}

void DaemonLine::turn(Duration step) {
  now_ += step;
  for (std::size_t i = 0; i < kDaemons; ++i) {
    Daemon& daemon = *daemons_[i];
    answer_dials(i);
    read_clients(i);
    read_links(i);
    at(i, [&] {
      // As often as it has more to write than a turn may.
      do {
        if (daemon.driver.take_due(now_)) daemon.node.handle_time(now_);
        daemon.node.end_turn(now_);
      } while (daemon.driver.deadline() <= now_);
    });
  }
  give_readers();
}

void DaemonLine::answer_dials(std::size_t daemon) {
  Daemon& from = *daemons_[daemon];
  for (const WireDriver::Dial& dial : std::exchange(from.driver.dials, {})) {
    const auto to = static_cast<std::size_t>(dial.address[0] - 'a');
    const Link link{daemon, to, dial.connection, daemons_[to]->driver.new_connection()};
    links_.push_back(link);
    daemons_[to]->node.handle_accepted(now_, link.at_to, Port::link, name_of(daemon));
    from.node.handle_connected(now_, link.at_from);
  }
}

void DaemonLine::read_links(std::size_t daemon) {
  for (const Link& link : links_) {
    if (link.to == daemon) put(daemon, link.at_to, daemons_[link.from]->driver.written[link.at_from]);
    if (link.from == daemon) put(daemon, link.at_from, daemons_[link.to]->driver.written[link.at_to]);
  }
}

void DaemonLine::read_clients(std::size_t daemon) {
  for (Client& client : clients_) {
    if (client.daemon != daemon) continue;
    std::vector<std::uint8_t> bytes = take_output(client.engine);
    put(daemon, client.connection, bytes);
  }
}

void DaemonLine::put(std::size_t daemon, ConnectionId connection, std::vector<std::uint8_t>& bytes) {
  Node& node = daemons_[daemon]->node;
  ByteView left = bytes;
  while (!left.empty()) {
    std::span<std::uint8_t> space;
    at(daemon, [&] { space = node.read_space(connection); });
    const std::size_t part = std::min(space.size(), left.size());
    std::memcpy(space.data(), left.data(), part);
    at(daemon, [&] { node.handle_read(now_, connection, part); });
    left = left.subspan(part);
  }
  bytes.clear();
}

void DaemonLine::give_readers() {
  for (Client& client : clients_) {
    std::vector<std::uint8_t>& bytes = daemons_[client.daemon]->driver.written[client.connection];
    std::vector<spindle::Event> events;
    const auto receive = [&] {
      client.engine.handle_bytes(bytes);
      events = client.engine.take_events();
    };
    if (counted_.readers && &client != writer_) {
      meter_.counted(receive);
    } else {
      receive();
    }
    bytes.clear();
    received_ += static_cast<std::size_t>(std::count_if(
        events.begin(), events.end(), [](const spindle::Event& event) { return event.is<spindle::Message>(); }));
  }
}

}  // namespace spindled::bench
