// The system calls around sockets: opening, tuning and naming them.
#pragma once

#include <sys/socket.h>

#include <string>
#include <utility>
#include <vector>

#include "daemon/base/driver.h"
#include "daemon/base/result.h"
#include "daemon/config/address.h"

namespace spindled {

/// Owns a file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor();

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

/// An address in the form that the kernel takes.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

/// `address.host` is an IP address.
SocketAddress make_tcp_address(const Address& address);
/// `path` fits into sockaddr_un.
SocketAddress make_unix_address(const std::string& path);
/// "192.0.2.1:4804", or empty for a family that has no such form.
std::string to_string(const SocketAddress& address);

/// Non-blocking and closed on exec; `is_open` is false, and errno says why, where there is none to be had.
FileDescriptor open_socket(int family);
/// Bound to `address` and listening.
Result<FileDescriptor> listen_tcp(const Address& address);
SocketAddress local_address(int socket);

/// Sets what a new connection of this kind needs. Errors are of no consequence: the socket works, if not as well.
void tune_connection(int socket, Port port);

/// The connection counts as writable while less than half of `bytes` are unsent.
void set_unsent_mark(int socket, std::size_t bytes);
/// What was written on a TCP connection and never sent; 0 where the kernel does not say.
std::size_t unsent_bytes(int socket);
/// The same with those that have left and are not acknowledged.
std::size_t unacknowledged_bytes(int socket);

/// The shortest round trip that TCP has measured in the last minutes (net.ipv4.tcp_min_rtt_wlen); zero where the kernel
/// does not say.
Duration shortest_round_trip(int socket);
/// The smoothed round trip of now; zero where the kernel does not say.
Duration round_trip(int socket);

bool is_unix_socket(int socket);
/// "pid 4711, uid 1000": who is at the other end of a unix socket.
std::string unix_peer(int socket);

/// Whether a call failed for want of a descriptor or of memory for one.
bool is_out_of_descriptors(int error);
/// The sentence for an errno.
std::string describe_errno(int number);

}  // namespace spindled
