// udp_client: a stream as datagrams of UDP, a copy for each receiver, which nothing repairs and nothing slows: what the
// network itself makes of it. See stream_program.h.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <system_error>
#include <thread>

#include "bench/hosts/client_lines.h"
#include "bench/hosts/feeds/stream_program.h"

namespace spindle::bench {
namespace {

constexpr int kBufferBytes = 4 << 20;
// Until somebody may want the receiver to end.
constexpr int kIdleMs = 100;

struct Options {
  std::vector<std::string> to;
  std::uint16_t port = 4850;
};

class Socket {
 public:
  Socket() : descriptor_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    if (descriptor_ < 0) fail("no socket: {}", std::generic_category().message(errno));
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof kBufferBytes);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { ::close(descriptor_); }

  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

sockaddr_in address_of(const std::string& host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) fail("'{}' is no address", host);
  return address;
}

class Source final : public StreamSource {
 public:
  explicit Source(const Options& options) {
    for (const std::string& host : options.to) addresses_.push_back(address_of(host, options.port));
  }

  bool send(std::span<const std::byte> message) override {
    for (const sockaddr_in& address : addresses_) {
      const auto* to = reinterpret_cast<const sockaddr*>(&address);
      if (::sendto(socket_.get(), message.data(), message.size(), 0, to, sizeof address) < 0) {
        fail("cannot send: {}", std::generic_category().message(errno));
      }
    }
    return true;
  }

 private:
  Socket socket_;
  std::vector<sockaddr_in> addresses_;
};

class Receiver final : public StreamReceiver {
 public:
  Receiver(const Options& options, StreamReceive receive) : receive_(std::move(receive)) {
    const sockaddr_in address = address_of("0.0.0.0", options.port);
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      fail("cannot bind to port {}: {}", options.port, std::generic_category().message(errno));
    }
    thread_ = std::thread([this] { run(); });
  }
  ~Receiver() override {
    ends_ = true;
    thread_.join();
  }

 private:
  void run() {
    std::array<std::byte, 1 << 16> space;
    while (!ends_) {
      pollfd ready{socket_.get(), POLLIN, 0};
      if (::poll(&ready, 1, kIdleMs) <= 0) continue;
      const ssize_t bytes = ::recv(socket_.get(), space.data(), space.size(), 0);
      if (bytes > 0) receive_(std::span(space).first(static_cast<std::size_t>(bytes)));
    }
  }

  StreamReceive receive_;
  Socket socket_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace
}  // namespace spindle::bench

int main(int argc, char** argv) {
  using namespace spindle::bench;
  Options options;
  return run_stream(argc, argv,
                    {.name = "udp_client",
                     .add_options =
                         [&](CLI::App& app) {
                           app.add_option("--to", options.to, "addresses of the receivers");
                           app.add_option("--port", options.port);
                         },
                     .make_source = [&](const StreamPlan&) { return std::make_unique<Source>(options); },
                     .make_receiver =
                         [&](const StreamPlan&, StreamReceive receive) {
                           return std::make_unique<Receiver>(options, std::move(receive));
                         }});
}
