// A whole node in hostile company. The input is a sequence of steps (node_steps.h): connections come and go on all
// three ports, bytes arrive in frames or not, time passes, and neighbours take part in view changes, rightly or
// wrongly. In the end a well-behaved client must still be served.
#include <algorithm>

#include "daemon/node/node.h"
#include "daemon/wire/datagram_envelope.h"
#include "daemon/wire/frame_traits.h"
#include "daemon/wire/link_frames.h"
#include "libclient/bulk/bulk_frames.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "tests/fuzz/frame_coverage.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_driver.h"
#include "tests/fuzz/node_bulk.h"
#include "tests/fuzz/node_feeds.h"
#include "tests/fuzz/node_neighbour.h"
#include "tests/fuzz/node_steps.h"
#include "tests/support/payload_frames.h"

namespace {

using namespace spindled;
using spindle::bulk::BulkFrame;
using spindle_fuzz::Bytes;
using spindle_fuzz::FrameCoverage;
using spindle_fuzz::FuzzDriver;
using spindle_fuzz::Input;
using spindle_fuzz::make_frame;
using spindle_fuzz::NodeNeighbours;
using spindle_fuzz::NodeStep;

constexpr std::size_t kConnectionsMax = 24;
constexpr std::size_t kStepsMax = 100;
/// Of all steps together: what many wakes would do, few do as well, and inputs that only let time pass are dear.
constexpr int kWakesMax = 24;

const DaemonId kSelf{"node", 7};

/// What each bit of a step says.
AccessConfig make_rules(unsigned bits) {
  AccessConfig access;
  const auto rule = [&](unsigned bit, const char* who, const char* groups, std::initializer_list<Right> allow) {
    if ((bits >> bit & 1) == 0) return;
    RightSet rights;
    for (const Right right : allow) rights.insert(right);
    access.rules.push_back({{who}, {groups}, rights});
  };
  rule(0, "cert:*", "*", {Right::send, Right::join, Right::create});
  rule(1, "anyone", "n*", {Right::send});
  rule(2, "anyone", "*s", {Right::join, Right::create});
  rule(3, "cert:a", "#*", {Right::send});
  if ((bits >> 4 & 1) != 0) access.names.push_back({"a*", {"cert:a"}});
  if ((bits >> 5 & 1) != 0) access.quotas.push_back({{"cert:*"}, {1, 2, 1000}});
  if ((bits >> 6 & 1) != 0) access.quotas.push_back({{"anyone"}, {0, 1, 100'000, 1u << 20}});
  access.digest = bits;
  return access;
}

NodeConfig make_config(unsigned rules = 0) {
  NodeConfig config;
  config.name = kSelf.name;
  config.incarnation = kSelf.incarnation;
  config.link.neighbours = {{"192.0.2.1:4804", 0}, {"192.0.2.2:4804", 3}};
  // Small enough for the fuzzer to reach.
  config.order.retention_bytes_max = 256u << 10;
  config.session.send_window_bytes = 64u << 10;
  config.session.queue_full_price_bytes = config.session.queue_soft_bytes = 16u << 10;
  config.session.queue_hard_bytes = 64u << 10;
  config.memory_bytes_max = 8u << 20;
  config.access = make_rules(rules);
  config.admin.viewers = {"cert:*"};
  config.bulk.mesh = true;
  config.bulk.address = "192.0.2.9:4804";  // of two with addresses "alpha" is dialled, and "zeta" dials
  return config;
}

class Run {
 public:
  explicit Run(Input input) : input_(input), node_(make_config(), driver_, sink_, 1) {
    node_.start(now_);
    node_.end_turn(now_);
  }

  void go() {
    for (std::size_t i = 0; i < kStepsMax && !input_.empty(); ++i) step(NodeStep{input_.u8()});
    node_.end_turn(now_);
    static_cast<void>(node_.dump());
    if (!stopped_) serve_a_client();
  }

 private:
  void step(NodeStep step) {
    switch (step) {
      case NodeStep::accept:
        return accept(input_.u8());
      case NodeStep::time:
        return pass(std::chrono::milliseconds(input_.u16()));
      case NodeStep::end_turn:
        return node_.end_turn(now_);
      case NodeStep::rules:
        return reconfigure(input_.u8());
      case NodeStep::stop:
        if (!stopped_) node_.stop(now_);
        stopped_ = true;
        return;
      case NodeStep::datagrams:
        return driver_.turn_datagrams_on();
      case NodeStep::datagram: {
        const std::uint8_t host = input_.u8();
        return arrive_datagram(host, input_.bytes(input_.u16()));
      }
      case NodeStep::datagram_frames: {
        const std::uint8_t host = input_.u8(), skipped = input_.u8();
        return arrive_datagram(host, datagram(skipped, input_.bytes(input_.u16())));
      }
      case NodeStep::datagram_answer:
        return answer_question(input_.u8());
      default:
        break;
    }
    if (const std::optional<ConnectionId> id = driver_.choose(input_.u8())) step_on(step, *id);
  }

  void step_on(NodeStep step, ConnectionId id) {
    switch (step) {
      case NodeStep::frame: {
        const std::uint8_t type = input_.u8();
        return arrive_frame(id, make_frame(type, input_.bytes(input_.u16())));
      }
      case NodeStep::raw:
        return arrive(id, input_.bytes(input_.u16()));
      case NodeStep::close:
        driver_.drop(id);
        return node_.handle_closed(now_, id, "the fuzzer broke it");
      case NodeStep::connected:
        return connect(id);
      case NodeStep::throttle:
        driver_.find(id)->room = input_.u16();
        return;
      case NodeStep::writable:
        return drain(id);
      case NodeStep::peer_view:
        return enter_view(id, input_.u8());
      case NodeStep::message:
        return send_message(id);
      case NodeStep::feed_frame:
        return arrive_feed_frame(id);
      default:
        const auto frames = spindle_fuzz::is_bulk(step) ? spindle_fuzz::bulk_frames(node_, step, input_)
                                                        : neighbours_.frames(step, input_);
        for (const Bytes& frame : frames) arrive_frame(id, frame);
    }
  }

  void reconfigure(unsigned bits) {
    if ((bits >> 7 & 1) != 0) {
      for (const ConnectionId id : driver_.revoke()) node_.handle_revoked(now_, id);
    }
    node_.reconfigure(now_, make_config(bits));
  }

  /// Many steps of a neighbour that does all right, in one.
  void enter_view(ConnectionId id, std::uint8_t peer) {
    if (!driver_.hello()) return;
    const std::uint8_t members = peer % 2 == 0 ? 3 : 6;  // the peer and the node
    arrive_frame(id, neighbours_.hello(peer));
    pass(5ms);
    for (const Bytes& frame : neighbours_.link_state(peer)) arrive_frame(id, frame);
    arrive_frame(id, neighbours_.propose(peer, members));
    pass(5ms);
    arrive_frame(id, neighbours_.commit());
    pass(5ms);
    arrive_frame(id, neighbours_.install());
    pass(5ms);
  }

  void accept(std::uint8_t what) {
    if (driver_.count() >= kConnectionsMax) return;
    const Port port{static_cast<std::uint8_t>(what % 3)};
    constexpr const char* kIdentities[] = {"", "cert:a", "cert:b", "uid:1000"};
    const char* const identity = kIdentities[what / 3 % std::size(kIdentities)];
    Peer peer("fuzzer");
    if (*identity != 0) {
      peer.identities.emplace_back(identity);
    } else if (port == Port::admin) {
      peer.identities.emplace_back("uid:0");
    }
    const unsigned privacy = what / 12;  // what is left of it
    peer.is_private = privacy % 2 == 1;
    peer.needs_token = privacy / 2 % 2 == 1;
    peer.may_come_back = true;
    node_.handle_accepted(now_, driver_.accept(port), port, peer);
  }

  void connect(ConnectionId id) {
    FuzzDriver::Connection* connection = driver_.find(id);
    if (connection->open) return;
    connection->open = true;
    node_.handle_connected(now_, id);
  }

  void drain(ConnectionId id) {
    FuzzDriver::Connection* connection = driver_.find(id);
    connection->room = SIZE_MAX;
    if (!std::exchange(connection->full, false)) return;
    node_.handle_writable(now_, id);
  }

  void arrive(ConnectionId id, ByteView bytes) {
    while (!bytes.empty()) {
      const FuzzDriver::Connection* connection = driver_.find(id);
      if (connection == nullptr || !connection->open || !connection->reading) return;
      const std::span<std::uint8_t> space = node_.read_space(id);
      SPINDLE_CHECK(!space.empty());
      const std::size_t count = std::min(space.size(), bytes.size());
      std::copy_n(bytes.begin(), count, space.begin());
      node_.handle_read(now_, id, count);
      bytes = bytes.subspan(count);
    }
  }

  void arrive_frame(ConnectionId id, const Bytes& frame) {
    FuzzDriver::Connection* connection = driver_.find(id);
    if (connection == nullptr || !connection->open || !connection->reading) return;
    const std::uint8_t type = frame[kFrameHeadBytes - 1];
    // Only the first frame can make it one, and elsewhere these types mean nothing.
    if (begins_bulk(connection->port, type)) connection->is_bulk = true;
    const Port port = connection->is_bulk ? Port::bulk : connection->port;
    arrive(id, frame);
    FrameCoverage::of_process().note(port, type, ByteView(frame).subspan(kFrameHeadBytes),
                                     driver_.find(id) != nullptr || is_close(port, frame));
  }

  void arrive_datagram(std::uint8_t host, ByteView bytes) {
    Bytes copy(bytes.begin(), bytes.end());
    driver_.note_datagram(FuzzDriver::host(host), copy.size());
    const IncomingDatagram incoming{FuzzDriver::host(host), copy};
    node_.handle_datagrams(now_, {&incoming, 1});
    node_.end_turn(now_);
  }

  void arrive_feed_frame(ConnectionId id) {
    const std::uint8_t host = input_.u8();
    const Bytes frame = spindle_fuzz::feed_frame(node_, input_);
    if (host == 0) return arrive_frame(id, make_frame(static_cast<std::uint8_t>(LinkFrame::datagram), frame));
    arrive_datagram(host, datagram(0, frame));
    FrameCoverage::of_process().note_datagram(frame.front(), driver_.find(id) != nullptr);
  }

  /// With a head that the node takes for one of its peer.
  Bytes datagram(std::uint8_t skipped, ByteView frames) {
    Bytes bytes(kDatagramHeadBytes);
    Writer writer(bytes.data());
    write_datagram_head(writer, {driver_.hello() ? driver_.hello()->datagrams.token : 0, sequence_ += 1u + skipped});
    bytes.insert(bytes.end(), frames.begin(), frames.end());
    return bytes;
  }

  void answer_question(std::uint8_t host) {
    const std::optional<Probe> answer = driver_.answer_question(FuzzDriver::host(host));
    if (!answer) return;
    Bytes frame(kDatagramFrameHeadBytes + kProbeBytesMin);
    Writer writer(frame.data());
    write_datagram_frame_head(writer, kProbeFrame, kProbeBytesMin);
    write_probe(writer, *answer);
    arrive_datagram(host, datagram(0, frame));
  }

  static bool is_close(Port port, const Bytes& frame) {
    const std::uint8_t type = frame[kFrameHeadBytes - 1];
    return (port == Port::link && type == static_cast<std::uint8_t>(LinkFrame::close)) ||
           (port == Port::bulk && type == static_cast<std::uint8_t>(BulkFrame::close));
  }
  static bool begins_bulk(Port port, std::uint8_t type) {
    return (port == Port::link && type == static_cast<std::uint8_t>(BulkFrame::hello)) ||
           (port == Port::client && type == static_cast<std::uint8_t>(BulkFrame::attach));
  }

  void send_message(ConnectionId id) {
    const std::uint32_t handle = input_.u8();
    const std::uint8_t service = input_.u8() % 6;
    const Bytes payload(input_.u16() % (spindle::kChunkBytesMax + 1), 'x');
    Bytes frame;
    spindle::test::append_send_frame(frame,
                                     {handle, service, false, 0, static_cast<std::uint32_t>(payload.size()), payload});
    arrive_frame(id, frame);
  }

  void pass(Duration duration) {
    node_.end_turn(now_);
    const Time until = now_ + duration;
    for (; wakes_ < kWakesMax && driver_.deadline() <= until; ++wakes_) {
      now_ = std::max(now_, driver_.deadline());
      node_.handle_time(now_);
      node_.end_turn(now_);
    }
    now_ = until;
    node_.handle_time(now_);
    node_.end_turn(now_);
  }

  void serve_a_client() {
    const ConnectionId id = driver_.accept(Port::client);
    node_.handle_accepted(now_, id, Port::client, "client");
    Bytes hello;
    spindle::protocol::write_hello(hello, {});
    arrive(id, hello);
    node_.end_turn(now_);
    SPINDLE_CHECK(driver_.has_sent(id, static_cast<std::uint8_t>(spindle::protocol::ClientFrame::welcome)));
  }

  Input input_;
  FuzzDriver driver_;
  spindle_fuzz::NullSink sink_;
  int wakes_ = 0;
  Time now_{std::chrono::seconds(1)};
  bool stopped_ = false;
  std::uint32_t sequence_ = 0;  // of datagrams
  Node node_;
  NodeNeighbours neighbours_{driver_, node_, kSelf};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Run(Input(data, size)).go();
  return 0;
}
