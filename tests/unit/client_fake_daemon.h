// The daemon's end of one client connection, driven by a test frame by frame.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "libclient/src/socket.h"
#include "spindle/connection.h"
#include "tests/support/payload_frames.h"

namespace spindle::test {

using Bytes = std::vector<std::uint8_t>;

struct Frame {
  protocol::ClientFrame type{};
  Bytes body;
};

/// Listens on a unix socket in a directory of its own and serves one client. Reading and writing wait for the client;
/// what never comes is caught by the time limit of the whole test.
class FakeDaemon {
 public:
  FakeDaemon() {
    char name[] = "/tmp/spindle-client-test-XXXXXX";
    if (::mkdtemp(name) == nullptr) std::abort();
    directory_ = name;
    path_ = directory_ + "/socket";
    listener_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) std::abort();
    if (::listen(listener_.get(), 4) != 0) std::abort();
  }
  ~FakeDaemon() {
    ::unlink(path_.c_str());
    ::rmdir(directory_.c_str());
  }

  const std::string& path() const { return path_; }

  /// Connects a client while this thread's helper answers its hello with what `answer` writes.
  Connection connect(ConnectOptions options, std::error_code& error, std::string* text,
                     const std::function<void(Bytes&)>& answer) {
    options.address = path_;
    options.reconnect_timeout = reconnect_timeout;
    std::thread server([&] {
      accept();
      const Frame frame = read();
      if (frame.type != protocol::ClientFrame::hello || !protocol::read_hello(frame.body)) return hang_up();
      hello_name = protocol::read_hello(frame.body)->name;
      hello_flags = protocol::read_hello(frame.body)->flags;
      hello_token = protocol::read_hello(frame.body)->token;
      Bytes bytes;
      answer(bytes);
      write(bytes);
    });
    Result<Connection> connection = Connection::connect(options);
    server.join();
    error = connection.error();
    if (text != nullptr) *text = connection.text();
    return connection ? *std::move(connection) : Connection();
  }
  Connection connect(const ConnectOptions& options = {}) {
    std::error_code error;
    Connection connection = connect(options, error, nullptr, [](Bytes& bytes) {
      protocol::write_welcome(bytes, {1, "#me#fake"});
    });
    EXPECT_FALSE(error) << error.message();
    return connection;
  }

  void accept() { socket_ = Descriptor(::accept(listener_.get(), nullptr, nullptr)); }
  void hang_up() { Descriptor gone = std::move(socket_); }
  /// For good: nobody can connect any more.
  void go() {
    ::unlink(path_.c_str());
    Descriptor gone = std::move(listener_);
    hang_up();
  }

  /// The next frame of the client; an empty `bye` when it has hung up.
  Frame read() {
    std::uint8_t head[spindle::kFrameHeadBytes];
    has_hung_up = !read_all(head, sizeof head);
    if (has_hung_up) return {protocol::ClientFrame::bye, {}};
    const auto parsed = spindle::read_frame_head(head);
    Frame frame{static_cast<protocol::ClientFrame>(parsed->type), Bytes(parsed->length)};
    read_all(frame.body.data(), frame.body.size());
    return frame;
  }
  /// The number of the next frame, which asks something of a group.
  std::uint32_t read_request() {
    const Frame frame = read();
    const auto request = protocol::read_group_request(frame.type, frame.body);
    EXPECT_TRUE(request);
    return request ? request->request : 0;
  }
  /// The payloads of the next `count` messages, whole, in order; skips what defines their destinations.
  std::vector<std::string> read_messages(std::size_t count) {
    std::vector<std::string> payloads;
    while (payloads.size() < count) {
      const Frame frame = read();
      if (frame.type == protocol::ClientFrame::define) continue;
      const auto send = protocol::read_send(frame.body);
      EXPECT_TRUE(frame.type == protocol::ClientFrame::send && send);
      if (!send) break;
      std::string payload(spindle::as_text(send->chunk));
      while (payload.size() < send->total) payload += spindle::as_text(read().body);
      payloads.push_back(std::move(payload));
    }
    return payloads;
  }
  bool write(const Bytes& bytes) {
    std::size_t written = 0;
    while (written < bytes.size()) {
      const ssize_t count = ::send(socket_.get(), bytes.data() + written, bytes.size() - written, MSG_NOSIGNAL);
      if (count <= 0) return false;
      written += static_cast<std::size_t>(count);
    }
    return true;
  }

  /// Of its clients: tests look at the end of a connection.
  std::chrono::milliseconds reconnect_timeout{0};
  bool has_hung_up = false;  // the client, when something was to be read last
  std::string hello_name;
  std::uint8_t hello_flags = 0;
  std::string hello_token;

 private:
  bool read_all(std::uint8_t* at, std::size_t size) {
    while (size > 0) {
      const ssize_t count = ::recv(socket_.get(), at, size, 0);
      if (count <= 0) return false;
      at += count;
      size -= static_cast<std::size_t>(count);
    }
    return true;
  }

  std::string directory_;
  std::string path_;
  Descriptor listener_;
  Descriptor socket_;
};

inline Bytes message_frame(std::string_view payload) {
  const auto size = static_cast<std::uint32_t>(payload.size());
  Bytes frame;
  append_message_frame(frame, {4, 0, "#peer#fake", {"news"}, size, spindle::as_bytes(payload)});
  return frame;
}

inline Bytes confirmed_frame(const Frame& confirm, std::uint64_t taken) {
  Bytes frame;
  EXPECT_EQ(confirm.type, protocol::ClientFrame::confirm);
  protocol::write_confirmed(frame, {protocol::read_confirm(confirm.body).value_or(0), taken});
  return frame;
}

/// Sends until the buffer, or the flow, has no room for long; the number of messages. A wait that ends says little
/// where processes stand still: the thread that makes room may not have run in it. One of three in a row has let it.
inline std::size_t fill(Connection& connection) {
  std::size_t count = 0;
  const SendOptions options{.timeout = std::chrono::milliseconds(200)};
  for (int waits = 0; waits < 3;) {
    if (connection.multicast(Service::fifo, "g", std::string(1000, 'x'), options)) {
      ++waits;
    } else {
      ++count;
      waits = 0;
    }
  }
  return count;
}

inline Bytes close_frame(Errc code, std::string_view text, std::uint64_t taken = 0) {
  Bytes frame;
  protocol::write_close(frame, {static_cast<std::uint16_t>(code), text, taken});
  return frame;
}

}  // namespace spindle::test
