// Asks a daemon, over its administration socket or by TLS.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "daemon/admin/admin.pb.h"
#include "tools/spmonitor/admin_stream.h"

namespace spmonitor {

/// One connection, on which requests are answered one after the other. Blocks, for `timeout` in all at each call.
class AdminClient {
 public:
  static Result<AdminClient> connect(const Target& target, std::chrono::milliseconds timeout);

  Result<spindle::admin::Reply> ask(const spindle::admin::Request& request);

 private:
  using Deadline = spindle::Deadline;

  AdminClient(AdminStream to, std::chrono::milliseconds timeout) : to_(std::move(to)), timeout_(timeout) {}

  /// Waits until it is settled who is at the other end.
  Result<void> establish(Deadline deadline) const;
  Result<void> wait(short events, Deadline deadline) const;
  Result<void> send(const std::string& bytes, Deadline deadline) const;
  Result<std::string> read(std::size_t bytes, Deadline deadline) const;
  /// Why the stream is over.
  tl::unexpected<Failure> lost(const spindle::IoResult& result) const;

  AdminStream to_;
  std::chrono::milliseconds timeout_;
};

}  // namespace spmonitor
