// What admission costs a message and in memory: with one flow in the daemon, and with those of 1,000 clients that have
// sent to 1,000 groups each, once, and are idle since.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <memory>
#include <tuple>

#include "bench/micro/admission_chain.h"
#include "bench/micro/surroundings.h"
#include "daemon/base/check.h"
#include "daemon/node/node.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "tests/support/node_input.h"
#include "tests/support/payload_frames.h"

namespace spindled {
namespace {

namespace protocol = spindle::protocol;
using bench::allocated;
using bench::Chain;
using bench::group_name;
using bench::kBytes;
using bench::kGroups;

/// What a benchmark has built, kept while the library runs it again with the same parameters.
template <typename T, typename... Args>
T& reuse(Args... args) {
  static std::unique_ptr<T> last;
  static std::tuple<Args...> last_args;
  if (!last || last_args != std::tuple(args...)) {
    last.reset();
    malloc_trim(0);
    last = std::make_unique<T>(args...);
    last_args = std::tuple(args...);
  }
  return *last;
}

// --- Admission alone ---

Chain& chain_of(const benchmark::State& state) {
  return reuse<Chain>(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)),
                      static_cast<std::size_t>(state.range(2)));
}

void count_memory(benchmark::State& state, const Chain& chain) {
  state.counters["defined bytes/flow"] = chain.defined_bytes();
  state.counters["used bytes/flow"] = chain.used_bytes();
}

/// One flow's messages, while no price changes.
void AdmissionSamePrices(benchmark::State& state) {
  Chain& chain = chain_of(state);
  DefinedSet& set = chain.set(0, 0);
  std::size_t refused = 0;
  for (auto _ : state) refused += chain.send(set) ? 0 : 1;
  if (refused != 0) state.SkipWithError("messages were refused");
  if (state.range(0) > 1) count_memory(state, chain);
}

/// One flow's messages, where prices have changed before each.
void AdmissionNewPrices(benchmark::State& state) {
  Chain& chain = chain_of(state);
  DefinedSet& set = chain.set(0, 0);
  std::size_t refused = 0;
  for (auto _ : state) {
    set.flow->flow.way.price_version = 0;
    refused += chain.send(set) ? 0 : 1;
  }
  if (refused != 0) state.SkipWithError("messages were refused");
}

/// Each message is of the next client, which sends to its next group: nothing of the flow is in a cache.
void AdmissionFlowsInTurn(benchmark::State& state) {
  Chain& chain = chain_of(state);
  const auto clients = static_cast<std::size_t>(state.range(0));
  const auto groups = static_cast<std::size_t>(state.range(1));
  std::size_t refused = 0, client = 0, group = 0;
  for (auto _ : state) {
    refused += chain.send(chain.set(client, group)) ? 0 : 1;
    if (++client < clients) continue;
    client = 0;
    group = (group + 1) % groups;
  }
  if (refused != 0) state.SkipWithError("messages were refused");
}

