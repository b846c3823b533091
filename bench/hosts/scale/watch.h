// Clients that wait for views.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libclient/include/spindle/connection.h"

namespace spindle::bench {

/// One client at each of some daemons, all in one group. A client whose daemon goes down comes back as soon as there is
/// one again.
class Watch {
 public:
  Watch(const std::vector<std::string>& addresses, std::string group);

  /// Waits until exactly `members` clients are connected and know a view of the group with so many members; the time at
  /// which the last of them learned of it, of the clock in bench/hosts/cluster/clock.h.
  std::int64_t wait_for(std::size_t members);

 private:
  struct Client {
    std::string address;
    bool connected = false;
    std::size_t members = 0;  // of the latest view
    std::int64_t seen_ns = 0;
    Connection connection;
  };

  void connect(Client& client);
  void handle(Client& client, Event& event);
  /// Connects those that are not, with the lock let go meanwhile.
  void connect_missing(std::unique_lock<std::mutex>& lock);

  const std::string group_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace spindle::bench
