// Frames between daemons and between client and daemon.
#include <benchmark/benchmark.h>

#include "daemon/wire/link_frames.h"
#include "libclient/protocol/client_engine.h"
#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "tests/support/payload_frames.h"

namespace spindled {
namespace {

namespace protocol = spindle::protocol;

BodyHead some_head() {
  BodyHead head;
  head.origin = 2;
  head.number = 123'456;
  head.service = Service::agreed;
  return head;
}

void BodyHeadEncode(benchmark::State& state) {
  const BodyHead head = some_head();
  const MemberSet destinations = MemberSet::first(static_cast<std::size_t>(state.range(0)));
  std::vector<std::uint8_t> bytes(body_head_size(head, destinations));
  for (auto _ : state) {
    Writer writer(bytes.data());
    benchmark::DoNotOptimize(body_head_size(head, destinations));
    write_body_head(writer, head, destinations);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BodyHeadEncode)->ArgName("members")->Arg(3)->Arg(64)->Arg(256);

void BodyHeadDecode(benchmark::State& state) {
  const BodyHead head = some_head();
  const MemberSet destinations = MemberSet::first(static_cast<std::size_t>(state.range(0)));
  std::vector<std::uint8_t> bytes(body_head_size(head, destinations));
  Writer writer(bytes.data());
  write_body_head(writer, head, destinations);
  for (auto _ : state) benchmark::DoNotOptimize(read_body(bytes));
}
BENCHMARK(BodyHeadDecode)->ArgName("members")->Arg(3)->Arg(64)->Arg(256);

void DestinationsDecode(benchmark::State& state) {
  const BodyHead head = some_head();
  const MemberSet destinations = MemberSet::first(static_cast<std::size_t>(state.range(0)));
  std::vector<std::uint8_t> bytes(body_head_size(head, destinations));
  Writer writer(bytes.data());
  write_body_head(writer, head, destinations);
  const Body body = *read_body(bytes);
  for (auto _ : state) benchmark::DoNotOptimize(read_destinations(body));
}
BENCHMARK(DestinationsDecode)->ArgName("members")->Arg(3)->Arg(64)->Arg(256);

/// What the daemon does with a client's message.
void SendDecode(benchmark::State& state) {
  const std::vector<std::uint8_t> payload(100);
  std::vector<std::uint8_t> frame;
  spindle::test::append_agreed_message(frame, 3, payload);
  const ByteView body = ByteView(frame).subspan(kFrameHeadBytes);
  for (auto _ : state) benchmark::DoNotOptimize(protocol::read_send(body));
}
BENCHMARK(SendDecode);

/// What the daemon does for each message that it delivers.
void MessageHeadEncode(benchmark::State& state) {
  const std::string_view group = "news";
  std::vector<std::uint8_t> names;
  protocol::pack_names(names, "#writer#alpha", std::span(&group, 1));
  const protocol::PackedHead head{4, 0, 100, names, 100};
  std::vector<std::uint8_t> bytes(protocol::packed_head_size(head));
  for (auto _ : state) {
    Writer writer(bytes.data());
    benchmark::DoNotOptimize(protocol::packed_head_size(head));
    protocol::write_packed_head(writer, head);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(MessageHeadEncode);

/// What the client library does for a message that it sends, without its locks and its socket.
void ClientSends(benchmark::State& state) {
  const std::vector<std::uint8_t> payload(static_cast<std::size_t>(state.range(0)));
  protocol::RequestWriter writer;
  writer.start({});
  writer.open();
  for (auto _ : state) {
    for (int i = 0; i < 64; ++i) {
      benchmark::DoNotOptimize(writer.multicast(spindle::Service::agreed, "news", std::span(payload), {}));
    }
    while (!writer.output().empty()) {
      benchmark::DoNotOptimize(writer.output().data());
      writer.consume(writer.output().size());
    }
  }
  state.SetItemsProcessed(state.iterations() * 64);
}
BENCHMARK(ClientSends)->ArgName("bytes")->Arg(100)->Arg(1'000);

/// And for messages that it receives, 64 to a read.
void ClientReceives(benchmark::State& state) {
  const std::vector<std::uint8_t> payload(static_cast<std::size_t>(state.range(0)));
  const auto size = static_cast<std::uint32_t>(payload.size());
  std::vector<std::uint8_t> frame;
  spindle::test::append_message_frame(frame, {4, 0, "#writer#alpha", {"news"}, size, payload});
  std::vector<std::uint8_t> input;
  protocol::write_welcome(input, {protocol::kClientVersionMax, "#reader#alpha"});
  protocol::ClientEngine engine;
  engine.start({});
  engine.handle_bytes(input);
  input.clear();
  for (int i = 0; i < 64; ++i) input.insert(input.end(), frame.begin(), frame.end());
  std::size_t received = 0;
  for (auto _ : state) {
    engine.handle_bytes(input);
    received += engine.take_events().size();
  }
  if (received != static_cast<std::size_t>(state.iterations()) * 64) state.SkipWithError("messages were lost");
  state.SetItemsProcessed(static_cast<std::int64_t>(received));
}
BENCHMARK(ClientReceives)->ArgName("bytes")->Arg(100)->Arg(1'000);

}  // namespace
}  // namespace spindled
