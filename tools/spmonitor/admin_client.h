// Asks a daemon, over its administration socket.
#pragma once

#include <chrono>
#include <string>

#include "daemon/admin/admin.pb.h"
#include "tools/spmonitor/result.h"

namespace spmonitor {

/// One connection, on which requests are answered one after the other. Blocks, for `timeout` in all at each call.
class AdminClient {
 public:
  /// An empty path is where a daemon of this host has its socket; then it has to be root's, or of the own user.
  static Result<AdminClient> connect(const std::string& socket_path, std::chrono::milliseconds timeout);
  AdminClient(AdminClient&& other) noexcept;
  AdminClient& operator=(AdminClient&&) = delete;
  ~AdminClient();

  Result<spindle::admin::Reply> ask(const spindle::admin::Request& request);

 private:
  using Clock = std::chrono::steady_clock;

  AdminClient(int socket, std::string socket_path, std::chrono::milliseconds timeout)
      : socket_(socket), path_(std::move(socket_path)), timeout_(timeout) {}

  Result<void> wait(short events, Clock::time_point deadline) const;
  Result<void> send(const std::string& bytes, Clock::time_point deadline) const;
  Result<std::string> read(std::size_t bytes, Clock::time_point deadline) const;

  int socket_ = -1;
  std::string path_;
  std::chrono::milliseconds timeout_;
};

}  // namespace spmonitor
