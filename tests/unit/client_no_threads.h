// A system that has no thread left, for tests.
#pragma once

#ifdef __GLIBC__

#include <gtest/gtest.h>
#include <pthread.h>

#include <system_error>
#include <thread>

namespace spindle::test {

/// While it is there, no thread can be created.
class NoThreads {
 public:
  NoThreads() {
    EXPECT_EQ(::pthread_getattr_default_np(&former_), 0);
    pthread_attr_t enormous;
    EXPECT_EQ(::pthread_getattr_default_np(&enormous), 0);
    EXPECT_EQ(::pthread_attr_setstacksize(&enormous, std::size_t{1} << 50), 0);
    EXPECT_EQ(::pthread_setattr_default_np(&enormous), 0);
    ::pthread_attr_destroy(&enormous);
    EXPECT_THROW(std::thread([] {}).join(), std::system_error);
  }
  ~NoThreads() {
    EXPECT_EQ(::pthread_setattr_default_np(&former_), 0);
    ::pthread_attr_destroy(&former_);
  }

 private:
  pthread_attr_t former_;
};

}  // namespace spindle::test

#endif  // __GLIBC__
