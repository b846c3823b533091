#include "libclient/src/fork_guard.h"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace spindle {

struct ForkGuard::Registry {
  Registry() { ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

  // The lock is held while the process forks, so that the child finds the list whole.
  static void before_fork() { registry().mutex.lock(); }
  static void after_fork_in_parent() { registry().mutex.unlock(); }
  static void after_fork_in_child() {
    Registry& all = registry();
    for (ForkGuard* guard : all.guards) {
      guard->inherited_.store(true, std::memory_order_relaxed);
      const Descriptor closed = std::move(guard->socket_);
    }
    all.guards.clear();
    all.mutex.unlock();
  }

  std::mutex mutex;  // guards what follows
  std::vector<ForkGuard*> guards;
  std::vector<std::shared_ptr<void>> kept;
};

// Never destroyed: connections that are global variables may outlive it otherwise.
ForkGuard::Registry& ForkGuard::registry() {
  static Registry& all = *new Registry;
  return all;
}

ForkGuard::ForkGuard(Descriptor& socket) : socket_(socket) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.guards.push_back(this);
}

ForkGuard::~ForkGuard() {
  if (is_inherited()) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.guards.erase(std::find(all.guards.begin(), all.guards.end(), this));
}

void ForkGuard::set_socket(Descriptor socket) {
  const std::lock_guard lock(registry().mutex);
  socket_ = std::move(socket);  // what it was is closed when this returns
}

void ForkGuard::keep_inherited(std::shared_ptr<void> object) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.kept.push_back(std::move(object));
}

}  // namespace spindle
