// A whole node in hostile company. The input is a sequence of steps (node_steps.h): connections come and go on all
// three ports, bytes arrive in frames or not, time passes, and neighbours take part in view changes, rightly or
// wrongly. In the end a well-behaved client must still be served.
#include <algorithm>

#include "daemon/node/node.h"
#include "libclient/protocol/client_frames.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_driver.h"
#include "tests/fuzz/node_steps.h"

namespace {

using namespace spindled;
using spindle_fuzz::FuzzDriver;
using spindle_fuzz::Input;
using spindle_fuzz::NodeStep;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kConnectionsMax = 24;
constexpr std::size_t kStepsMax = 500;
constexpr int kWakesPerStepMax = 64;

/// One neighbour sorts before the node and one after it, so that each can coordinate.
DaemonId peer(std::uint8_t choice) { return choice % 2 == 0 ? DaemonId{"alpha", 11} : DaemonId{"zeta", 22}; }
const DaemonId kSelf{"node", 7};

NodeConfig make_config() {
  NodeConfig config;
  config.name = kSelf.name;
  config.incarnation = kSelf.incarnation;
  config.link.neighbours = {{"192.0.2.1:4804", 0}, {"192.0.2.2:4804", 3}};
  // Small enough for the fuzzer to reach.
  config.order.retention_bytes_max = 256u << 10;
  config.session.send_window_bytes = 64u << 10;
  config.session.price_bytes = config.session.queue_soft_bytes = 16u << 10;
  config.session.queue_hard_bytes = 64u << 10;
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
        return accept(Port{static_cast<std::uint8_t>(input_.u8() % 3)});
      case NodeStep::time:
        return pass(std::chrono::milliseconds(input_.u16()));
      case NodeStep::end_turn:
        return node_.end_turn(now_);
      case NodeStep::stop:
        if (!stopped_) node_.stop(now_);
        stopped_ = true;
        return;
      default:
        break;
    }
    if (const std::optional<ConnectionId> id = driver_.choose(input_.u8())) step_on(step, *id);
  }

  void step_on(NodeStep step, ConnectionId id) {
    switch (step) {
      case NodeStep::frame: {
        const std::uint8_t type = input_.u8();
        return arrive_frame(id, type, input_.bytes(input_.u16()));
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
      default:
        return control_step(step, id);
    }
  }

  /// A neighbour's part in the handshake and in view changes, from what the node itself has said.
  void control_step(NodeStep step, ConnectionId id) {
    if (step == NodeStep::hello) {
      const DaemonId from = peer(input_.u8());
      if (!driver_.hello()) return;
      LinkHello hello = *driver_.hello();
      hello.daemon = from;
      return arrive_control(id, hello);
    }
    if (step == NodeStep::echo) {
      if (driver_.last_control()) arrive_control(id, ControlMessage(*driver_.last_control()));
      return;
    }
    if (step == NodeStep::propose) {
      const DaemonId from = peer(input_.u8());
      return propose(id, from, input_.u8());
    }
    if (driver_.proposal()) answer(step, id, *driver_.proposal());
  }

  void propose(ConnectionId id, const DaemonId& from, std::uint8_t members) {
    const std::uint64_t highest = driver_.proposal() ? driver_.proposal()->proposal.number : 1;
    Propose proposal{{highest + 1, from.name}, {}};
    if ((members & 1) != 0) proposal.members.push_back(peer(0));
    if ((members & 2) != 0) proposal.members.push_back(kSelf);
    if ((members & 4) != 0) proposal.members.push_back(peer(1));
    driver_.set_proposal(proposal);
    arrive_control(id, proposal);
  }

  void answer(NodeStep step, ConnectionId id, const Propose& proposal) {
    const std::size_t count = proposal.members.size();
    switch (step) {
      case NodeStep::state: {
        const DaemonId from = peer(input_.u8());
        return arrive_control(id, MemberState{proposal.proposal, from, {1, from.name}, {0}, 0});
      }
      case NodeStep::commit:
        return arrive_control(id, make_commit(proposal));
      case NodeStep::done:
        return arrive_control(id, Done{proposal.proposal, peer(input_.u8()), {}});
      case NodeStep::install:
        if (input_.u8() % 2 == 0) {
          arrive_control(id, Counts{proposal.proposal, std::vector<std::uint64_t>(count, input_.u8() % 3)});
          arrive_control(id, Received{proposal.proposal, peer(input_.u8())});
        }
        return arrive_control(id, Install{proposal.proposal});
      default:
        return;
    }
  }

  Commit make_commit(const Propose& proposal) const {
    Commit commit;
    commit.proposal = proposal.proposal;
    commit.members = proposal.members;
    for (std::size_t i = 0; i < proposal.members.size(); ++i) {
      const auto index = static_cast<MemberIndex>(i);
      if (i != 0) commit.edges.push_back({static_cast<MemberIndex>(i - 1), index, 1, 100});
      Transition from{{1, proposal.members[i].name}, {{index, {0}}}, 0, 0};
      if (proposal.members[i] == kSelf && driver_.state()) {
        from = {driver_.state()->old_view,
                {{index, driver_.state()->high}},
                driver_.state()->safe_line,
                driver_.state()->processed};
      }
      commit.transitions.push_back(std::move(from));
    }
    return commit;
  }

  void accept(Port port) {
    if (driver_.count() >= kConnectionsMax) return;
    node_.handle_accepted(now_, driver_.accept(port), port, "fuzzer");
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

  void arrive_frame(ConnectionId id, std::uint8_t type, ByteView body) {
    Bytes frame(kFrameHeadBytes);
    Writer writer(frame.data());
    spindle::protocol::write_frame_head(writer, type, body.size());
    frame.insert(frame.end(), body.begin(), body.end());
    arrive(id, frame);
  }

  void arrive_control(ConnectionId id, const ControlMessage& message) {
    arrive_frame(id, static_cast<std::uint8_t>(LinkFrame::control), encode_control(message));
  }

  void pass(Duration duration) {
    node_.end_turn(now_);
    const Time until = now_ + duration;
    for (int i = 0; i < kWakesPerStepMax && driver_.deadline() <= until; ++i) {
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
  Time now_{std::chrono::seconds(1)};
  bool stopped_ = false;
  Node node_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Run(Input(data, size)).go();
  return 0;
}
