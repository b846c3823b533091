// What it costs a daemon that clients join one group, one after the other.
#include <benchmark/benchmark.h>

#include "bench/micro/surroundings.h"
#include "daemon/node/node.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "tests/support/node_input.h"

namespace spindled {
namespace {

/// A node that is alone in its view, and clients that do nothing but join.
class JoiningClients {
 public:
  explicit JoiningClients(std::size_t count) : node_(config(count), driver_, silence_, 1) {
    node_.start(now_);
    node_.end_turn(now_);
    for (int i = 0; i < 2'000; ++i) turn();
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::uint8_t> hello;
      spindle::protocol::write_hello(hello, {.name = "c" + std::to_string(i)});
      node_.handle_accepted(now_, ConnectionId{i + 1}, Port::client, "joiner");
      send(i, hello);
    }
    turn();
  }

  void join(std::size_t client) {
    std::vector<std::uint8_t> frame;
    spindle::protocol::write_group_request(frame, spindle::protocol::ClientFrame::join, {1, "group"});
    send(client, frame);
    turn();
  }
  /// The first join waits for the subscription.
  void settle() {
    for (int i = 0; i < 2'000; ++i) turn();
  }

  std::uint64_t bytes() const { return driver_.bytes; }
  std::uint64_t views() const { return node_.counters().value(Counter::group_views); }

 private:
  static NodeConfig config(std::size_t count) {
    NodeConfig config;
    config.name = "loop";
    config.incarnation = 1;
    config.session.sessions_max = count;
    return config;
  }
  void send(std::size_t client, ByteView bytes) { test::arrive(node_, now_, ConnectionId{client + 1}, bytes); }
  void turn() {
    now_ += 100us;
    if (driver_.deadline() <= now_) node_.handle_time(now_);
    node_.end_turn(now_);
  }

  Time now_{1s};
  bench::Silence silence_;
  bench::CountingDriver driver_;
  Node node_;
};

/// All joins of a group that grows from nobody to `members`, each told to all who are in.
void GroupJoins(benchmark::State& state) {
  const auto members = static_cast<std::size_t>(state.range(0));
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    JoiningClients clients(members);
    clients.join(0);
    clients.settle();
    const std::uint64_t before = clients.bytes();
    state.ResumeTiming();
    for (std::size_t i = 1; i < members; ++i) clients.join(i);
    bytes += clients.bytes() - before;
    if (clients.views() != members * (members + 1) / 2) state.SkipWithError("views are missing");
  }
  const auto joins = static_cast<double>(state.iterations()) * static_cast<double>(members - 1);
  state.counters["bytes/join"] = static_cast<double>(bytes) / joins;
  // The library adds the unit, seconds.
  state.counters["time/join"] = benchmark::Counter(joins, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(GroupJoins)
    ->ArgName("members")
    ->Arg(50)
    ->Arg(500)
    ->Arg(1'000)
    ->Arg(2'000)
    ->Arg(5'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace spindled
