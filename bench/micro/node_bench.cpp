// A whole node in a loop: no socket, no kernel, nothing but the core.
#include <benchmark/benchmark.h>

#include "bench/micro/surroundings.h"
#include "daemon/base/check.h"
#include "daemon/node/node.h"
#include "libclient/protocol/client_engine.h"
#include "tests/support/node_input.h"

namespace spindled {
namespace {

constexpr ConnectionId kClient{1};

/// Takes everything that the node writes and keeps it for the one client.
class LoopDriver final : public Driver {
 public:
  ConnectionId dial(std::string_view) override { return ConnectionId{0}; }
  std::size_t write(ConnectionId, std::span<const ByteView> buffers) override {
    std::size_t taken = 0;
    for (const ByteView& buffer : buffers) {
      written.insert(written.end(), buffer.begin(), buffer.end());
      taken += buffer.size();
    }
    return taken;
  }
  void close(ConnectionId) override { closed = true; }
  void set_reading(ConnectionId, bool) override {}
  void wake_at(Time deadline) override { deadline_ = deadline; }

  Time deadline() const { return deadline_; }

  std::vector<std::uint8_t> written;
  bool closed = false;

 private:
  Time deadline_ = kNever;
};

/// A node that is alone in its view, with one client that is a member of the group it sends to.
class Loop {
 public:
  Loop() : node_(config(), driver_, silence_, 1) {
    node_.start(now_);
    node_.end_turn(now_);
    settle();
    node_.handle_accepted(now_, kClient, Port::client, "loop");
    client_.start({});
    turn();
    SPINDLE_CHECK(!client_.join("group"));
    settle();
    SPINDLE_CHECK(!driver_.closed && client_.is_open());
  }

  /// The client sends `count` messages, the node takes them in one turn, the client takes back what comes of it.
  std::size_t round(int count, const std::vector<std::uint8_t>& payload, spindle::Service service) {
    for (int i = 0; i < count; ++i) {
      SPINDLE_CHECK(!client_.multicast(service, "group", std::span(payload)));
    }
    return turn();
  }

 private:
  static NodeConfig config() {
    NodeConfig config;
    config.name = "loop";
    config.incarnation = 1;
    return config;
  }

  std::size_t turn() {
    now_ += 100us;
    const ByteView output = client_.output();
    test::arrive(node_, now_, kClient, output);
    client_.consume(output.size());
    if (driver_.deadline() <= now_) node_.handle_time(now_);
    node_.end_turn(now_);
    client_.handle_bytes(driver_.written);
    driver_.written.clear();
    return client_.take_events().size();
  }

  /// Passes the time that views and joins take.
  void settle() {
    for (int i = 0; i < 20'000; ++i) turn();
  }

  Time now_{1s};
  bench::Silence silence_;
  LoopDriver driver_;
  Node node_;
  spindle::protocol::ClientEngine client_;
};

/// Parsing, numbering, ordering, retention, delivery and the client's own work. Messages of 100 bytes go in bundles.
void NodeRoundTrip(benchmark::State& state) {
  Loop loop;
  const std::vector<std::uint8_t> payload(static_cast<std::size_t>(state.range(0)));
  const auto service = static_cast<spindle::Service>(state.range(1));
  std::size_t received = 0;
  for (auto _ : state) received += loop.round(64, payload, service);
  if (received != static_cast<std::size_t>(state.iterations()) * 64) state.SkipWithError("messages were lost");
  state.SetItemsProcessed(static_cast<std::int64_t>(received));
}
BENCHMARK(NodeRoundTrip)
    ->ArgNames({"bytes", "service"})
    ->Args({100, static_cast<int>(spindle::Service::fifo)})
    ->Args({100, static_cast<int>(spindle::Service::agreed)})
    ->Args({1'000, static_cast<int>(spindle::Service::agreed)});

}  // namespace
}  // namespace spindled
