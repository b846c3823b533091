// Functions of a C program that the library calls.
#pragma once

#include <memory>

#include "bindings/c/src/handles.h"

namespace spindle::c {

/// What such a function is given first. It is released when the last copy of the function is gone.
class User {
 public:
  explicit User(void* value) : value_(value) {}
  User(const User&) = delete;
  User& operator=(const User&) = delete;
  ~User() {
    if (release_ != nullptr) release_(value_);
  }

  void* value() const { return value_; }
  /// The library keeps it: nothing can fail any more.
  void keep(spindle_bulk_release release) { release_ = release; }

 private:
  void* const value_;
  spindle_bulk_release release_ = nullptr;
};

/// The handle of what is read or written by functions; null without memory. `make` is given the user.
template <typename Handle, typename Make>
std::unique_ptr<Handle> with_user(void* user, spindle_bulk_release release, Make&& make) {
  std::unique_ptr<Handle> handle;
  (void)guarded([&] {
    const auto held = std::make_shared<User>(user);
    handle = make(held);
    held->keep(release);
  });
  return handle;
}

}  // namespace spindle::c
