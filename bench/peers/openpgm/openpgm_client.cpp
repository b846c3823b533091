// openpgm_client: a stream over PGM (RFC 3208) in datagrams of UDP, by multicast. See
// bench/hosts/feeds/stream_program.h.
#include <pgm/pgm.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "bench/hosts/client_lines.h"
#include "bench/hosts/feeds/stream_program.h"

namespace spindle::bench {
namespace {

constexpr int kFrameBytes = 1500;
constexpr int kDataPort = 7500;
constexpr int kBufferBytes = 4 << 20;

struct Options {
  std::string network;
  int udp_port = 3056;
  int bytes_per_second = 8'000'000;  // at most
  int window = 16'384;               // packets that are kept, and that a receiver waits for
  int backoff_ms = 10;               // what a request waits for those of others, at most
  int repeat_ms = 40;                // until a request that nobody confirmed is repeated, or one that nobody answered
};

/// What the library says of an error; it is freed with the process.
std::string text_of(const pgm_error_t* error) { return error != nullptr && error->message ? error->message : "?"; }

class PgmSocket {
 public:
  explicit PgmSocket(const Options& options) {
    pgm_error_t* error = nullptr;
    if (!pgm_init(&error)) fail("OpenPGM does not start: {}", text_of(error));
    if (!pgm_getaddrinfo(options.network.c_str(), nullptr, &addresses_, &error)) {
      fail("{}: {}", options.network, text_of(error));
    }
    const sa_family_t family = addresses_->ai_send_addrs[0].gsr_group.ss_family;
    if (!pgm_socket(&socket_, family, SOCK_SEQPACKET, IPPROTO_UDP, &error)) fail("no socket: {}", text_of(error));
    set(PGM_UDP_ENCAP_UCAST_PORT, options.udp_port);
    set(PGM_UDP_ENCAP_MCAST_PORT, options.udp_port);
    set(PGM_IP_ROUTER_ALERT, 0);
    set(PGM_MTU, kFrameBytes);
    set(SO_SNDBUF, kBufferBytes, SOL_SOCKET);
    set(SO_RCVBUF, kBufferBytes, SOL_SOCKET);
  }
  PgmSocket(const PgmSocket&) = delete;
  PgmSocket& operator=(const PgmSocket&) = delete;
  ~PgmSocket() {
    pgm_close(socket_, false);
    pgm_freeaddrinfo(addresses_);
    pgm_shutdown();
  }

  pgm_sock_t* get() { return socket_; }

  template <typename Value>
  void set(int option, const Value& value, int level = IPPROTO_PGM) {
    if (!pgm_setsockopt(socket_, level, option, &value, sizeof value)) fail("option {} is not taken", option);
  }

  /// When all options are set that come before.
  void connect() {
    pgm_error_t* error = nullptr;
    pgm_sockaddr_t address{};
    address.sa_port = kDataPort;
    address.sa_addr.sport = DEFAULT_DATA_SOURCE_PORT;
    if (!pgm_gsi_create_from_addr(&address.sa_addr.gsi, &error)) {
      // Hosts that are namespaces have all the same name, and no address for it.
      const auto id = static_cast<std::uint32_t>(::getpid());
      if (!pgm_gsi_create_from_data(&address.sa_addr.gsi, reinterpret_cast<const std::uint8_t*>(&id), sizeof id)) {
        fail("there is no identity");
      }
    }
    pgm_interface_req_t device{};
    device.ir_interface = addresses_->ai_recv_addrs[0].gsr_interface;
    device.ir_address = addresses_->ai_send_addrs[0].gsr_addr;
    if (!pgm_bind3(socket_, &address, sizeof address, &device, sizeof device, &device, sizeof device, &error)) {
      fail("cannot bind: {}", text_of(error));
    }
    for (std::uint32_t i = 0; i < addresses_->ai_recv_addrs_len; ++i) {
      if (!pgm_setsockopt(socket_, IPPROTO_PGM, PGM_JOIN_GROUP, &addresses_->ai_recv_addrs[i], sizeof(group_req))) {
        fail("cannot join the group");
      }
    }
    if (!pgm_setsockopt(socket_, IPPROTO_PGM, PGM_SEND_GROUP, &addresses_->ai_send_addrs[0], sizeof(group_req))) {
      fail("cannot send to the group");
    }
    set(PGM_MULTICAST_LOOP, 0);
    set(PGM_MULTICAST_HOPS, 16);
    set(PGM_NOBLOCK, 1);
    if (!pgm_connect(socket_, &error)) fail("cannot connect: {}", text_of(error));
  }

 private:
  pgm_sock_t* socket_ = nullptr;
  pgm_addrinfo_t* addresses_ = nullptr;
};

/// Takes what comes, in a thread: messages at a receiver, and requests for repair at a sender, which nobody else looks
/// after.
class Reader {
 public:
  Reader(PgmSocket& socket, StreamReceive receive)
      : socket_(socket), receive_(std::move(receive)), wake_(::eventfd(0, EFD_CLOEXEC)), thread_([this] { run(); }) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    ends_ = true;
    ::eventfd_write(wake_, 1);
    thread_.join();
    ::close(wake_);
  }

