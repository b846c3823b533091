// srt_client: a stream over SRT, which has no multicast: a connection to each receiver. See
// bench/hosts/feeds/stream_program.h.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <srt/srt.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "bench/hosts/client_lines.h"
#include "bench/hosts/feeds/stream_program.h"

namespace spindle::bench {
namespace {

struct Options {
  std::vector<std::string> to;
  std::uint16_t port = 4870;
  /// Beyond the way itself: messages are delivered so long after they would have come, and what is later is dropped.
  /// 0: as they come, in order, and nothing is dropped.
  int latency_ms = 80;
};

class Library {
 public:
  Library() {
    if (srt_startup() < 0) fail("SRT does not start: {}", srt_getlasterror_str());
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { srt_cleanup(); }
};

sockaddr_in address_of(const std::string& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) fail("'{}' is no address", host);
  return address;
}

template <typename Value>
void set(SRTSOCKET socket, SRT_SOCKOPT option, Value value) {
  if (srt_setsockflag(socket, option, &value, sizeof value) == SRT_ERROR) {
    fail("option {} is not taken: {}", static_cast<int>(option), srt_getlasterror_str());
  }
}

SRTSOCKET make_socket(const Options& options) {
  const SRTSOCKET socket = srt_create_socket();
  if (socket == SRT_INVALID_SOCK) fail("no socket: {}", srt_getlasterror_str());
  set(socket, SRTO_TRANSTYPE, SRTT_LIVE);
  if (options.latency_ms > 0) {
    set(socket, SRTO_LATENCY, options.latency_ms);
  } else {
    set(socket, SRTO_TSBPDMODE, false);
    set(socket, SRTO_TLPKTDROP, false);
  }
  return socket;
}

class Source final : public StreamSource {
 public:
  explicit Source(const Options& options) {
    for (const std::string& host : options.to) {
      const SRTSOCKET socket = make_socket(options);
      const sockaddr_in address = address_of(host, options.port);
      if (srt_connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == SRT_ERROR) {
        fail("cannot connect to {}: {}", host, srt_getlasterror_str());
      }
      set(socket, SRTO_SNDSYN, false);
      sockets_.push_back(socket);
    }
  }
  ~Source() override {
    for (const SRTSOCKET socket : sockets_) srt_close(socket);
  }

  /// A receiver whose connection has no room does without: others must not wait for it.
  bool send(std::span<const std::byte> message) override {
    for (const SRTSOCKET socket : sockets_) {
      const auto* bytes = reinterpret_cast<const char*>(message.data());
      if (srt_send(socket, bytes, static_cast<int>(message.size())) == SRT_ERROR &&
          srt_getlasterror(nullptr) != SRT_EASYNCSND) {
        fail("cannot send: {}", srt_getlasterror_str());
      }
    }
    return true;
  }

 private:
  Library library_;
  std::vector<SRTSOCKET> sockets_;
};

class Receiver final : public StreamReceiver {
 public:
  Receiver(const Options& options, StreamReceive receive)
      : receive_(std::move(receive)), listener_(make_socket(options)) {
    const sockaddr_in address = address_of("0.0.0.0", options.port);
    if (srt_bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == SRT_ERROR ||
        srt_listen(listener_, 1) == SRT_ERROR) {
      fail("cannot listen at port {}: {}", options.port, srt_getlasterror_str());
    }
    thread_ = std::thread([this] { run(); });
  }
  /// Who waits for a connection or a message of a socket that is closed goes on.
  ~Receiver() override {
    srt_close(listener_);
    if (connection_ != SRT_INVALID_SOCK) srt_close(connection_);
    thread_.join();
  }

 private:
  void run() {
    connection_ = srt_accept(listener_, nullptr, nullptr);
    if (connection_ == SRT_INVALID_SOCK) return;
    std::array<char, 1 << 12> space;
    for (;;) {
      const int bytes = srt_recvmsg(connection_, space.data(), static_cast<int>(space.size()));
      if (bytes <= 0) return;  // the other side has gone
      receive_(std::as_bytes(std::span(space).first(static_cast<std::size_t>(bytes))));
    }
  }

  StreamReceive receive_;
  Library library_;
  SRTSOCKET listener_;
  std::atomic<SRTSOCKET> connection_ = SRT_INVALID_SOCK;
  std::thread thread_;
};

}  // namespace
}  // namespace spindle::bench

int main(int argc, char** argv) {
  using namespace spindle::bench;
  Options options;
  return run_stream(
      argc, argv,
      {.name = "srt_client",
       .add_options =
           [&](CLI::App& app) {
             app.add_option("--to", options.to, "addresses of the receivers");
             app.add_option("--port", options.port);
             app.add_option("--latency-ms", options.latency_ms, "0: as messages come")->check(CLI::Range(0, 60'000));
           },
       .make_source = [&](const StreamPlan&) { return std::make_unique<Source>(options); },
       .make_receiver =
           [&](const StreamPlan&, StreamReceive receive) {
             return std::make_unique<Receiver>(options, std::move(receive));
           }});
}
