#include "libclient/src/server.h"

#include <poll.h>

#include <cerrno>
#include <system_error>
#include <thread>

#include "libclient/io/plain_stream.h"
#include "libclient/src/blocked_signals.h"
#include "libclient/src/protection.h"

namespace spindle {

namespace {

/// Waits until it is settled who is at the other end.
bool establish(int socket, ByteStream& stream, Deadline deadline, DialledServer& server) {
  for (;;) {
    if (stream.is_established()) return true;
    const IoResult result = stream.read({});
    if (result.is_failure()) {
      const bool is_protection = result.error == IoResult::kProtectionFailed;
      server.error = is_protection ? Errc::tls_failed : Errc::connection_lost;
      server.text = is_protection ? stream.protection_failure() : server.error.message();
      return false;
    }
    if (stream.is_established()) return true;
    pollfd waiting{socket, static_cast<short>(stream.unsent() != 0 ? POLLIN | POLLOUT : POLLIN), 0};
    int ready = 0;
    do {
      ready = ::poll(&waiting, 1, poll_timeout(deadline));
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0) {
      server.error = Errc::timed_out;
      server.text = "the handshake of TLS was not completed in time";
      return false;
    }
    stream.flush();  // a failure is found by who reads next
  }
}

}  // namespace

DialledServer dial_server(const ConnectOptions& options, const std::string& address, Deadline deadline) {
  DialledServer server;
  Address parsed;
  if (!parse_address(address, parsed)) {
    server.error = Errc::bad_address;
    server.text = server.error.message();
    return server;
  }
  server.token = find_token(options, parsed, server.error, server.text);
  if (server.error) return server;
  server.socket = connect_socket(parsed, deadline, server.error, server.text);
  if (!server.socket) return server;
  std::unique_ptr<ByteStream> stream;
  if (parsed.is_protected) {
    stream = make_protected_stream(server.socket.get(), options, server.text);
    if (stream == nullptr) {
      server.error = Errc::tls_failed;
      return server;
    }
  } else {
    stream = std::make_unique<PlainStream>(server.socket.get());
  }
  if (establish(server.socket.get(), *stream, deadline, server)) server.stream = std::move(stream);
  return server;
}

void Dialler::start(const ConnectOptions& options, std::string address, Deadline deadline,
                    std::function<void()> on_done) {
  call_ = std::make_shared<Call>();
  const BlockedSignals blocked;
  try {
    std::thread([call = call_, options, address = std::move(address), deadline, on_done = std::move(on_done)] {
      DialledServer server = dial_server(options, address, deadline);
      {
        const std::lock_guard lock(call->mutex);
        call->result.emplace(std::move(server));
      }
      on_done();
    }).detach();
  } catch (const std::system_error& error) {
    DialledServer& server = call_->result.emplace();
    server.error = Errc::connect_failed;
    server.text = std::string("no thread can be created: ") + error.code().message();
  }
}

std::optional<DialledServer> Dialler::take() {
  if (call_ == nullptr) return std::nullopt;
  std::unique_lock lock(call_->mutex);
  if (!call_->result) return std::nullopt;
  std::optional<DialledServer> server = std::move(call_->result);
  lock.unlock();
  call_.reset();
  return server;
}

}  // namespace spindle