 private:
  void run() {
    std::array<std::byte, 1 << 16> space;
    while (!ends_) {
      std::size_t bytes = 0;
      pgm_error_t* error = nullptr;
      const int status = pgm_recv(socket_.get(), space.data(), space.size(), 0, &bytes, &error);
      switch (status) {
        case PGM_IO_STATUS_NORMAL:
          receive_(std::span(space).first(bytes));
          break;
        case PGM_IO_STATUS_TIMER_PENDING:
          wait(time_left(PGM_TIME_REMAIN));
          break;
        case PGM_IO_STATUS_RATE_LIMITED:
          wait(time_left(PGM_RATE_REMAIN));
          break;
        case PGM_IO_STATUS_WOULD_BLOCK:
          wait(nullptr);
          break;
        case PGM_IO_STATUS_RESET:  // something is lost for good
          if (error != nullptr) pgm_error_free(error);
          break;
        case PGM_IO_STATUS_FIN:
          break;
        default:
          fail("cannot receive: {}", text_of(error));
      }
    }
  }

  timeval* time_left(int option) {
    socklen_t size = sizeof left_;
    if (!pgm_getsockopt(socket_.get(), IPPROTO_PGM, option, &left_, &size)) fail("there is no time left to be had");
    return &left_;
  }

  void wait(timeval* at_most) {
    fd_set readable;
    FD_ZERO(&readable);
    FD_SET(wake_, &readable);
    int descriptors = wake_ + 1;
    pgm_select_info(socket_.get(), &readable, nullptr, &descriptors);
    ::select(descriptors, &readable, nullptr, nullptr, at_most);
  }

  PgmSocket& socket_;
  StreamReceive receive_;
  int wake_;
  timeval left_{};
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

class Source final : public StreamSource {
 public:
  explicit Source(const Options& options) : socket_(options) {
    socket_.set(PGM_SEND_ONLY, 1);
    socket_.set(PGM_TXW_SQNS, options.window);
    socket_.set(PGM_TXW_MAX_RTE, options.bytes_per_second);
    socket_.set(PGM_AMBIENT_SPM, static_cast<int>(pgm_secs(30)));
    // As in the library's examples.
    const std::array<int, 9> heartbeats{pgm_msecs(100), pgm_msecs(100), pgm_msecs(100), pgm_msecs(100), pgm_msecs(1300),
                                        pgm_secs(7),    pgm_secs(16),   pgm_secs(25),   pgm_secs(30)};
    socket_.set(PGM_HEARTBEAT_SPM, heartbeats);
    socket_.connect();
    reader_ = std::make_unique<Reader>(socket_, [](std::span<const std::byte>) {});
  }

  bool send(std::span<const std::byte> message) override {
    std::size_t bytes = 0;
    switch (const int status = pgm_send(socket_.get(), message.data(), message.size(), &bytes)) {
      case PGM_IO_STATUS_NORMAL:
        return true;
      case PGM_IO_STATUS_RATE_LIMITED:
      case PGM_IO_STATUS_WOULD_BLOCK:
      case PGM_IO_STATUS_CONGESTION:
        return false;
      default:
        fail("cannot send: status {}", status);
    }
  }

 private:
  PgmSocket socket_;
  std::unique_ptr<Reader> reader_;
};

class Receiver final : public StreamReceiver {
 public:
  Receiver(const Options& options, StreamReceive receive) : socket_(options) {
    const auto ms = [](int count) { return static_cast<int>(pgm_msecs(count)); };
    socket_.set(PGM_RECV_ONLY, 1);
    socket_.set(PGM_PASSIVE, 0);
    socket_.set(PGM_RXW_SQNS, options.window);
    socket_.set(PGM_PEER_EXPIRY, static_cast<int>(pgm_secs(300)));
    socket_.set(PGM_SPMR_EXPIRY, ms(250));
    socket_.set(PGM_NAK_BO_IVL, ms(options.backoff_ms));
    socket_.set(PGM_NAK_RPT_IVL, ms(options.repeat_ms));
    socket_.set(PGM_NAK_RDATA_IVL, ms(options.repeat_ms));
    socket_.set(PGM_NAK_DATA_RETRIES, 50);
    socket_.set(PGM_NAK_NCF_RETRIES, 50);
    socket_.connect();
    reader_ = std::make_unique<Reader>(socket_, std::move(receive));
  }

 private:
  PgmSocket socket_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace
}  // namespace spindle::bench

int main(int argc, char** argv) {
  using namespace spindle::bench;
  Options options;
  return run_stream(argc, argv,
                    {.name = "openpgm_client",
                     .add_options =
                         [&](CLI::App& app) {
                           app.add_option("--network", options.network,
                                          "the device's address, a semicolon and the multicast address")
                               ->required();
                           app.add_option("--port", options.udp_port);
                           app.add_option("--bytes-per-second", options.bytes_per_second, "at most, repairs included");
                           app.add_option("--window", options.window, "packets");
                           app.add_option("--backoff-ms", options.backoff_ms);
                           app.add_option("--repeat-ms", options.repeat_ms);
                         },
                     .make_source = [&](const StreamPlan&) { return std::make_unique<Source>(options); },
                     .make_receiver =
                         [&](const StreamPlan&, StreamReceive receive) {
                           return std::make_unique<Receiver>(options, std::move(receive));
                         }});
}
