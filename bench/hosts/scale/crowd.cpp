#include "bench/hosts/scale/crowd.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "bench/hosts/client_lines.h"
#include "libclient/protocol/client_handshake.h"

namespace spindle::bench {

namespace {

using protocol::ClientFrame;
using spindle::ByteView;

constexpr auto kAnswerTime = std::chrono::seconds(10);
constexpr std::uint32_t kStandardInput = UINT32_MAX;  // in epoll's data, instead of a client's index

void watch(int poll, int descriptor, std::uint32_t events, std::uint32_t data) {
  epoll_event event{};
  event.events = events;
  event.data.u32 = data;
  if (::epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0) return;
  if (::epoll_ctl(poll, EPOLL_CTL_MOD, descriptor, &event) != 0) fail("epoll_ctl failed: {}", errno);
}

void wait_readable(int descriptor, Deadline deadline) {
  pollfd ready{descriptor, POLLIN, 0};
  if (::poll(&ready, 1, poll_timeout(deadline)) != 1) fail("the daemon says nothing");
}

}  // namespace

void Crowd::gather() {
  poll_ = Descriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!poll_) fail("no epoll descriptor: {}", errno);
  watch(poll_.get(), STDIN_FILENO, EPOLLIN, kStandardInput);
  clients_.resize(plan_.clients);
  for (Client& client : clients_) open(client);
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    if (plan_.groups != 0) ++incomplete_;
    ask(i);
  }
  while (incomplete_ != 0) {
    if (turn(-1)) std::_Exit(0);
    if (gone_ != 0) fail("the daemon has disconnected a client");
  }
}

void Crowd::stay() {
  while (gone_ < clients_.size() && !turn(-1)) {
  }
}

void Crowd::open(Client& client) {
  Address address;
  if (!parse_address(plan_.address, address)) fail("{} is no address", plan_.address);
  const Deadline deadline = std::chrono::steady_clock::now() + kAnswerTime;
  std::error_code error;
  std::string text;
  client.socket = connect_socket(address, deadline, error, text);
  if (error) fail("cannot connect to {}: {}", plan_.address, text);
  std::vector<std::uint8_t> hello;
  protocol::write_hello(hello, {});
  if (::send(client.socket.get(), hello.data(), hello.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(hello.size())) {
    fail("cannot greet {}", plan_.address);
  }
  while (client.name.empty()) {
    wait_readable(client.socket.get(), deadline);
    read(client);
    if (!client.socket) fail("{} has turned a client away", plan_.address);
  }
}

void Crowd::ask(std::size_t index) {
  Client& client = clients_[index];
  bool full = false;
  while (!full) {
    if (client.written == client.output.size()) {
      client.output.clear();
      client.written = 0;
      while (client.joins_sent < plan_.groups && client.joins_sent - client.joins_done < kJoinsUnderWay) {
        const std::string group = fmt::format("{}{}", plan_.prefix, client.joins_sent++);
        protocol::write_group_request(client.output, ClientFrame::join, {0, group});
      }
      if (client.output.empty()) break;
    }
    const ssize_t sent = ::send(client.socket.get(), client.output.data() + client.written,
                                client.output.size() - client.written, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) fail("cannot ask {}: {}", plan_.address, errno);
    full = sent < 0;
    if (!full) client.written += static_cast<std::size_t>(sent);
  }
  watch(poll_.get(), client.socket.get(), EPOLLIN | (full ? EPOLLOUT : 0u), static_cast<std::uint32_t>(index));
}

bool Crowd::turn(int timeout_ms) {
  std::array<epoll_event, 256> events{};
  const int count = ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  if (count < 0 && errno != EINTR) fail("epoll_wait failed: {}", errno);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.u32 == kStandardInput) return true;  // the script never writes
    Client& client = clients_[event.data.u32];
    if ((event.events & ~std::uint32_t{EPOLLOUT}) != 0) read(client);
    if (client.socket && ((event.events & EPOLLOUT) != 0 || client.joins_sent < plan_.groups)) ask(event.data.u32);
  }
  return false;
}

void Crowd::read(Client& client) {
  static std::array<std::uint8_t, 256 << 10> space;
  const ssize_t got = ::recv(client.socket.get(), space.data(), space.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    client.socket = Descriptor();
    ++gone_;
    return;
  }
  ByteView bytes(space.data(), static_cast<std::size_t>(got));
  if (!client.input.empty()) {
    client.input.insert(client.input.end(), bytes.begin(), bytes.end());
    const std::size_t taken = take_frames(client, client.input);
    client.input.erase(client.input.begin(), client.input.begin() + static_cast<std::ptrdiff_t>(taken));
    return;
  }
  bytes = bytes.subspan(take_frames(client, bytes));
  client.input.assign(bytes.begin(), bytes.end());
}

std::size_t Crowd::take_frames(Client& client, ByteView bytes) {
  const std::size_t size = bytes.size();
  for (;;) {
    const std::size_t skipped = std::min(client.skip, bytes.size());
    client.skip -= skipped;
    bytes = bytes.subspan(skipped);
    const auto head = spindle::read_frame_head(bytes);
    if (!head) return size - bytes.size();
    const std::size_t whole = spindle::kFrameHeadBytes + head->length;
    if (!client.name.empty() && is_complete(client)) {
      client.skip = whole;
      continue;
    }
    if (bytes.size() < whole) return size - bytes.size();
    take(client, static_cast<ClientFrame>(head->type), bytes.subspan(spindle::kFrameHeadBytes, head->length));
    bytes = bytes.subspan(whole);
  }
}

void Crowd::take(Client& client, ClientFrame type, ByteView body) {
  if (type == ClientFrame::welcome) {
    const auto welcome = protocol::read_welcome(body);
    if (!welcome) fail("a malformed welcome");
    client.name = welcome->private_name;
  } else if (type == ClientFrame::reply) {
    const auto reply = protocol::read_reply(body);
    if (!reply || reply->code != 0) fail("the daemon refused a join");
  } else if (type == ClientFrame::view) {
    const auto view = protocol::read_view(body);
    if (!view) fail("a malformed view");
    if (std::find(view->joined.begin(), view->joined.end(), client.name) == view->joined.end()) return;
    ++client.joins_done;
    if (is_complete(client)) --incomplete_;
  }
}

}  // namespace spindle::bench
