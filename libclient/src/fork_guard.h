// What becomes of connections in a child of fork().
#pragma once

#include <atomic>
#include <memory>

#include "libclient/src/socket.h"

namespace spindle {

/// Tells a connection whether it is the copy of one that another process owns.
///
/// A child of fork() has none of the threads of its parent, and its locks are as they happened to be. The copy of a
/// connection there cannot be used, closed or destroyed in the ordinary way. So the child closes its copy of the socket
/// as soon as it exists, which neither writes to the parent's connection nor ends it, and every function looks at
/// `is_inherited` before it touches anything else. An open copy would keep the connection alive at the daemon after the
/// parent has died.
///
/// Notices what goes through fork() of the C library, by pthread_atfork(): neither vfork() and posix_spawn(), whose
/// children do nothing but start a program, nor clone() and _Fork().
class ForkGuard {
 public:
  /// `socket` outlives the guard.
  explicit ForkGuard(Descriptor& socket);
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  /// Another socket is to be closed in a child: the one before is closed.
  void set_socket(Descriptor socket);

  bool is_inherited() const { return inherited_.load(std::memory_order_relaxed); }

  /// Keeps an inherited object for ever: neither its thread nor what that waits for can be destroyed.
  static void keep_inherited(std::shared_ptr<void> object);

 private:
  struct Registry;
  static Registry& registry();

  Descriptor& socket_;
  std::atomic<bool> inherited_ = false;
};

}  // namespace spindle
