#include "daemon/net/dialler.h"

#include <asio/post.hpp>
#include <cerrno>
#include <cstring>

namespace spindled {

namespace {

/// For all addresses of a name together. A host that drops packets would otherwise hold an attempt for two minutes.
constexpr auto kDialTimeout = std::chrono::seconds(5);

/// A connection to a port of this host in the range for outgoing connections can meet itself.
bool is_self_connected(int socket) {
  SocketAddress peer;
  peer.size = sizeof peer.storage;
  if (::getpeername(socket, peer.get(), &peer.size) != 0) return false;
  return to_string(peer) == to_string(local_address(socket));
}

}  // namespace

void Dialler::dial(ConnectionId id, std::string_view text) {
  attempts_.emplace(id, std::make_unique<Attempt>(io_));
  const std::optional<Address> address = parse_address(text);
  if (!address) {
    asio::post(io_, [this, id] { finish(id, fail(Errc::bad_address)); });
    return;
  }
  Attempt& attempt = *find(id);
  attempt.timeout.expires_after(kDialTimeout);
  attempt.timeout.async_wait([this, id](const std::error_code& cancelled) {
    if (!cancelled) finish(id, fail(Errc::timed_out));
  });
  if (is_ip_address(address->host)) {
    attempt.candidates.push_back(make_tcp_address(*address));
    asio::post(io_, [this, id] { try_next(id); });
  } else {
    resolve(id, *address);
  }
}

void Dialler::resolve(ConnectionId id, const Address& address) {
  ++resolving_;
  const auto flags = asio::ip::tcp::resolver::numeric_service;
  resolver_.async_resolve(address.host, std::to_string(address.port), flags,
                          [this, id](const std::error_code& error, const asio::ip::tcp::resolver::results_type& found) {
                            --resolving_;
                            Attempt* attempt = find(id);
                            if (attempt == nullptr) return;
                            if (error) return finish(id, fail(Errc::connect_failed, error.message()));
                            for (const auto& entry : found) {
                              const asio::ip::tcp::endpoint endpoint = entry.endpoint();
                              SocketAddress& candidate = attempt->candidates.emplace_back();
                              candidate.size = static_cast<socklen_t>(endpoint.size());
                              std::memcpy(candidate.get(), endpoint.data(), endpoint.size());
                            }
                            try_next(id);
                          });
}

void Dialler::try_next(ConnectionId id) {
  Attempt* attempt = find(id);
  if (attempt == nullptr) return;
  while (attempt->next < attempt->candidates.size()) {
    if (begin_connect(id, *attempt, attempt->candidates[attempt->next++])) return;
  }
  finish(id, fail(Errc::connect_failed, attempt->failure));
}

bool Dialler::begin_connect(ConnectionId id, Attempt& attempt, const SocketAddress& candidate) {
  FileDescriptor socket = open_socket(candidate.family());
  if (!socket.is_open() || (::connect(socket.get(), candidate.get(), candidate.size) != 0 && errno != EINPROGRESS)) {
    attempt.failure = describe_errno(errno);
    return false;
  }
  attempt.socket = asio::posix::stream_descriptor(io_, socket.release());
  attempt.socket.async_wait(asio::posix::stream_descriptor::wait_write, [this, id](const std::error_code& cancelled) {
    if (!cancelled) check_connected(id);
  });
  return true;
}

void Dialler::check_connected(ConnectionId id) {
  Attempt* attempt = find(id);
  if (attempt == nullptr) return;
  int error = 0;
  socklen_t size = sizeof error;
  const int socket = attempt->socket.native_handle();
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error == 0 && is_self_connected(socket)) error = ECONNREFUSED;
  if (error != 0) {
    attempt->failure = describe_errno(error);
    attempt->socket.close();
    return try_next(id);
  }
  FileDescriptor connected(attempt->socket.release());
  tune_connection(connected.get(), Port::link);
  finish(id, std::move(connected));
}

void Dialler::finish(ConnectionId id, Result<FileDescriptor> outcome) {
  if (cancel(id)) done_(id, std::move(outcome));
}

Dialler::Attempt* Dialler::find(ConnectionId id) {
  const auto found = attempts_.find(id);
  return found == attempts_.end() ? nullptr : found->second.get();
}

}  // namespace spindled
