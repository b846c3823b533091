// One listening socket: accepts connections and hands them on.
#pragma once

#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <optional>

#include "daemon/base/log.h"
#include "daemon/net/accept_pace.h"
#include "daemon/net/socket.h"
#include "daemon/net/unix_socket_file.h"

namespace spindled {

class Listener {
 public:
  /// Connections accepted in one turn, so that a flood of them leaves the others their turn.
  static constexpr int kAcceptsPerTurn = 8;

  /// Takes over a connection; `peer` is for people to read.
  using Accepted = std::function<void(FileDescriptor socket, Port port, std::string peer)>;

  Listener(asio::io_context& io, LogSink& sink, Port port, Accepted accepted);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  Result<void> listen_at(const ListenAddress& listen);
  Result<void> listen_at(const std::string& path, UnixSocketFile::Access access);
  /// Begins to wait for connections.
  void start();

  /// Whether somebody may wait to be accepted: then nothing wakes the thread, which is to call `accept_ready`.
  bool is_ready() const { return is_ready_; }
  /// Accepts, where it is ready, up to kAcceptsPerTurn; the others are for the next call.
  void accept_ready();

  Port port() const { return port_; }
  /// "127.0.0.1:4803", or "tls:127.0.0.1:4803", with the port that was bound; or the path.
  const std::string& name() const { return name_; }

 private:
  void wait();
  /// Whether there is a descriptor for one more; clients leave some for links and for the administrator of this host,
  /// and so does who comes from elsewhere to administer.
  bool has_descriptor();
  bool accept_one();
  void pause(int error);
  void rest();

  Log log_;
  const Port port_;
  const Accepted accepted_;
  asio::posix::stream_descriptor socket_;
  asio::steady_timer retry_;
  AcceptPace pace_;
  std::optional<UnixSocketFile> file_;
  std::string name_;
  bool is_ready_ = false;
  bool paused_ = false;  // at least once since nobody waited to be accepted
};

}  // namespace spindled
