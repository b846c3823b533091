// POSIX sockets, as far as a client needs them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "libclient/common/defaults.h"
#include "spindle/error.h"

struct addrinfo;

namespace spindle {

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

/// An eventfd, close-on-exec and non-blocking. Empty if the process has no descriptor left.
Descriptor make_event_descriptor();
/// Makes it readable.
void raise_event(const Descriptor& event);
/// Makes it unreadable.
void clear_event(const Descriptor& event);

/// Where a daemon listens.
struct Address {
  std::string path;          // of a unix socket; empty: TCP
  bool is_default = false;   // nobody has said it
  bool is_anybodys = false;  // the path is one that anybody may have made: who listens there is looked at
  std::string host;
  std::string port;
  bool is_protected = false;  // by TLS
};

/// Parses an address as ConnectOptions describes it; an empty one stands for the default. False if it is not valid. A
/// TCP port that is not said is `default_port`.
bool parse_address(std::string_view text, Address& address, std::uint16_t default_port = kDefaultPort);

using Deadline = std::chrono::steady_clock::time_point;

/// Milliseconds until `deadline` for poll(), rounded up; 0 once it has passed.
int poll_timeout(Deadline deadline);

/// A connected stream socket: non-blocking, close-on-exec, without Nagle's delay. On failure empty, with `error` and
/// `text` set.
Descriptor connect_socket(const Address& address, Deadline deadline, std::error_code& error, std::string& text);

/// The same, to the first of a host's addresses that takes the connection. Each has its share of the time, so that one
/// that says nothing leaves some to others.
Descriptor connect_first(const addrinfo* found, Deadline deadline, std::error_code& error, std::string& text);

}  // namespace spindle
