// Clients that are there and do nothing, many in one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libclient/protocol/client_frames.h"
#include "libclient/src/socket.h"

namespace spindle::bench {

struct CrowdPlan {
  std::string address;
  std::size_t clients = 1;
  std::size_t groups = 0;  // that each client joins
  std::string prefix;      // of their names, which end in a number
};

/// Speaks the protocol of clients itself: with a thread for each connection, as the library has, the crowd would weigh
/// more on the machine than the daemon that it is there for. What a client is sent it reads and forgets; one that the
/// daemon disconnects is gone.
///
/// Order of calls: `gather`, then `stay`.
class Crowd {
 public:
  explicit Crowd(const CrowdPlan& plan) : plan_(plan) {}

  /// Returns when every client has been told of its joins.
  void gather();
  /// Returns when standard input ends, or all clients are gone.
  void stay();

 private:
  struct Client {
    Descriptor socket;
    std::string name;                 // "#client#daemon"
    std::vector<std::uint8_t> input;  // what is not yet a whole frame
    std::size_t joins_sent = 0;
    std::vector<std::uint8_t> output;  // requests to be written, from `written` on
    std::size_t written = 0;
    std::size_t joins_done = 0;
    std::size_t skip = 0;  // bytes of a frame that nobody wants
  };

  /// Of one client, not yet done: what groups take is to be seen, and not what a burst of joins takes.
  static constexpr std::size_t kJoinsUnderWay = 500;

  bool is_complete(const Client& client) const { return client.joins_done == plan_.groups; }
  void open(Client& client);
  /// Writes requests to join, as many as may be under way and the daemon takes.
  void ask(std::size_t index);
  /// Handles what is ready; whether standard input has ended.
  bool turn(int timeout_ms);
  void read(Client& client);
  /// The bytes of `bytes` that were whole frames, or of one to be skipped.
  std::size_t take_frames(Client& client, spindle::ByteView bytes);
  void take(Client& client, protocol::ClientFrame type, spindle::ByteView body);

  const CrowdPlan plan_;
  std::vector<Client> clients_;
  std::size_t gone_ = 0;
  std::size_t incomplete_ = 0;  // clients whose joins are not all done
  Descriptor poll_;
};

}  // namespace spindle::bench
