// Who is at the other end of a connection.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spindled {

struct Peer {
  /// Somebody at that address, and nobody in particular.
  template <typename Text>
  Peer(const Text& at) : address(at) {}
  Peer(std::string at, std::vector<std::string> proved) : address(std::move(at)), identities(std::move(proved)) {}

  /// By which it is shown; empty: it is nobody in particular.
  std::string_view identity() const { return identities.empty() ? std::string_view() : identities.front(); }

  std::string address;  // for people to read: "192.0.2.1:4803", "pid 4711, uid 1000"
  /// Who it has proved to be, as rules name it, the most particular one first: "token:web"; "uid:1000", "gid:1000",
  /// "gid:27"; or "cert:feed"; or "local", a process of this host.
  std::vector<std::string> identities;
  /// Nobody else can read what goes over the connection: it is a unix socket, or protected by TLS.
  bool is_private = false;
  /// It is let in only if it sends a token that counts.
  bool needs_token = false;
  /// Its connection may be lost while it goes on, as between hosts: that of a unix socket ends with its process.
  bool may_come_back = false;
};

}  // namespace spindled
