// A connection to a daemon's client port that keeps to no manners: its bytes are the attack's, and it reads only if the
// attack says so.
#pragma once

#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/daemon.h"
#include "tests/integration/raw_socket.h"

namespace spindle::test {

class HostileClient {
 public:
  /// Connects and says hello; throws where nobody listens. An empty name has the daemon choose one; `flags` are those
  /// of protocol::Hello.
  explicit HostileClient(const Daemon& daemon, const std::string& name = {}, std::uint8_t flags = 0);
  /// Connects to "unix:PATH" or "HOST:PORT" and says nothing.
  explicit HostileClient(const std::string& address);

  /// Writes all of `bytes`, reading and throwing away what comes meanwhile where `reads`. False where the daemon has
  /// hung up or `stop` is asked for.
  bool write(const Bytes& bytes, const std::stop_token& stop, bool reads = true);
  /// Reads and throws away what has come.
  void drain();
  int descriptor() const { return socket_.get(); }
  /// The daemon has hung up.
  bool is_closed() const { return closed_; }

 private:
  Descriptor socket_;
  bool closed_ = false;
};

/// A client of `daemon` writes `bytes` again and again until `stop`; another one begins anew with `start` where the
/// daemon hangs up.
void repeat(const Daemon& daemon, const Bytes& start, const Bytes& bytes, const std::stop_token& stop,
            bool reads = true);

/// Frames that an attack is made of.
Bytes hello_frame(const std::string& name, std::uint8_t flags = 0);
Bytes join_frame(const std::string& group);
Bytes leave_frame(const std::string& group);
Bytes define_frame(std::uint32_t handle, const std::vector<std::string>& names);
/// A message under `handle`, with as many `send_more` as it takes.
Bytes message_frames(std::uint32_t handle, Service service, std::size_t bytes);
Bytes& operator+=(Bytes& first, const Bytes& second);

/// Clients that join a group and read whatever comes, as well-behaved ones do: innocent, like the pair.
class Crowd {
 public:
  Crowd(const Daemon& daemon, std::size_t count, const std::string& group);
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd();

  std::size_t cut_off();

 private:
  void read();

  std::vector<HostileClient> members_;
  std::mutex mutex_;
  std::jthread reading_;
};

}  // namespace spindle::test
