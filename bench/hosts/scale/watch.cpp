#include "bench/hosts/scale/watch.h"

#include <algorithm>

#include "bench/hosts/client_lines.h"
#include "bench/hosts/cluster/clock.h"

namespace spindle::bench {

namespace {

constexpr auto kRetry = std::chrono::milliseconds(5);

}  // namespace

Watch::Watch(const std::vector<std::string>& addresses, std::string group) : group_(std::move(group)) {
  for (const std::string& address : addresses) {
    clients_.push_back(std::make_unique<Client>());
    clients_.back()->address = address;
  }
}

std::int64_t Watch::wait_for(std::size_t members) {
  std::unique_lock lock(mutex_);
  for (;;) {
    std::size_t there = 0, connected = 0;
    std::int64_t latest_ns = 0;
    for (const auto& client : clients_) {
      if (!client->connected) continue;
      ++connected;
      if (client->members != members) continue;
      ++there;
      latest_ns = std::max(latest_ns, client->seen_ns);
    }
    if (there == members && connected == members) return latest_ns;
    if (connected < members) connect_missing(lock);
    changed_.wait_for(lock, kRetry);
  }
}

void Watch::connect_missing(std::unique_lock<std::mutex>& lock) {
  for (const auto& client : clients_) {
    if (client->connected) continue;
    lock.unlock();
    connect(*client);
    lock.lock();
  }
}

void Watch::connect(Client& client) {
  ConnectOptions options;
  options.address = client.address;
  options.disconnect_timeout = std::chrono::milliseconds(0);
  options.reconnect_timeout = std::chrono::milliseconds(0);  // a measurement with a lost connection is none
  spindle::Result<Connection> connection = Connection::connect(options);
  if (!connection) return;
  client.connection = *std::move(connection);
  {
    const std::lock_guard lock(mutex_);
    client.connected = true;
    client.members = 0;
  }
  client.connection.set_handler([this, &client](Event&& event) { handle(client, event); });
  // Where this fails the handler is told that the connection has ended.
  static_cast<void>(client.connection.join(group_));
}

void Watch::handle(Client& client, Event& event) {
  const std::int64_t now = now_ns();
  const std::lock_guard lock(mutex_);
  if (const auto* view = event.get_if<GroupView>()) {
    client.members = view->member_count;
    client.seen_ns = now;
  } else if (event.is<Disconnected>()) {
    client.connected = false;
  } else if (const auto* refused = event.get_if<RequestFailed>()) {
    fail("cannot join: {}", refused->error.message());
  }
  changed_.notify_all();
}

}  // namespace spindle::bench
