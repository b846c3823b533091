// Datagrams out of a UDP socket, over loopback: one a system call, many a system call, and many as one.
#include <benchmark/benchmark.h>
#include <sys/socket.h>

#include <vector>

#include "daemon/net/datagram_socket.h"
#include "daemon/net/link_cipher.h"

namespace spindled {
namespace {

constexpr std::size_t kBytes = 1400;
constexpr std::size_t kBurst = 64;

enum Mode { kSendto, kMany, kSegmented };

/// What is read again is not timed.
void DatagramsOut(benchmark::State& state) {
  DatagramSocket from = std::move(*DatagramSocket::bind({"127.0.0.1", 0}, 0));
  const DatagramSocket to = std::move(*DatagramSocket::bind({"127.0.0.1", 0}, 0));
  if (state.range(0) != kSegmented) from.stop_segmenting();
  const std::vector<std::uint8_t> bytes(kBurst * kBytes, 7);
  std::vector<OutgoingDatagram> datagrams;
  for (std::size_t i = 0; i < kBurst; ++i) {
    datagrams.push_back({to_datagram_address(to.bound(), 0), ByteView(bytes).subspan(i * kBytes, kBytes)});
  }
  DatagramReader reader;
  for (auto _ : state) {
    if (state.range(0) == kSendto) {
      for (const OutgoingDatagram& each : datagrams) {
        ::sendto(from.descriptor(), each.bytes.data(), each.bytes.size(), 0, to.bound().get(), to.bound().size);
      }
    } else {
      from.send(datagrams);
    }
    state.PauseTiming();
    while (!reader.read(to.descriptor(), 0).datagrams.empty()) {
    }
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBurst));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kBurst * kBytes));
}
BENCHMARK(DatagramsOut)->ArgName("sendto_many_segmented")->Arg(kSendto)->Arg(kMany)->Arg(kSegmented);

/// One is sealed, and opened at the other end.
void DatagramSealed(benchmark::State& state) {
  const LinkCipher::Keys keys{};
  LinkCipher here(keys, true), there(keys, false);
  const std::vector<std::uint8_t> head(12);
  std::vector<std::uint8_t> body(kBytes - head.size());
  std::uint64_t number = 0;
  for (auto _ : state) {
    here.seal(++number, head, body);
    benchmark::DoNotOptimize(there.open(number, head, body));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kBytes));
}
BENCHMARK(DatagramSealed);

}  // namespace
}  // namespace spindled