void chain_arguments(benchmark::internal::Benchmark* all) {
  all->ArgNames({"clients", "groups", "congested"});
  for (const int congested : {0, 1, 8}) all->Args({1, 1, congested});
  for (const int congested : {0, 1, 8}) all->Args({1'000, kGroups, congested});
}
BENCHMARK(AdmissionSamePrices)->Apply(chain_arguments);
BENCHMARK(AdmissionNewPrices)->Apply(chain_arguments);
BENCHMARK(AdmissionFlowsInTurn)->Apply(chain_arguments);

// --- A whole daemon ---

/// A node that is alone in its view, a client that is a member of all groups, one that sends, and others that have sent
/// once to each group.
class CrowdedNode {
 public:
  CrowdedNode(std::size_t clients, std::size_t groups) : node_(config(clients), driver_, silence_, 1) {
    node_.start(now_);
    settle();
    open(kMember);
    for (std::size_t i = 0; i < kGroups; ++i) {
      protocol::write_group_request(frames_, protocol::ClientFrame::join, {1, group_name(i)});
    }
    send(kMember);
    open(kSender);
    define(kSender, 1);
    settle();

    double before = allocated();
    for (std::size_t i = 0; i < clients; ++i) open(kFirstIdle + i);
    settle();
    if (clients != 0) bytes_per_client_ = (allocated() - before) / static_cast<double>(clients);
    before = allocated();
    for (std::size_t i = 0; i < clients; ++i) define(kFirstIdle + i, groups);
    for (std::size_t i = 0; i < clients; ++i) use(kFirstIdle + i, groups);
    settle();
    const std::size_t flows = clients * groups;
    if (flows != 0) bytes_per_flow_ = (allocated() - before) / static_cast<double>(flows);
    SPINDLE_CHECK(sent() == flows);
    for (int i = 0; i < kBatch; ++i) write_message(batch_, 0);
  }

  /// The sender's messages of one turn.
  void round() {
    put(kSender, batch_);
    turn();
  }
  static constexpr int kBatch = 64;

  std::uint64_t sent() const { return node_.counters().value(Counter::messages_sent); }
  void count_memory(benchmark::State& state) const {
    if (bytes_per_client_ > 0) state.counters["bytes/client"] = bytes_per_client_;
    if (bytes_per_flow_ > 0) state.counters["used bytes/flow"] = bytes_per_flow_;
  }

 private:
  static constexpr std::size_t kMember = 1, kSender = 2, kFirstIdle = 3;  // connections

  static NodeConfig config(std::size_t clients) {
    NodeConfig config;
    config.name = "loop";
    config.incarnation = 1;
    config.session.sessions_max = clients + 2;
    return config;
  }

  static void write_message(std::vector<std::uint8_t>& out, std::uint32_t handle) {
    static const std::vector<std::uint8_t> payload(kBytes);
    spindle::test::append_agreed_message(out, handle, payload);
  }

  void open(std::size_t connection) {
    node_.handle_accepted(now_, ConnectionId{connection}, Port::client, "client");
    protocol::write_hello(frames_, {.name = "c" + std::to_string(connection)});
    send(connection);
  }
  void define(std::size_t connection, std::size_t groups) {
    for (std::size_t i = 0; i < groups; ++i) {
      const std::string name = group_name(i);
      protocol::write_define(frames_, {static_cast<std::uint32_t>(i), {name}});
    }
    send(connection);
  }
  void use(std::size_t connection, std::size_t groups) {
    for (std::size_t i = 0; i < groups; ++i) write_message(frames_, static_cast<std::uint32_t>(i));
    send(connection);
  }
  /// Passes on what is in `frames_`.
  void send(std::size_t connection) {
    put(connection, frames_);
    frames_.clear();
    turn();
  }
  void put(std::size_t connection, ByteView bytes) { test::arrive(node_, now_, ConnectionId{connection}, bytes); }
  void turn() {
    now_ += 100us;
    if (driver_.deadline() <= now_) node_.handle_time(now_);
    node_.end_turn(now_);
  }
  void settle() {
    for (int i = 0; i < 2'000; ++i) turn();
  }

  Time now_{1s};
  bench::Silence silence_;
  bench::CountingDriver driver_;
  Node node_;
  std::vector<std::uint8_t> frames_;
  std::vector<std::uint8_t> batch_;
  double bytes_per_client_ = 0;  // of the idle ones
  double bytes_per_flow_ = 0;    // of theirs
};

/// A message's whole way through a daemon: parsed, admitted, ordered, delivered.
void AdmissionWholeNode(benchmark::State& state) {
  CrowdedNode& node =
      reuse<CrowdedNode>(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  const std::uint64_t before = node.sent();
  for (auto _ : state) node.round();
  const auto sent = static_cast<std::int64_t>(node.sent() - before);
  if (sent != state.iterations() * CrowdedNode::kBatch) state.SkipWithError("messages were refused");
  state.SetItemsProcessed(sent);
  node.count_memory(state);
}
BENCHMARK(AdmissionWholeNode)->ArgNames({"clients", "groups"})->Args({0, 0})->Args({1'000, 0})->Args({1'000, kGroups});

}  // namespace
}  // namespace spindled
