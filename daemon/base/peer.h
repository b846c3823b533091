// Who is at the other end of a connection.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace spindled {

struct Peer {
  /// Somebody at that address, and nobody in particular.
  template <typename Text>
  Peer(const Text& at) : address(at) {}
  Peer(std::string at, std::string proved) : address(std::move(at)), identity(std::move(proved)) {}

  std::string address;   // for people to read: "192.0.2.1:4803", "pid 4711, uid 1000"
  std::string identity;  // who it has proved to be, as rules name it: "uid:1000"; empty: nobody in particular
};

}  // namespace spindled
