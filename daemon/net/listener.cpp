#include "daemon/net/listener.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace spindled {

namespace {

/// How often one that rests looks whether it may go on.
constexpr auto kRestStep = std::chrono::milliseconds(1);

/// After this the kernel is asked again whether it has what an accept takes.
constexpr auto kRetryDelay = std::chrono::milliseconds(200);

/// Descriptors that clients may not take, of few as many as they may.
constexpr rlim_t kReservedMax = 64;

/// Whether a failed accept concerns that one connection only.
bool is_passing(int error) { return error == ECONNABORTED || error == EINTR || error == EPROTO || error == EPERM; }

}  // namespace

Listener::Listener(asio::io_context& io, LogSink& sink, Port port, Accepted accepted)
    : log_(sink, "net"), port_(port), accepted_(std::move(accepted)), socket_(io), retry_(io) {}

Result<void> Listener::listen_at(const ListenAddress& listen) {
  Result<FileDescriptor> socket = listen_tcp(listen.address);
  if (!socket) return tl::unexpected(socket.error());
  name_ = (listen.tls ? "tls:" : "") + to_string(local_address(socket->get()));
  socket_.assign(socket->release());
  return {};
}

Result<void> Listener::listen_at(const std::string& path, UnixSocketFile::Access access) {
  Result<UnixSocketFile> file = UnixSocketFile::claim(path, access);
  if (!file) return tl::unexpected(file.error());
  name_ = path;
  file_.emplace(std::move(*file));
  socket_.assign(file_->take_socket().release());
  return {};
}

void Listener::start() { wait(); }

void Listener::wait() {
  socket_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const std::error_code& error) {
    if (!error) is_ready_ = true;
  });
}

void Listener::accept_ready() {
  if (!is_ready_) return;  // nobody waits, or it rests
  for (int i = 0; i < kAcceptsPerTurn && is_ready_; ++i) {
    if (accept_one()) {
      pace_.accepted();
      continue;
    }
    is_ready_ = false;
    if (errno != EAGAIN) return pause(errno);
    if (paused_) log_.info("accepting on {} again", name_);
    paused_ = false;
    if (!pace_.needs_rest()) wait();
  }
  if (pace_.needs_rest()) rest();
}

void Listener::rest() {
  is_ready_ = false;
  retry_.expires_after(kRestStep);
  retry_.async_wait([this](const std::error_code& cancelled) {
    if (cancelled) return;
    if (!pace_.has_rested()) return rest();
    is_ready_ = true;
  });
}

/// The kernel gives out the lowest number that is free, so the number says how many are taken.
bool Listener::has_descriptor() {
  rlimit limit{};
  const bool is_for_strangers = port_ == Port::client || (port_ == Port::admin && !file_);
  if (!is_for_strangers || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return true;
  const FileDescriptor next(::fcntl(socket_.native_handle(), F_DUPFD_CLOEXEC, 0));
  if (!next.is_open()) return false;
  if (static_cast<rlim_t>(next.get()) < limit.rlim_cur - std::min(limit.rlim_cur / 2, kReservedMax)) return true;
  errno = EMFILE;
  return false;
}

/// False, with the reason in errno, where no connection can be had now.
bool Listener::accept_one() {
  if (!has_descriptor()) return false;
  SocketAddress peer;
  peer.size = sizeof peer.storage;
  FileDescriptor socket(::accept4(socket_.native_handle(), peer.get(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket.is_open()) return is_passing(errno);
  std::string text = file_ ? unix_peer(socket.get()) : to_string(peer);
  tune_connection(socket.get(), port_);
  accepted_(std::move(socket), port_, std::move(text));
  return true;
}

/// Without file descriptors (EMFILE) the connection stays in the backlog, where it would wake this listener for ever.
void Listener::pause(int error) {
  if (!paused_) log_.error("cannot accept on {}: {}; trying again", name_, describe_errno(error));
  paused_ = true;
  retry_.expires_after(kRetryDelay);
  retry_.async_wait([this](const std::error_code& cancelled) {
    if (!cancelled) is_ready_ = true;
  });
}

}  // namespace spindled
