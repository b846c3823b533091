// A connection to a daemon on which nothing has been said yet.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "libclient/io/byte_stream.h"
#include "libclient/src/socket.h"
#include "spindle/connection.h"

namespace spindle {

struct DialledServer {
  Descriptor socket;
  std::unique_ptr<ByteStream> stream;  // on it, and established; null on failure
  std::string token;                   // that the client may show there
  std::error_code error;               // an Errc
  std::string text;
};

/// Connects to `address`, which ConnectOptions::address describes.
DialledServer dial_server(const ConnectOptions& options, const std::string& address, Deadline deadline);

/// Does that on a thread of its own, which is left behind where nobody waits any more.
class Dialler {
 public:
  /// Calls `on_done` from that thread when there is something to take. Where there can be no thread that is at once.
  void start(const ConnectOptions& options, std::string address, Deadline deadline, std::function<void()> on_done);
  bool is_busy() const { return call_ != nullptr; }
  /// What has come of it, if something has.
  std::optional<DialledServer> take();
  void abandon() { call_.reset(); }

 private:
  struct Call {
    std::mutex mutex;
    std::optional<DialledServer> result;
  };
  std::shared_ptr<Call> call_;
};

}  // namespace spindle
